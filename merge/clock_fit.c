// SPDX-License-Identifier: Apache-2.0
// In: pairs of stamps of messages. Out: the map from one clock to the other, in pieces.
#include "merge/clock_fit.h"

#include "data/call.h"
#include "merge/clock_line.h"

#include <math.h>
#include <stdlib.h>

// Borders of stretches are looked for between windows of about WINDOW_POINTS points.
#define WINDOW_POINTS 32
#define WINDOWS_MAX 160
// A split must bring the points so much closer to their lines.
#define SPLIT_GAIN 0.7
// A jump counts where both directions agree on it within a third of it, and it is at least so much
// of the mean excess delay.
#define JUMP_AGREEMENT 3
#define JUMP_EXCESS 0.25
// Where delays are exponential, the lowest point of n is below the next by 1/n of the mean excess.
// More than so many times that is no delay (chance: exp(-15)).
#define OUTLIER_NATS 15
#define OUTLIERS_MIN 4
// Of so many of the lowest points of a window the jump above them is looked at.
#define WINDOW_OUTLIERS 3
#define WINDOW_OUTLIER_SPACINGS 12

// A point as the lines see it: x in a's clock, y the difference b - a, both from a point of
// reference; y of side 1 (b first) turned over.
typedef struct Point {
    double x, y;
    gint64 a_ns;
    guint8 side;
    bool out;
} Point;

typedef struct Window {
    gsize begin, end; // points
    BbClockSides sides;
} Window;

typedef struct Stretch {
    gsize begin, end; // points
} Stretch;

typedef struct Fitting {
    Point *points;
    gsize count;
    gint64 base_a_ns, base_y_ns;
    GArray *stretches; // of Stretch
    guint splits;
    guint64 left_out;
    BbClockSides sides, other; // scratch
    BbClockMap *map;
    double cost, gap_ns;
    guint64 used[2];
} Fitting;

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

static void take_points(Fitting *f, const BbClockPoint *points, gsize count)
{
    f->points = g_new(Point, count);
    f->count = count;
    f->base_a_ns = points[0].a_ns;
    f->base_y_ns = bb_time_between(points[0].a_ns, points[0].b_ns);
    for (gsize i = 0; i < count; i++) {
        double y =
            (double)bb_time_between(f->base_y_ns, bb_time_between(points[i].a_ns, points[i].b_ns));
        f->points[i] = (Point){
            .x = (double)bb_time_between(f->base_a_ns, points[i].a_ns),
            .y = points[i].a_first ? y : -y,
            .a_ns = points[i].a_ns,
            .side = points[i].a_first ? 0 : 1,
        };
    }
}

static void add_points(const Fitting *f, BbClockSides *sides, gsize begin, gsize end)
{
    for (gsize i = begin; i < end; i++) {
        const Point *point = &f->points[i];
        if (!point->out)
            bb_hull_add(&sides->side[point->side],
                        &(BbHullPoint){.x = point->x, .y = point->y, .index = (guint)i});
    }
}

// ---- windows -----------------------------------------------------------------------------------

static void window_clear(gpointer window)
{
    bb_clock_sides_clear(&((Window *)window)->sides);
}

static GArray *cut_windows(gsize begin, gsize end)
{
    GArray *windows = g_array_new(FALSE, FALSE, sizeof(Window));
    gsize n = CLAMP((end - begin) / WINDOW_POINTS, 1, WINDOWS_MAX);
    g_array_set_clear_func(windows, window_clear);
    for (gsize i = 0; i < n; i++) {
        Window window = {.begin = begin + (end - begin) * i / n,
                         .end = begin + (end - begin) * (i + 1) / n};
        bb_clock_sides_init(&window.sides);
        g_array_append_val(windows, window);
    }
    return windows;
}

static const Window *window_at(const GArray *windows, guint index)
{
    return &g_array_index(windows, Window, index);
}

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

static double window_median(const Fitting *f, const Window *window, guint side, GArray *scratch)
{
    g_array_set_size(scratch, 0);
    for (gsize i = window->begin; i < window->end; i++)
        if (f->points[i].side == side)
            g_array_append_val(scratch, f->points[i].y);
    return median(scratch);
}

