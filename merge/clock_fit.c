// SPDX-License-Identifier: Apache-2.0
// In: pairs of stamps of messages. Out: the map from one clock to the other, in pieces.
#include "merge/clock_fit.h"

#include "data/call.h"
#include "merge/clock_fit_state.h"

#include <math.h>
#include <stdlib.h>

// ---- points ------------------------------------------------------------------------------------

static gint64 add(gint64 base_ns, double ns)
{
    gint64 sum = 0;
    if (fabs(ns) > 9.2e18 || __builtin_add_overflow(base_ns, (gint64)llround(ns), &sum))
        return ns < 0 ? G_MININT64 : G_MAXINT64;
    return sum;
}

static int compare_points(gconstpointer a, gconstpointer b)
{
    const BbClockPoint *p = a, *q = b;
    if (p->a_ns != q->a_ns)
        return p->a_ns < q->a_ns ? -1 : 1;
    if (p->b_ns != q->b_ns)
        return p->b_ns < q->b_ns ? -1 : 1;
    return (int)q->a_first - (int)p->a_first;
}

static void take_points(BbFitting *f, const BbClockPoint *points, gsize count)
{
    f->points = g_new(BbFitPoint, count);
    f->count = count;
    f->base_a_ns = points[0].a_ns;
    f->base_y_ns = bb_time_between(points[0].a_ns, points[0].b_ns);
    for (gsize i = 0; i < count; i++) {
        double y =
            (double)bb_time_between(f->base_y_ns, bb_time_between(points[i].a_ns, points[i].b_ns));
        f->points[i] = (BbFitPoint){
            .x = (double)bb_time_between(f->base_a_ns, points[i].a_ns),
            .y = points[i].a_first ? y : -y,
            .a_ns = points[i].a_ns,
            .side = points[i].a_first ? 0 : 1,
        };
    }
}

void bb_fit_add_points(const BbFitting *f, BbClockSides *sides, gsize begin, gsize end)
{
    for (gsize i = begin; i < end; i++) {
        const BbFitPoint *point = &f->points[i];
        if (!point->out && !point->astray)
            bb_hull_add(&sides->side[point->side],
                        &(BbHullPoint){.x = point->x, .y = point->y, .index = (guint)i});
    }
}

static void window_clear(gpointer window)
{
    bb_clock_sides_clear(&((BbFitWindow *)window)->sides);
}

GArray *bb_fit_windows(gsize begin, gsize end)
{
    GArray *windows = g_array_new(FALSE, FALSE, sizeof(BbFitWindow));
    gsize n = CLAMP((end - begin) / BB_FIT_WINDOW_POINTS, 1, BB_FIT_WINDOWS);
    g_array_set_clear_func(windows, window_clear);
    for (gsize i = 0; i < n; i++) {
        BbFitWindow window = {.begin = begin + (end - begin) * i / n,
                              .end = begin + (end - begin) * (i + 1) / n};
        bb_clock_sides_init(&window.sides);
        g_array_append_val(windows, window);
    }
    return windows;
}

// ---- pieces ------------------------------------------------------------------------------------

// A stretch with points of one direction only makes no piece.
static void add_piece(BbFitting *f, const BbFitStretch *stretch)
{
    gsize first = stretch->begin, last = stretch->end - 1;
    BbFitDoubt doubt;
    BbClockLine line = bb_fit_stretch_line(f, stretch, &doubt);
    if (!line.count[0] || !line.count[1])
        return;
    double reach = fmax(line.x - f->points[first].x, f->points[last].x - line.x);
    BbClockPiece piece = {
        .from_ns = f->points[first].a_ns,
        .to_ns = f->points[last].a_ns,
        .anchor_ns = add(f->base_a_ns, line.x),
        .offset_ns = add(f->base_y_ns, line.y),
        .drift = line.slope,
        .drift_error = doubt.slope,
        .error_ns = doubt.offset + doubt.slope * reach,
    };
    bb_clock_map_add(f->map, &piece);
    f->gap_ns = fmin(f->gap_ns, line.gap);
    f->cost += bb_fit_cost(&line);
    f->used[0] += (guint64)line.count[0];
    f->used[1] += (guint64)line.count[1];
}

