// SPDX-License-Identifier: Apache-2.0
// In: the kernel's lists of sockets, /proc. Out: records of what has changed.
#include "capture/processes/look.h"

#include "capture/processes/diag.h"
#include "capture/processes/holders.h"
#include "capture/processes/proc_net.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (16u << 20) // of a file in /proc that is read
#define DATAGRAM (64u << 10) // of netlink
#define DATAGRAMS 65536u     // of an answer, at most

// Work that is paid for: when it may be done again.
typedef struct Phase {
    gint64 due_us, began_us, nudged_us;
} Phase;

typedef struct Told {
    char *name; // g_ref_string
    gint64 seen_us;
} Told;

// Another network namespace.
typedef struct Space {
    char *name;      // "net:[4026531840]"
    int pid;         // of a process in it
    bool seen;       // in this list of processes
    GArray *sockets; // of BbSocket, when it was last read
} Space;

struct BbLook {
    int proc, netlink;
    BbLookSink sink;
    gpointer user;
    guint32 number; // of the last request
    gint64 now_us;
    Phase plain, wide, beyond, thorough, review;
    gint64 aside_us;   // of the processor, in this look, for all but plain
    GArray *here;      // of BbSocket
    GPtrArray *spaces; // of Space: other namespaces
    guint next_space;  // to be read
    GArray *addresses; // of BbAddress, of one namespace
    GHashTable *bound; // BbSocketKey of those that wait, in this look
    GHashTable *told;  // BbSocketKey -> Told
    GHashTable *known; // BbSocketKey (local address, port: 1 here, 2 beyond) that were told
    BbHolders *holders;
    bool hidden, blind, full; // that was told
};

static const struct {
    guint8 family, protocol;
    const char *file;
} lists[] = {
    {AF_INET, BB_SOCKET_TCP, "tcp"},
    {AF_INET6, BB_SOCKET_TCP, "tcp6"},
    {AF_INET, BB_SOCKET_UDP, "udp"},
    {AF_INET6, BB_SOCKET_UDP, "udp6"},
};

static void told_free(gpointer data)
{
    Told *told = data;
    g_ref_string_release(told->name);
    g_free(told);
}

static void space_free(gpointer data)
{
    Space *space = data;
    g_free(space->name);
    g_array_unref(space->sockets);
    g_free(space);
}

BbLook *bb_look_new(int proc, int netlink, BbLookSink sink, gpointer user)
{
    BbLook *look = g_new0(BbLook, 1);
    look->proc = proc;
    look->netlink = netlink;
    look->sink = sink;
    look->user = user;
    look->here = g_array_new(FALSE, FALSE, sizeof(BbSocket));
    look->spaces = g_ptr_array_new_with_free_func(space_free);
    look->addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress));
    look->bound = g_hash_table_new_full(bb_socket_key_hash, bb_socket_key_equal, g_free, NULL);
    look->told = g_hash_table_new_full(bb_socket_key_hash, bb_socket_key_equal, g_free, told_free);
    look->known = g_hash_table_new_full(bb_socket_key_hash, bb_socket_key_equal, g_free, NULL);
    look->holders = bb_holders_new(proc);
    return look;
}

void bb_look_free(BbLook *look)
{
    if (!look)
        return;
    g_array_unref(look->here);
    g_ptr_array_unref(look->spaces);
    g_array_unref(look->addresses);
    g_hash_table_destroy(look->bound);
    g_hash_table_destroy(look->told);
    g_hash_table_destroy(look->known);
    bb_holders_free(look->holders);
    g_free(look);
}

// ---- paying -------------------------------------------------------------------------------------

static gint64 processor_us(void)
{
    struct timespec spent = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (gint64)spent.tv_sec * 1000000 + spent.tv_nsec / 1000;
}

static bool begin(Phase *phase, gint64 now_us)
{
    if (now_us < phase->due_us)
        return false;
    phase->began_us = processor_us();
    return true;
}

