// SPDX-License-Identifier: Apache-2.0
// What to leave out where a capture cannot keep up, in a defined order, and when: a policy without
// a clock of its own, asked by the thread that reads packets.
//
// Level 0 leaves out nothing. Level 1 trims: payload that a decoder has said it will pass over
// (capture/skips.h) is not copied; no message is lost by it. Level 2 and above keep only some of
// the flows, one of BB_SHED_PARTS less with each level, whole conversations always: a flow is of
// one part for good. The last level keeps one part: what comes then is still true, if thin.
//
// A level is raised after BB_SHED_WINDOW_NS of pressure, and lowered after some calm: the first
// time BB_SHED_CALM_NS, twice as long after each time that was too early (up to
// BB_SHED_CALM_MOST_NS), half as long after each that was not. What is neither pressure nor calm
// leaves it as it is; but where flows are left out, a lower level is tried then, too, each
// BB_SHED_CALM_MOST_NS.
#pragma once

#include "data/address.h"
#include "data/mix.h"

#include <stdbool.h>

#define BB_SHED_PARTS 8u
#define BB_SHED_TRIMS 1u           // the level that trims
#define BB_SHED_MOST BB_SHED_PARTS // the last level: all parts but one are shed
#define BB_SHED_WINDOW_NS (100 * G_GINT64_CONSTANT(1000000))
#define BB_SHED_CALM_NS (1500 * G_GINT64_CONSTANT(1000000))
#define BB_SHED_CALM_MOST_NS (24 * G_GINT64_CONSTANT(1000000000))
// Older packets than these, by their stamps when they are read, and the kernel's ring is filling:
// above what the kernel (100 ms) and the order of several interfaces (120 ms) hold back.
#define BB_SHED_LAG_NS (350 * G_GINT64_CONSTANT(1000000))
#define BB_SHED_LAG_UNKNOWN G_MININT64

// What tells that packets come faster than they are read or decoded.
typedef struct BbShedSigns {
    guint64 received; // packets by the kernel, since the beginning, with those
    guint64 dropped;  // that it dropped
    gint64 waited_ns; // that reading waited for the threads that decode, since the beginning
    gint64 lag_ns;    // age of the packet read last, or BB_SHED_LAG_UNKNOWN
} BbShedSigns;

typedef struct BbShed BbShed;

// can_trim: whether level 1 would save anything; else it is passed over.
BbShed *bb_shed_new(bool can_trim);
void bb_shed_free(BbShed *shed);

// now_ns: of a clock that never steps. Returns the level from now on. Ask it several times a
// window; the first time only begins one.
guint bb_shed_look(BbShed *shed, gint64 now_ns, const BbShedSigns *signs);
guint bb_shed_level(const BbShed *shed);

guint64 bb_shed_raises(const BbShed *shed); // times a level was raised
// Time spent at this level, up to the last look.
gint64 bb_shed_spent(const BbShed *shed, guint level);

// How many parts are left out at a level.
static inline guint bb_shed_parts(guint level)
{
    return level > BB_SHED_TRIMS ? level - BB_SHED_TRIMS : 0;
}

static inline guint64 bb_shed_hash_end(const BbAddress *address, guint16 port)
{
    const guint64 seed = G_GUINT64_CONSTANT(0x2f6e2b1a7d4c9e35); // not that of shards
    return bb_mix(bb_mix_bytes(seed, address->bytes, sizeof address->bytes), port);
}

// The part of a flow, from 0 on; the same for both directions. Those below bb_shed_parts are left
// out.
static inline guint bb_shed_part(const BbAddress *one, guint16 one_port, const BbAddress *other,
                                 guint16 other_port)
{
    guint64 both = bb_shed_hash_end(one, one_port) ^ bb_shed_hash_end(other, other_port);
    return (guint)((bb_mix(both, 0) >> 32) % BB_SHED_PARTS);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbShed, bb_shed_free)
