// SPDX-License-Identifier: Apache-2.0
// The lower convex hull of points that come with rising x, and what a line fit needs of them: the
// lowest line of a given slope that no point lies below (Zhang, Liu and Xia, INFOCOM 2002).
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbHullPoint {
    double x, y;
    guint index; // the caller's own
} BbHullPoint;

typedef struct BbHull {
    GArray *points; // of BbHullPoint: the vertices, from left to right
    double count;   // points that were added, vertices or not
    double sum_x, sum_y;
} BbHull;

void bb_hull_init(BbHull *hull);
void bb_hull_clear(BbHull *hull);
void bb_hull_reset(BbHull *hull); // as after init, keeping memory

// x must not be less than that of the point before.
void bb_hull_add(BbHull *hull, const BbHullPoint *point);

// Adds all points of other, which lies to the right of hull.
void bb_hull_append(BbHull *hull, const BbHull *other);

// The mean x of all points; 0 of none.
static inline double bb_hull_mean_x(const BbHull *hull)
{
    return hull->count > 0 ? hull->sum_x / hull->count : 0;
}

// Height at the mean x of the highest line of this slope that no point is below. 0 of no points.
double bb_hull_height(const BbHull *hull, double slope);
