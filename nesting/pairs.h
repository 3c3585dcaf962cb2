// SPDX-License-Identifier: Apache-2.0
// Collects the messages of a trace, in any order, and makes call pairs of them (paper, section 5.1,
// step 1).
#pragma once

#include "data/path.h"

typedef struct BbPairs BbPairs;

// names: the table of the messages to come; lent, must outlive the pairs.
BbPairs *bb_pairs_new(const BbNames *names);
void bb_pairs_free(BbPairs *pairs);

// Takes a message; nothing of it is kept by reference. Free messages are only counted, but for
// those that end calls (bb_message_ends_call), of which each takes 112 bytes. Memory: 85 bytes a
// call while messages come in order of time and are seen once (93 where returns have other labels
// than their calls); else 56 bytes a call or return until bb_pairs_finish, which turns them into 80
// bytes a call. Returns false, and takes nothing, when 2^32 - 2 calls and returns are there
// already.
bool bb_pairs_push(BbPairs *pairs, const BbMessage *message);

// Joins calls and returns, and puts the calls (in order of call_ns; ties as they were pushed) and
// what is known of the trace into paths. After it, only free. Rules:
// - A return belongs to the earliest open call with the same caller, callee and id; where ids lack,
//   the absent id is an id like any other.
// - At equal times calls come before returns. Calls are ordered by the callee's clock where it is
//   known, so that both compare on one clock.
// - With an id, a return stamped before its call (the clocks differ) is given to the next call of
//   that key, unless that call has another return.
// - A second sighting of a message, at its receiver, adds the receiver's time; alone it stands for
//   the message.
// - A call without return over which a connection is closed is returned then, of that status. One
//   whose return nobody read keeps that time beside it (data/call.h).
void bb_pairs_finish(BbPairs *pairs, BbPaths *paths);

// Takes a call of an earlier window, with or without return: before any message, and in order of
// call_ns. It is not counted as a message; one without return finds its return among those to come.
void bb_pairs_push_call(BbPairs *pairs, const BbCall *call);

guint64 bb_pairs_held(const BbPairs *pairs);     // calls and returns it holds
guint64 bb_pairs_messages(const BbPairs *pairs); // pushed, of every kind

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPairs, bb_pairs_free)
