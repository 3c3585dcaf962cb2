// SPDX-License-Identifier: Apache-2.0
// In: records from the process that looks at sockets; ends of connections. Out: their names.
#include "capture/processes/processes.h"

#include "capture/processes/look.h"

#include <sys/socket.h>
#include <unistd.h>

#define HOST_MAX 64
#define CLOSE_US G_USEC_PER_SEC // that the other process may take to end
#define WARNINGS_MAX 16u        // not taken yet

struct BbProcesses {
    int fd;
    char *host;
    GThread *thread;
    // The rest behind the lock.
    GMutex lock;
    GCond news;
    BbProcessTable *table;
    GHashTable *decided; // BbSocketKey of TCP -> its name, lent by table; "": none
    guint looks;         // that were told to their end
    guint32 nudges, answered;
    bool over, closing;
    gint64 credit_us, earned_us; // time that may be waited, and since when it counts
    BbProcessesCounts counts;
    bool said_hidden, said_full;
    GQueue warnings;
};

static void warn(BbProcesses *processes, char *text)
{
    if (g_queue_get_length(&processes->warnings) < WARNINGS_MAX)
        g_queue_push_tail(&processes->warnings, text);
    else
        g_free(text);
}

static void take_record(BbProcesses *processes, const BbRecord *record)
{
    switch (record->kind) {
    case BB_RECORD_LOOKED:
        processes->looks++;
        processes->answered = record->number;
        break;
    case BB_RECORD_HIDDEN:
        if (!processes->said_hidden)
            warn(processes,
                 g_strdup("--processes: some sockets belong to processes that may not be looked "
                          "into: their nodes go by address; run as root, or with the capabilities "
                          "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"));
        processes->said_hidden = true;
        break;
    case BB_RECORD_BLIND:
        warn(processes, g_strdup("--processes: the kernel does not list its sockets (sock_diag, "
                                 "/proc/net): nodes go by address; mount /proc"));
        break;
    case BB_RECORD_FULL:
        if (!processes->said_full)
            warn(processes, g_strdup_printf("--processes: this host has more than %u sockets: "
                                            "the ends of some go by address",
                                            BB_LOOK_SOCKETS));
        processes->said_full = true;
        break;
    default:
        bb_process_table_apply(processes->table, record);
    }
}

// Returns false where it is no datagram of records.
static bool take_datagram(BbProcesses *processes, const guint8 *bytes, gsize size)
{
    BbCursor cursor = bb_cursor(bytes, size);
    BbRecord record;
    while (bb_record_take(&cursor, &record))
        take_record(processes, &record);
    return bb_cursor_ok(&cursor);
}

static void end(BbProcesses *processes)
{
    processes->over = true;
    if (!processes->closing)
        warn(processes, g_strdup("--processes: the process that looks at sockets has ended: what "
                                 "begins now goes by address; capture again for names"));
}

static gpointer take_all(gpointer data)
{
    BbProcesses *processes = data;
    g_autofree guint8 *bytes = g_malloc(BB_RECORD_DATAGRAM);
    for (bool over = false; !over;) {
        gssize size = recv(processes->fd, bytes, BB_RECORD_DATAGRAM, 0);
        g_mutex_lock(&processes->lock);
        over = size <= 0 || !take_datagram(processes, bytes, (gsize)size);
        if (over)
            end(processes);
        g_cond_broadcast(&processes->news);
        g_mutex_unlock(&processes->lock);
    }
    return NULL;
}

BbProcesses *bb_processes_new(int fd, const char *host)
{
    BbProcesses *processes = g_new0(BbProcesses, 1);
    processes->fd = fd;
    processes->host = g_strndup(host, HOST_MAX);
    g_mutex_init(&processes->lock);
    g_cond_init(&processes->news);
    g_queue_init(&processes->warnings);
    processes->table = bb_process_table_new();
    processes->decided =
        g_hash_table_new_full(bb_socket_key_hash, bb_socket_key_equal, g_free, NULL);
    processes->earned_us = g_get_monotonic_time();
    processes->thread = g_thread_new("processes", take_all, processes);
    return processes;
}

void bb_processes_free(BbProcesses *processes)
{
    if (!processes)
        return;
    g_mutex_lock(&processes->lock);
    processes->closing = true;
    (void)shutdown(processes->fd, SHUT_WR);
    gint64 until_us = g_get_monotonic_time() + CLOSE_US;
    while (!processes->over)
        if (!g_cond_wait_until(&processes->news, &processes->lock, until_us))
            break;
    g_mutex_unlock(&processes->lock);
    (void)shutdown(processes->fd, SHUT_RDWR);
    g_thread_join(processes->thread);
    (void)close(processes->fd);
    g_queue_clear_full(&processes->warnings, g_free);
    g_hash_table_destroy(processes->decided);
    bb_process_table_free(processes->table);
    g_cond_clear(&processes->news);
    g_mutex_clear(&processes->lock);
    g_free(processes->host);
    g_free(processes);
}

