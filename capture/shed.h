// SPDX-License-Identifier: Apache-2.0
// What to leave out where a capture cannot keep up, in a defined order, and when: a policy without
// a clock of its own, asked by the thread that reads packets.
//
// Level 0 leaves out nothing. Level 1 trims: payload that a decoder has said it will pass over
// (capture/skips.h) is not copied; no message is lost by it. Level 2 and above keep only some of
// the flows, one of BB_SHED_PARTS less with each level, whole conversations always. The last level
// keeps one part: what comes then is still true, if thin. Which flows make a part is of a seed:
// another one is drawn each time that flows begin to be left out, but for a swing that was too
// early, so that it is not always the same ones, and nobody can choose ports that stay.
//
// A level is raised after BB_SHED_WINDOW_NS of pressure (the kernel drops packets; or they grow old
// or reading waits, while its ring fills), and lowered after some calm: the first time
// BB_SHED_CALM_NS, twice as long after each time that was too early (up to BB_SHED_CALM_MOST_NS),
// half as long after each that was not. What is neither pressure nor calm leaves it as it is; but
// where flows are left out, a lower level is tried then, too, each BB_SHED_CALM_MOST_NS.
//
// After each BB_SHED_TRIAL_PARTS parts more under pressure that does not end it is looked for
// BB_SHED_TRIAL_NS of pressure whether that helps: packets are to be read faster than before, by a
// quarter at least of what that much less to decode promises. If not, as many other parts are left
// out in place of these (one heavy flow may be all the load), until each part has had its turn; if
// none helps (what is slow is a disk, or the reading itself), only what helped last is left out for
// BB_SHED_CALM_MOST_NS, be it nothing, whatever the pressure. Pressure that comes in bursts is one
// as long as there is no calm between them for which a level is lowered.
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
#define BB_SHED_TRIAL_PARTS 3u
#define BB_SHED_TRIAL_NS (500 * G_GINT64_CONSTANT(1000000))
// Older packets than these, by their stamps when they are read, and the kernel's ring is filling:
// above what the kernel (100 ms) and the order of several interfaces (120 ms) hold back.
#define BB_SHED_LAG_NS (350 * G_GINT64_CONSTANT(1000000))
#define BB_SHED_LAG_UNKNOWN G_MININT64
// With more of the kernel's ring free, old packets and waiting are no pressure: a disk or a
// processor that was busy for a moment costs nothing, and what overloads fills it soon.
#define BB_SHED_ROOM 0.75

// What tells that packets come faster than they are read or decoded.
typedef struct BbShedSigns {
    guint64 received; // packets by the kernel, since the beginning, with those
    guint64 dropped;  // that it dropped
    guint64 read;     // that were read, likewise
    gint64 waited_ns; // that reading waited for the threads that decode, since the beginning
    gint64 lag_ns;    // age of the packet read last, or BB_SHED_LAG_UNKNOWN
    double room;      // share of the kernel's ring that is free, at least; 0: nobody knows
} BbShedSigns;

// What is left out: of the BB_SHED_PARTS that seed makes of the flows so many, from `first` on,
// behind the last of which comes the first.
typedef struct BbShedding {
    bool trims;
    guint8 parts, first;
    guint64 seed;
} BbShedding;

typedef struct BbShed BbShed;

// Gives a seed: from none of those that were given can another be told, but in tests.
typedef guint64 (*BbShedDraw)(gpointer user);

// can_trim: whether level 1 would save anything; else it is passed over.
BbShed *bb_shed_new(bool can_trim, BbShedDraw draw, gpointer user);
void bb_shed_free(BbShed *shed);

// now_ns: of a clock that never steps. Sets the level from now on. Ask it several times a window;
// the first time only begins one.
void bb_shed_look(BbShed *shed, gint64 now_ns, const BbShedSigns *signs);
guint bb_shed_level(const BbShed *shed);
BbShedding bb_shed_now(const BbShed *shed); // what that is; with no parts seed is that of the last

guint64 bb_shed_raises(const BbShed *shed); // times a level was raised
guint64 bb_shed_turns(const BbShed *shed);  // times other parts were left out in place of some
guint64 bb_shed_vain(const BbShed *shed);   // times parts were kept again as nothing helped
// Time spent at this level, up to the last look.
gint64 bb_shed_spent(const BbShed *shed, guint level);

// How many parts are left out at a level.
static inline guint bb_shed_parts(guint level)
{
    return level > BB_SHED_TRIMS ? level - BB_SHED_TRIMS : 0;
}

// The part of a flow, from 0 on; the same for both directions.
static inline guint bb_shed_part(guint64 seed, const BbAddress *one, guint16 one_port,
                                 const BbAddress *other, guint16 other_port)
{
    guint64 both = bb_mix_ends(seed, one, one_port, other, other_port);
    return (guint)((bb_mix(both, seed) >> 32) % BB_SHED_PARTS);
}

// Whether a flow is left out.
static inline bool bb_shedding_takes(const BbShedding *shedding, const BbAddress *one,
                                     guint16 one_port, const BbAddress *other, guint16 other_port)
{
    if (!shedding->parts)
        return false;
    guint part = bb_shed_part(shedding->seed, one, one_port, other, other_port);
    return (part + BB_SHED_PARTS - shedding->first) % BB_SHED_PARTS < shedding->parts;
}

// Whether all flows that `less` leaves out are left out, as far as parts tell.
static inline bool bb_shedding_covers(const BbShedding *shedding, const BbShedding *less)
{
    return !less->parts || (shedding->seed == less->seed && shedding->first == less->first &&
                            shedding->parts >= less->parts);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbShed, bb_shed_free)
