// SPDX-License-Identifier: Apache-2.0
// The clocks of observers, from the messages that more than one of them stamped. Fed with all
// messages of all traces in any order, it relates each two observers that have messages in both
// directions in common (clock_fit.h), and each observer to the first one over the chain of such
// relations with the least error.
//
// What is known is two-way: with messages one way only, a clock that is ahead and a network that
// is slow look the same, so that there is a bound and no estimate.
#pragma once

#include "merge/clock_fit.h"
#include "merge/sightings.h"

typedef struct BbClocks BbClocks;

typedef enum {
    BB_CLOCK_REFERENCE, // the first observer: its clock is right by definition
    BB_CLOCK_KNOWN,
    BB_CLOCK_BOUND,     // messages in common with others one way only
    BB_CLOCK_UNORDERED, // and of none of them is it known whom it passed first
    BB_CLOCK_UNKNOWN,   // no messages in common with any that is known
} BbClockState;

typedef struct BbClock {
    guint32 name; // of the observer
    BbClockState state;
    guint64 sightings; // that could be recognised by another observer
    BbClockMap *map;   // from this clock to the reference; NULL unless known or the reference
    // Known: this clock minus the reference when the reference first saw something.
    gint64 offset_ns;
    double drift; // by how much that grows in a nanosecond of the reference
    double drift_error;
    double error_ns; // offset_ns and what is corrected are right to within this
    guint via;       // known, bound, unordered: the observer that it was compared with
    // Bound: this clock minus that of via is at least (or, if bound_above, at most) this.
    gint64 bound_ns;
    bool bound_above;
} BbClock;

// Two observers, a < b, that have messages in common.
typedef struct BbClockRelation {
    guint a, b;
    guint64 matches;   // messages of the sample that both saw
    guint64 unordered; // of which it is not known which one they passed first: not used
    BbClockFit fit;    // from a's clock to b's
    bool used;         // the chain of some observer goes over it
    // Not used, both known: how far it says otherwise than the chains do.
    gint64 residual_ns;
    GArray *shown; // of BbClockPoint, by a_ns: up to BB_CLOCK_SHOWN of the matches, for a plot
} BbClockRelation;

#define BB_CLOCK_SHOWN 1000

// names is lent, and outlives the clocks. samples: messages remembered (BB_SIGHTINGS_MAX).
BbClocks *bb_clocks_new(const BbNames *names, gsize samples);
void bb_clocks_free(BbClocks *clocks);

// Makes an observer known; the first one is the reference. Others come by their first message.
void bb_clocks_observer(BbClocks *clocks, guint32 name);

// A sighting by message->observer.
void bb_clocks_add(BbClocks *clocks, const BbMessage *message);

// The nodes are the observers: of what they send and, where recv_ns is known or the sighting is the
// receiver's own, of what they receive.
void bb_clocks_add_nodes(BbClocks *clocks, const BbMessage *message);

// Ends the adding, begins the asking.
void bb_clocks_solve(BbClocks *clocks);

guint bb_clocks_count(const BbClocks *clocks);
const BbClock *bb_clocks_at(const BbClocks *clocks, guint index);
guint bb_clocks_relations(const BbClocks *clocks);
const BbClockRelation *bb_clocks_relation(const BbClocks *clocks, guint index); // by a, then b

// A time of the clock of this observer, in the reference's clock. The same where that is not known.
// Never falls with rising time_ns in a lap.
gint64 bb_clocks_correct(const BbClocks *clocks, guint32 name, guint lap, gint64 time_ns);

// Between laps, one of the two clocks stepped back (clock_map.h); 1 where none did.
guint bb_clocks_laps(const BbClocks *clocks, guint32 name);
// How often the first observer's clock stepped back, by what the others saw.
guint bb_clocks_reference_falls(const BbClocks *clocks);
// The lap that a time of the clock of this observer is of; of several the one in which the
// reference's time is nearest to near_ns, that of what the observer saw before, or G_MININT64.
guint bb_clocks_lap(const BbClocks *clocks, guint32 name, gint64 time_ns, gint64 near_ns);

// Whether that is known of this observer's clock.
bool bb_clocks_knows(const BbClocks *clocks, guint32 name);

// Sightings that had keys, and the part of them that was remembered.
guint64 bb_clocks_added(const BbClocks *clocks);
guint64 bb_clocks_kept(const BbClocks *clocks);
// Keys that one observer has more than once, not used.
guint64 bb_clocks_ambiguous(const BbClocks *clocks);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbClocks, bb_clocks_free)
