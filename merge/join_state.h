// SPDX-License-Identifier: Apache-2.0
// What the parts of the join share: messages that wait, and where they stand. Inside of the join
// only.
#pragma once

#include "merge/call_ids.h"
#include "merge/join.h"
#include "merge/overlap.h"
#include "merge/repeats.h"
#include "merge/sighting.h"

// A sighting waits for so many others before it is joined: the memory that it will need is on its
// way to the processor meanwhile.
#define BB_JOIN_COMING 8u

// One sighting of a message.
typedef struct BbSighting {
    struct BbSighting *next;
    gint64 time_ns;
    BbId id;
    guint32 observer, input;
    bool at_receiver;
    bool again; // its observer has told it in another input, too
} BbSighting;

// A message that waits for other sightings. What a search by key looks at comes first: it should
// lie in one line of the processor's cache.
typedef struct BbHeld {
    struct BbHeld *next_same; // in the bucket of its key
    BbSightingKey key;
    BbSighting seen;    // the first one that came; others behind it
    BbMessage message;  // of the sighting nearest to the sender, completed by the others
    BbOpenCall *call;   // of a call with id
    bool receiver_told; // recv_ns is of a `_RECV` sighting, or was in the trace
    bool moved;         // a return that came before its call, to the call's time
    struct BbHeld *older, *younger; // in order of time
    struct BbLane *lane;            // NULL where it joins by no order
    struct BbHeld *before, *behind; // in the lane, in order of arrival
    char *text;                     // conn and extra of message
    gsize room;
} BbHeld;

// Messages of one sender, receiver and kind that may join by order.
typedef struct BbLane {
    guint32 sender, receiver;
    BbKind kind;
    guint32 observer; // of all of them, unless mixed
    bool mixed;
    BbHeld *first, *last;
} BbLane;

#define BB_JOIN_LEARNING 16u  // delays until it is known what is usual
#define BB_JOIN_DELAYS 65536u // that are remembered, 200 bytes each; then no more are

// Between two observers: of what passes first before second, whatever it is; or of what goes from
// sender to receiver, with first < second.
typedef struct BbDelayKey {
    guint32 first, second, sender, receiver;
} BbDelayKey;

// How much later one observer sees what another has seen. Medians, since some of what is joined may
// be wrong.
typedef struct BbJoinDelay {
    gint64 usual_ns, spread_ns; // the latter of how far delays are from the former
    gint64 first_ns[BB_JOIN_LEARNING];
    guint known; // of first_ns
} BbJoinDelay;

struct BbJoin {
    BbJoinOptions options;
    BbNames *names;
    BbMessageSink sink;
    gpointer user;
    BbHeld *coming[BB_JOIN_COMING]; // the last ones pushed; a ring from next_coming on
    guint next_coming;
    BbHeld *oldest, *youngest;
    BbHeld *late; // entered last of those that were not the youngest, or who stood before it
    gsize n_held, n_buckets;
    BbHeld **buckets;   // by key
    BbHeld *vacant;     // by next_same
    GHashTable *lanes;  // BbLane -> itself
    GHashTable *delays; // BbDelayKey -> BbJoinDelay
    GHashTable *apart;  // BbJoinNames -> itself
    BbCallIds *ids;
    BbOverlap *overlap;
    BbRepeats *repeats;
    gint64 newest_ns, out_ns; // times pushed and handed on
    guint32 tcp, udp;         // protocols of connections that no decoder knew
    guint32 unread;           // BB_STATUS_UNREAD
    guint64 count[BB_JOIN_COUNTS];
};

// Whether both are one record of one observer, which came in two inputs.
static inline bool bb_sighting_is_again(const BbSighting *a, const BbSighting *b)
{
    return a->observer == b->observer && a->input != b->input && a->time_ns == b->time_ns &&
           a->at_receiver == b->at_receiver;
}

// ---- join_held.c: places for messages, the list in order of time, the table by key

// A place with a copy of message and its texts; what else it holds is to be set.
BbHeld *bb_held_take(BbJoin *join, const BbMessage *message);
void bb_held_give_back(BbJoin *join, BbHeld *held);
void bb_held_free(BbHeld *held);
// Into the list and out of it, where a time changes.
void bb_held_insert(BbJoin *join, BbHeld *held);
void bb_held_remove(BbJoin *join, const BbHeld *held);
// Into the list, the table and the lane, and out of all of them.
void bb_held_enter(BbJoin *join, BbHeld *held);
void bb_held_leave(BbJoin *join, BbHeld *held);
static inline BbHeld **bb_held_bucket(const BbJoin *join, const BbSightingKey *key)
{
    return &join->buckets[key->lo & (join->n_buckets - 1)];
}

// ---- join_settle.c

// Gives a return the id of its call, and moves it where it precedes that one. Returns false where
// it has moved behind its call, and waits there.
bool bb_held_settle_return(BbJoin *join, BbHeld *held);
// The call that a return answers by the ids of its sightings; NULL if none is known. The first that
// is found: of others there may be, see bb_held_settle_return.
BbOpenCall *bb_held_find_call(const BbJoin *join, const BbHeld *held);
void bb_held_settle_other(BbJoin *join, BbHeld *held);

// ---- join_fold.c

// Makes one message of a and b, in a. b keeps nothing of worth. Returns whether b is only what an
// observer of a told in another input.
bool bb_held_fold(BbJoin *join, BbHeld *a, BbHeld *b);

// ---- join_lane.c

void bb_lane_enter(BbJoin *join, BbHeld *held);
void bb_lane_leave(BbJoin *join, BbHeld *held);
// The message that joins held by order, NULL if none does. held is the oldest of its lane.
BbHeld *bb_lane_match(const BbJoin *join, const BbHeld *held);
// A sighting came so long after another.
void bb_lane_learn(BbJoin *join, guint32 first, guint32 second, gint64 delay_ns);
// Both are taken for one message, by order.
void bb_lane_learn_edge(BbJoin *join, const BbHeld *a, const BbHeld *b);

guint bb_lane_hash(gconstpointer lane);
gboolean bb_lane_equal(gconstpointer a, gconstpointer b);
guint bb_delay_key_hash(gconstpointer key);
gboolean bb_delay_key_equal(gconstpointer a, gconstpointer b);
