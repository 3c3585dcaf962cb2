// SPDX-License-Identifier: Apache-2.0
// From the time of one clock to the time of another, piece by piece: each piece is a line, and
// between two pieces lies a step of one of the clocks, at a moment known to the gap between them.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbClockPiece {
    gint64 from_ns, to_ns; // where it was measured, in the clock that is mapped; ascending
    gint64 anchor_ns;      // between from_ns and to_ns
    gint64 offset_ns;      // the other clock minus this one at anchor_ns
    double drift;          // by how much that grows in a nanosecond of this clock
    double drift_error;    // the drift is right give or take this
    double error_ns;       // the other clock's time is as mapped, give or take this
} BbClockPiece;

typedef struct BbClockMap {
    GArray
        *pieces; // of BbClockPiece, at least one, in order of from_ns, none reaching into the next
} BbClockMap;

BbClockMap *bb_clock_map_new(void);  // without pieces: add some before anything else
BbClockMap *bb_clock_map_same(void); // a clock to itself
void bb_clock_map_free(BbClockMap *map);

// Adds a piece behind the others. Where both were measured at the same time of this clock, because
// it stepped back, the border is in the middle of that.
void bb_clock_map_add(BbClockMap *map, const BbClockPiece *piece);

// The time of the other clock: before the first piece and behind the last one by that piece,
// between two pieces evenly from the end of the one to the start of the other. Never falls with
// rising time_ns. What is beyond the range of time stays at its end.
gint64 bb_clock_map_apply(const BbClockMap *map, gint64 time_ns);

// The other way round. The result is yours.
BbClockMap *bb_clock_map_invert(const BbClockMap *map);

// First one, then then: its input is the output of first. Errors add up. The result is yours.
BbClockMap *bb_clock_map_join(const BbClockMap *first, const BbClockMap *then);

// The largest error of all pieces.
double bb_clock_map_error_ns(const BbClockMap *map);

// How far the other clock jumps against this one from piece index to index + 1, in the middle of
// the gap between them.
gint64 bb_clock_map_step_ns(const BbClockMap *map, guint index);

static inline guint bb_clock_map_count(const BbClockMap *map)
{
    return map->pieces->len;
}

static inline const BbClockPiece *bb_clock_map_at(const BbClockMap *map, guint index)
{
    return &g_array_index(map->pieces, BbClockPiece, index);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbClockMap, bb_clock_map_free)
