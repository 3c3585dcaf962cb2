// SPDX-License-Identifier: Apache-2.0
// When a window over a trace ends and what of it is published, whoever infers in it: so that a
// trace of any length goes through in bounded memory.
//
// Window k looks at the messages of [start + k step, start + k step + length). It publishes the
// path instances whose root begins in its first `step`; they are gone then. What is left goes on to
// the next window. So a path is cut only where it lasts longer than the overlap, and every message
// is published once.
// - A window of so many messages publishes up to the call that three quarters of its calls precede.
// - Times without messages cost nothing: windows of time in which nothing is held are passed over.
// - A window of time ends also when as many messages as options.messages came late in it, as after
//   a stamp of the far future; then all of it is published, and the next message begins a new
//   start.
#pragma once

#include "data/path.h"

typedef struct BbWindowOptions {
    gint64 length_ns; // 0: windows of so many messages
    gint64 step_ns;   // 0: three quarters of the length
    guint64 messages; // of a window without length, late ones of any; 0: what the stage says
    bool whole;       // one window, however long the trace
} BbWindowOptions;

// Of windows of time, by which each begins after the one before it.
static inline gint64 bb_window_step(const BbWindowOptions *options)
{
    bool told = options->step_ns > 0 && options->step_ns <= options->length_ns;
    return told ? options->step_ns : options->length_ns - options->length_ns / 4;
}

typedef struct BbSchedule {
    BbWindowOptions options;
    gint64 start_ns;   // of the current window: what began before was published; BB_SCHEDULE_ANY
                       // where nothing was
    guint64 late_here; // messages of the current window that came late
    guint64 late;      // of all
    guint64 instances; // published
    bool ended;        // set by the owner: no message comes any more
} BbSchedule;

#define BB_SCHEDULE_ANY G_MININT64
#define BB_SCHEDULE_ALL G_MAXINT64

// messages: those of a window where options do not tell.
void bb_schedule_init(BbSchedule *schedule, const BbWindowOptions *options, guint64 messages);

// Windows of a fixed length, not of so many messages.
bool bb_schedule_goes_by_time(const BbSchedule *schedule);

// Whether the window, which holds so many messages, is over when one of this time comes.
bool bb_schedule_is_over(BbSchedule *schedule, gint64 time_ns, guint64 held);

// A message of this time was taken.
void bb_schedule_take(BbSchedule *schedule, gint64 time_ns);

// Paths whose root begins before it are published; BB_SCHEDULE_ALL: all of them, as nothing comes
// after, or as the window is not one of time: its stamps have nothing to do with the window before,
// or are all the same.
gint64 bb_schedule_frontier(const BbSchedule *schedule, const BbPaths *paths);

// The window is over, and paths hold what was published of it, up to frontier: writes into them
// when that was and the number of their first instance.
void bb_schedule_next(BbSchedule *schedule, BbPaths *paths, gint64 frontier_ns);
