// SPDX-License-Identifier: Apache-2.0
// In: /proc. Out: the names of who holds sockets.
#include "capture/processes/holders.h"

#include "capture/processes/script.h"

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
    int pid;    // of who holds it, if there is a name, and when that began
    guint64 start;
    guint tries;
    bool asked;
    bool waits;   // for anybody
    bool listens; // and is of TCP
} Socket;

typedef struct Process {
    int pid;
    guint64 start; // ticks after the start of the system
} Process;

struct BbHolders {
    int proc; // lent
    BbOwner self;
    GHashTable *sockets; // inode (guint64) -> Socket
    GHashTable *wanted;  // Sockets of it: inode -> Socket
    GHashTable *starts;  // process -> Process.start, as seen last
    int recent[RECENT];  // processes, the last one first; 0: none
    bool hidden;
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
    holders->starts = g_hash_table_new(NULL, NULL);
    return holders;
}

void bb_holders_free(BbHolders *holders)
{
    if (!holders)
        return;
    g_hash_table_destroy(holders->wanted);
    g_hash_table_destroy(holders->starts);
    g_hash_table_destroy(holders->sockets);
    g_free(holders);
}

const char *bb_holders_find(BbHolders *holders, guint64 inode, const BbSocketKey *key)
{
    Socket *socket = g_hash_table_lookup(holders->sockets, &inode);
    if (!socket) {
        if (g_hash_table_size(holders->wanted) >= BB_HOLDERS_WANTED)
            return NULL;
        guint64 *number = g_memdup2(&inode, sizeof inode);
        socket = g_new0(Socket, 1);
        socket->waits = bb_socket_key_is_bound(key);
        socket->listens = socket->waits && key->protocol == BB_SOCKET_TCP;
        g_hash_table_insert(holders->sockets, number, socket);
        g_hash_table_insert(holders->wanted, number, socket);
    }
    socket->asked = true;
    return socket->name;
}

bool bb_holders_is_due(const BbHolders *holders)
{
    return g_hash_table_size(holders->wanted) > 0;
}

// ---- one process --------------------------------------------------------------------------------

// Field 22 of /proc/PID/stat; G_MAXUINT64 where it is gone. The name before may hold anything.
static guint64 start_of(int proc, int pid)
{
    gsize length = 0;
    g_autofree char *text = read_text(proc, pid, "stat", &length);
    const char *at = text ? g_strrstr_len(text, (gssize)length, ") ") : NULL;
    const char *end = at ? text + length : NULL;
    for (guint field = 2; at && field < 22; field++) {
        at = memchr(at, ' ', (gsize)(end - at));
        at = at ? at + 1 : NULL;
    }
    guint64 start = 0;
    bool is_there = at && at < end && g_ascii_isdigit(*at);
    for (; is_there && at < end && g_ascii_isdigit(*at); at++)
        start = start * 10 + (guint64)(*at - '0');
    return is_there ? start : G_MAXUINT64;
}

// The name of the program; of an interpreter with what it runs behind it. Likewise.
static char *program_of(int proc, int pid)
{
    gsize length = 0, words_length = 0, script_length;
    char name[BB_OWNER_NAME];
    const char *script;
    g_autofree char *comm = read_text(proc, pid, "comm", &length);
    if (!comm || length == 0)
        return NULL;
    g_autofree char *words = read_text(proc, pid, "cmdline", &words_length);
    g_autofree char *program = g_strndup(comm, comm[length - 1] == '\n' ? length - 1 : length);
    bool runs = words && bb_script_find(program, words, words_length, &script, &script_length);
    g_autofree char *whole =
        runs ? g_strdup_printf("%s:%.*s", program, (int)script_length, script) : NULL;
    const char *text = runs ? whole : program;
    bb_owner_clean_program(text, strlen(text), name);
    return g_ref_string_new(name);
}

// The name of a process, a g_ref_string; NULL where it is gone.
static char *name_of(const BbHolders *holders, int pid)
{
    BbOwner owner = owner_of(holders->proc, pid);
    if (owner.kind != BB_OWNER_NONE && !bb_owner_equal(&owner, &holders->self))
        return g_ref_string_new(owner.name);
    return program_of(holders->proc, pid);
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

static void take(Socket *socket, char *name, const Process *process)
{
    g_clear_pointer(&socket->name, g_ref_string_release);
    socket->name = g_ref_string_acquire(name);
    socket->pid = process->pid;
    socket->start = process->start;
}

// in_order: all that are older have been looked at. Else who listens is not taken: it might be one
// that has inherited the socket.
static void look_into(BbHolders *holders, Process process, DIR *folder, bool in_order)
{
    char *name = NULL;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        guint64 inode =
            g_ascii_isdigit(entry->d_name[0]) ? inode_of(dirfd(folder), entry->d_name) : 0;
        Socket *socket = inode ? g_hash_table_lookup(holders->wanted, &inode) : NULL;
        if (!socket || (socket->listens && !in_order))
            continue;
        if (!name && !(name = name_of(holders, process.pid)))
            break;
        take(socket, name, &process);
        (void)g_hash_table_remove(holders->wanted, &inode);
    }
    if (!name)
        return;
    g_ref_string_release(name);
    remember(holders, process.pid);
}

