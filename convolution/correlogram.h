// SPDX-License-Identifier: Apache-2.0
// Cross-correlation of two edges' messages at the lags that matter (paper, section 5.2.1): how many
// pairs (m, n) of a message in and a message out are `lag` quanta apart. Two ways to the same
// integers: counting pairs one by one, and overlap-save blocks of FFTs whose spectra are shared.
#pragma once

#include <glib.h>
#include <stdbool.h>

// All quanta are below it, and none is negative.
#define BB_QUANTA_END ((gint64)1 << 53)

// Messages as quanta since a common start, in order: floor((t - start) / mu). Two messages may have
// the same.
typedef struct BbTrain {
    const gint64 *quanta; // lent
    gsize count;
} BbTrain;

// lags[k] = number of pairs (m, n) with n - m = first_lag + k, for k in [0, n_lags).
typedef struct BbLags {
    gint64 first_lag; // may be negative
    gsize n_lags;
} BbLags;

// The part of lags that lies in [least, most]; n_lags is 0 if none does. Ends may be any.
BbLags bb_lags_within(const BbLags *lags, gint64 least, gint64 most);

// The slow twin, and the way for sparse trains: adds to counts, which stay at G_MAXUINT32 once they
// are there. Cost: the number of pairs it counts, and the messages; messages of `from` in one
// quantum count as one, so that it is never above n_lags * (to's messages).
void bb_correlogram_count(const BbTrain *from, const BbTrain *to, const BbLags *lags,
                          guint32 *counts);

// Does the same by blocks, for all pairs of some trains (those into and out of a node) at once: a
// block's spectra are computed once, used for all pairs, and forgotten, so that memory depends on
// the number of lags and not on the trace. Counts one by one where that costs less in a block, or
// where so many messages share quanta that rounding the transform would not be exact.
typedef struct BbBlocks BbBlocks;

// lags: of all correlations to come. span: quanta from the first to the last that any train has.
// memory_limit: bytes for the plan and the spectra; where it does not suffice for all pairs of a
// call, some of them wait for others, and spectra are computed again. Returns NULL where blocks
// cannot be (no memory for the plan and three spectra: the lags are too many). Main thread only
// (transform.h); after that one thread at a time.
BbBlocks *bb_blocks_new(const BbLags *lags, gint64 span, gsize memory_limit);
void bb_blocks_free(BbBlocks *blocks); // main thread only
// Adds to counts[i * n_to + k] the pairs of from[i] and to[k]; NULL: they are not wanted.
void bb_blocks_correlate(BbBlocks *blocks, const BbTrain *from, guint n_from, const BbTrain *to,
                         guint n_to, guint32 *const *counts);

// What was done so far, for --verbose and tests.
typedef struct BbBlocksWork {
    guint64 transforms; // both directions
    guint64 multiplied; // pairs of blocks that were correlated by their spectra
    guint64 counted;    // pairs of blocks that were counted one by one
} BbBlocksWork;
BbBlocksWork bb_blocks_work(const BbBlocks *blocks);

// Which is cheaper? Predicted nanoseconds of both, from the numbers alone (so that the choice is
// the same on every machine).
typedef struct BbCorrelogramCost {
    double counting, blocks;
} BbCorrelogramCost;
BbCorrelogramCost bb_correlogram_cost(const BbTrain *from, const BbTrain *to, const BbLags *lags,
                                      gint64 span);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbBlocks, bb_blocks_free)
