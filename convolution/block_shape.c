// SPDX-License-Identifier: Apache-2.0
// In: the number of lags, the span of the trains.
// Out: size and number of blocks with the least predicted cost, and that cost.
#include "convolution/block_shape.h"

#include "convolution/transform.h"

#include <math.h>

// Nanoseconds, as `bench_correlogram calibrate` found them on one core of a Sapphire Rapids Xeon.
#define HIT_NS 1.05     // a pair counted
#define MESSAGE_NS 6.5  // a message passed by; mostly branches that were not foreseen
#define MULTIPLY_NS 0.6 // a number of the block: half a complex product, added up
#define FILL_NS 0.5     // a number of the block, before it is transformed
#define BACK 1.4        // a transform back, in transforms forward
#define BLOCK_NS 100    // a block besides
#define PASS_NS 1       // a message, for finding the blocks' messages

// A spectrum is used by so many pairs: as many as a node has edges in, or out.
#define SHARED_BY 4

// A transform forward, per number: by the logarithm of its size, from 2^8 on. The steps are caches.
static const double TRANSFORM_NS[] = {
    1.3, 1.1, 1.0, 1.0, 1.3, 1.8, 2.4, 2.4, 2.6, 3.6, 4.5, 5.3, 6.1, 11, 13, 14, 16,
};

static double transform_ns(guint64 size)
{
    guint log = 63 - (guint)__builtin_clzll(size);
    guint last = 8 + G_N_ELEMENTS(TRANSFORM_NS) - 1;
    return (double)size * TRANSFORM_NS[CLAMP(log, 8, last) - 8];
}

static BbBlockShape shape_of(guint64 size, gsize n_lags, gint64 span)
{
    BbBlockShape shape = {.size = size, .step = (gint64)(size - n_lags + 1)};
    shape.count = span / shape.step + 1;
    shape.block_ns = BLOCK_NS + (double)size * MULTIPLY_NS +
                     2 * ((double)size * FILL_NS + transform_ns(size)) / SHARED_BY;
    shape.pair_ns = BACK * transform_ns(size);
    return shape;
}

static double total_ns(const BbBlockShape *shape)
{
    return bb_blocks_ns(shape, (double)shape->count, 0);
}

// Powers of 2: FFTW's estimated plans of others take up to twice as long.
BbBlockShape bb_block_shape(gsize n_lags, gint64 span)
{
    const guint64 most = n_lags + (guint64)span; // one block for all
    guint64 size = 256;
    while (size < (guint64)n_lags + n_lags / 4 && size < most)
        size *= 2;
    BbBlockShape best = shape_of(size, n_lags, span);
    while (size < most) {
        size *= 2;
        const BbBlockShape shape = shape_of(size, n_lags, span);
        if (total_ns(&shape) < total_ns(&best))
            best = shape;
    }
    return best;
}

double bb_blocks_ns(const BbBlockShape *shape, double blocks, double messages)
{
    return blocks * shape->block_ns + shape->pair_ns + messages * PASS_NS;
}

double bb_counting_ns(double pairs, double messages)
{
    return pairs * HIT_NS + messages * MESSAGE_NS;
}
