// SPDX-License-Identifier: Apache-2.0
// In: points. Out: the stretches between steps of a clock, and those of one that wanders.
//
// Around a step no border parts the points: a message that is on its way when a clock steps is
// stamped by the old time here and by the new one there, and lies on the one side by its order and
// on the other by its stamps. Such points are set aside, since one of them would hold the line of
// its stretch far from all others and look like another step.
#include "merge/clock_fit_state.h"

#include <math.h>

// A split must bring the points so much closer to their lines.
#define SPLIT_GAIN 0.7
// A jump counts where both directions agree on it within a third of it, and it is at least so much
// of the mean excess delay.
#define JUMP_AGREEMENT 3
#define JUMP_EXCESS 0.25
// A clock wanders where windows have at least so much of the mean excess delay more room than the
// whole, and the room of both directions is at most so much alike: where it differs by chance
// alone, that is 1 / sqrt(windows) from 0.
#define WANDER_ROOM 0.5
#define WANDER_ALIKE 0.5
#define WANDER_SIGMAS 4

static bool is_enough(const BbClockSides *sides)
{
    return sides->side[0].count >= BB_CLOCK_POINTS_MIN &&
           sides->side[1].count >= BB_CLOCK_POINTS_MIN;
}

static BbFitStretch *stretch_at(const BbFitting *f, guint index)
{
    return &g_array_index(f->stretches, BbFitStretch, index);
}

// Returns whether there are points enough.
static bool fit_points(BbFitting *f, gsize begin, gsize end, BbClockLine *line)
{
    bb_clock_sides_reset(&f->sides);
    bb_fit_add_points(f, &f->sides, begin, end);
    if (!is_enough(&f->sides))
        return false;
    *line = bb_clock_line_fit(&f->sides);
    return true;
}

// ---- steps --------------------------------------------------------------------------------------

static double slope_error(const BbClockLine *line)
{
    return fmax(line->slope_high - line->slope, line->slope - line->slope_low);
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
    double blur = slope_error(left) * fabs(x - left->x) + slope_error(right) * fabs(x - right->x);
    return mean > JUMP_AGREEMENT * apart + JUMP_EXCESS * excess + blur;
}

// Whether a clock stepped at border, as far as the points of both sides tell.
static bool is_step(BbFitting *f, gsize begin, gsize border, gsize end)
{
    BbClockLine whole, left, right;
    if (!fit_points(f, begin, end, &whole) || !fit_points(f, begin, border, &left) ||
        !fit_points(f, border, end, &right))
        return false;
    bool closer = bb_fit_cost(&left) + bb_fit_cost(&right) < SPLIT_GAIN * bb_fit_cost(&whole);
    bool stepped = (whole.gap < 0 && closer) || jump_alike(&left, &right, f->points[border].x);
    f->doubtful |= closer && !stepped;
    return stepped;
}

// ---- borders ------------------------------------------------------------------------------------

// Where two stretches meet: at, which lies within [from, to).
typedef struct Border {
    gsize at, from, to;
    bool known; // there are the lines of what lies outside of [from, to)
    BbClockLine before, after;
} Border;

static double residual_of(const BbClockLine *line, const BbFitPoint *point)
{
    return bb_clock_line_residual(line, point->side, point->x, point->y);
}

// A point below its line speaks against it more than one above.
static double distance(const BbClockLine *line, const BbFitPoint *point)
{
    double residual = residual_of(line, point);
    return residual < 0 ? -10 * residual : residual;
}

static void set_astray(BbFitting *f, const Border *border)
{
    for (gsize i = border->from; i < border->to; i++) {
        const BbClockLine *line = i < border->at ? &border->before : &border->after;
        f->points[i].astray = border->known && residual_of(line, &f->points[i]) < -line->excess;
    }
}

static void clear_astray(BbFitting *f, gsize from, gsize to)
{
    for (gsize i = from; i < to; i++)
        f->points[i].astray = false;
}

// The border is where each point is on the side whose line it is near. Points that are not are
// astray.
static Border find_border(BbFitting *f, gsize begin, gsize from, gsize to, gsize end)
{
    Border border = {.at = (from + to) / 2, .from = from, .to = to};
    clear_astray(f, from, to);
    border.known =
        fit_points(f, begin, from, &border.before) && fit_points(f, to, end, &border.after);
    if (!border.known)
        return border;
    double cost = 0, least = 0;
    border.at = from;
    for (gsize i = from; i < to; i++) {
        cost += distance(&border.before, &f->points[i]) - distance(&border.after, &f->points[i]);
        if (cost < least) {
            least = cost;
            border.at = i + 1;
        }
    }
    set_astray(f, &border);
    return border;
}

