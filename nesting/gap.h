// SPDX-License-Identifier: Apache-2.0
// Gaps between two events on one clock, in quanta of the trace's stamps, and the bins their
// densities are estimated in: one quantum wide near zero, then 4 % wide.
#pragma once

#include <glib.h>

#define BB_GAP_BINS 608u
#define BB_GAP_CELLS 2880u

typedef struct BbGapScale {
    guint16 bin[BB_GAP_CELLS]; // of cells: exact below 128 quanta, then 64 an octave
    float width[BB_GAP_BINS];  // in quanta
    float log_width[BB_GAP_BINS];
    float floor_log[BB_GAP_BINS]; // log of what a density has where it saw nothing
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
