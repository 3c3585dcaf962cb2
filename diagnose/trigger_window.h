// SPDX-License-Identifier: Apache-2.0
// The calls of a sliding window, in slices. Inside diagnose/ only.
#pragma once

#include "data/stats.h"
#include "diagnose/trigger.h"

typedef struct BbTriggerWindow BbTriggerWindow;

BbTriggerWindow *bb_trigger_window_new(void);
void bb_trigger_window_free(BbTriggerWindow *window);

// A call that returned within slice; now is the slice that time is in. Returns false where the
// window no longer reaches back to it.
bool bb_trigger_window_add(BbTriggerWindow *window, gint64 slice, gint64 now, gint64 latency_ns,
                           bool failed);

// What is in the BB_TRIGGER_SLICES slices before end. latency is the caller's.
typedef struct BbTriggerSum {
    BbStats *latency;        // of those whose call was seen
    guint64 returns, errors; // all of them
} BbTriggerSum;
BbTriggerSum bb_trigger_window_sum(const BbTriggerWindow *window, gint64 end);

#define BB_TRIGGER_LATENCY_NONE G_MININT64 // the call was not seen, or nobody asks