static void fitting_clear(BbFitting *f)
{
    g_array_unref(f->stretches);
    bb_clock_sides_clear(&f->sides);
    bb_clock_sides_clear(&f->other);
    bb_clock_map_free(f->map);
    g_free(f->points);
}

static void fitting_run(BbFitting *f, const BbClockPoint *points, gsize count)
{
    *f = (BbFitting){
        .stretches = g_array_new(FALSE, FALSE, sizeof(BbFitStretch)),
        .map = bb_clock_map_new(),
        .gap_ns = INFINITY,
    };
    bb_clock_sides_init(&f->sides);
    bb_clock_sides_init(&f->other);
    take_points(f, points, count);
    bb_fit_drop_outliers(f);
    bb_fit_part(f);
    for (guint i = 0; i < f->stretches->len; i++)
        add_piece(f, &g_array_index(f->stretches, BbFitStretch, i));
}

// ---- fits --------------------------------------------------------------------------------------

static void swap_clocks(BbClockPoint *points, gsize count)
{
    for (gsize i = 0; i < count; i++) {
        points[i] = (BbClockPoint){points[i].b_ns, points[i].a_ns, !points[i].a_first};
    }
    qsort(points, count, sizeof *points, compare_points);
}

// Of all points: one that is set aside counts as many times the mean excess as it takes to do so.
static double cost_of_all(const BbFitting *f)
{
    double used = (double)(f->used[0] + f->used[1]), aside = (double)f->count - used;
    return f->cost * (1 + BB_FIT_OUTLIER_NATS * aside / used);
}

static void take_result(BbClockFit *fit, BbFitting *f, bool swapped)
{
    fit->state = BB_CLOCK_FIT_LINES;
    fit->map = swapped ? bb_clock_map_invert(f->map) : g_steal_pointer(&f->map);
    fit->points[0] = f->used[swapped];
    fit->points[1] = f->used[!swapped];
    fit->left_out = f->count - f->used[0] - f->used[1];
    fit->gap_ns = f->gap_ns;
}

// The stamps of the clock that steps part the messages at the step, those of the other clock do
// not: messages are on their way then. Where clock a steps back, stretches overlap in its time, but
// not in that of b. The order that comes out closer to its lines is the one to go by.
static void fit_two_way(BbClockFit *fit, BbClockPoint *points, gsize count)
{
    BbFitting by_a, by_b;
    fitting_run(&by_a, points, count);
    if (by_a.map->pieces->len == 1 && by_a.gap_ns >= 0 && !by_a.doubtful) {
        take_result(fit, &by_a, false);
        fitting_clear(&by_a);
        return;
    }
    swap_clocks(points, count);
    fitting_run(&by_b, points, count);
    bool swapped = by_b.map->pieces->len &&
                   (!by_a.map->pieces->len || cost_of_all(&by_b) < cost_of_all(&by_a));
    if (by_a.map->pieces->len || swapped)
        take_result(fit, swapped ? &by_b : &by_a, swapped);
    fitting_clear(&by_a);
    fitting_clear(&by_b);
}

static void fit_one_way(BbClockFit *fit, const BbClockPoint *points, gsize count)
{
    fit->state = BB_CLOCK_FIT_ONE_WAY;
    fit->a_first = points[0].a_first;
    for (gsize i = 0; i < count; i++) {
        gint64 off_ns = bb_time_between(points[i].a_ns, points[i].b_ns);
        bool closer = fit->a_first ? off_ns < fit->bound_ns : off_ns > fit->bound_ns;
        if (i == 0 || closer)
            fit->bound_ns = off_ns;
    }
}

BbClockFit bb_clock_fit(BbClockPoint *points, gsize count)
{
    BbClockFit fit = {0};
    for (gsize i = 0; i < count; i++)
        fit.points[points[i].a_first ? 0 : 1]++;
    if (!count)
        return fit;
    qsort(points, count, sizeof *points, compare_points);
    if (fit.points[0] && fit.points[1])
        fit_two_way(&fit, points, count);
    else
        fit_one_way(&fit, points, count);
    return fit;
}

void bb_clock_fit_clear(BbClockFit *fit)
{
    g_clear_pointer(&fit->map, bb_clock_map_free);
}
