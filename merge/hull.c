// SPDX-License-Identifier: Apache-2.0
// In: points from left to right. Out: their lower convex hull (Andrew's monotone chain).
#include "merge/hull.h"

#include <math.h>

void bb_hull_init(BbHull *hull)
{
    *hull = (BbHull){.points = g_array_new(FALSE, FALSE, sizeof(BbHullPoint))};
}

void bb_hull_clear(BbHull *hull)
{
    g_clear_pointer(&hull->points, g_array_unref);
}

void bb_hull_reset(BbHull *hull)
{
    g_array_set_size(hull->points, 0);
    hull->count = hull->sum_x = hull->sum_y = 0;
}

// Whether b is on or above the line from a to c.
static bool is_above(const BbHullPoint *a, const BbHullPoint *b, const BbHullPoint *c)
{
    return (b->y - a->y) * (c->x - a->x) >= (c->y - a->y) * (b->x - a->x);
}

static void push_vertex(GArray *points, const BbHullPoint *point)
{
    if (points->len) {
        const BbHullPoint *last = &g_array_index(points, BbHullPoint, points->len - 1);
        if (last->x == point->x && last->y <= point->y) // of one column only the lowest counts
            return;
        if (last->x == point->x)
            g_array_set_size(points, points->len - 1);
    }
    while (points->len >= 2 &&
           is_above(&g_array_index(points, BbHullPoint, points->len - 2),
                    &g_array_index(points, BbHullPoint, points->len - 1), point))
        g_array_set_size(points, points->len - 1);
    g_array_append_vals(points, point, 1);
}

void bb_hull_add(BbHull *hull, const BbHullPoint *point)
{
    push_vertex(hull->points, point);
    hull->count++;
    hull->sum_x += point->x;
    hull->sum_y += point->y;
}

void bb_hull_append(BbHull *hull, const BbHull *other)
{
    for (guint i = 0; i < other->points->len; i++)
        push_vertex(hull->points, &g_array_index(other->points, BbHullPoint, i));
    hull->count += other->count;
    hull->sum_x += other->sum_x;
    hull->sum_y += other->sum_y;
}

double bb_hull_height(const BbHull *hull, double slope)
{
    if (!hull->points->len)
        return 0;
    double mean_x = bb_hull_mean_x(hull), height = INFINITY;
    for (guint i = 0; i < hull->points->len; i++) {
        const BbHullPoint *point = &g_array_index(hull->points, BbHullPoint, i);
        height = fmin(height, point->y - slope * (point->x - mean_x));
    }
    return height;
}
