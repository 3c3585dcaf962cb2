// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace. Out: causal paths, window after window.
//
// What a window does not publish goes on to the next one as calls (bb_pairs_push_call): those with
// their returns are not paired again, those without meet their returns there. A call without return
// that has a parent goes where its parent does. One without parent goes on once; after that it has
// waited for at least a whole step more than the overlap, and is published as it is. Returns
// without call are dropped.
#include "nesting/windows.h"

struct BbWindows {
    const BbNames *names;
    BbSchedule schedule;
    BbNesting *nesting;
    BbPairs *pairs;
    bool due, used; // used: some window was published
};

BbWindows *bb_windows_new(const BbNames *names, const BbNestingOptions *nesting,
                          const BbWindowOptions *options)
{
    BbWindows *windows = g_new0(BbWindows, 1);
    windows->names = names;
    bb_schedule_init(&windows->schedule, options, BB_WINDOW_MESSAGES);
    windows->nesting = bb_nesting_new(names, nesting);
    windows->pairs = bb_pairs_new(names);
    return windows;
}

void bb_windows_free(BbWindows *windows)
{
    if (!windows)
        return;
    bb_nesting_free(windows->nesting);
    bb_pairs_free(windows->pairs);
    g_free(windows);
}

guint64 bb_windows_late(const BbWindows *windows)
{
    return windows->schedule.late;
}

// ---- messages ----------------------------------------------------------------------------------

bool bb_windows_push(BbWindows *windows, const BbMessage *message)
{
    windows->due =
        windows->due ||
        bb_schedule_is_over(&windows->schedule, message->time_ns, bb_pairs_held(windows->pairs)) ||
        !bb_pairs_push(windows->pairs, message);
    if (!windows->due)
        bb_schedule_take(&windows->schedule, message->time_ns);
    return !windows->due;
}

void bb_windows_end(BbWindows *windows)
{
    windows->schedule.ended = true;
    windows->due = !windows->used || bb_pairs_held(windows->pairs) > 0 ||
                   bb_pairs_messages(windows->pairs) > 0;
}

// ---- what is published -------------------------------------------------------------------------

// Calls without return that wait once more, at most a quarter of a window: those from this time on.
static gint64 find_patience(const BbWindows *windows, const BbPaths *paths, gint64 frontier_ns)
{
    guint64 room = windows->schedule.options.messages / 4;
    gint64 from_ns = frontier_ns;
    if (bb_schedule_goes_by_time(&windows->schedule))
        return windows->schedule.start_ns;
    for (guint32 i = paths->n_calls; i > 0 && room > 0; i--) {
        const BbCall *call = &paths->calls[i - 1];
        if (call->call_ns < windows->schedule.start_ns)
            return windows->schedule.start_ns;
        from_ns = MIN(from_ns, call->call_ns);
        room -= !bb_call_is_returned(call);
    }
    return from_ns;
}

// Marks the calls of instances that go on; returns how many messages they are.
static guint64 mark_carried(const BbWindows *windows, const BbPaths *paths, gint64 frontier_ns,
                            guint8 *carried)
{
    guint64 messages = 0;
    gint64 patience_ns = find_patience(windows, paths, frontier_ns);
    for (guint32 i = 0; frontier_ns != BB_SCHEDULE_ALL && i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        const guint32 *order = paths->order + instance->first;
        const BbCall *root = &paths->calls[order[0]];
        if (root->call_ns < frontier_ns &&
            (bb_call_is_returned(root) || root->call_ns < patience_ns))
            continue;
        for (guint32 k = 0; k < instance->count; k++) {
            carried[order[k]] = 1;
            messages += 1 + bb_call_is_returned(&paths->calls[order[k]]);
        }
    }
    return messages;
}

static void count_calls(BbPaths *paths)
{
    BbFacts *facts = &paths->facts;
    facts->calls = paths->n_calls;
    facts->calls_unreturned = facts->calls_unanswered = facts->calls_late = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        facts->calls_late += bb_call_is_late(&paths->calls[i]);
        if (bb_call_is_returned(&paths->calls[i]) || bb_call_is_late(&paths->calls[i]))
            continue;
        facts->calls_unreturned++;
        facts->calls_unanswered += paths->parent[i] != BB_CALL_NO_PARENT;
    }
}

// To the next window, which finds anew what was given up.
static void carry(BbWindows *windows, BbPaths *paths, const guint8 *carried)
{
    for (guint i = 0; paths->late && i < paths->late->len; i++) {
        const BbLate *late = &g_array_index(paths->late, BbLate, i);
        if (!carried[late->call])
            continue;
        paths->calls[late->call].return_ns = late->return_ns;
        paths->calls[late->call].return_end_ns = late->return_end_ns;
    }
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (carried[i])
            bb_pairs_push_call(windows->pairs, &paths->calls[i]);
}

// Leaves what is published in paths, and the rest to the next window. Returns the frontier.
static gint64 divide(BbWindows *windows, BbPaths *paths)
{
    gint64 frontier_ns = bb_schedule_frontier(&windows->schedule, paths);
    g_autofree guint8 *carried = g_new0(guint8, paths->n_calls);
    guint64 messages = mark_carried(windows, paths, frontier_ns, carried);
    if (messages == 0)
        return frontier_ns;
    if (!bb_schedule_goes_by_time(&windows->schedule) &&
        messages > windows->schedule.options.messages / 4 * 3)
        return BB_SCHEDULE_ALL; // a window would hold little else
    carry(windows, paths, carried);
    bb_paths_take_out(paths, carried);
    count_calls(paths);
    return frontier_ns;
}

BbPaths *bb_windows_next(BbWindows *windows)
{
    if (!windows->due)
        return NULL;
    BbPaths *paths = bb_nesting_run(windows->nesting, windows->pairs);
    bb_pairs_free(windows->pairs);
    windows->pairs = bb_pairs_new(windows->names);
    gint64 frontier_ns = divide(windows, paths);
    bb_schedule_next(&windows->schedule, paths, frontier_ns);
    windows->used = true;
    windows->due = false;
    return paths;
}