// Returns what it took. aside_us of it is paid for elsewhere.
static gint64 end(Phase *phase, gint64 now_us, gint64 share, gint64 least_us, gint64 aside_us)
{
    gint64 took_us = MAX(processor_us() - phase->began_us - aside_us, 0);
    phase->due_us = now_us + MAX(took_us * share, least_us);
    return took_us;
}

gint64 bb_look_due_us(const BbLook *look, bool nudged)
{
    return nudged ? look->plain.nudged_us : look->plain.due_us;
}

// ---- lists --------------------------------------------------------------------------------------

// A file of /proc; NULL where there is none.
static GByteArray *read_file(int proc, const char *path)
{
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    GByteArray *text = g_byte_array_new();
    gssize size = 1;
    while (size > 0 && text->len < TEXT_MAX) {
        guint used = text->len;
        g_byte_array_set_size(text, used + DATAGRAM);
        size = read(fd, text->data + used, DATAGRAM);
        g_byte_array_set_size(text, used + (guint)MAX(size, 0));
    }
    (void)close(fd);
    return text;
}

static bool read_list(BbLook *look, const char *process, guint each, GArray *sockets)
{
    g_autofree char *path = g_strdup_printf("%s/net/%s", process, lists[each].file);
    g_autoptr(GByteArray) text = read_file(look->proc, path);
    if (text)
        bb_proc_net_sockets((const char *)text->data, text->len, lists[each].protocol, sockets,
                            sockets->len + BB_LOOK_SOCKETS);
    return text;
}

// Appends up to max sockets in all.
static bool ask(BbLook *look, guint each, bool waiting, guint max)
{
    guint8 request[BB_DIAG_REQUEST];
    bb_diag_request(lists[each].family, lists[each].protocol, waiting, ++look->number, request);
    if (send(look->netlink, request, sizeof request, 0) != (gssize)sizeof request)
        return false;
    g_autofree guint8 *bytes = g_malloc(DATAGRAM);
    for (guint i = 0; i < DATAGRAMS; i++) {
        gssize size = recv(look->netlink, bytes, DATAGRAM, 0);
        if (size <= 0)
            return false;
        BbDiagStatus status =
            bb_diag_read(bytes, (gsize)size, look->number, lists[each].protocol, look->here, max);
        if (status != BB_DIAG_MORE)
            return status == BB_DIAG_DONE;
    }
    return false;
}

static void tell_full(BbLook *look)
{
    if (!look->full)
        look->sink(&(BbRecord){.kind = BB_RECORD_FULL}, look->user);
    look->full = true;
}

// Those that wait come first, and have places of their own: that many connections do not hide them.
// Where netlink fails once it is left alone.
static bool ask_all(BbLook *look, bool waiting)
{
    bool seen = false;
    guint max = look->here->len + BB_LOOK_SOCKETS;
    for (guint each = 0; each < G_N_ELEMENTS(lists) && look->netlink >= 0; each++)
        if (ask(look, each, waiting, max))
            seen = true;
        else if (lists[each].family == AF_INET) // there may be no IPv6
            look->netlink = -1;
    if (look->here->len >= max)
        tell_full(look);
    return seen;
}

static void list_here(BbLook *look)
{
    g_array_set_size(look->here, 0);
    bool seen = ask_all(look, true);
    seen |= ask_all(look, false);
    if (look->netlink < 0) {
        g_array_set_size(look->here, 0);
        for (guint each = 0; each < G_N_ELEMENTS(lists); each++)
            seen |= read_list(look, "self", each, look->here);
    }
    if (!seen && !look->blind)
        look->sink(&(BbRecord){.kind = BB_RECORD_BLIND}, look->user);
    look->blind = !seen;
}

// ---- addresses and namespaces -------------------------------------------------------------------

