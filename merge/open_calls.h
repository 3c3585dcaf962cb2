// SPDX-License-Identifier: Apache-2.0
// Tells of each message to which call it belongs, as the messages come, with bounded memory: what
// keeps a call and its return together. What a call means to the user of this is a value.
#pragma once

#include "data/message.h"

typedef struct BbOpenCalls BbOpenCalls;

// Values are referenced once for each place that remembers them. ref and unref may be NULL.
typedef struct BbOpenCallsValues {
    gpointer (*ref)(gpointer value);
    void (*unref)(gpointer value);
    void (*forget)(gpointer value); // its call will not find its return any more; may be NULL
    // This return, which came before the call, is its: it found no other, or the one that is asked
    // for now is the second sighting of it; may be NULL.
    void (*adopt)(gpointer value, gpointer early, gpointer user);
    gpointer user;
} BbOpenCallsValues;

// max: calls without return that are remembered at once, some 100 bytes each; beyond it the oldest
// is forgotten. Of 65,536 messages of a kind, seen at one end, it is known at most that a second
// sighting may follow.
#define BB_OPEN_CALLS_MAX (1u << 18)
BbOpenCalls *bb_open_calls_new(guint max, const BbOpenCallsValues *values);
void bb_open_calls_free(BbOpenCalls *calls); // forgets nothing, only unrefs

// A call that bb_open_calls_find() did not know. value must not be NULL.
void bb_open_calls_push(BbOpenCalls *calls, const BbMessage *call, gpointer value);

// A return with an id that bb_open_calls_find() did not know: the clocks may differ, and it is the
// next call's of its key, unless another return comes for that one (as in nesting/pairs.h). value
// is not referenced. At most 65,536 wait for their call. Where it is the second sighting of one
// that waits, nothing is taken, and the value of that one is returned; else NULL.
gpointer bb_open_calls_push_early(BbOpenCalls *calls, const BbMessage *message, gpointer value);

// A free message that bb_open_calls_find() did not know, where its second sighting is to be found.
void bb_open_calls_push_free(BbOpenCalls *calls, const BbMessage *message, gpointer value);

// After the last message: calls found early returns where they found no others.
void bb_open_calls_finish(BbOpenCalls *calls);

// The value of the call that message belongs to (of a free message: its own), referenced; NULL
// where it is not known, as for a call that is new. Messages come in order of time. Rules:
// - A return belongs to the earliest open call with the same caller, callee and id, and closes it.
//   Where ids lack, the absent id is an id like any other.
// - A message belongs to the earliest one with the same nodes and id that was seen at the other end
//   and has no such second sighting yet; where there is none it stands for the message, at
//   whichever end it was seen. So the clocks of the ends may differ.
gpointer bb_open_calls_find(BbOpenCalls *calls, const BbMessage *message);

// The value of the call over which its connection was closed, by whichever end, as message says
// (bb_message_ends_call); lent. The call stays open: its return may come all the same. NULL where
// it is not known, or has its return.
gpointer bb_open_calls_closed(BbOpenCalls *calls, const BbMessage *message);

guint64 bb_open_calls_forgotten(const BbOpenCalls *calls); // calls, at the limit

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOpenCalls, bb_open_calls_free)
