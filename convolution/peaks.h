// SPDX-License-Identifier: Apache-2.0
// Where a correlogram holds more pairs than chance brings: the spikes of the paper (section 5.2.1),
// tested against what is expected there instead of against one mean and deviation of all lags.
#pragma once

#include <glib.h>

// Bins [low, high) of a correlogram.
typedef struct BbPeak {
    guint32 low, high;
    double excess; // pairs beyond the expected ones
    double z;      // deviations above them
} BbPeak;

typedef struct BbPeakTest {
    double z_least;      // deviations a window of bins must be above what is expected
    double excess_least; // pairs
    double crowd;        // messages of both streams that come in a bin while there are pairs: pairs
                         // that share a message come together, so the variance of a window of w
                         // bins is 1 + w crowd times that of Poisson
    guint32 beyond;      // the last bins: no peak is there, they only tell what is expected
} BbPeakTest;

// counts: pairs at each lag. mirror: pairs at the same lags the other way round, which no cause
// explains; NULL where there are none. Windows of 1, 2, 4, ... bins up to an eighth of all are
// tried. Expected in a window: what the bins around it hold, or, for windows of 8 bins and more,
// what the mirror holds, whichever is more. Returns BbPeak that do not overlap, in order of lag.
GArray *bb_peaks_find(const guint32 *counts, const guint32 *mirror, guint32 bins,
                      const BbPeakTest *test);

// The deviations of the best window; 0 where none is above what is expected. z_least and
// excess_least of test do not matter.
double bb_peaks_best(const guint32 *counts, const guint32 *mirror, guint32 bins,
                     const BbPeakTest *test);

// Windows that bb_peaks_find tries in so many bins: for a false-alarm rate over all of them.
double bb_peaks_tried(guint32 bins);

// The deviations that chance exceeds once in 1 / rate tries, and the other way round.
double bb_peaks_deviations(double rate);
double bb_peaks_rate(double deviations);