// ---- splits -------------------------------------------------------------------------------------

static const BbFitWindow *window_at(const GArray *windows, guint index)
{
    return &g_array_index(windows, BbFitWindow, index);
}

// Infinite where there are not points enough.
static double cost_of_windows(BbFitting *f, const GArray *windows, guint begin, guint end)
{
    bb_clock_sides_reset(&f->sides);
    for (guint i = begin; i < end; i++) {
        bb_hull_append(&f->sides.side[0], &window_at(windows, i)->sides.side[0]);
        bb_hull_append(&f->sides.side[1], &window_at(windows, i)->sides.side[1]);
    }
    if (!is_enough(&f->sides))
        return INFINITY;
    BbClockLine line = bb_clock_line_best(&f->sides);
    return bb_fit_cost(&line);
}

// The window at whose start they are best split; 0 if nowhere.
static guint best_window(BbFitting *f, const GArray *windows)
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
static gsize find_split(BbFitting *f, gsize begin, gsize end)
{
    g_autoptr(GArray) windows = bb_fit_windows(begin, end);
    for (guint i = 0; i < windows->len; i++) {
        BbFitWindow *window = &g_array_index(windows, BbFitWindow, i);
        bb_fit_add_points(f, &window->sides, window->begin, window->end);
    }
    guint at = best_window(f, windows);
    if (!at)
        return end;
    gsize from = window_at(windows, at - 1)->begin, to = window_at(windows, at)->end;
    Border border = find_border(f, begin, from, to, end);
    if (is_step(f, begin, border.at, end))
        return border.at;
    clear_astray(f, from, to);
    return end;
}

// ---- clocks that go to and fro ------------------------------------------------------------------

// What is left between each of the lines and the nearest points, over windows.
typedef struct Room {
    double count, sum[2], square[2], product;
} Room;

static void add_room(Room *room, const double *least)
{
    if (isinf(least[0]) || isinf(least[1]))
        return;
    room->count++;
    room->product += least[0] * least[1];
    for (guint side = 0; side < 2; side++) {
        room->sum[side] += least[side];
        room->square[side] += least[side] * least[side];
    }
}

static Room find_room(const BbFitting *f, gsize begin, gsize end, const BbClockLine *line)
{
    Room room = {0};
    for (gsize from = begin; from < end; from += BB_FIT_WINDOW_POINTS) {
        double least[2] = {INFINITY, INFINITY};
        for (gsize i = from; i < MIN(from + BB_FIT_WINDOW_POINTS, end); i++) {
            const BbFitPoint *point = &f->points[i];
            if (!point->out && !point->astray)
                least[point->side] = fmin(least[point->side], residual_of(line, point));
        }
        add_room(&room, least);
    }
    return room;
}

// -1 where the one direction loses what the other one gains.
static double correlation(const Room *room)
{
    double n = room->count;
    double spread[2] = {room->square[0] - room->sum[0] * room->sum[0] / n,
                        room->square[1] - room->sum[1] * room->sum[1] / n};
    double both = sqrt(fmax(spread[0], 0)) * sqrt(fmax(spread[1], 0));
    return both > 0 ? (room->product - room->sum[0] * room->sum[1] / n) / both : 0;
}

// Whether a clock leaves its line and comes back, so that no single split may help: short windows
// have far more room between their points than all of it has, and what the one direction has more,
// the other one has less. Longer paths make room for one, or for both; chance, for each by itself.
static bool wanders(BbFitting *f, gsize begin, gsize end)
{
    BbClockLine line;
    if (!fit_points(f, begin, end, &line))
        return false;
    Room room = find_room(f, begin, end, &line);
    if (room.count < 1 || room.sum[0] + room.sum[1] < WANDER_ROOM * line.excess * room.count)
        return false;
    return correlation(&room) < -fmax(WANDER_ALIKE, WANDER_SIGMAS / sqrt(room.count));
}

