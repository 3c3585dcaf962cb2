// SPDX-License-Identifier: Apache-2.0
// In: /proc. Out: the names of who holds sockets.
#include "capture/processes/holders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECENT 16u      // processes that are looked at first
#define TEXT_MAX 16384u // of a file in /proc that is read

typedef struct Socket {
    char *name; // g_ref_string; NULL: not found
    guint tries;
    bool asked;
} Socket;

struct BbHolders {
    int proc; // lent
    BbOwner self;
    GHashTable *sockets; // inode (guint64) -> Socket
    GHashTable *wanted;  // Sockets of it: inode -> Socket
    int recent[RECENT];  // processes, the last one first; 0: none
    guint hidden;
    bool refused; // a process of this search could not be looked into
};

static void socket_free(gpointer data)
{
    Socket *socket = data;
    g_clear_pointer(&socket->name, g_ref_string_release);
    g_free(socket);
}

// Reads a file of a process; NULL where it cannot be read.
static char *read_text(int proc, int pid, const char *file, gsize *length)
{
    char path[64];
    (void)g_snprintf(path, sizeof path, "%d/%s", pid, file);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    g_autofree char *text = g_malloc(TEXT_MAX);
    gssize size = read(fd, text, TEXT_MAX);
    (void)close(fd);
    if (size < 0)
        return NULL;
    *length = (gsize)size;
    return g_steal_pointer(&text);
}

static BbOwner owner_of(int proc, int pid)
{
    gsize length = 0;
    g_autofree char *text = read_text(proc, pid, "cgroup", &length);
    return text ? bb_owner_parse(text, length) : (BbOwner){BB_OWNER_NONE, ""};
}

BbHolders *bb_holders_new(int proc)
{
    BbHolders *holders = g_new0(BbHolders, 1);
    holders->proc = proc;
    holders->self = owner_of(proc, getpid());
    holders->sockets = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, socket_free);
    holders->wanted = g_hash_table_new(g_int64_hash, g_int64_equal);
    return holders;
}

void bb_holders_free(BbHolders *holders)
{
    if (!holders)
        return;
    g_hash_table_destroy(holders->wanted);
    g_hash_table_destroy(holders->sockets);
    g_free(holders);
}

const char *bb_holders_find(BbHolders *holders, guint64 inode)
{
    Socket *socket = g_hash_table_lookup(holders->sockets, &inode);
    if (!socket) {
        if (g_hash_table_size(holders->wanted) >= BB_HOLDERS_WANTED)
            return NULL;
        guint64 *key = g_memdup2(&inode, sizeof inode);
        socket = g_new0(Socket, 1);
        g_hash_table_insert(holders->sockets, key, socket);
        g_hash_table_insert(holders->wanted, key, socket);
    }
    socket->asked = true;
    return socket->name;
}

bool bb_holders_is_due(const BbHolders *holders)
{
    return g_hash_table_size(holders->wanted) > 0;
}

// ---- one process --------------------------------------------------------------------------------

// The name of a process, a g_ref_string; NULL where it is gone.
static char *name_of(const BbHolders *holders, int pid)
{
    BbOwner owner = owner_of(holders->proc, pid);
    if (owner.kind != BB_OWNER_NONE && !bb_owner_equal(&owner, &holders->self))
        return g_ref_string_new(owner.name);
    gsize length = 0;
    char name[BB_OWNER_NAME];
    g_autofree char *comm = read_text(holders->proc, pid, "comm", &length);
    if (!comm || length == 0)
        return NULL;
    bb_owner_clean(comm, comm[length - 1] == '\n' ? length - 1 : length, name);
    return g_ref_string_new(name);
}

static void remember(BbHolders *holders, int pid)
{
    guint at = 0;
    if (pid == 1)
        return; // see search_all
    while (at < RECENT - 1 && holders->recent[at] != pid)
        at++;
    memmove(holders->recent + 1, holders->recent, at * sizeof holders->recent[0]);
    holders->recent[0] = pid;
}

