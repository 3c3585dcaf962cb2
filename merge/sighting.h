// SPDX-License-Identifier: Apache-2.0
// A sighting: one observer's record of a message. Gives the key by which two sightings of one
// message are recognised, of whatever is available, in this order:
//
//   position  connection (conn=), byte offset (off=) and direction. The direction is told by a
//             name that both observers have, else by whether it is a call or a return, so that
//             other names do no harm; where nothing tells, both directions may be meant. A datagram
//             has its print in place of the offset (data/message.h): so has one that is sent again,
//             which must be told by time.
//   id        sender, receiver, kind and id: an id is unique only between its caller and callee.
//   nothing   what remains is order within (sender, receiver, kind): the joiner's business.
//
// An id that a capture made up counts its own messages and means nothing to another observer. What
// a capture writes has proto=, bytes= and end=, and a plain decimal number for an id: all that
// looks so has a local id, which joins within its own trace only. Every other id comes from the
// wire.
#pragma once

#include "data/message.h"

typedef enum {
    BB_SIGHTING_BY_ORDER, // no key
    BB_SIGHTING_BY_POSITION,
    BB_SIGHTING_BY_ID,
} BbSightingBy;

// From where to where a message goes, as far as an observer tells.
typedef struct BbSightingWay {
    guint32 sender, receiver; // of one table of names for all that are compared
    BbKind kind;
} BbSightingWay;

// hi and lo are 128 bits of hash of texts, the same for every table of names, run and machine.
// Different keys collide by accident only: never for the numbers of messages there are.
typedef struct BbSightingKey {
    guint64 hi, lo; // 0, 0 where by is BB_SIGHTING_BY_ORDER
    BbSightingWay way;
    BbSightingBy by;
    bool local;       // joins within its own trace only
    bool at_receiver; // the sighting is the receiver's own (`_RECV`)
} BbSightingKey;

BbSightingKey bb_sighting_key(const BbMessage *message, const BbNames *names);

// Whether two messages of one position may go in the same direction.
bool bb_sighting_same_way(BbSightingWay a, BbSightingWay b);

// Whether both may be one message: the keys are equal and either two observers made them, or one is
// the `_SENT`, the other the `_RECV` line of one trace. A key comes again when an id is used again
// or 4 GiB went over a connection: whoever joins must also ask for the time.
static inline bool bb_sighting_joins(const BbSightingKey *a, const BbSightingKey *b,
                                     bool same_trace, bool same_observer)
{
    if (a->by == BB_SIGHTING_BY_ORDER || a->by != b->by || a->hi != b->hi || a->lo != b->lo)
        return false;
    if (a->by == BB_SIGHTING_BY_POSITION && !bb_sighting_same_way(a->way, b->way))
        return false;
    if (!same_trace && (a->local || b->local))
        return false;
    return !same_observer || a->at_receiver != b->at_receiver;
}

// Whether the id was made up by a capture, as far as can be told.
bool bb_sighting_id_is_local(const BbMessage *message);
