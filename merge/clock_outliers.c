// SPDX-License-Identifier: Apache-2.0
// In: points. Out: the same without those that no clock makes, and what the rest leaves in doubt.
#include "merge/clock_fit_state.h"

#include <math.h>
#include <stdlib.h>

#define OUTLIERS_MIN 4
// Of so many of the lowest points of a window the jump above them is looked at.
#define WINDOW_OUTLIERS 3
#define WINDOW_OUTLIER_SPACINGS 12
// A point holds a line that it is nearer to than this share of the mean excess.
#define HOLDS 1e-3

// ---- windows -----------------------------------------------------------------------------------

static int compare_doubles(gconstpointer a, gconstpointer b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

static double median(GArray *values)
{
    if (!values->len)
        return NAN;
    qsort(values->data, values->len, sizeof(double), compare_doubles);
    return g_array_index(values, double, values->len / 2);
}

static const BbFitWindow *window_at(const GArray *windows, guint index)
{
    return &g_array_index(windows, BbFitWindow, index);
}

static double window_median(const BbFitting *f, const BbFitWindow *window, guint side,
                            GArray *scratch)
{
    g_array_set_size(scratch, 0);
    for (gsize i = window->begin; i < window->end; i++)
        if (f->points[i].side == side)
            g_array_append_val(scratch, f->points[i].y);
    return median(scratch);
}

static double window_x(const BbFitting *f, const BbFitWindow *window)
{
    return f->points[(window->begin + window->end) / 2].x;
}

// The median slope between windows an eighth of all apart: few such pairs lie across a step.
static double rough_slope(const BbFitting *f, const GArray *windows, guint side)
{
    g_autoptr(GArray) scratch = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) slopes = g_array_new(FALSE, FALSE, sizeof(double));
    g_autofree double *medians = g_new(double, windows->len);
    guint apart = MAX(windows->len / 8, 1);
    for (guint i = 0; i < windows->len; i++) {
        medians[i] = window_median(f, window_at(windows, i), side, scratch);
        if (i < apart)
            continue;
        double run =
            window_x(f, window_at(windows, i)) - window_x(f, window_at(windows, i - apart));
        double slope = (medians[i] - medians[i - apart]) / run;
        if (run > 0 && !isnan(slope))
            g_array_append_val(slopes, slope);
    }
    double slope = median(slopes);
    return fabs(slope) <= BB_CLOCK_DRIFT_MAX ? slope : 0; // also where it is no number
}

typedef struct Residual {
    double y;
    gsize index;
} Residual;