static double window_x(const Fitting *f, const Window *window)
{
    return f->points[(window->begin + window->end) / 2].x;
}

// The median slope between windows an eighth of all apart: few such pairs lie across a step.
static double rough_slope(const Fitting *f, const GArray *windows, guint side)
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

static void leave_out(Fitting *f, const Window *window, guint side, double slope, GArray *residuals)
{
    g_array_set_size(residuals, 0);
    for (gsize i = window->begin; i < window->end; i++) {
        const Point *point = &f->points[i];
        const Residual residual = {point->y - slope * point->x, i};
        if (point->side == side)
            g_array_append_val(residuals, residual);
    }
    if (!residuals->len)
        return;
    qsort(residuals->data, residuals->len, sizeof(Residual), compare_residuals);
    for (guint i = count_outliers(residuals); i-- > 0; f->left_out++)
        f->points[g_array_index(residuals, Residual, i).index].out = true;
}

static void leave_out_outliers(Fitting *f)
{
    g_autoptr(GArray) residuals = g_array_new(FALSE, FALSE, sizeof(Residual));
    g_autoptr(GArray) windows = cut_windows(0, f->count);
    for (guint side = 0; side < 2; side++) {
        double slope = rough_slope(f, windows, side);
        for (guint i = 0; i < windows->len; i++)
            leave_out(f, window_at(windows, i), side, slope, residuals);
    }
}

// ---- stretches ---------------------------------------------------------------------------------

static bool is_enough(const BbClockSides *sides)
{
    return sides->side[0].count >= BB_CLOCK_POINTS_MIN &&
           sides->side[1].count >= BB_CLOCK_POINTS_MIN;
}

static double cost_of(const BbClockLine *line)
{
    return line->excess * (line->count[0] + line->count[1]);
}

// Infinite where there are not points enough.
static double cost_of_windows(Fitting *f, const GArray *windows, guint begin, guint end)
{
    bb_clock_sides_reset(&f->sides);
    for (guint i = begin; i < end; i++) {
        bb_hull_append(&f->sides.side[0], &window_at(windows, i)->sides.side[0]);
        bb_hull_append(&f->sides.side[1], &window_at(windows, i)->sides.side[1]);
    }
    if (!is_enough(&f->sides))
        return INFINITY;
    BbClockLine line = bb_clock_line_best(&f->sides);
    return cost_of(&line);
}

// Returns whether there are points enough.
static bool fit_points(Fitting *f, gsize begin, gsize end, BbClockLine *line)
{
    bb_clock_sides_reset(&f->sides);
    add_points(f, &f->sides, begin, end);
    if (!is_enough(&f->sides))
        return false;
    *line = bb_clock_line_fit(&f->sides);
    return true;
}

// What the line of a side says for x, y not turned over.
static double line_at(const BbClockLine *line, guint side, double x)
{
    return (side ? 1 : -1) * bb_clock_line_residual(line, side, x, 0);
}

static bool jump_alike(const BbClockLine *left, const BbClockLine *right, double x)
{
    double jump[2] = {line_at(right, 0, x) - line_at(left, 0, x),
                      line_at(right, 1, x) - line_at(left, 1, x)};
    double mean = fabs(jump[0] + jump[1]) / 2, apart = fabs(jump[0] - jump[1]) / 2;
    double excess = fmax(left->excess, right->excess);
    double blur = left->slope_error * fabs(x - left->x) + right->slope_error * fabs(x - right->x);
    return mean > JUMP_AGREEMENT * apart + JUMP_EXCESS * excess + blur;
}

// A point below its line speaks against it more than one above.
static double distance(const BbClockLine *line, const Point *point)
{
    double residual = bb_clock_line_residual(line, point->side, point->x, point->y);
    return residual < 0 ? -10 * residual : residual;
}

// The border between stretches that meet within [from, to): where each point is on the side whose
// line it is near. The lines are those of what lies outside.
static gsize find_border(Fitting *f, gsize begin, gsize from, gsize to, gsize end)
{
    BbClockLine before, after;
    if (!fit_points(f, begin, from, &before) || !fit_points(f, to, end, &after))
        return (from + to) / 2;
    double cost = 0, least = 0;
    gsize border = from;
    for (gsize i = from; i < to; i++) {
        cost += distance(&before, &f->points[i]) - distance(&after, &f->points[i]);
        if (cost < least) {
            least = cost;
            border = i + 1;
        }
    }
    return border;
}