static void list_addresses(BbLook *look, const char *process)
{
    g_autofree char *trie = g_strdup_printf("%s/net/fib_trie", process);
    g_autofree char *inet6 = g_strdup_printf("%s/net/if_inet6", process);
    g_autoptr(GByteArray) v4 = read_file(look->proc, trie);
    g_autoptr(GByteArray) v6 = read_file(look->proc, inet6);
    g_array_set_size(look->addresses, 0);
    if (v4)
        bb_proc_net_fib_trie((const char *)v4->data, v4->len, look->addresses, BB_LOOK_ADDRESSES);
    if (v6)
        bb_proc_net_if_inet6((const char *)v6->data, v6->len, look->addresses, BB_LOOK_ADDRESSES);
}

static void tell_addresses(BbLook *look, BbRecordKind kind)
{
    for (guint i = 0; i < look->addresses->len; i++) {
        BbSocketKey key = {.local = g_array_index(look->addresses, BbAddress, i),
                           .port = kind == BB_RECORD_HERE ? 1 : 2};
        if (g_hash_table_contains(look->known, &key) ||
            g_hash_table_size(look->known) >= BB_LOOK_KNOWN)
            continue;
        g_hash_table_add(look->known, g_memdup2(&key, sizeof key));
        look->sink(&(BbRecord){.kind = kind, .key.local = key.local}, look->user);
    }
}

// What waits at any address of another namespace waits at each. Its loopback is nobody else's.
static void take_beyond(const BbLook *look, const BbSocket *socket, GArray *out)
{
    bool v4_only = bb_address_is_v4(&socket->key.local);
    if (!bb_address_is_any(&socket->key.local)) {
        if (!bb_address_is_loopback(&socket->key.local) && out->len < BB_LOOK_BEYOND)
            g_array_append_vals(out, socket, 1);
        return;
    }
    for (guint i = 0; i < look->addresses->len && out->len < BB_LOOK_BEYOND; i++) {
        BbSocket one = *socket;
        one.key.local = g_array_index(look->addresses, BbAddress, i);
        if (!v4_only || bb_address_is_v4(&one.key.local))
            g_array_append_val(out, one);
    }
}

static void drop_loopback(GArray *addresses)
{
    for (guint i = addresses->len; i-- > 0;)
        if (bb_address_is_loopback(&g_array_index(addresses, BbAddress, i)))
            g_array_remove_index(addresses, i);
}

static void read_space(BbLook *look, Space *space)
{
    g_autoptr(GArray) sockets = g_array_new(FALSE, FALSE, sizeof(BbSocket));
    char process[16];
    (void)g_snprintf(process, sizeof process, "%d", space->pid);
    list_addresses(look, process);
    drop_loopback(look->addresses);
    tell_addresses(look, BB_RECORD_BEYOND);
    for (guint each = 0; each < G_N_ELEMENTS(lists); each++)
        (void)read_list(look, process, each, sockets);
    g_array_set_size(space->sockets, 0);
    for (guint i = 0; i < sockets->len; i++)
        take_beyond(look, &g_array_index(sockets, BbSocket, i), space->sockets);
}

// One a time: each takes milliseconds.
static void look_beyond(BbLook *look)
{
    if (look->spaces->len == 0 || !begin(&look->beyond, look->now_us))
        return;
    read_space(look, look->spaces->pdata[look->next_space++ % look->spaces->len]);
    look->aside_us +=
        end(&look->beyond, look->now_us, BB_LOOK_SHARE, BB_LOOK_WIDE_US / look->spaces->len, 0);
}

// "net:[4026531840]" of a process; NULL where that is not to be seen.
static char *namespace_of(const BbLook *look, const char *process)
{
    char text[64];
    g_autofree char *path = g_strdup_printf("%s/ns/net", process);
    gssize size = readlinkat(look->proc, path, text, sizeof text);
    return size > 0 && size < (gssize)sizeof text ? g_strndup(text, (gsize)size) : NULL;
}

