// SPDX-License-Identifier: Apache-2.0
// A density of gaps per quantum, estimated from samples by a Gaussian kernel over the bins whose
// width is the one that would have foretold each sample best from all others (leave-one-out).
#pragma once

#include "nesting/gap.h"

#define BB_DENSITY_FLOOR 0.01 // share of the mass that is spread over all bins

typedef struct BbDensity {
    double n;          // samples
    guint first, last; // bins that may hold samples
    double loo;        // sum over samples of the log of their leave-one-out density
    float scaled;      // by which the kernels were, so that all is 1
    float count[BB_GAP_BINS];
    float log[BB_GAP_BINS];   // of the density per quantum, once fitted
    float below[BB_GAP_BINS]; // share of the mass that lies below the middle of a bin, likewise
    guint8 few[BB_GAP_BINS];  // 0 where one sample counts next to nothing; else 1 + which kernel
} BbDensity;

// Fills the kernels of a scale: what bb_gap_scale_new does.
void bb_density_make_kernels(BbGapScale *scale);

BbDensity *bb_density_new(void);
void bb_density_reset(BbDensity *density);

static inline void bb_density_add(BbDensity *density, guint bin, double weight)
{
    density->n += weight;
    density->count[bin] += (float)weight;
    density->first = MIN(density->first, bin);
    density->last = MAX(density->last, bin);
}

// Fills log, below, few and loo.
void bb_density_fit(BbDensity *density, const BbGapScale *scale);

// The density (not its log) in a bin with few[bin] > 0 that some of the samples leave when they are
// taken out: n of them, each of that weight, in bins[].
double bb_density_without(const BbDensity *density, const BbGapScale *scale, guint bin,
                          const guint16 *bins, guint n, double weight);

// Mean of what lies below the middle of a bin, in quanta; 0 where nothing does.
double bb_density_mean_below(const BbDensity *density, const BbGapScale *scale, guint bin);

// Standard normal quantile of the distribution's middle of each bin, cut at 3 either way.
void bb_density_normal(const BbDensity *density, const BbGapScale *scale, float *z);
