// SPDX-License-Identifier: Apache-2.0
// In: times of messages. Out: when a window is over, and up to where it is published.
#include "data/schedule.h"

void bb_schedule_init(BbSchedule *schedule, const BbWindowOptions *options, guint64 messages)
{
    *schedule = (BbSchedule){.options = *options, .start_ns = BB_SCHEDULE_ANY};
    if (options->messages == 0)
        schedule->options.messages = messages;
    schedule->options.step_ns = bb_window_step(options);
}

bool bb_schedule_goes_by_time(const BbSchedule *schedule)
{
    return !schedule->options.whole && schedule->options.length_ns > 0;
}

// Moves an empty window on to where the time is in its first step: nothing is published of what
// lies between.
static void jump(BbSchedule *schedule, gint64 time_ns)
{
    guint64 step = (guint64)schedule->options.step_ns;
    guint64 ahead = (guint64)time_ns - (guint64)schedule->start_ns;
    schedule->start_ns = (gint64)((guint64)schedule->start_ns + ahead / step * step);
}

bool bb_schedule_is_over(BbSchedule *schedule, gint64 time_ns, guint64 held)
{
    const BbWindowOptions *options = &schedule->options;
    if (options->whole)
        return false;
    if (!bb_schedule_goes_by_time(schedule))
        return held >= options->messages;
    if (schedule->start_ns == BB_SCHEDULE_ANY)
        schedule->start_ns = time_ns;
    if (schedule->late_here >= options->messages)
        return true;
    gint64 end_ns = bb_time_after(schedule->start_ns, options->length_ns);
    if (time_ns < end_ns || end_ns == BB_SCHEDULE_ALL)
        return false;
    if (held == 0)
        jump(schedule, time_ns);
    return held > 0;
}

void bb_schedule_take(BbSchedule *schedule, gint64 time_ns)
{
    if (time_ns >= schedule->start_ns)
        return;
    schedule->late_here++;
    schedule->late++;
}

gint64 bb_schedule_frontier(const BbSchedule *schedule, const BbPaths *paths)
{
    const BbWindowOptions *options = &schedule->options;
    if (schedule->ended || options->whole || schedule->late_here >= options->messages)
        return BB_SCHEDULE_ALL;
    if (bb_schedule_goes_by_time(schedule))
        return bb_time_after(schedule->start_ns, options->step_ns);
    if (paths->n_calls == 0)
        return BB_SCHEDULE_ALL;
    gint64 frontier_ns = paths->calls[paths->n_calls - 1 - paths->n_calls / 4].call_ns;
    return frontier_ns > paths->calls[0].call_ns ? frontier_ns : BB_SCHEDULE_ALL;
}

void bb_schedule_next(BbSchedule *schedule, BbPaths *paths, gint64 frontier_ns)
{
    if (schedule->start_ns != BB_SCHEDULE_ANY)
        paths->from_ns = schedule->start_ns;
    if (frontier_ns != BB_SCHEDULE_ALL)
        paths->to_ns = frontier_ns;
    schedule->start_ns = frontier_ns == BB_SCHEDULE_ALL ? BB_SCHEDULE_ANY : frontier_ns;
    schedule->late_here = 0;
    paths->instances_before = schedule->instances;
    schedule->instances += paths->n_instances;
}
