// SPDX-License-Identifier: Apache-2.0
// Calls that wait for their return, in a flow of messages: by id, caller and callee, in order of
// arrival. A call whose key is there already takes its place: ids are used again.
//
// Limit: a number of calls; the oldest is forgotten beyond, and counted. 96 bytes a call.
#pragma once

#include "data/message.h"

typedef struct BbAwaited BbAwaited;

typedef struct BbAwaitedCall {
    BbId id;
    guint32 caller, callee, op, proto;
    gint64 time_ns;
    guint16 matches, fired; // bits of whoever has the table, 0 at first
    GList link;             // of the table
} BbAwaitedCall;

BbAwaited *bb_awaited_new(guint limit); // 1 or more
void bb_awaited_free(BbAwaited *awaited);
void bb_awaited_clear(BbAwaited *awaited); // forgets all; these are not counted

// Takes a call whose id is known. The result is lent until the call is taken or forgotten.
BbAwaitedCall *bb_awaited_add(BbAwaited *awaited, const BbMessage *message);
// Finds the call of a return and takes it out. Returns false where there is none.
bool bb_awaited_take(BbAwaited *awaited, const BbMessage *message, BbAwaitedCall *call);

// From the oldest on; NULL at the end.
BbAwaitedCall *bb_awaited_first(const BbAwaited *awaited);
BbAwaitedCall *bb_awaited_next(const BbAwaitedCall *call);

guint bb_awaited_count(const BbAwaited *awaited);
guint64 bb_awaited_forgotten(const BbAwaited *awaited); // beyond the limit, since new

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAwaited, bb_awaited_free)
