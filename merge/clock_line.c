// SPDX-License-Identifier: Apache-2.0
// In: hulls of the points of both directions. Out: the most likely line, and how far it can be
// wrong.
#include "merge/clock_line.h"

#include <math.h>

// Steps of golden section search; each narrows the range to 0.618 of it, from 2e-3 to below 1e-15.
#define SEARCH_STEPS 60
#define SLOPE_LEAST 1e-15
#define GOLDEN 0.6180339887498949

// Slopes whose likelihood is within a factor of exp(14) of the best one's belong to the range that
// fits. Where delays are exponential, the true slope is outside once in 10,000 times at most (three
// parameters: exp(-14) (1 + 14 + 14^2 / 2)); other delays get what reserve there is in it. Of n
// points with a sum of distances s the likelihood is as s^-n, the mean excess being unknown too.
#define LIKELY_NATS 14

// Stamps are whole nanoseconds: what lies closer to a line than that is on it. Less would make a
// difference of what doubles are rounded by.
#define EXCESS_MIN_NS 1.0

void bb_clock_sides_init(BbClockSides *sides)
{
    bb_hull_init(&sides->side[0]);
    bb_hull_init(&sides->side[1]);
}

void bb_clock_sides_clear(BbClockSides *sides)
{
    bb_hull_clear(&sides->side[0]);
    bb_hull_clear(&sides->side[1]);
}

void bb_clock_sides_reset(BbClockSides *sides)
{
    bb_hull_reset(&sides->side[0]);
    bb_hull_reset(&sides->side[1]);
}

double bb_clock_line_objective(const BbClockSides *sides, double slope)
{
    return sides->side[0].count * bb_hull_height(&sides->side[0], slope) +
           sides->side[1].count * bb_hull_height(&sides->side[1], -slope);
}

// The objective is concave in the slope: one maximum. A slope within what the search leaves of the
// range is none.
static double best_slope(const BbClockSides *sides)
{
    double low = -BB_CLOCK_DRIFT_MAX, high = BB_CLOCK_DRIFT_MAX;
    double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
    double at_left = bb_clock_line_objective(sides, left);
    double at_right = bb_clock_line_objective(sides, right);
    for (guint i = 0; i < SEARCH_STEPS; i++) {
        if (at_left < at_right) {
            low = left;
            left = right;
            at_left = at_right;
            right = low + GOLDEN * (high - low);
            at_right = bb_clock_line_objective(sides, right);
        } else {
            high = right;
            right = left;
            at_right = at_left;
            left = high - GOLDEN * (high - low);
            at_left = bb_clock_line_objective(sides, left);
        }
    }
    double slope = (low + high) / 2;
    return fabs(slope) < SLOPE_LEAST ? 0 : slope;
}

// The slope between inside, where the objective is at least this, and outside, where it may be
// less.
static double border(const BbClockSides *sides, double inside, double outside, double objective)
{
    if (bb_clock_line_objective(sides, outside) >= objective)
        return outside;
    for (guint i = 0; i < SEARCH_STEPS; i++) {
        double half = (inside + outside) / 2;
        if (bb_clock_line_objective(sides, half) >= objective)
            inside = half;
        else
            outside = half;
    }
    return outside;
}

static double distances(const BbClockSides *sides, const BbClockLine *line)
{
    return sides->side[0].sum_y - line->count[0] * line->height[0] + sides->side[1].sum_y -
           line->count[1] * line->height[1];
}

static void set_slope(BbClockLine *line, const BbClockSides *sides, double slope)
{
    double count = 0;
    line->slope = slope;
    for (guint side = 0; side < 2; side++) {
        line->height[side] = bb_hull_height(&sides->side[side], side ? -slope : slope);
        line->mean_x[side] = bb_hull_mean_x(&sides->side[side]);
        line->count[side] = sides->side[side].count;
        count += line->count[side];
    }
    line->excess = fmax(distances(sides, line) / count, EXCESS_MIN_NS);
    line->x = (line->mean_x[0] + line->mean_x[1]) / 2;
    line->y = (line->height[0] - line->height[1]) / 2;
    line->gap = line->height[0] + line->height[1] + slope * (line->mean_x[1] - line->mean_x[0]);
}

BbClockLine bb_clock_line_best(const BbClockSides *sides)
{
    BbClockLine line = {0};
    set_slope(&line, sides, best_slope(sides));
    return line;
}

BbClockLine bb_clock_line_fit(const BbClockSides *sides)
{
    BbClockLine line = bb_clock_line_best(sides);
    double slope = line.slope;
    double count = line.count[0] + line.count[1];
    double enough =
        bb_clock_line_objective(sides, slope) - count * line.excess * expm1(LIKELY_NATS / count);
    line.slope_low = border(sides, slope, -BB_CLOCK_DRIFT_MAX, enough);
    line.slope_high = border(sides, slope, BB_CLOCK_DRIFT_MAX, enough);
    // Too short to tell a drift, and then none is the better guess.
    if (line.slope_low <= 0 && line.slope_high >= 0 &&
        line.slope_high - line.slope_low > BB_CLOCK_DRIFT_MAX / 5)
        set_slope(&line, sides, 0);
    return line;
}

double bb_clock_line_residual(const BbClockLine *line, guint side, double x, double y)
{
    double slope = side ? -line->slope : line->slope;
    return y - line->height[side] - slope * (x - line->mean_x[side]);
}
