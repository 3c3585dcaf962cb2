// SPDX-License-Identifier: Apache-2.0
// In: causes of snapshots, and how time goes on. Out: traces in a folder, each named after its
// cause.
#include "cli/snapshots.h"

#include "cli/snapshot.h"
#include "cli/snapshots_kept.h"
#include "data/keys.h"
#include "data/quantity.h"

#define SLUG_MAX 48u
#define TICKETS_MAX 64u // of one snapshot
// A clock that goes back by more than this cannot be waited for.
#define BACK_NS G_GINT64_CONSTANT(10000000000)

typedef struct {
    char *text, *slug;
    bool pauses;
    gint64 taken_ns;                       // when the last one was fired; BB_TIME_NONE for never
    guint64 suppressed, suppressed_before; // in all, and when the last one was taken
    // One that waits for its time.
    bool waits;
    gint64 fired_ns;
    char *what;
    GArray *tickets;
    bool in_work; // one is with the thread, or its result is not yet taken: the next one waits
} Cause;

typedef struct {
    bool last;
    guint cause;
    char *path, *what;
    GPtrArray *notes; // ends with NULL
    BbCounters *counters;
    BbNetwork *network;
    GArray *tickets;
} Work;

struct BbSnapshots {
    BbSnapshotsSetup setup;
    GPtrArray *causes;
    guint taken;
    GThread *thread;             // NULL: none
    GAsyncQueue *work, *results; // of Work, BbSnapshotResult
    GHashTable *paths;           // given away, though perhaps not yet written
    gint deleted;                // atomic
    gint64 now_ns;
};

// ---- writing: in the thread, where there is one -------------------------------------------------

static void work_free(gpointer data)
{
    Work *work = data;
    g_free(work->path);
    g_free(work->what);
    g_clear_pointer(&work->notes, g_ptr_array_unref);
    g_clear_pointer(&work->counters, bb_counters_free);
    g_clear_pointer(&work->network, bb_network_free);
    g_clear_pointer(&work->tickets, g_array_unref);
    g_free(work);
}

static void do_work(BbSnapshots *snapshots, Work *work)
{
    g_autoptr(GError) error = NULL;
    const BbSnapshot snapshot = {.ring = snapshots->setup.ring,
                                 .out = work->path,
                                 .notes = (const char *const *)work->notes->pdata,
                                 .counters = work->counters,
                                 .network = work->network,
                                 .network_names = snapshots->setup.names};
    BbSnapshotResult *result = g_new0(BbSnapshotResult, 1);
    if (bb_snapshot_write(&snapshot, &result->messages, &result->damage, &error))
        g_atomic_int_add(
            &snapshots->deleted,
            (gint)bb_snapshots_keep(snapshots->setup.folder, snapshots->setup.options, work->path));
    else
        result->error = g_strdup(error->message);
    result->cause = work->cause;
    result->path = g_steal_pointer(&work->path);
    result->what = g_steal_pointer(&work->what);
    result->tickets = g_steal_pointer(&work->tickets);
    g_async_queue_push(snapshots->results, result);
}

static gpointer run(gpointer data)
{
    BbSnapshots *snapshots = data;
    for (bool last = false; !last;) {
        Work *work = g_async_queue_pop(snapshots->work);
        last = work->last;
        if (!last)
            do_work(snapshots, work);
        work_free(work);
    }
    return NULL;
}

void bb_snapshot_result_free(BbSnapshotResult *result)
{
    if (!result)
        return;
    g_free(result->path);
    g_free(result->what);
    g_free(result->damage);
    g_free(result->error);
    g_array_unref(result->tickets);
    g_free(result);
}

static void result_free(gpointer data)
{
    bb_snapshot_result_free(data);
}

// ---- beginning and end --------------------------------------------------------------------------

static void cause_free(gpointer data)
{
    Cause *cause = data;
    g_free(cause->text);
    g_free(cause->slug);
    g_free(cause->what);
    g_clear_pointer(&cause->tickets, g_array_unref);
    g_free(cause);
}

