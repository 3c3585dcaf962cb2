// SPDX-License-Identifier: Apache-2.0
// What the parts of a fit share: points, and the stretches that they are parted into. Inside of the
// fit only.
#pragma once

#include "merge/clock_fit.h"
#include "merge/clock_line.h"

// A point as the lines see it: x in a's clock, y the difference b - a, both from a point of
// reference; y of side 1 (b first) turned over.
typedef struct BbFitPoint {
    double x, y;
    gint64 a_ns;
    guint8 side;
    bool out;    // no clock makes it
    bool astray; // on its way when a clock stepped: on the other stretch's side of the border
} BbFitPoint;

typedef struct BbFitWindow {
    gsize begin, end; // points
    BbClockSides sides;
} BbFitWindow;

typedef struct BbFitStretch {
    gsize begin, end; // points
} BbFitStretch;

typedef struct BbFitting {
    BbFitPoint *points; // by x
    gsize count;
    gint64 base_a_ns, base_y_ns;
    GArray *stretches;         // of BbFitStretch
    BbClockSides sides, other; // scratch
    bool doubtful; // a split would bring points closer to their lines, but looks like no step
    BbClockMap *map;
    double cost, gap_ns;
    guint64 used[2];
} BbFitting;

// Windows of about BB_FIT_WINDOW_POINTS points each; at most BB_FIT_WINDOWS. Of BbFitWindow.
#define BB_FIT_WINDOW_POINTS 32
#define BB_FIT_WINDOWS 160
GArray *bb_fit_windows(gsize begin, gsize end);

// Adds the points [begin, end) that are neither out nor astray.
void bb_fit_add_points(const BbFitting *fitting, BbClockSides *sides, gsize begin, gsize end);

static inline double bb_fit_cost(const BbClockLine *line)
{
    return line->excess * (line->count[0] + line->count[1]);
}

// ---- clock_outliers.c

// Where delays are exponential, the lowest point of n is below the next by 1/n of the mean excess.
// More than so many times that is no delay (chance: exp(-15)).
#define BB_FIT_OUTLIER_NATS 15

// Leaves out what lies far below its neighbours.
void bb_fit_drop_outliers(BbFitting *fitting);

// How far a line may be from the truth: by the range of slopes that fit and the gap, of the line
// and of each that would be there without one of the points that hold it. So the truth is covered
// also where one wrong stamp among them looks like a short delay.
typedef struct BbFitDoubt {
    double slope;
    double offset; // at the line's x
} BbFitDoubt;

// Leaves out what alone holds the line of a stretch far from all others. Returns the line of the
// rest, however few they are. No doubt is told where all points are of one side.
BbClockLine bb_fit_stretch_line(BbFitting *fitting, const BbFitStretch *stretch, BbFitDoubt *doubt);

// ---- clock_stretches.c

// Parts the points where a clock stepped.
void bb_fit_part(BbFitting *fitting);
