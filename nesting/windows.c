// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace. Out: causal paths, window after window.
//
// What a window does not publish goes on to the next one as calls (bb_pairs_push_call): those with
// their returns are not paired again, those without meet their returns there. A call without return
// goes on once; after that it has waited for at least a whole step more than the overlap, and is
// published as it is. Returns without call are dropped.
#include "nesting/windows.h"

#define BEGINNING G_MININT64
#define END G_MAXINT64

struct BbWindows {
    const BbNames *names;
    BbWindowOptions options;
    BbNesting *nesting;
    BbPairs *pairs;
    gint64 start_ns;       // of the current window: what began before was published; or BEGINNING
    guint64 late_here;     // messages of the current window that came late
    guint64 late;          // of all
    guint64 instances;     // published
    bool due, ended, used; // used: some window was published
};

BbWindows *bb_windows_new(const BbNames *names, const BbNestingOptions *nesting,
                          const BbWindowOptions *options)
{
    BbWindows *windows = g_new0(BbWindows, 1);
    windows->names = names;
    windows->options = *options;
    if (options->messages == 0)
        windows->options.messages = BB_WINDOW_MESSAGES;
    if (options->step_ns <= 0 || options->step_ns > options->length_ns)
        windows->options.step_ns = options->length_ns - options->length_ns / 4;
    windows->nesting = bb_nesting_new(names, nesting);
    windows->pairs = bb_pairs_new(names);
    windows->start_ns = BEGINNING;
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
    return windows->late;
}

static gint64 add_time(gint64 time_ns, gint64 length_ns)
{
    gint64 sum_ns;
    return __builtin_add_overflow(time_ns, length_ns, &sum_ns) ? END : sum_ns;
}

static bool goes_by_time(const BbWindows *windows)
{
    return !windows->options.whole && windows->options.length_ns > 0;
}

// ---- messages ----------------------------------------------------------------------------------

// Moves an empty window on to where the message is in its first step: nothing is published of what
// lies between.
static void jump(BbWindows *windows, gint64 time_ns)
{
    guint64 step = (guint64)windows->options.step_ns;
    guint64 ahead = (guint64)time_ns - (guint64)windows->start_ns;
    windows->start_ns = (gint64)((guint64)windows->start_ns + ahead / step * step);
}

// Whether the window is over when the message comes.
static bool is_over(BbWindows *windows, const BbMessage *message)
{
    const BbWindowOptions *options = &windows->options;
    guint64 held = bb_pairs_held(windows->pairs);
    if (options->whole)
        return false;
    if (!goes_by_time(windows))
        return held >= options->messages;
    if (windows->start_ns == BEGINNING)
        windows->start_ns = message->time_ns;
    if (windows->late_here >= options->messages)
        return true;
    gint64 end_ns = add_time(windows->start_ns, options->length_ns);
    if (message->time_ns < end_ns || end_ns == END)
        return false;
    if (held == 0)
        jump(windows, message->time_ns);
    return held > 0;
}

bool bb_windows_push(BbWindows *windows, const BbMessage *message)
{
    windows->due =
        windows->due || is_over(windows, message) || !bb_pairs_push(windows->pairs, message);
    if (windows->due)
        return false;
    if (message->time_ns < windows->start_ns) {
        windows->late_here++;
        windows->late++;
    }
    return true;
}

void bb_windows_end(BbWindows *windows)
{
    windows->ended = true;
    windows->due = !windows->used || bb_pairs_held(windows->pairs) > 0 ||
                   bb_pairs_messages(windows->pairs) > 0;
}

// ---- what is published -------------------------------------------------------------------------

