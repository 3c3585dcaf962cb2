// SPDX-License-Identifier: Apache-2.0
// How two clocks relate, from the messages that both observers stamped: lines (clock_line.h), and
// where a clock steps, several.
//
// A stretch is split where that makes the points lie much closer to the lines and either no line
// lies between the points of both directions as they are, or both lines jump alike: a clock that
// steps moves both directions the same way, a longer or shorter path moves them against each other.
// One that wanders to and fro does so again and again, and is split in halves until it does no
// more. Points far below the others of their direction, which no clock makes (a stamp that went
// wrong, the repetition of a message taken for its first sending), are left out.
//
// Of a stretch of a clock that runs evenly, error_ns and drift_error of its piece hold in 9,999 of
// 10,000 cases where delays beyond the least are exponential, also with one wrong stamp that is too
// near the others to be left out.
#pragma once

#include "merge/clock_map.h"

#define BB_CLOCK_PIECES_MAX 4096
// Messages each way, below which no stretch is told apart.
#define BB_CLOCK_POINTS_MIN 8

typedef struct BbClockPoint {
    gint64 a_ns, b_ns; // stamps of one message by the clocks a and b
    bool a_first;      // it passed a before b
} BbClockPoint;

typedef enum {
    BB_CLOCK_FIT_NONE,    // no points
    BB_CLOCK_FIT_ONE_WAY, // all points one way: bound is all there is
    BB_CLOCK_FIT_LINES,
} BbClockFitState;

typedef struct BbClockFit {
    BbClockFitState state;
    BbClockMap *map; // from clock a to clock b; NULL unless BB_CLOCK_FIT_LINES
    // One way: b minus a is at most (where a is first) or at least this, at any time.
    gint64 bound_ns;
    bool a_first;      // one way: which
    guint64 points[2]; // used, a first and b first
    guint64 left_out;  // as no clock makes them
    double gap_ns;     // the narrowest gap between the two lines of a piece; below 0: crossed
} BbClockFit;

// Sorts points. Clear the result.
BbClockFit bb_clock_fit(BbClockPoint *points, gsize count);
void bb_clock_fit_clear(BbClockFit *fit);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbClockFit, bb_clock_fit_clear)