BbSnapshots *bb_snapshots_new(const BbSnapshotsSetup *setup)
{
    BbSnapshots *snapshots = g_new0(BbSnapshots, 1);
    snapshots->setup = *setup;
    snapshots->now_ns = BB_TIME_NONE;
    snapshots->causes = g_ptr_array_new_with_free_func(cause_free);
    snapshots->paths = g_hash_table_new_full(bb_text_key_hash, g_str_equal, g_free, NULL);
    snapshots->work = g_async_queue_new_full(work_free);
    snapshots->results = g_async_queue_new_full(result_free);
    if (setup->in_thread)
        snapshots->thread = g_thread_new("snapshots", run, snapshots);
    return snapshots;
}

static void join(BbSnapshots *snapshots)
{
    if (!snapshots->thread)
        return;
    Work *last = g_new0(Work, 1);
    last->last = true;
    g_async_queue_push(snapshots->work, last);
    g_thread_join(g_steal_pointer(&snapshots->thread));
}

void bb_snapshots_free(BbSnapshots *snapshots)
{
    if (!snapshots)
        return;
    join(snapshots);
    g_async_queue_unref(snapshots->work);
    g_async_queue_unref(snapshots->results);
    g_hash_table_destroy(snapshots->paths);
    g_ptr_array_unref(snapshots->causes);
    g_free(snapshots);
}

// Letters and digits, with one dash between.
static char *slug_of(const char *text)
{
    GString *slug = g_string_new(NULL);
    for (const char *c = text; *c && slug->len < SLUG_MAX; c++) {
        if (g_ascii_isalnum(*c))
            g_string_append_c(slug, *c);
        else if (slug->len > 0 && slug->str[slug->len - 1] != '-')
            g_string_append_c(slug, '-');
    }
    if (slug->len > 0 && slug->str[slug->len - 1] == '-')
        g_string_truncate(slug, slug->len - 1);
    return g_string_free(slug, FALSE);
}

guint bb_snapshots_add(BbSnapshots *snapshots, const char *text, bool pauses)
{
    Cause *cause = g_new0(Cause, 1);
    cause->text = g_strdup(text);
    cause->slug = slug_of(text);
    cause->pauses = pauses;
    cause->taken_ns = BB_TIME_NONE;
    g_ptr_array_add(snapshots->causes, cause);
    return snapshots->causes->len - 1;
}

// ---- when ---------------------------------------------------------------------------------------

static bool is_paused(const BbSnapshots *snapshots, const Cause *cause, gint64 time_ns)
{
    return cause->pauses && cause->taken_ns != BB_TIME_NONE && time_ns >= cause->taken_ns &&
           time_ns - cause->taken_ns < snapshots->setup.options->pause_ns;
}

static bool join_waiting(Cause *cause, guint ticket)
{
    if (cause->pauses || cause->tickets->len >= TICKETS_MAX)
        return false;
    if (ticket)
        g_array_append_val(cause->tickets, ticket);
    return true;
}

bool bb_snapshots_fire(BbSnapshots *snapshots, guint number, gint64 time_ns, const char *what,
                       guint ticket)
{
    Cause *cause = g_ptr_array_index(snapshots->causes, number);
    bool joined = cause->waits && join_waiting(cause, ticket);
    if (joined)
        return true;
    if (cause->waits || is_paused(snapshots, cause, time_ns)) {
        cause->suppressed++;
        return false;
    }
    cause->waits = true;
    cause->fired_ns = time_ns;
    cause->taken_ns = time_ns;
    cause->what = g_strdup(what);
    cause->tickets = g_array_new(FALSE, FALSE, sizeof(guint));
    return join_waiting(cause, ticket) || cause->pauses;
}

// ---- taking one ---------------------------------------------------------------------------------

// snap-20261120T085431.500Z-latency-GET-order.bbt; where that is there already, with -2 and so on.
static char *new_path(BbSnapshots *snapshots, const Cause *cause)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(cause->fired_ns / 1000000000);
    g_autofree char *time =
        date ? g_date_time_format(date, "%Y%m%dT%H%M%S") : g_strdup("00000000T000000");
    for (guint i = 1;; i++) {
        g_autofree char *again = i > 1 ? g_strdup_printf("-%u", i) : g_strdup("");
        g_autofree char *name =
            g_strdup_printf("snap-%s.%03dZ-%s%s.bbt", time, (int)(cause->fired_ns / 1000000 % 1000),
                            cause->slug, again);
        char *path = g_build_filename(snapshots->setup.folder, name, NULL);
        if (!g_hash_table_contains(snapshots->paths, path) &&
            !g_file_test(path, G_FILE_TEST_EXISTS)) {
            g_hash_table_add(snapshots->paths, g_strdup(path));
            return path;
        }
        g_free(path);
    }
}