// ---- waiting ------------------------------------------------------------------------------------

bool bb_processes_wait(BbProcesses *processes, gint64 at_most_us)
{
    gint64 until_us = g_get_monotonic_time() + at_most_us;
    g_mutex_lock(&processes->lock);
    while (!processes->looks && !processes->over)
        if (!g_cond_wait_until(&processes->news, &processes->lock, until_us))
            break;
    bool looked = processes->looks > 0;
    g_mutex_unlock(&processes->lock);
    return looked;
}

// Time that may be waited: a share of the time that has passed, saved up to one wait.
static gint64 earn(BbProcesses *processes, gint64 now_us)
{
    gint64 more_us = (now_us - processes->earned_us) * BB_PROCESSES_WAIT_PERCENT / 100;
    processes->credit_us = MIN(processes->credit_us + more_us, BB_PROCESSES_WAIT_US);
    processes->earned_us = now_us;
    return processes->credit_us;
}

// Asks for a look, and waits for it where the time for that was saved. Returns whether one came.
static bool wait_for_look(BbProcesses *processes)
{
    gint64 began_us = g_get_monotonic_time();
    if (processes->over || earn(processes, began_us) < BB_PROCESSES_WAIT_US)
        return false;
    guint32 nudge = ++processes->nudges;
    if (send(processes->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
        return false;
    processes->counts.waits++;
    processes->credit_us = 0; // of others, who come while the lock is open
    while (!processes->over && (gint32)(processes->answered - nudge) < 0)
        if (!g_cond_wait_until(&processes->news, &processes->lock, began_us + BB_PROCESSES_WAIT_US))
            break;
    gint64 now_us = g_get_monotonic_time();
    processes->counts.waited_us += now_us - began_us;
    processes->credit_us = BB_PROCESSES_WAIT_US - (now_us - began_us);
    processes->earned_us = now_us;
    return (gint32)(processes->answered - nudge) >= 0;
}

// ---- names --------------------------------------------------------------------------------------

static const char *find(BbProcesses *processes, const BbSocketKey *key, bool is_server)
{
    const char *name = bb_process_table_find(processes->table, key, is_server);
    if (!name && wait_for_look(processes))
        name = bb_process_table_find(processes->table, key, is_server);
    return name;
}

// What is decided stays until the connection is over; of UDP nobody says when that is.
static const char *decide(BbProcesses *processes, const BbSocketKey *key, bool is_server)
{
    const char *name = g_hash_table_lookup(processes->decided, key);
    if (name)
        return *name ? name : NULL;
    name = find(processes, key, is_server);
    if (!name && !is_server) {
        name = bb_process_table_infer(processes->table, key);
        processes->counts.inferred += name != NULL;
    }
    processes->counts.unknown += !name;
    if (key->protocol == BB_SOCKET_TCP &&
        g_hash_table_size(processes->decided) < BB_PROCESSES_DECIDED)
        g_hash_table_insert(processes->decided, g_memdup2(key, sizeof *key),
                            (gpointer)(name ? name : ""));
    return name;
}

typedef const char *(*FindProcess)(BbProcesses *, const BbSocketKey *, bool is_server);

static const char *look_up(BbProcesses *processes, const BbSocketKey *key, bool is_server)
{
    return bb_process_table_find(processes->table, key, is_server);
}

static bool name_of(BbProcesses *processes, const BbSocketKey *key, bool is_server, FindProcess ask,
                    char name[BB_PROCESSES_NAME])
{
    const char *found = NULL;
    g_mutex_lock(&processes->lock);
    if (bb_process_table_is_local(processes->table, &key->local))
        found = ask(processes, key, is_server);
    if (found)
        (void)g_snprintf(name, BB_PROCESSES_NAME, "%s/%s", processes->host, found);
    g_mutex_unlock(&processes->lock);
    return found;
}

bool bb_processes_name(BbProcesses *processes, const BbSocketKey *key, bool is_server,
                       char name[BB_PROCESSES_NAME])
{
    return name_of(processes, key, is_server, decide, name);
}

bool bb_processes_find(BbProcesses *processes, const BbSocketKey *key, bool is_server,
                       char name[BB_PROCESSES_NAME])
{
    return name_of(processes, key, is_server, look_up, name);
}

void bb_processes_end(BbProcesses *processes, const BbSocketKey *key)
{
    g_mutex_lock(&processes->lock);
    (void)g_hash_table_remove(processes->decided, key);
    g_mutex_unlock(&processes->lock);
}

BbProcessesCounts bb_processes_counts(BbProcesses *processes)
{
    g_mutex_lock(&processes->lock);
    BbProcessesCounts counts = processes->counts;
    g_mutex_unlock(&processes->lock);
    return counts;
}

char *bb_processes_take_warning(BbProcesses *processes)
{
    g_mutex_lock(&processes->lock);
    char *warning = g_queue_pop_head(&processes->warnings);
    g_mutex_unlock(&processes->lock);
    return warning;
}
