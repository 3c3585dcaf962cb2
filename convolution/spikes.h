// SPDX-License-Identifier: Apache-2.0
// Spikes of a correlation (paper, section 5.2.1): lags at which it stands out from what it is at
// the others.
#pragma once

#include <glib.h>

typedef struct BbSpikeRule {
    double spike;  // N: a spike is at least so many standard deviations above the mean
    double valley; // S: between two spikes the correlation falls below so many; at most N
} BbSpikeRule;

typedef struct BbSpike {
    gsize lag;     // of the highest value; of equals the first
    double spread; // standard deviation in lags, each weighted by its height above the mean, over
                   // the lags around it that are not in a valley; 0 for a single one
} BbSpike;

// Values are taken as multiples of 1 / BB_SPIKES_GRID: transforms of another plan or machine differ
// by some 1e-10, and must not tell another story.
#define BB_SPIKES_GRID 4096.0

// The spikes among values[0 .. count), in order of lag. Mean and deviation are those of all values:
// fewer than N^2 + 1 (17 for N = 4) can have no spike. None either where all values are the same.
// Every value is below 2^38. The caller frees the array of BbSpike.
GArray *bb_spikes_find(const double *values, gsize count, const BbSpikeRule *rule);