static void look_at(BbHolders *holders, Process process, bool in_order)
{
    char path[32];
    (void)g_snprintf(path, sizeof path, "%d/fd", process.pid);
    int fd = openat(holders->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        holders->refused |= fd < 0 && errno != ENOENT && errno != ESRCH;
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    look_into(holders, process, folder, in_order);
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

// The first process of all comes last, see search_all.
static int compare_ages(gconstpointer a, gconstpointer b)
{
    const Process *x = a, *y = b;
    if ((x->pid == 1) != (y->pid == 1))
        return x->pid == 1 ? 1 : -1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->pid - y->pid;
}

// All that are there, by age. When they began is read once of each.
static GArray *list_by_age(BbHolders *holders)
{
    g_autoptr(GArray) pids = bb_holders_list_processes(holders->proc);
    GArray *processes = g_array_sized_new(FALSE, FALSE, sizeof(Process), pids->len);
    GHashTable *starts = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < pids->len; i++) {
        Process process = {.pid = g_array_index(pids, int, i)};
        gpointer pid = GINT_TO_POINTER(process.pid), known;
        process.start = g_hash_table_lookup_extended(holders->starts, pid, NULL, &known)
                            ? GPOINTER_TO_SIZE(known)
                            : start_of(holders->proc, process.pid);
        g_hash_table_insert(starts, pid, GSIZE_TO_POINTER((gsize)process.start));
        g_array_append_val(processes, process);
    }
    g_hash_table_destroy(holders->starts);
    holders->starts = starts;
    g_array_sort(processes, compare_ages);
    return processes;
}

// Of several that hold a socket the oldest has made it, and the others inherited; but for the first
// process of all, which opens sockets for services: it comes last.
static void search_all(BbHolders *holders)
{
    g_autoptr(GArray) processes = list_by_age(holders);
    holders->refused = false;
    for (guint i = 0; i < processes->len && bb_holders_is_due(holders); i++)
        look_at(holders, g_array_index(processes, Process, i), true);
}

// ---- who was found ------------------------------------------------------------------------------

// Whether somebody else may hold it by now, or go by another name.
static bool is_doubtful(const BbHolders *holders, const Socket *socket)
{
    if (!socket->name || socket->pid == 1 || start_of(holders->proc, socket->pid) != socket->start)
        return true;
    char *name = name_of(holders, socket->pid);
    bool same = name && strcmp(name, socket->name) == 0;
    if (name)
        g_ref_string_release(name);
    return !same;
}

// What is not found again keeps its name. Processes may have gone, and others have their numbers.
void bb_holders_review(BbHolders *holders)
{
    GHashTable *wanted = holders->wanted;
    GHashTableIter iter;
    gpointer key, value;
    holders->wanted = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_hash_table_iter_init(&iter, holders->sockets);
    while (g_hash_table_iter_next(&iter, &key, &value))
        if (((Socket *)value)->waits && !g_hash_table_contains(wanted, key) &&
            is_doubtful(holders, value))
            g_hash_table_insert(holders->wanted, key, value);
    if (bb_holders_is_due(holders)) {
        g_hash_table_remove_all(holders->starts);
        search_all(holders);
    }
    g_hash_table_destroy(holders->wanted);
    holders->wanted = wanted;
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
        holders->hidden |= holders->refused;
        g_hash_table_iter_remove(&iter);
    }
}

bool bb_holders_search(BbHolders *holders, bool thorough)
{
    int recent[RECENT];
    memcpy(recent, holders->recent, sizeof recent);
    for (guint i = 0; i < RECENT && recent[i] && bb_holders_is_due(holders); i++) {
        gpointer start = g_hash_table_lookup(holders->starts, GINT_TO_POINTER(recent[i]));
        look_at(holders, (Process){recent[i], GPOINTER_TO_SIZE(start)}, false);
    }
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

bool bb_holders_hidden(const BbHolders *holders)
{
    return holders->hidden;
}