// The first process that is found in it stands for it.
static void take_space(BbLook *look, char *name, int pid)
{
    for (guint i = 0; i < look->spaces->len; i++) {
        Space *space = look->spaces->pdata[i];
        if (strcmp(space->name, name) != 0)
            continue;
        if (!space->seen)
            space->pid = pid;
        space->seen = true;
        g_free(name);
        return;
    }
    if (look->spaces->len >= BB_LOOK_NAMESPACES) {
        g_free(name);
        return;
    }
    Space *space = g_new(Space, 1);
    *space = (Space){name, pid, true, g_array_new(FALSE, FALSE, sizeof(BbSocket))};
    g_ptr_array_add(look->spaces, space);
}

static void list_spaces(BbLook *look)
{
    g_autofree char *own = namespace_of(look, "self");
    if (!own)
        return;
    for (guint i = 0; i < look->spaces->len; i++)
        ((Space *)look->spaces->pdata[i])->seen = false;
    g_autoptr(GArray) pids = bb_holders_list_processes(look->proc);
    for (guint i = 0; i < pids->len; i++) {
        char process[16];
        int pid = g_array_index(pids, int, i);
        (void)g_snprintf(process, sizeof process, "%d", pid);
        char *name = namespace_of(look, process);
        if (name && strcmp(name, own) != 0)
            take_space(look, name, pid);
        else
            g_free(name);
    }
    for (guint i = look->spaces->len; i-- > 0;)
        if (!((Space *)look->spaces->pdata[i])->seen)
            g_ptr_array_remove_index(look->spaces, i);
}

// ---- telling ------------------------------------------------------------------------------------

// Connections that a listening socket has accepted go by that one.
static bool is_accepted(const BbLook *look, const BbSocketKey *key)
{
    return !bb_socket_key_is_bound(key) && bb_socket_find_bound(look->bound, key, true);
}

static void tell_socket(BbLook *look, const BbSocketKey *key, const char *name)
{
    Told *told = g_hash_table_lookup(look->told, key);
    if (told && (told->seen_us == look->now_us || strcmp(told->name, name) == 0)) {
        told->seen_us = look->now_us; // of several at one place the first counts
        return;
    }
    told = g_new(Told, 1);
    *told = (Told){g_ref_string_new(name), look->now_us};
    g_hash_table_replace(look->told, g_memdup2(key, sizeof *key), told);
    BbRecord record = {.kind = BB_RECORD_SOCKET, .key = *key};
    (void)g_strlcpy(record.name, name, sizeof record.name);
    look->sink(&record, look->user);
}

// Asks who holds the sockets; tell: and says so.
static void go_through(BbLook *look, const GArray *sockets, bool tell)
{
    for (guint i = 0; i < sockets->len; i++) {
        const BbSocket *socket = &g_array_index(sockets, BbSocket, i);
        if (!socket->inode || is_accepted(look, &socket->key))
            continue;
        const char *name = bb_holders_find(look->holders, socket->inode, &socket->key);
        if (name && tell)
            tell_socket(look, &socket->key, name);
    }
}

static int compare_inodes(gconstpointer a, gconstpointer b)
{
    guint64 x = ((const BbSocket *)a)->inode, y = ((const BbSocket *)b)->inode;
    return (x > y) - (x < y);
}

static void add_bound(BbLook *look, const GArray *sockets, GArray *bound)
{
    for (guint i = 0; i < sockets->len; i++) {
        const BbSocket *socket = &g_array_index(sockets, BbSocket, i);
        if (!bb_socket_key_is_bound(&socket->key))
            continue;
        g_array_append_vals(bound, socket, 1);
        g_hash_table_add(look->bound, g_memdup2(&socket->key, sizeof socket->key));
    }
}

static const GArray *sockets_of(const BbLook *look, guint space)
{
    return ((const Space *)look->spaces->pdata[space])->sockets;
}

