// SPDX-License-Identifier: Apache-2.0
// Flows of Chrome trace events: steps with one key, in order of time. A flow event is a step; so is
// each event of an asynchronous operation. Two steps in a row in two processes are a crossing: a
// message.
//
//   A crossing back, over the same flow, is the return of the one before it; so is one of another
//   flow from work that a crossing led to back to the thread where that one began. A crossing from
//   a slice that lasts longer than the whole slice it led to is a call, too: it ended with that
//   slice. All others are free messages. A crossing is caused by what led last to the slice it
//   began in, or to one around that; a step within a process leads to a slice, too.
#pragma once

#include "merge/chrome_slices.h"

typedef enum { BB_CHROME_BEGIN, BB_CHROME_STEP, BB_CHROME_END } BbChromeStepKind;

typedef struct BbChromeStep {
    gint64 time_ns;
    guint32 key, process, thread, name;
    BbChromeStepKind kind;
    bool nested; // a begin within its like does not begin anew (asynchronous operations)
    bool after;  // is at the next slice of the thread; else at the one around it
} BbChromeStep;

typedef struct BbChromeCrossing {
    gint64 sent_ns, received_ns;
    gint64 answer_sent_ns, answer_received_ns; // BB_TIME_NONE if not known
    guint32 from, to;                          // processes
    guint32 from_thread;
    guint32 from_slice, to_slice; // BB_CHROME_NONE for none
    guint32 name;                 // of the flow
    guint32 cause;                // a crossing before, BB_CHROME_ROOT or BB_CHROME_UNKNOWN
    guint32 path;                 // the first crossing of the path; BB_CHROME_NONE if not known
    guint32 below;                // inside only
    bool is_call;
} BbChromeCrossing;

#define BB_CHROME_ROOT (G_MAXUINT32 - 1)    // no crossing led there
#define BB_CHROME_UNKNOWN (G_MAXUINT32 - 2) // what led there is not told

// steps (of BbChromeStep, in the order of the file) are put in another order. slices are finished;
// their cause and sent are used. Returns the crossings (of BbChromeCrossing), which are yours; a
// cause stands before what it caused.
GArray *bb_chrome_flows(GArray *steps, BbChromeSlices *slices, BbCounters *counters);
