// SPDX-License-Identifier: Apache-2.0
// How long the blocks of an overlap-save correlation should be, and what it and counting cost. A
// model in nanoseconds, from numbers alone: `bench_correlogram calibrate` measures its constants.
#pragma once

#include "convolution/correlogram.h"

typedef struct BbBlockShape {
    guint64 size;    // of a transform; >= step + n_lags - 1, so that no wanted lag wraps around
    gint64 step;     // quanta of the train in that a block has
    gint64 count;    // of blocks in the span
    double block_ns; // of a pair of blocks: multiplying, and its share of two transforms
    double pair_ns;  // of a pair of trains besides: one transform back
} BbBlockShape;

// n_lags >= 1, span >= 0.
BbBlockShape bb_block_shape(gsize n_lags, gint64 span);

// Of a pair of trains, by blocks, so many of which have messages.
double bb_blocks_ns(const BbBlockShape *shape, double blocks, double messages);

// Of counting so many pairs among so many messages.
double bb_counting_ns(double pairs, double messages);