// Up to when paths are published. END: all of them, as nothing comes after, or as the window is not
// one of time: its stamps have nothing to do with the window before, or are all the same.
static gint64 find_frontier(const BbWindows *windows, const BbPaths *paths)
{
    const BbWindowOptions *options = &windows->options;
    if (windows->ended || options->whole || windows->late_here >= options->messages)
        return END;
    if (goes_by_time(windows))
        return add_time(windows->start_ns, options->step_ns);
    if (paths->n_calls == 0)
        return END;
    gint64 frontier_ns = paths->calls[paths->n_calls - 1 - paths->n_calls / 4].call_ns;
    return frontier_ns > paths->calls[0].call_ns ? frontier_ns : END;
}

// Calls without return that wait once more, at most a quarter of a window: those from this time on.
static gint64 find_patience(const BbWindows *windows, const BbPaths *paths, gint64 frontier_ns)
{
    guint64 room = windows->options.messages / 4;
    gint64 from_ns = frontier_ns;
    if (goes_by_time(windows))
        return windows->start_ns;
    for (guint32 i = paths->n_calls; i > 0 && room > 0; i--) {
        const BbCall *call = &paths->calls[i - 1];
        if (call->call_ns < windows->start_ns)
            return windows->start_ns;
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
    for (guint32 i = 0; frontier_ns != END && i < paths->n_instances; i++) {
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

// Closes the gaps that the carried calls leave; returns the new indices, which the caller frees.
static guint32 *compact_calls(BbPaths *paths, const guint8 *carried)
{
    guint32 *place = g_new(guint32, paths->n_calls);
    guint32 kept = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (carried[i])
            continue;
        place[i] = kept;
        paths->calls[kept] = paths->calls[i];
        paths->parent[kept] = paths->parent[i];
        paths->confidence[kept] = paths->confidence[i];
        paths->level[kept] = paths->level[i];
        paths->shape[kept] = paths->shape[i];
        paths->self_ns[kept] = paths->self_ns[i];
        kept++;
    }
    paths->n_calls = kept;
    for (guint32 i = 0; i < kept; i++)
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            paths->parent[i] = place[paths->parent[i]];
    return place;
}

static void take_out(BbPaths *paths, const guint8 *carried)
{
    guint32 listed = 0, kept = 0;
    g_autofree guint32 *root = g_new(guint32, paths->n_instances);
    for (guint32 i = 0; i < paths->n_instances; i++)
        root[i] = paths->order[paths->instances[i].first];
    g_autofree guint32 *place = compact_calls(paths, carried);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        BbInstance instance = paths->instances[i];
        if (carried[root[i]])
            continue;
        for (guint32 k = 0; k < instance.count; k++)
            paths->order[listed + k] = place[paths->order[instance.first + k]];
        instance.first = listed;
        instance.place = kept;
        paths->instances[kept++] = instance;
        listed += instance.count;
    }
    paths->n_instances = kept;
}

static void count_calls(BbPaths *paths)
{
    paths->facts.calls = paths->n_calls;
    paths->facts.calls_unreturned = 0;
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->facts.calls_unreturned += !bb_call_is_returned(&paths->calls[i]);
}

// Leaves what is published in paths, and the rest to the next window. Returns the frontier.
static gint64 divide(BbWindows *windows, BbPaths *paths)
{
    gint64 frontier_ns = find_frontier(windows, paths);
    g_autofree guint8 *carried = g_new0(guint8, paths->n_calls);
    guint64 messages = mark_carried(windows, paths, frontier_ns, carried);
    if (messages == 0)
        return frontier_ns;
    if (!goes_by_time(windows) && messages > windows->options.messages / 4 * 3)
        return END; // a window would hold little else
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (carried[i])
            bb_pairs_push_call(windows->pairs, &paths->calls[i]);
    take_out(paths, carried);
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
    if (windows->start_ns != BEGINNING)
        paths->from_ns = windows->start_ns;
    if (frontier_ns != END)
        paths->to_ns = frontier_ns;
    windows->start_ns = frontier_ns == END ? BEGINNING : frontier_ns;
    paths->instances_before = windows->instances;
    windows->instances += paths->n_instances;
    windows->late_here = 0;
    windows->used = true;
    windows->due = false;
    return paths;
}