// The window at whose start they are best split; 0 if nowhere.
static guint best_window(Fitting *f, const GArray *windows)
{
    guint split = 0;
    double least = INFINITY;
    for (guint at = 1; at < windows->len; at++) {
        double cost =
            cost_of_windows(f, windows, 0, at) + cost_of_windows(f, windows, at, windows->len);
        if (cost < least) {
            least = cost;
            split = at;
        }
    }
    return split;
}

// Returns where to split the points [begin, end), end for not at all.
static gsize find_split(Fitting *f, gsize begin, gsize end)
{
    g_autoptr(GArray) windows = cut_windows(begin, end);
    for (guint i = 0; i < windows->len; i++) {
        Window *window = &g_array_index(windows, Window, i);
        add_points(f, &window->sides, window->begin, window->end);
    }
    BbClockLine whole, left, right;
    guint at = best_window(f, windows);
    if (!at)
        return end;
    gsize border =
        find_border(f, begin, window_at(windows, at - 1)->begin, window_at(windows, at)->end, end);
    if (!fit_points(f, begin, end, &whole) || !fit_points(f, begin, border, &left) ||
        !fit_points(f, border, end, &right))
        return end;
    bool crossed = whole.gap < 0 && cost_of(&left) + cost_of(&right) < SPLIT_GAIN * cost_of(&whole);
    return crossed || jump_alike(&left, &right, f->points[border].x) ? border : end;
}

static void split_points(Fitting *f, gsize begin, gsize end)
{
    gsize border = f->splits + 1 < BB_CLOCK_PIECES_MAX ? find_split(f, begin, end) : end;
    if (border == end) {
        const Stretch stretch = {begin, end};
        g_array_append_val(f->stretches, stretch);
        return;
    }
    f->splits++;
    split_points(f, begin, border);
    split_points(f, border, end);
}

// Borders once more, now that stretches are known to be without another step.
static void move_borders(Fitting *f)
{
    for (guint i = 1; i < f->stretches->len; i++) {
        Stretch *left = &g_array_index(f->stretches, Stretch, i - 1);
        Stretch *right = &g_array_index(f->stretches, Stretch, i);
        gsize from = left->end - MIN(WINDOW_POINTS, (left->end - left->begin) / 2);
        gsize to = right->begin + MIN(WINDOW_POINTS, (right->end - right->begin) / 2);
        left->end = right->begin = find_border(f, left->begin, from, to, right->end);
    }
}

// ---- pieces ------------------------------------------------------------------------------------

// How much closer the other points get to the line without one of those that hold it.
static double gain_without(Fitting *f, const Stretch *stretch, gsize index, double cost)
{
    f->points[index].out = true;
    bb_clock_sides_reset(&f->other);
    add_points(f, &f->other, stretch->begin, stretch->end);
    f->points[index].out = false;
    BbClockLine without = bb_clock_line_best(&f->other);
    return cost - cost_of(&without);
}

// A point that holds the line and whose removal makes it far better; stretch->end if there is none.
static gsize find_outlier(Fitting *f, const Stretch *stretch, const BbClockLine *line)
{
    double most = 0;
    gsize worst = stretch->end;
    for (guint side = 0; side < 2; side++) {
        if (line->count[side] <= BB_CLOCK_POINTS_MIN)
            continue;
        for (guint i = 0; i < f->sides.side[side].points->len; i++) {
            const BbHullPoint *p = &g_array_index(f->sides.side[side].points, BbHullPoint, i);
            if (bb_clock_line_residual(line, side, p->x, p->y) > 1e-3 * line->excess)
                continue;
            double gain = gain_without(f, stretch, p->index, cost_of(line));
            if (gain > most) {
                most = gain;
                worst = p->index;
            }
        }
    }
    return most > OUTLIER_NATS * line->excess ? worst : stretch->end;
}

