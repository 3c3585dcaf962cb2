// SPDX-License-Identifier: Apache-2.0
// The line that relates two clocks over one stretch of time without steps.
//
// A message that passes a before b is stamped with a difference b - a that is the clocks'
// difference and a delay: the clocks' difference lies below all such points. It lies above all
// points of messages that pass b first. Of all pairs of parallel lines, one below the former and
// one above the latter, the one with the least sum of distances to its points is taken (Moon,
// Skelly and Towsley, INFOCOM 1999, for one direction; it is the most likely one where delays
// beyond the least are exponential). The clocks' difference is in the middle between the two lines:
// wrong by at most half their gap, however unequal the least delays of the two directions are.
#pragma once

#include "merge/hull.h"

// No clock of a computer is off by more: NTP gives up at 500 ppm.
#define BB_CLOCK_DRIFT_MAX 1e-3

// Points below[0] lie above the line; those of below[1] have y turned over and lie above the line
// turned over. Either may be empty.
typedef struct BbClockSides {
    BbHull side[2];
} BbClockSides;

typedef struct BbClockLine {
    double slope;
    double height[2];             // of the two lines, each at its side's mean x
    double mean_x[2];             // 0 of an empty side
    double count[2];              // points
    double excess;                // mean distance of a point from its line, at least 1 ns
    double slope_low, slope_high; // the range of slopes that are nearly as likely
    double x, y; // a point of the line in the middle; only where both sides have points
    double gap;  // between the two lines; below 0 where no line lies between the points
} BbClockLine;

void bb_clock_sides_init(BbClockSides *sides);
void bb_clock_sides_clear(BbClockSides *sides);
void bb_clock_sides_reset(BbClockSides *sides);

// At least one side has a point.
BbClockLine bb_clock_line_fit(const BbClockSides *sides);

// The same for a third of the work, without a range of slopes, and without the doubt about drifts
// of short stretches.
BbClockLine bb_clock_line_best(const BbClockSides *sides);

// What is made as large as can be: the sum of both heights, times their points. (The sum of the
// distances is a constant less this.)
double bb_clock_line_objective(const BbClockSides *sides, double slope);

// How far y is above the line of this side (y turned over for side 1).
double bb_clock_line_residual(const BbClockLine *line, guint side, double x, double y);
