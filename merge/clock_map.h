// SPDX-License-Identifier: Apache-2.0
// From the time of one clock to the time of another, piece by piece: each piece is a line, and
// between two pieces lies a step of one of the clocks, at a moment known to the gap between them.
//
// Where a clock steps back, a lap ends: within a lap both clocks go forward. Laps of a clock that
// stepped back may show the same times; which one a time is of is told by what came before it.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Less is no step back: lines do not meet to the nanosecond.
#define BB_CLOCK_STEP_BACK_NS 1000000
// Laps that are told apart.
#define BB_CLOCK_LAPS_MAX 64

typedef struct BbClockPiece {
    gint64 from_ns, to_ns; // where it was measured, in the clock that is mapped; ascending
    gint64 anchor_ns;      // between from_ns and to_ns
    gint64 offset_ns;      // the other clock minus this one at anchor_ns
    double drift;          // by how much that grows in a nanosecond of this clock
    double drift_error;    // the drift is right give or take this
    double error_ns;       // the other clock's time is as mapped, give or take this
    gint64 least_ns;       // of the map: what the pieces before it in its lap are mapped to at most
} BbClockPiece;

typedef struct BbClockMap {
    // Of BbClockPiece, at least one, as one came after the other; in a lap in order of from_ns,
    // none reaching into the next.
    GArray *pieces;
    GArray *laps; // of guint: the first piece of each
} BbClockMap;

BbClockMap *bb_clock_map_new(void);  // without pieces: add some before anything else
BbClockMap *bb_clock_map_same(void); // a clock to itself
void bb_clock_map_free(BbClockMap *map);

// Adds a piece behind the others, in a lap of its own where one of the clocks stepped back between
// them, by more than both pieces can be wrong.
void bb_clock_map_add(BbClockMap *map, const BbClockPiece *piece);

// Files go forward, but for as little.
#define BB_CLOCK_DISORDER_NS 100000000

// The lap in which this clock showed time_ns, or that is next to it. Of several the one in which
// the other clock's time is nearest to near_ns, that of the message before, or behind it, rather
// than before it; the earliest where near_ns is G_MININT64.
guint bb_clock_map_lap(const BbClockMap *map, gint64 time_ns, gint64 near_ns);

// The time of the other clock: before the first piece of the lap and behind the last one by that
// piece, between two pieces evenly from the end of the one to the start of the other. Never falls
// with rising time_ns. What is beyond the range of time stays at its end.
gint64 bb_clock_map_apply_in(const BbClockMap *map, guint lap, gint64 time_ns);

// The same in the lap that time_ns is of, where nothing else is known.
gint64 bb_clock_map_apply(const BbClockMap *map, gint64 time_ns);

// The piece that holds time_ns or the last one before it, in the lap that this is of.
const BbClockPiece *bb_clock_map_piece(const BbClockMap *map, gint64 time_ns);

// What the line of a piece makes of time_ns.
gint64 bb_clock_piece_apply(const BbClockPiece *piece, gint64 time_ns);

// The other way round. The result is yours.
BbClockMap *bb_clock_map_invert(const BbClockMap *map);

// First one, then the second: its input is the output of first. Errors add up. Where clocks show no
// time twice, it is not the last of them that stepped back. The result is yours.
BbClockMap *bb_clock_map_join(const BbClockMap *first, const BbClockMap *second);

// The largest error of all pieces.
double bb_clock_map_error_ns(const BbClockMap *map);

// How often the other clock stepped back.
guint bb_clock_map_falls(const BbClockMap *map);

// How far the other clock jumps against this one from piece index to index + 1, in the middle of
// the gap between them.
gint64 bb_clock_map_step_ns(const BbClockMap *map, guint index);

static inline guint bb_clock_map_count(const BbClockMap *map)
{
    return map->pieces->len;
}

static inline guint bb_clock_map_laps(const BbClockMap *map)
{
    return map->laps->len;
}

static inline const BbClockPiece *bb_clock_map_at(const BbClockMap *map, guint index)
{
    return &g_array_index(map->pieces, BbClockPiece, index);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbClockMap, bb_clock_map_free)