static void add_piece(Fitting *f, const Stretch *stretch, const BbClockLine *line)
{
    gsize first = stretch->begin, last = stretch->end - 1;
    double reach = fmax(line->x - f->points[first].x, f->points[last].x - line->x);
    BbClockPiece piece = {
        .from_ns = f->points[first].a_ns,
        .to_ns = f->points[last].a_ns,
        .anchor_ns = add(f->base_a_ns, line->x),
        .offset_ns = add(f->base_y_ns, line->y),
        .drift = line->slope,
        .drift_error = line->slope_error,
        // Crossed lines: neither can be trusted more than the other.
        .error_ns = (line->gap < 0 ? 1.5 : 0.5) * fabs(line->gap) + line->slope_error * reach,
    };
    bb_clock_map_add(f->map, &piece);
    f->gap_ns = fmin(f->gap_ns, line->gap);
    f->cost += cost_of(line);
    f->used[0] += (guint64)line->count[0];
    f->used[1] += (guint64)line->count[1];
}

// However few they are.
static void fit_all(Fitting *f, const Stretch *stretch, BbClockLine *line)
{
    bb_clock_sides_reset(&f->sides);
    add_points(f, &f->sides, stretch->begin, stretch->end);
    *line = bb_clock_line_fit(&f->sides);
}

// A stretch with points of one direction only makes no piece.
static void fit_stretch(Fitting *f, const Stretch *stretch)
{
    BbClockLine line;
    fit_all(f, stretch, &line);
    gsize tries = OUTLIERS_MIN + (stretch->end - stretch->begin) / 200;
    while (line.count[0] > 0 && line.count[1] > 0 && tries-- > 0) {
        gsize outlier = find_outlier(f, stretch, &line);
        if (outlier == stretch->end)
            break;
        f->points[outlier].out = true;
        f->left_out++;
        fit_all(f, stretch, &line);
    }
    if (line.count[0] > 0 && line.count[1] > 0)
        add_piece(f, stretch, &line);
}

static void fitting_clear(Fitting *f)
{
    g_array_unref(f->stretches);
    bb_clock_sides_clear(&f->sides);
    bb_clock_sides_clear(&f->other);
    bb_clock_map_free(f->map);
    g_free(f->points);
}

static void fitting_run(Fitting *f, const BbClockPoint *points, gsize count)
{
    *f = (Fitting){
        .stretches = g_array_new(FALSE, FALSE, sizeof(Stretch)),
        .map = bb_clock_map_new(),
        .gap_ns = INFINITY,
    };
    bb_clock_sides_init(&f->sides);
    bb_clock_sides_init(&f->other);
    take_points(f, points, count);
    leave_out_outliers(f);
    split_points(f, 0, count);
    move_borders(f);
    for (guint i = 0; i < f->stretches->len; i++)
        fit_stretch(f, &g_array_index(f->stretches, Stretch, i));
}

// ---- fits --------------------------------------------------------------------------------------

static void swap_clocks(BbClockPoint *points, gsize count)
{
    for (gsize i = 0; i < count; i++) {
        points[i] = (BbClockPoint){points[i].b_ns, points[i].a_ns, !points[i].a_first};
    }
    qsort(points, count, sizeof *points, compare_points);
}

static void take_result(BbClockFit *fit, Fitting *f, bool swapped)
{
    fit->state = BB_CLOCK_FIT_LINES;
    fit->map = swapped ? bb_clock_map_invert(f->map) : g_steal_pointer(&f->map);
    fit->points[0] = f->used[swapped];
    fit->points[1] = f->used[!swapped];
    fit->left_out = f->left_out;
    fit->gap_ns = f->gap_ns;
}

// Where clock a steps back, stretches overlap in its time, but not in that of b: the order that
// comes out closer to its lines is the one to go by.
static void fit_two_way(BbClockFit *fit, BbClockPoint *points, gsize count)
{
    Fitting by_a, by_b;
    fitting_run(&by_a, points, count);
    if (by_a.map->pieces->len == 1 && by_a.gap_ns >= 0) {
        take_result(fit, &by_a, false);
        fitting_clear(&by_a);
        return;
    }
    swap_clocks(points, count);
    fitting_run(&by_b, points, count);
    bool swapped = by_b.map->pieces->len && (!by_a.map->pieces->len || by_b.cost < by_a.cost);
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
