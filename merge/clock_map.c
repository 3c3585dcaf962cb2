// SPDX-License-Identifier: Apache-2.0
// In: lines from one clock to another. Out: times of the other clock, inverse and joined maps.
#include "merge/clock_map.h"

#include <math.h>

#define FORWARD_MOST_NS 1e20 // farther than any two times are

BbClockMap *bb_clock_map_new(void)
{
    BbClockMap *map = g_new(BbClockMap, 1);
    map->pieces = g_array_new(FALSE, FALSE, sizeof(BbClockPiece));
    map->laps = g_array_new(FALSE, FALSE, sizeof(guint));
    return map;
}

BbClockMap *bb_clock_map_same(void)
{
    BbClockMap *map = bb_clock_map_new();
    const BbClockPiece piece = {.from_ns = G_MININT64, .to_ns = G_MAXINT64};
    bb_clock_map_add(map, &piece);
    return map;
}

void bb_clock_map_free(BbClockMap *map)
{
    if (!map)
        return;
    g_array_unref(map->pieces);
    g_array_unref(map->laps);
    g_free(map);
}

// ---- times that stay within their range --------------------------------------------------------

static gint64 add(gint64 a, gint64 b)
{
    gint64 sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? G_MININT64 : G_MAXINT64;
    return sum;
}

static double difference(gint64 a, gint64 b)
{
    gint64 result = 0;
    return __builtin_sub_overflow(a, b, &result) ? (double)a - (double)b : (double)result;
}

static gint64 whole(double ns)
{
    if (ns >= 9.2e18)
        return G_MAXINT64;
    return ns <= -9.2e18 ? G_MININT64 : (gint64)llround(ns);
}

static gint64 middle(gint64 a, gint64 b)
{
    return (a >> 1) + (b >> 1) + (a & b & 1);
}

// All of the sum before any bound: else, at the ends of time, it could fall with rising time_ns.
gint64 bb_clock_piece_apply(const BbClockPiece *piece, gint64 time_ns)
{
    const gint64 more[] = {piece->offset_ns,
                           whole(piece->drift * difference(time_ns, piece->anchor_ns))};
    gint64 sum_ns = time_ns;
    int beyond = 0; // how often 2^64 is to be added to what the sum has become
    for (guint i = 0; i < G_N_ELEMENTS(more); i++)
        if (__builtin_add_overflow(sum_ns, more[i], &sum_ns))
            beyond += more[i] < 0 ? -1 : 1;
    return beyond > 0 ? G_MAXINT64 : beyond < 0 ? G_MININT64 : sum_ns;
}

// ---- pieces ------------------------------------------------------------------------------------

// Where the clock that is mapped showed a time twice within a lap, the border is in the middle.
static void part_pieces(BbClockPiece *last, BbClockPiece *added)
{
    if (last->to_ns <= added->from_ns)
        return;
    gint64 border_ns = CLAMP(middle(last->to_ns, added->from_ns), last->from_ns, last->to_ns);
    last->to_ns = border_ns;
    added->from_ns = border_ns;
    added->to_ns = MAX(added->to_ns, border_ns);
}

// By how much the ends of two pieces may be wrong.
static double blur(const BbClockPiece *last, const BbClockPiece *next)
{
    return BB_CLOCK_STEP_BACK_NS + last->error_ns + next->error_ns;
}

static bool steps_back(const BbClockPiece *last, const BbClockPiece *added)
{
    double least = blur(last, added);
    gint64 ended_ns = bb_clock_piece_apply(last, last->to_ns);
    gint64 begun_ns = bb_clock_piece_apply(added, added->from_ns);
    return difference(last->to_ns, added->from_ns) > least ||
           difference(ended_ns, begun_ns) > least;
}

void bb_clock_map_add(BbClockMap *map, const BbClockPiece *piece)
{
    BbClockPiece added = *piece, *last = NULL;
    guint count = map->pieces->len;
    if (count)
        last = &g_array_index(map->pieces, BbClockPiece, count - 1);
    added.least_ns = G_MININT64;
    if (!last || (map->laps->len < BB_CLOCK_LAPS_MAX && steps_back(last, &added))) {
        g_array_append_val(map->laps, count);
    } else {
        part_pieces(last, &added);
        added.least_ns = MAX(last->least_ns, bb_clock_piece_apply(last, last->to_ns));
    }
    g_array_append_val(map->pieces, added);
}