static void split_points(BbFitting *f, gsize begin, gsize end, guint *splits)
{
    bool may = *splits + 1 < BB_CLOCK_PIECES_MAX;
    gsize border = may ? find_split(f, begin, end) : end;
    if (border == end && may && wanders(f, begin, end))
        border = begin + (end - begin) / 2;
    if (border == end) {
        const BbFitStretch stretch = {begin, end};
        g_array_append_val(f->stretches, stretch);
        return;
    }
    ++*splits;
    split_points(f, begin, border, splits);
    split_points(f, border, end, splits);
}

// ---- once more, now that stretches are known ----------------------------------------------------

// Of a long stretch only the part next to a short one is compared with it.
#define NEAR 4

// Whether nothing is at the border of two stretches: it was found while other steps were not known.
static bool are_one(BbFitting *f, const BbFitStretch *left, const BbFitStretch *right)
{
    gsize near = NEAR * MIN(left->end - left->begin, right->end - right->begin);
    gsize begin = left->end - MIN(near, left->end - left->begin);
    gsize end = right->begin + MIN(near, right->end - right->begin);
    return !is_step(f, begin, left->end, end) && !wanders(f, begin, end);
}

static void join_stretches(BbFitting *f)
{
    guint kept = 1;
    for (guint i = 1; i < f->stretches->len; i++) {
        BbFitStretch *left = stretch_at(f, kept - 1), right = *stretch_at(f, i);
        if (are_one(f, left, &right))
            left->end = right.end;
        else
            *stretch_at(f, kept++) = right;
    }
    g_array_set_size(f->stretches, kept);
}

// The points that are astray count for what it takes to set them aside.
static double cost_of(BbFitting *f, gsize begin, gsize end)
{
    BbClockLine line;
    if (!fit_points(f, begin, end, &line))
        return INFINITY;
    double aside = 0;
    for (gsize i = begin; i < end; i++)
        aside += f->points[i].astray;
    return bb_fit_cost(&line) + BB_FIT_OUTLIER_NATS * line.excess * aside;
}

// Whether the points of the middle one of three stretches belong to the other two: a step lies in
// it. Then these meet there.
static bool part_between(BbFitting *f, BbFitStretch *left, const BbFitStretch *between,
                         BbFitStretch *right)
{
    gsize count = between->end - between->begin;
    double cost = cost_of(f, left->begin, left->end) + cost_of(f, between->begin, between->end) +
                  cost_of(f, right->begin, right->end);
    g_autofree bool *astray = g_new(bool, count);
    for (gsize i = 0; i < count; i++)
        astray[i] = f->points[between->begin + i].astray;
    gsize at = find_border(f, left->begin, between->begin, between->end, right->end).at;
    if (cost_of(f, left->begin, at) + cost_of(f, at, right->end) < cost) {
        left->end = right->begin = at;
        return true;
    }
    for (gsize i = 0; i < count; i++)
        f->points[between->begin + i].astray = astray[i];
    return false;
}

static void drop_between(BbFitting *f)
{
    for (guint i = 1; i + 1 < f->stretches->len; i++)
        if (part_between(f, stretch_at(f, i - 1), stretch_at(f, i), stretch_at(f, i + 1)))
            g_array_remove_index(f->stretches, i);
}

// How many points next to a border may not be the stretch's own, at most a part of them.
static gsize near_border(const BbFitStretch *stretch, gsize part)
{
    return MIN(BB_FIT_WINDOW_POINTS, (stretch->end - stretch->begin) / part);
}

// A stretch without the points at its other border, which may not be its own: one would hold its
// line far from all others.
static gsize sure_begin(const BbFitStretch *stretch)
{
    return stretch->begin ? stretch->begin + near_border(stretch, 4) : 0;
}

static gsize sure_end(const BbFitting *f, const BbFitStretch *stretch)
{
    return stretch->end < f->count ? stretch->end - near_border(stretch, 4) : f->count;
}

static void move_borders(BbFitting *f)
{
    for (guint i = 1; i < f->stretches->len; i++) {
        BbFitStretch *left = stretch_at(f, i - 1), *right = stretch_at(f, i);
        gsize from = left->end - near_border(left, 2);
        gsize to = right->begin + near_border(right, 2);
        left->end = right->begin =
            find_border(f, sure_begin(left), from, to, sure_end(f, right)).at;
    }
}

void bb_fit_part(BbFitting *f)
{
    guint splits = 0;
    split_points(f, 0, f->count, &splits);
    join_stretches(f);
    drop_between(f);
    move_borders(f);
}
