// SPDX-License-Identifier: Apache-2.0
// Slices of Chrome trace events: what a thread did from when to when, nested by their times.
#pragma once

#include "data/counters.h"
#include "data/message.h"

// Deeper ones are left out (chrome_deep).
#define BB_CHROME_DEPTH_MAX 512

#define BB_CHROME_NONE G_MAXUINT32

typedef struct BbChromeSlice {
    gint64 start_ns, end_ns; // end_ns is G_MAXINT64 where it is not told
    guint32 thread, name;
    guint32 above; // BB_CHROME_NONE at the top of the thread
    guint32 cause; // for the user; BB_CHROME_NONE at first
    guint32 sent;  // likewise; 0 at first
} BbChromeSlice;

typedef struct BbChromeSlices BbChromeSlices;

// counters is lent, and outlives the slices.
BbChromeSlices *bb_chrome_slices_new(BbCounters *counters);
void bb_chrome_slices_free(BbChromeSlices *slices);

// A slice whose times are both known; begin and end of one, matched by their order on the thread.
// Any may come in any order. 0 <= start_ns <= end_ns.
void bb_chrome_slices_add(BbChromeSlices *slices, guint32 thread, guint32 name, gint64 start_ns,
                          gint64 end_ns);
void bb_chrome_slices_begin(BbChromeSlices *slices, guint32 thread, guint32 name, gint64 time_ns);
void bb_chrome_slices_end(BbChromeSlices *slices, guint32 thread, gint64 time_ns);

// Matches and nests. Only after it may slices be asked for.
void bb_chrome_slices_finish(BbChromeSlices *slices);

// The innermost slice of thread at that time; the first that starts then or later. BB_CHROME_NONE
// if there is none.
guint32 bb_chrome_slices_at(const BbChromeSlices *slices, guint32 thread, gint64 time_ns);
guint32 bb_chrome_slices_after(const BbChromeSlices *slices, guint32 thread, gint64 time_ns);

// index is one of those. Lent.
BbChromeSlice *bb_chrome_slice(BbChromeSlices *slices, guint32 index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbChromeSlices, bb_chrome_slices_free)
