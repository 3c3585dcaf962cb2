// SPDX-License-Identifier: Apache-2.0
// Calls that wait for their return, in a flow of messages: by id, caller and callee, in order of
// arrival. A call whose key is there already takes its place: ids are used again.
//
// Calls that are watched are in order of their start, too, so that what waits for too long is found
// without looking at the others: O(log n) to watch and to forget.
//
// Limit: a number of calls; the oldest is forgotten beyond, and counted. 104 bytes a call, 48 more
// where it is watched.
#pragma once

#include "data/message.h"

typedef struct BbAwaited BbAwaited;

typedef struct BbAwaitedCall {
    BbId id;
    guint32 caller, callee, op, proto;
    gint64 time_ns;
    guint16 matches, fired; // bits of whoever has the table, 0 at first
    GList link;             // of the table, as is the next one
    GSequenceIter *watched; // NULL: it is not
} BbAwaitedCall;

BbAwaited *bb_awaited_new(guint limit); // 1 or more
void bb_awaited_free(BbAwaited *awaited);
void bb_awaited_clear(BbAwaited *awaited); // forgets all; these are not counted

// Takes a call whose id is known. The result is lent until the call is taken or forgotten.
BbAwaitedCall *bb_awaited_add(BbAwaited *awaited, const BbMessage *message);
// Finds the call of a return and takes it out. Returns false where there is none.
bool bb_awaited_take(BbAwaited *awaited, const BbMessage *message, BbAwaitedCall *call);

// Watches a call, until it is taken or forgotten.
void bb_awaited_watch(BbAwaited *awaited, BbAwaitedCall *call);
// Of those watched, the first that started at from_ns or later, and the one that started next (of
// the same time, that watched first); NULL at the end.
BbAwaitedCall *bb_awaited_since(const BbAwaited *awaited, gint64 from_ns);
BbAwaitedCall *bb_awaited_next(const BbAwaitedCall *call);

guint bb_awaited_count(const BbAwaited *awaited);
guint64 bb_awaited_forgotten(const BbAwaited *awaited); // beyond the limit, since new

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAwaited, bb_awaited_free)