// Those that wait, in an order that stays; and all others behind them.
static void go_through_all(BbLook *look, const GArray *bound, bool tell)
{
    go_through(look, bound, tell);
    go_through(look, look->here, tell);
    for (guint i = 0; i < look->spaces->len; i++)
        go_through(look, sockets_of(look, i), tell);
}

static void tell_all(BbLook *look)
{
    g_autoptr(GArray) bound = g_array_new(FALSE, FALSE, sizeof(BbSocket));
    g_hash_table_remove_all(look->bound);
    add_bound(look, look->here, bound);
    for (guint i = 0; i < look->spaces->len; i++)
        add_bound(look, sockets_of(look, i), bound);
    g_array_sort(bound, compare_inodes);
    go_through_all(look, bound, false);
    if (bb_holders_is_due(look->holders)) {
        bool thorough = begin(&look->thorough, look->now_us);
        (void)bb_holders_search(look->holders, thorough);
        if (thorough)
            look->aside_us += end(&look->thorough, look->now_us, BB_LOOK_SEARCH_SHARE, 0, 0);
    }
    if (begin(&look->review, look->now_us)) {
        bb_holders_review(look->holders);
        look->aside_us +=
            end(&look->review, look->now_us, BB_LOOK_REVIEW_SHARE, BB_LOOK_REVIEW_US, 0);
    }
    go_through_all(look, bound, true);
}

static gboolean is_over(gpointer key, gpointer value, gpointer user)
{
    BbLook *look = user;
    const Told *told = value;
    if (look->now_us - told->seen_us < BB_LOOK_KEPT_US)
        return FALSE;
    look->sink(&(BbRecord){.kind = BB_RECORD_GONE, .key = *(const BbSocketKey *)key}, look->user);
    return TRUE;
}

static void tell_hidden(BbLook *look)
{
    if (!look->hidden && bb_holders_hidden(look->holders))
        look->sink(&(BbRecord){.kind = BB_RECORD_HIDDEN}, look->user);
    look->hidden = bb_holders_hidden(look->holders);
}

// A virtual address that moves to another host. Of more than are listed nobody knows.
static void tell_left(BbLook *look)
{
    GHashTableIter iter;
    gpointer known;
    if (look->addresses->len == 0 || look->addresses->len >= BB_LOOK_ADDRESSES)
        return;
    g_hash_table_iter_init(&iter, look->known);
    while (g_hash_table_iter_next(&iter, &known, NULL)) {
        const BbSocketKey *key = known;
        bool listed = key->port != 1;
        for (guint i = 0; i < look->addresses->len && !listed; i++)
            listed = bb_address_equal(&key->local, &g_array_index(look->addresses, BbAddress, i));
        if (listed)
            continue;
        look->sink(&(BbRecord){.kind = BB_RECORD_LEFT, .key.local = key->local}, look->user);
        g_hash_table_iter_remove(&iter);
    }
}

static void look_wide(BbLook *look)
{
    list_addresses(look, "self");
    tell_addresses(look, BB_RECORD_HERE);
    tell_left(look);
    list_spaces(look);
}

void bb_look_run(BbLook *look, gint64 now_us)
{
    look->now_us = now_us;
    look->aside_us = 0;
    look->plain.began_us = processor_us();
    bool wide = begin(&look->wide, now_us);
    if (wide) {
        look_wide(look);
        look->aside_us += end(&look->wide, now_us, BB_LOOK_SHARE, BB_LOOK_WIDE_US, 0);
    }
    look_beyond(look);
    list_here(look);
    tell_all(look);
    if (wide) {
        bb_holders_forget(look->holders);
        (void)g_hash_table_foreach_remove(look->told, is_over, look);
    }
    tell_hidden(look);
    gint64 took_us = end(&look->plain, now_us, BB_LOOK_SHARE, BB_LOOK_LEAST_US, look->aside_us);
    look->plain.nudged_us = now_us + MAX(took_us * BB_LOOK_SHARE / 3, BB_LOOK_NUDGED_US);
}
