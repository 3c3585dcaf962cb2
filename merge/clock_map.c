// SPDX-License-Identifier: Apache-2.0
// In: lines from one clock to another. Out: times of the other clock, inverse and joined maps.
#include "merge/clock_map.h"

#include <math.h>

BbClockMap *bb_clock_map_new(void)
{
    BbClockMap *map = g_new(BbClockMap, 1);
    map->pieces = g_array_new(FALSE, FALSE, sizeof(BbClockPiece));
    return map;
}

BbClockMap *bb_clock_map_same(void)
{
    BbClockMap *map = bb_clock_map_new();
    const BbClockPiece piece = {.from_ns = G_MININT64, .to_ns = G_MAXINT64};
    g_array_append_val(map->pieces, piece);
    return map;
}

void bb_clock_map_free(BbClockMap *map)
{
    if (!map)
        return;
    g_array_unref(map->pieces);
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
static gint64 on_line(const BbClockPiece *piece, gint64 time_ns)
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

void bb_clock_map_add(BbClockMap *map, const BbClockPiece *piece)
{
    BbClockPiece added = *piece;
    if (map->pieces->len) {
        BbClockPiece *last = &g_array_index(map->pieces, BbClockPiece, map->pieces->len - 1);
        if (last->to_ns > added.from_ns) {
            gint64 border_ns =
                CLAMP(middle(last->to_ns, added.from_ns), last->from_ns, last->to_ns);
            last->to_ns = border_ns;
            added.from_ns = border_ns;
            added.to_ns = MAX(added.to_ns, border_ns);
        }
    }
    g_array_append_val(map->pieces, added);
}

// The last piece that begins at or before time_ns, or the first.
static guint find(const BbClockMap *map, gint64 time_ns)
{
    guint low = 0, high = map->pieces->len;
    while (high - low > 1) {
        guint half = low + (high - low) / 2;
        if (bb_clock_map_at(map, half)->from_ns <= time_ns)
            low = half;
        else
            high = half;
    }
    return low;
}

// What no later time may be mapped below: where the pieces before index end.
static gint64 least(const BbClockMap *map, guint index)
{
    gint64 least_ns = G_MININT64;
    for (guint i = 0; i < index; i++)
        least_ns = MAX(least_ns, on_line(bb_clock_map_at(map, i), bb_clock_map_at(map, i)->to_ns));
    return least_ns;
}

gint64 bb_clock_map_apply(const BbClockMap *map, gint64 time_ns)
{
    guint index = find(map, time_ns);
    const BbClockPiece *piece = bb_clock_map_at(map, index);
    if (time_ns <= piece->to_ns || index + 1 == map->pieces->len)
        return MAX(on_line(piece, time_ns), least(map, index));
    const BbClockPiece *next = bb_clock_map_at(map, index + 1);
    gint64 start_ns = MAX(on_line(piece, piece->to_ns), least(map, index));
    gint64 end_ns = MAX(on_line(next, next->from_ns), start_ns);
    double share = difference(time_ns, piece->to_ns) / difference(next->from_ns, piece->to_ns);
    return MIN(add(start_ns, whole(share * difference(end_ns, start_ns))), end_ns);
}

static BbClockPiece invert_piece(const BbClockPiece *piece)
{
    double rate = 1 + piece->drift;
    return (BbClockPiece){
        .from_ns = on_line(piece, piece->from_ns),
        .to_ns = on_line(piece, piece->to_ns),
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
        .from_ns = is_first ? piece->from_ns : MAX(piece->from_ns, on_line(&back, then->from_ns)),
        .to_ns = is_last ? piece->to_ns : MIN(piece->to_ns, on_line(&back, then->to_ns)),
        .drift = (1 + piece->drift) * (1 + then->drift) - 1,
        .drift_error = piece->drift_error + then->drift_error,
        .error_ns = piece->error_ns + then->error_ns,
    };
    joined.anchor_ns = CLAMP(piece->anchor_ns, MIN(joined.from_ns, joined.to_ns), joined.to_ns);
    gint64 there_ns = on_line(then, on_line(piece, joined.anchor_ns));
    joined.offset_ns = whole(difference(there_ns, joined.anchor_ns));
    if (__builtin_sub_overflow(there_ns, joined.anchor_ns, &there_ns))
        return joined;
    joined.offset_ns = there_ns;
    return joined;
}

BbClockMap *bb_clock_map_join(const BbClockMap *first, const BbClockMap *then)
{
    BbClockMap *joined = bb_clock_map_new();
    guint last = then->pieces->len - 1;
    for (guint i = 0; i < first->pieces->len; i++) {
        for (guint k = 0; k <= last; k++) {
            BbClockPiece piece =
                join_piece(bb_clock_map_at(first, i), bb_clock_map_at(then, k), k == 0, k == last);
            if (piece.from_ns <= piece.to_ns)
                bb_clock_map_add(joined, &piece);
        }
    }
    if (!joined->pieces->len) { // all of first lies in one gap of then
        BbClockPiece piece =
            join_piece(bb_clock_map_at(first, 0), bb_clock_map_at(then, 0), true, true);
        bb_clock_map_add(joined, &piece);
    }
    return joined;
}

double bb_clock_map_error_ns(const BbClockMap *map)
{
    double error_ns = 0;
    for (guint i = 0; i < map->pieces->len; i++)
        error_ns = MAX(error_ns, bb_clock_map_at(map, i)->error_ns);
    return error_ns;
}

gint64 bb_clock_map_step_ns(const BbClockMap *map, guint index)
{
    const BbClockPiece *piece = bb_clock_map_at(map, index),
                       *next = bb_clock_map_at(map, index + 1);
    gint64 at_ns = middle(piece->to_ns, next->from_ns);
    return whole(difference(on_line(next, at_ns), on_line(piece, at_ns)));
}
