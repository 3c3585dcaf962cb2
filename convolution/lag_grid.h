// SPDX-License-Identifier: Apache-2.0
// Lags between a message that a node gets and one that it sends, in bins of a quantum; and the walk
// over all pairs of messages whose lag lies in a span of bins.
#pragma once

#include "convolution/streams.h"

typedef struct BbLagGrid {
    gint64 quantum_ns;
    guint32 before; // bins of negative lag: effects stamped earlier than their cause
    guint32 bins;   // all of them
    guint32 beyond; // the last of them: delays that are too long; they only tell what chance brings
} BbLagGrid;

// Bins [low, high).
typedef struct BbSpan {
    guint32 low, high;
} BbSpan;

// Messages in that a message out is paired with, at most: the latest ones. Only bursts of messages
// closer together than a quantum have more.
#define BB_SWEEP_MAX 1024u

// The walk: for each message out, in order, the messages in are [first, end).
typedef struct BbSweep {
    const gint64 *in_ns;
    gint64 low_ns, high_ns; // lags, from -before bins on
    gint64 zero_ns;
    double bins_per_ns;
    gint64 now;
    guint32 count, first, end;
} BbSweep;

static inline BbSweep bb_sweep_start(const BbLagGrid *grid, BbSpan span, const BbStream *in)
{
    return (BbSweep){
        .in_ns = in->ns,
        .low_ns = (gint64)span.low * grid->quantum_ns,
        .high_ns = (gint64)span.high * grid->quantum_ns,
        .zero_ns = (gint64)grid->before * grid->quantum_ns,
        .bins_per_ns = 1.0 / (double)grid->quantum_ns,
        .count = in->count,
    };
}

// Goes on to the message sent at out_ns, which is not earlier than the one before.
static inline void bb_sweep_to(BbSweep *sweep, gint64 out_ns)
{
    gint64 now = sweep->now = out_ns + sweep->zero_ns;
    while (sweep->first < sweep->count && sweep->in_ns[sweep->first] <= now - sweep->high_ns)
        sweep->first++;
    if (sweep->end < sweep->first)
        sweep->end = sweep->first;
    while (sweep->end < sweep->count && sweep->in_ns[sweep->end] <= now - sweep->low_ns)
        sweep->end++;
    if (sweep->end - sweep->first > BB_SWEEP_MAX)
        sweep->first = sweep->end - BB_SWEEP_MAX;
}

// The bin of the pair with message `in`, which is in [first, end). Rounding may put a lag that ends
// a bin into the next one: hold it below the number of bins.
static inline guint32 bb_sweep_bin(const BbSweep *sweep, guint32 in)
{
    return (guint32)((double)(sweep->now - sweep->in_ns[in]) * sweep->bins_per_ns);
}