// "socket:[123]" as 123, else 0.
static guint64 inode_of(int folder, const char *name)
{
    char text[64];
    gssize length = readlinkat(folder, name, text, sizeof text - 1);
    if (length < 10 || memcmp(text, "socket:[", 8) != 0)
        return 0;
    text[length] = '\0';
    return g_ascii_strtoull(text + 8, NULL, 10);
}

static void look_into(BbHolders *holders, int pid, DIR *folder)
{
    char *name = NULL;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        guint64 inode =
            g_ascii_isdigit(entry->d_name[0]) ? inode_of(dirfd(folder), entry->d_name) : 0;
        Socket *socket = inode ? g_hash_table_lookup(holders->wanted, &inode) : NULL;
        if (!socket)
            continue;
        if (!name && !(name = name_of(holders, pid)))
            break;
        socket->name = g_ref_string_acquire(name);
        (void)g_hash_table_remove(holders->wanted, &inode);
    }
    if (!name)
        return;
    g_ref_string_release(name);
    remember(holders, pid);
}

static void look_at(BbHolders *holders, int pid)
{
    char path[32];
    (void)g_snprintf(path, sizeof path, "%d/fd", pid);
    int fd = openat(holders->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        holders->refused |= fd < 0 && errno != ENOENT && errno != ESRCH;
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    look_into(holders, pid, folder);
    (void)closedir(folder);
}

// ---- all processes ------------------------------------------------------------------------------

static int compare(gconstpointer a, gconstpointer b)
{
    return *(const int *)a - *(const int *)b;
}

GArray *bb_holders_list_processes(int proc)
{
    GArray *pids = g_array_new(FALSE, FALSE, sizeof(int));
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        (void)close(fd);
    if (!folder)
        return pids;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        int pid = g_ascii_isdigit(entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid > 0)
            g_array_append_val(pids, pid);
    }
    (void)closedir(folder);
    g_array_sort(pids, compare);
    return pids;
}

// Of several that hold a socket the oldest has made it, and the others inherited; but for the first
// process of all, which opens sockets for services: it comes last.
static void search_all(BbHolders *holders)
{
    g_autoptr(GArray) pids = bb_holders_list_processes(holders->proc);
    holders->refused = false;
    for (guint i = 0; i < pids->len && bb_holders_is_due(holders); i++)
        if (g_array_index(pids, int, i) != 1)
            look_at(holders, g_array_index(pids, int, i));
    if (bb_holders_is_due(holders))
        look_at(holders, 1);
}

// Those that were not found. A socket shows in the list a moment before its descriptor does.
static void give_up(BbHolders *holders)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, holders->wanted);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Socket *socket = value;
        if (++socket->tries < BB_HOLDERS_TRIES)
            continue;
        holders->hidden += holders->refused;
        g_hash_table_iter_remove(&iter);
    }
}

bool bb_holders_search(BbHolders *holders, bool thorough)
{
    int recent[RECENT];
    memcpy(recent, holders->recent, sizeof recent);
    for (guint i = 0; i < RECENT && recent[i] && bb_holders_is_due(holders); i++)
        look_at(holders, recent[i]);
    if (thorough && bb_holders_is_due(holders)) {
        search_all(holders);
        give_up(holders);
    }
    return bb_holders_is_due(holders);
}

static gboolean is_unasked(gpointer key, gpointer value, gpointer user)
{
    BbHolders *holders = user;
    Socket *socket = value;
    bool unasked = !socket->asked;
    socket->asked = false;
    if (unasked)
        (void)g_hash_table_remove(holders->wanted, key);
    return unasked;
}

void bb_holders_forget(BbHolders *holders)
{
    (void)g_hash_table_foreach_remove(holders->sockets, is_unasked, holders);
}

guint bb_holders_hidden(const BbHolders *holders)
{
    return holders->hidden;
}