// ---- laps --------------------------------------------------------------------------------------

static guint lap_begin(const BbClockMap *map, guint lap)
{
    return lap < map->laps->len ? g_array_index(map->laps, guint, lap) : map->pieces->len;
}

static const BbClockPiece *lap_first(const BbClockMap *map, guint lap)
{
    return bb_clock_map_at(map, lap_begin(map, lap));
}

static const BbClockPiece *lap_last(const BbClockMap *map, guint lap)
{
    return bb_clock_map_at(map, lap_begin(map, lap + 1) - 1);
}

// Whether this clock showed some time twice, in this lap and in the next one.
static bool overlap(const BbClockMap *map, guint lap)
{
    return lap_first(map, lap)->from_ns <= lap_last(map, lap + 1)->to_ns &&
           lap_first(map, lap + 1)->from_ns <= lap_last(map, lap)->to_ns;
}

// The time of the other clock that may have gone by without a measure before this lap. Before the
// first and behind the last one that is without end; but none where it is not this clock that
// stepped back for sure, and the laps may stand the other way round.
static double unmeasured(const BbClockMap *map, guint lap)
{
    if (lap == 0 || lap == map->laps->len)
        return overlap(map, lap == 0 ? 0 : lap - 2) ? INFINITY : 0;
    const BbClockPiece *last = lap_last(map, lap - 1), *first = lap_first(map, lap);
    double went_by = difference(bb_clock_piece_apply(first, first->from_ns),
                                bb_clock_piece_apply(last, last->to_ns));
    return fmax(went_by, 0) + blur(last, first);
}

// How far time_ns is from what the clock showed in this lap; 0 within it.
static double outside(const BbClockMap *map, guint lap, gint64 time_ns)
{
    double early = difference(lap_first(map, lap)->from_ns, time_ns) - unmeasured(map, lap);
    double late = difference(time_ns, lap_last(map, lap)->to_ns) - unmeasured(map, lap + 1);
    return fmax(fmax(early, late), 0);
}

// How unlikely a message of that time is behind one of near_ns: files go forward, but for a little.
static double apart(gint64 time_ns, gint64 near_ns)
{
    double later_ns = difference(time_ns, near_ns);
    return later_ns < -BB_CLOCK_DISORDER_NS ? FORWARD_MOST_NS - later_ns : fabs(later_ns);
}

guint bb_clock_map_lap(const BbClockMap *map, gint64 time_ns, gint64 near_ns)
{
    guint found = 0;
    double least = INFINITY, nearest = INFINITY;
    for (guint lap = 0; map->laps->len > 1 && lap < map->laps->len; lap++) {
        double off = outside(map, lap, time_ns), distance = 0;
        if (near_ns != G_MININT64)
            distance = apart(bb_clock_map_apply_in(map, lap, time_ns), near_ns);
        if (off > least || (off == least && distance >= nearest))
            continue;
        found = lap;
        least = off;
        nearest = distance;
    }
    return found;
}

// ---- times of the other clock ------------------------------------------------------------------

// The last piece of [low, high) that begins at or before time_ns, or the first one.
static guint find(const BbClockMap *map, guint low, guint high, gint64 time_ns)
{
    while (high - low > 1) {
        guint half = low + (high - low) / 2;
        if (bb_clock_map_at(map, half)->from_ns <= time_ns)
            low = half;
        else
            high = half;
    }
    return low;
}

gint64 bb_clock_map_apply_in(const BbClockMap *map, guint lap, gint64 time_ns)
{
    guint end = lap_begin(map, lap + 1), index = find(map, lap_begin(map, lap), end, time_ns);
    const BbClockPiece *piece = bb_clock_map_at(map, index);
    if (time_ns <= piece->to_ns || index + 1 == end)
        return MAX(bb_clock_piece_apply(piece, time_ns), piece->least_ns);
    const BbClockPiece *next = bb_clock_map_at(map, index + 1);
    gint64 start_ns = MAX(bb_clock_piece_apply(piece, piece->to_ns), piece->least_ns);
    gint64 end_ns = MAX(bb_clock_piece_apply(next, next->from_ns), start_ns);
    double share = difference(time_ns, piece->to_ns) / difference(next->from_ns, piece->to_ns);
    return MIN(add(start_ns, whole(share * difference(end_ns, start_ns))), end_ns);
}