static int compare_residuals(gconstpointer a, gconstpointer b)
{
    const Residual *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

// Of the lowest points, those that a wide jump parts from all others.
static guint count_outliers(const GArray *sorted)
{
    const Residual *r = &g_array_index(sorted, Residual, 0);
    guint half = sorted->len / 2, outliers = 0;
    for (guint k = 1; k <= WINDOW_OUTLIERS && half >= 2 * WINDOW_OUTLIERS; k++) {
        double spacing = (r[half].y - r[k].y) / (half - k);
        if (r[k].y - r[k - 1].y > WINDOW_OUTLIER_SPACINGS * spacing)
            outliers = k;
    }
    return outliers;
}

static void leave_out(BbFitting *f, const BbFitWindow *window, guint side, double slope,
                      GArray *residuals)
{
    g_array_set_size(residuals, 0);
    for (gsize i = window->begin; i < window->end; i++) {
        const BbFitPoint *point = &f->points[i];
        const Residual residual = {point->y - slope * point->x, i};
        if (point->side == side)
            g_array_append_val(residuals, residual);
    }
    if (!residuals->len)
        return;
    qsort(residuals->data, residuals->len, sizeof(Residual), compare_residuals);
    for (guint i = count_outliers(residuals); i-- > 0;)
        f->points[g_array_index(residuals, Residual, i).index].out = true;
}

void bb_fit_drop_outliers(BbFitting *f)
{
    g_autoptr(GArray) residuals = g_array_new(FALSE, FALSE, sizeof(Residual));
    g_autoptr(GArray) windows = bb_fit_windows(0, f->count);
    for (guint side = 0; side < 2; side++) {
        double slope = rough_slope(f, windows, side);
        for (guint i = 0; i < windows->len; i++)
            leave_out(f, window_at(windows, i), side, slope, residuals);
    }
}

// ---- a stretch ---------------------------------------------------------------------------------

static BbClockLine fit_all(BbFitting *f, const BbFitStretch *stretch)
{
    bb_clock_sides_reset(&f->sides);
    bb_fit_add_points(f, &f->sides, stretch->begin, stretch->end);
    return bb_clock_line_fit(&f->sides);
}

// The points without one of them, in f->other.
static void add_others(BbFitting *f, const BbFitStretch *stretch, gsize index)
{
    f->points[index].out = true;
    bb_clock_sides_reset(&f->other);
    bb_fit_add_points(f, &f->other, stretch->begin, stretch->end);
    f->points[index].out = false;
}

// The next point that holds the line, after *at of *side; false if there is none. Sides with
// so few points have none.
static bool next_holder(const BbFitting *f, const BbClockLine *line, double few, guint *side,
                        guint *at, gsize *index)
{
    for (; *side < 2; ++*side, *at = 0) {
        const GArray *hull = f->sides.side[*side].points;
        while (line->count[*side] > few && *at < hull->len) {
            const BbHullPoint *p = &g_array_index(hull, BbHullPoint, (*at)++);
            *index = p->index;
            if (bb_clock_line_residual(line, *side, p->x, p->y) <= HOLDS * line->excess)
                return true;
        }
    }
    return false;
}

// A point that holds the line and whose removal makes it far better; stretch->end if there is none.
static gsize find_outlier(BbFitting *f, const BbFitStretch *stretch, const BbClockLine *line)
{
    double most = 0;
    gsize worst = stretch->end, index = 0;
    guint side = 0, at = 0;
    while (next_holder(f, line, BB_CLOCK_POINTS_MIN, &side, &at, &index)) {
        add_others(f, stretch, index);
        BbClockLine without = bb_clock_line_best(&f->other);
        double gain = bb_fit_cost(line) - bb_fit_cost(&without);
        if (gain > most) {
            most = gain;
            worst = index;
        }
    }
    return most > BB_FIT_OUTLIER_NATS * line->excess ? worst : stretch->end;
}

static void doubt_by(BbFitDoubt *doubt, const BbClockLine *line, const BbClockLine *other)
{
    double apart = fabs(other->y + other->slope * (line->x - other->x) - line->y);
    // Crossed lines: neither can be trusted more than the other.
    double half = (other->gap < 0 ? 1.5 : 0.5) * fabs(other->gap);
    doubt->offset = fmax(doubt->offset, apart + half);
    doubt->slope = fmax(doubt->slope, other->slope_high - line->slope);
    doubt->slope = fmax(doubt->slope, line->slope - other->slope_low);
}

BbClockLine bb_fit_stretch_line(BbFitting *f, const BbFitStretch *stretch, BbFitDoubt *doubt)
{
    BbClockLine line = fit_all(f, stretch);
    gsize tries = OUTLIERS_MIN + (stretch->end - stretch->begin) / 200, index = 0;
    guint side = 0, at = 0;
    *doubt = (BbFitDoubt){0};
    if (!line.count[0] || !line.count[1])
        return line;
    for (; tries && (index = find_outlier(f, stretch, &line)) != stretch->end; tries--) {
        f->points[index].out = true;
        line = fit_all(f, stretch);
    }
    doubt_by(doubt, &line, &line);
    while (next_holder(f, &line, 1, &side, &at, &index)) {
        add_others(f, stretch, index);
        BbClockLine without = bb_clock_line_fit(&f->other);
        doubt_by(doubt, &line, &without);
    }
    return line;
}
