// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace. Out: explained ones, window after window.
#include "convolution/stretches.h"

struct BbStretches {
    const BbNames *names;
    BbSchedule schedule;
    BbConvolution *convolution;
    BbTraffic *traffic;
    guint64 held;   // messages of the current window, those that were carried included
    bool due, used; // used: some window was published
};

BbStretches *bb_stretches_new(const BbNames *names, const BbConvolutionOptions *convolution,
                              const BbWindowOptions *options)
{
    BbStretches *stretches = g_new0(BbStretches, 1);
    stretches->names = names;
    bb_schedule_init(&stretches->schedule, options, BB_STRETCH_MESSAGES);
    stretches->convolution = bb_convolution_new(names, convolution);
    stretches->traffic = bb_traffic_new(names);
    return stretches;
}

void bb_stretches_free(BbStretches *stretches)
{
    if (!stretches)
        return;
    bb_convolution_free(stretches->convolution);
    bb_traffic_free(stretches->traffic);
    g_free(stretches);
}

guint64 bb_stretches_late(const BbStretches *stretches)
{
    return stretches->schedule.late;
}

const BbConvolution *bb_stretches_convolution(const BbStretches *stretches)
{
    return stretches->convolution;
}

// ---- messages ----------------------------------------------------------------------------------

bool bb_stretches_push(BbStretches *stretches, const BbMessage *message)
{
    stretches->due = stretches->due ||
                     bb_schedule_is_over(&stretches->schedule, message->time_ns, stretches->held) ||
                     !bb_traffic_push(stretches->traffic, message);
    if (stretches->due)
        return false;
    bb_schedule_take(&stretches->schedule, message->time_ns);
    stretches->held++;
    return true;
}

void bb_stretches_end(BbStretches *stretches)
{
    stretches->schedule.ended = true;
    stretches->due = !stretches->used || stretches->held > 0;
}

// ---- what is published -------------------------------------------------------------------------

// Marks the messages of trees that go on; returns how many they are.
static guint32 mark_carried(const BbPaths *paths, gint64 frontier_ns, guint8 *carried)
{
    guint32 messages = 0;
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        const guint32 *order = paths->order + instance->first;
        if (paths->calls[order[0]].call_ns < frontier_ns)
            continue;
        for (guint32 k = 0; k < instance->count; k++)
            carried[order[k]] = 1;
        messages += instance->count;
    }
    return messages;
}

// The part of what correlates that goes with the messages published, of all.
static void scale_derived(BbPaths *paths, guint32 published, guint32 all)
{
    guint kept = 0;
    for (guint i = 0; paths->derived && i < paths->derived->len; i++) {
        BbDerived derived = g_array_index(paths->derived, BbDerived, i);
        derived.count = (guint64)((double)derived.count * published / all + 0.5);
        if (derived.count > 0)
            g_array_index(paths->derived, BbDerived, kept++) = derived;
    }
    if (paths->derived)
        g_array_set_size(paths->derived, kept);
}

// Leaves what is published in paths, and the rest to the next window. Returns the frontier.
static gint64 divide(BbStretches *stretches, BbPaths *paths)
{
    const BbSchedule *schedule = &stretches->schedule;
    gint64 frontier_ns = bb_schedule_frontier(schedule, paths);
    if (frontier_ns == BB_SCHEDULE_ALL)
        return frontier_ns;
    g_autofree guint8 *carried = g_new0(guint8, paths->n_calls);
    guint32 messages = mark_carried(paths, frontier_ns, carried), all = paths->n_calls;
    if (messages == 0)
        return frontier_ns;
    if (!bb_schedule_goes_by_time(schedule) && messages > schedule->options.messages / 4 * 3)
        return BB_SCHEDULE_ALL; // a window would hold little else
    for (guint32 i = 0; i < all; i++)
        if (carried[i])
            bb_traffic_push_call(stretches->traffic, &paths->calls[i]);
    stretches->held = messages;
    bb_paths_take_out(paths, carried);
    paths->facts.unrelated = bb_paths_count_unknown(paths);
    scale_derived(paths, all - messages, all);
    return frontier_ns;
}

BbPaths *bb_stretches_next(BbStretches *stretches)
{
    if (!stretches->due)
        return NULL;
    bb_traffic_finish(stretches->traffic);
    BbPaths *paths = bb_convolution_run(stretches->convolution, stretches->traffic);
    g_autoptr(BbTraffic) used = stretches->traffic;
    stretches->traffic = bb_traffic_new_after(used);
    stretches->held = 0;
    gint64 frontier_ns = divide(stretches, paths);
    bb_schedule_next(&stretches->schedule, paths, frontier_ns);
    stretches->used = true;
    stretches->due = false;
    return paths;
}