static GPtrArray *make_notes(const BbSnapshots *snapshots, const Cause *cause)
{
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
    GString *note = g_string_new("snapshot of a flight recorder, fired by ");
    g_string_append(note, cause->text);
    if (cause->what)
        g_string_append_printf(note, ": %s", cause->what);
    g_string_append(note, ", at ");
    bb_quantity_append_time(note, cause->fired_ns);
    gint64 after_ns =
        snapshots->now_ns != BB_TIME_NONE ? MAX(snapshots->now_ns - cause->fired_ns, 0) : 0;
    g_string_append(note, "; the trace goes on for ");
    bb_quantity_append_duration(note, MIN(after_ns, snapshots->setup.options->after_ns));
    g_ptr_array_add(notes, g_string_free(note, FALSE));
    guint64 before = cause->suppressed - cause->suppressed_before;
    if (before)
        g_ptr_array_add(notes, g_strdup_printf("%" G_GUINT64_FORMAT
                                               " more firings of this cause were suppressed "
                                               "before this snapshot",
                                               before));
    if (snapshots->setup.notes)
        snapshots->setup.notes(snapshots->setup.user, notes);
    g_ptr_array_add(notes, NULL);
    return notes;
}

static void take(BbSnapshots *snapshots, guint number)
{
    Cause *cause = g_ptr_array_index(snapshots->causes, number);
    Work *work = g_new0(Work, 1);
    const BbNetwork *network = NULL;
    work->cause = number;
    work->path = new_path(snapshots, cause);
    work->notes = make_notes(snapshots, cause);
    work->what = g_strdup_printf("%s%s%s", cause->text, cause->what ? ": " : "",
                                 cause->what ? cause->what : "");
    work->counters = bb_counters_new();
    snapshots->setup.totals(snapshots->setup.user, work->counters, &network);
    if (network) {
        work->network = bb_network_new();
        bb_network_merge(work->network, network);
    }
    work->tickets = g_steal_pointer(&cause->tickets);
    g_clear_pointer(&cause->what, g_free);
    cause->waits = false;
    cause->suppressed_before = cause->suppressed;
    if (snapshots->thread) {
        cause->in_work = true;
        g_async_queue_push(snapshots->work, work);
        return;
    }
    do_work(snapshots, work);
    work_free(work);
}

void bb_snapshots_tick(BbSnapshots *snapshots, gint64 now_ns)
{
    gint64 after_ns = snapshots->setup.options->after_ns;
    snapshots->now_ns = now_ns;
    for (guint i = 0; i < snapshots->causes->len; i++) {
        Cause *cause = g_ptr_array_index(snapshots->causes, i);
        if (cause->waits && !cause->in_work &&
            (now_ns - cause->fired_ns >= after_ns || now_ns < cause->fired_ns - BACK_NS))
            take(snapshots, i);
    }
}

void bb_snapshots_finish(BbSnapshots *snapshots)
{
    for (guint i = 0; i < snapshots->causes->len; i++) {
        const Cause *cause = g_ptr_array_index(snapshots->causes, i);
        if (cause->waits)
            take(snapshots, i);
    }
    join(snapshots);
}

BbSnapshotResult *bb_snapshots_next(BbSnapshots *snapshots)
{
    BbSnapshotResult *result = g_async_queue_try_pop(snapshots->results);
    if (!result)
        return NULL;
    snapshots->taken += !result->error;
    g_hash_table_remove(snapshots->paths, result->path);
    ((Cause *)g_ptr_array_index(snapshots->causes, result->cause))->in_work = false;
    return result;
}

guint64 bb_snapshots_suppressed(const BbSnapshots *snapshots)
{
    guint64 sum = 0;
    for (guint i = 0; i < snapshots->causes->len; i++)
        sum += ((const Cause *)g_ptr_array_index(snapshots->causes, i))->suppressed;
    return sum;
}

guint bb_snapshots_taken(const BbSnapshots *snapshots)
{
    return snapshots->taken;
}

guint bb_snapshots_deleted(const BbSnapshots *snapshots)
{
    return (guint)g_atomic_int_get(&snapshots->deleted);
}