gint64 bb_clock_map_apply(const BbClockMap *map, gint64 time_ns)
{
    return bb_clock_map_apply_in(map, bb_clock_map_lap(map, time_ns, G_MININT64), time_ns);
}

const BbClockPiece *bb_clock_map_piece(const BbClockMap *map, gint64 time_ns)
{
    guint lap = bb_clock_map_lap(map, time_ns, G_MININT64);
    return bb_clock_map_at(map, find(map, lap_begin(map, lap), lap_begin(map, lap + 1), time_ns));
}

// ---- other maps --------------------------------------------------------------------------------

static BbClockPiece invert_piece(const BbClockPiece *piece)
{
    double rate = 1 + piece->drift;
    return (BbClockPiece){
        .from_ns = bb_clock_piece_apply(piece, piece->from_ns),
        .to_ns = bb_clock_piece_apply(piece, piece->to_ns),
        .anchor_ns = add(piece->anchor_ns, piece->offset_ns),
        .offset_ns = piece->offset_ns == G_MININT64 ? G_MAXINT64 : -piece->offset_ns,
        .drift = (0 - piece->drift) / rate, // 0 stays 0, and not -0
        .drift_error = piece->drift_error / (rate * rate),
        .error_ns = piece->error_ns / rate,
    };
}

BbClockMap *bb_clock_map_invert(const BbClockMap *map)
{
    BbClockMap *inverse = bb_clock_map_new();
    for (guint i = 0; i < map->pieces->len; i++) {
        BbClockPiece piece = invert_piece(bb_clock_map_at(map, i));
        bb_clock_map_add(inverse, &piece);
    }
    return inverse;
}

// The part of piece (whose inverse is back) that is mapped into then; from_ns > to_ns if none is.
// The outermost pieces reach as far as time does.
static BbClockPiece join_piece(const BbClockPiece *piece, const BbClockPiece *then, bool is_first,
                               bool is_last)
{
    BbClockPiece back = invert_piece(piece);
    BbClockPiece joined = {
        .from_ns = is_first ? piece->from_ns
                            : MAX(piece->from_ns, bb_clock_piece_apply(&back, then->from_ns)),
        .to_ns =
            is_last ? piece->to_ns : MIN(piece->to_ns, bb_clock_piece_apply(&back, then->to_ns)),
        .drift = (1 + piece->drift) * (1 + then->drift) - 1,
        .drift_error = piece->drift_error + then->drift_error,
        .error_ns = piece->error_ns + then->error_ns,
    };
    joined.anchor_ns = CLAMP(piece->anchor_ns, MIN(joined.from_ns, joined.to_ns), joined.to_ns);
    gint64 there_ns = bb_clock_piece_apply(then, bb_clock_piece_apply(piece, joined.anchor_ns));
    joined.offset_ns = whole(difference(there_ns, joined.anchor_ns));
    if (__builtin_sub_overflow(there_ns, joined.anchor_ns, &there_ns))
        return joined;
    joined.offset_ns = there_ns;
    return joined;
}

// Behind the laps from this one on between which only the other clock stepped back.
static guint run_end(const BbClockMap *map, guint lap)
{
    do
        lap++;
    while (lap < map->laps->len && lap_first(map, lap)->from_ns >= lap_last(map, lap - 1)->to_ns);
    return lap;
}

// The lap with which the run begins that holds most of what a piece is mapped to; lap if none holds
// more.
static guint find_run(const BbClockPiece *piece, const BbClockMap *then, guint lap)
{
    gint64 from_ns = bb_clock_piece_apply(piece, piece->from_ns);
    gint64 to_ns = bb_clock_piece_apply(piece, piece->to_ns);
    double most = -INFINITY;
    guint found = 0;
    for (guint at = 0, end = 0; at < then->laps->len; at = end) {
        end = run_end(then, at);
        double held = difference(MIN(to_ns, lap_last(then, end - 1)->to_ns),
                                 MAX(from_ns, lap_first(then, at)->from_ns));
        if (held < most || (held == most && at != lap))
            continue;
        most = held;
        found = at;
    }
    return found;
}

