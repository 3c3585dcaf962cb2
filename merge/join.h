// SPDX-License-Identifier: Apache-2.0
// Joins sightings: what several observers saw of one message becomes one message with both times,
// time_ns from the sighting nearest to the sender, recv_ns from the one nearest to the receiver.
// A `_RECV` sighting is the receiver's; of others the earlier one is nearer to the sender. By a
// clock that is not known neither can be told: such a sighting adds no time to one by a known
// clock.
//
// Sightings of one message are recognised by their keys (merge/sighting.h). What an observer tells
// in several inputs (snapshots that overlap, merged traces with an observer in common), with one
// key at one time, is one sighting. Where there is no key that another observer could have, by
// order: a sighting joins the one of the other observer, with the same sender, receiver and kind
// and no other label or size, whose distance in time is nearest to what is usual between the two,
// if that one has no nearer one either and it is not further from that than such distances differ.
// Returns join where their calls did. What was lost on one side stands between and joins nothing.
//
// Ids of calls are those of merge/call_ids.h. A message waits until the window is over; at most
// held_max wait (350 bytes each and their texts), then the earliest goes early, counted.
#pragma once

#include "data/counters.h"
#include "data/order.h"
#include "merge/clocks.h"

#define BB_JOIN_WINDOW_NS (G_GINT64_CONSTANT(1) * 1000000000)
#define BB_JOIN_HELD 1048576u

typedef enum {
    BB_JOIN_KEYS,  // by keys; by order where there is none
    BB_JOIN_ORDER, // by keys, else by order
    BB_JOIN_NONE,  // every sighting is a message
} BbJoinBy;

typedef struct BbJoinOptions {
    gint64 window_ns; // sightings further apart are two messages
    gsize held_max;
    BbJoinBy by;
    const BbClocks *clocks; // what is known of the observers'; NULL where all are right
    bool repair; // a return that precedes its call, by no more than the window, moves to it
} BbJoinOptions;

typedef enum {
    BB_JOIN_SIGHTINGS,   // that came
    BB_JOIN_JOINED,      // messages of two or more sightings
    BB_JOIN_BY_POSITION, // joins, by how they were recognised
    BB_JOIN_BY_ID,
    BB_JOIN_BY_ORDER,
    BB_JOIN_AGAIN,         // sightings that their observer told in another input, too
    BB_JOIN_RECEIVER_ONLY, // messages that only the receiver saw (`_RECV`)
    BB_JOIN_OTHER_KIND,    // joins of sightings that are of different kinds; the decoded one counts
    BB_JOIN_EARLY,         // messages that did not wait for the window, for want of room
    BB_JOIN_LATE,          // messages written after a later one
    BB_JOIN_CUT,           // sightings of which only the last others of their key were looked at
    BB_JOIN_MOVED,         // returns moved to the time of their call
    BB_JOIN_PRECEDES,      // returns that still precede their call, or its arrival
    BB_JOIN_FORGOTTEN,     // calls whose return may have got another id (BB_CALL_IDS_OPEN)
    BB_JOIN_COUNTS,
} BbJoinCount;

// One host under two names, as it seems: sightings of one message differed in this.
typedef struct BbJoinNames {
    guint32 name, other; // name's text is the lesser
    guint64 count;
} BbJoinNames;

#define BB_JOIN_NAMES 1024u // pairs remembered

typedef struct BbJoin BbJoin;

// Messages go to sink in order of time, from within push and finish. names is lent.
BbJoin *bb_join_new(const BbJoinOptions *options, BbNames *names, BbMessageSink sink,
                    gpointer user);
void bb_join_free(BbJoin *join);

// Takes a sighting, nearly in order of time, with its observer, of this input. A failure of the
// sink comes back from this push or a later one, or from finish.
bool bb_join_push(BbJoin *join, const BbMessage *message, guint input, GError **error);
// Hands on what waits.
bool bb_join_finish(BbJoin *join, GError **error);

guint64 bb_join_count(const BbJoin *join, BbJoinCount count);
const char *bb_join_count_name(BbJoinCount count);    // as a counter in a trace
const char *bb_join_count_meaning(BbJoinCount count); // a sentence for people
const char *bb_join_meaning(const char *name);        // the same, of a counter; NULL if of no join

const struct BbOverlap *bb_join_overlap(const BbJoin *join); // lent: merge/overlap.h
const struct BbRepeats *bb_join_repeats(const BbJoin *join); // lent: merge/repeats.h
// Most frequent first. The array of BbJoinNames is yours.
GArray *bb_join_names(const BbJoin *join);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbJoin, bb_join_free)
