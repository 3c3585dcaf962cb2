// SPDX-License-Identifier: Apache-2.0
// Gaps between two events on one clock, in quanta of the trace's stamps, and the bins their
// densities are estimated in: one quantum wide near zero, then 4 % wide.
#pragma once

#include <glib.h>

#define BB_GAP_BINS 608u
#define BB_GAP_CELLS 2880u

#define BB_GAP_KERNELS 6u       // widths that a density may be smoothed by
#define BB_GAP_KERNEL_REACH 64u // one bin more than the widest carries a sample
#define BB_GAP_BLUR 4u          // bins that counts of lags are smoothed over, either way

typedef struct BbGapScale {
    guint16 bin[BB_GAP_CELLS]; // of cells: exact below 128 quanta, then 64 an octave
    float width[BB_GAP_BINS];  // in quanta
    float log_width[BB_GAP_BINS];
    float floor_log[BB_GAP_BINS]; // log of what a density has where it saw nothing

    // What a sample gives the bins around it, by level: [BB_GAP_KERNEL_REACH + distance].
    float kernel[BB_GAP_KERNELS][2 * BB_GAP_KERNEL_REACH + 1];
    double blur[2 * BB_GAP_BLUR + 1];         // a Gaussian of 1.2 bins: [BB_GAP_BLUR + distance]
    double blur_squared[2 * BB_GAP_BLUR + 1]; // its squares
} BbGapScale;

BbGapScale *bb_gap_scale_new(void);
void bb_gap_scale_free(BbGapScale *scale);

static inline guint bb_gap_cell(gint64 gap)
{
    if (gap < 128)
        return gap < 0 ? 0 : (guint)gap;
    guint shift = 57u - (guint)__builtin_clzll((guint64)gap);
    guint cell = 64u * shift + (guint)((guint64)gap >> shift);
    return MIN(cell, BB_GAP_CELLS - 1);
}

// The bin of a gap. What is negative (clocks differ) counts as no gap.
static inline guint bb_gap_bin(const BbGapScale *scale, gint64 gap)
{
    return scale->bin[bb_gap_cell(gap)];
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbGapScale, bb_gap_scale_free)