static void add_joined(BbClockMap *joined, const BbClockPiece *piece, const BbClockMap *then,
                       guint lap)
{
    guint first = lap_begin(then, lap), end = lap_begin(then, run_end(then, lap));
    gint64 to_ns = bb_clock_piece_apply(piece, piece->to_ns);
    guint k = find(then, first, end, bb_clock_piece_apply(piece, piece->from_ns));
    for (k -= k > first; k < end && (k == first || bb_clock_map_at(then, k)->from_ns <= to_ns);
         k++) {
        BbClockPiece part = join_piece(piece, bb_clock_map_at(then, k), k == first, k + 1 == end);
        if (part.from_ns <= part.to_ns)
            bb_clock_map_add(joined, &part);
    }
}

// The time of either clock where a piece begins.
static gint64 begin_of(const BbClockPiece *piece, bool other)
{
    return other ? bb_clock_piece_apply(piece, piece->from_ns) : piece->from_ns;
}

static gint64 end_of(const BbClockPiece *piece, bool other)
{
    return other ? bb_clock_piece_apply(piece, piece->to_ns) : piece->to_ns;
}

static gint compare_pieces(gconstpointer a, gconstpointer b, gpointer other)
{
    gint64 p = begin_of(a, other != NULL), q = begin_of(b, other != NULL);
    return p < q ? -1 : p > q;
}

// The same in order of one of the clocks, where that shows no time twice: this one did not step
// back, then.
static BbClockMap *in_order(const BbClockMap *map, bool other)
{
    g_autoptr(GArray) pieces = g_array_copy(map->pieces);
    BbClockMap *sorted = bb_clock_map_new();
    bool apart = map->laps->len > 1;
    if (apart)
        g_array_sort_with_data(pieces, compare_pieces, GINT_TO_POINTER(other));
    for (guint i = 1; apart && i < pieces->len; i++)
        apart = end_of(&g_array_index(pieces, BbClockPiece, i - 1), other) <=
                begin_of(&g_array_index(pieces, BbClockPiece, i), other);
    for (guint i = 0; i < pieces->len; i++)
        bb_clock_map_add(sorted,
                         apart ? &g_array_index(pieces, BbClockPiece, i) : bb_clock_map_at(map, i));
    return sorted;
}

BbClockMap *bb_clock_map_join(const BbClockMap *first, const BbClockMap *second)
{
    g_autoptr(BbClockMap) then = in_order(second, false), joined = bb_clock_map_new();
    guint lap = 0;
    for (guint i = 0; i < first->pieces->len; i++) {
        const BbClockPiece *piece = bb_clock_map_at(first, i);
        lap = find_run(piece, then, lap);
        add_joined(joined, piece, then, lap);
    }
    if (!joined->pieces->len) { // all of first lies in one gap of second
        BbClockPiece piece =
            join_piece(bb_clock_map_at(first, 0), bb_clock_map_at(then, 0), true, true);
        bb_clock_map_add(joined, &piece);
    }
    return in_order(joined, true);
}

double bb_clock_map_error_ns(const BbClockMap *map)
{
    double error_ns = 0;
    for (guint i = 0; i < map->pieces->len; i++)
        error_ns = MAX(error_ns, bb_clock_map_at(map, i)->error_ns);
    return error_ns;
}

guint bb_clock_map_falls(const BbClockMap *map)
{
    guint falls = 0;
    for (guint lap = 1; lap < map->laps->len; lap++) {
        const BbClockPiece *last = lap_last(map, lap - 1), *first = lap_first(map, lap);
        falls += difference(bb_clock_piece_apply(last, last->to_ns),
                            bb_clock_piece_apply(first, first->from_ns)) > BB_CLOCK_STEP_BACK_NS;
    }
    return falls;
}

gint64 bb_clock_map_step_ns(const BbClockMap *map, guint index)
{
    const BbClockPiece *piece = bb_clock_map_at(map, index),
                       *next = bb_clock_map_at(map, index + 1);
    gint64 at_ns = middle(piece->to_ns, next->from_ns);
    return whole(difference(bb_clock_piece_apply(next, at_ns), bb_clock_piece_apply(piece, at_ns)));
}
