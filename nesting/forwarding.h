// SPDX-License-Identifier: Apache-2.0
// Forwarded calls: A calls B, B passes the call on to C, and C answers A (paper, section 8, future
// work). The trace has CALL A->B, CALL B->C, RET C->A: two calls without return, and a return
// without call.
#pragma once

#include "data/path.h"

#define BB_FORWARDING_HOPS_MAX 16u // calls of one chain

// The caller waits no longer than this for a return from another node; without ids any open call of
// the time before might be meant.
#define BB_FORWARDING_AGE_MAX_NS G_GINT64_CONSTANT(60000000000)

// Gives orphaned returns C->A to the chains A->B, B->...->C of calls without return that they end.
// calls: in order of call_ns. orphans: returns as calls without call times, in order of time.
// Returns how many of them it joined, and in *n_left how many returns have no call in the end. Adds
// to tosses (of BbToss; NULL: not wanted) the last calls of chains that could have had another.
// Rules:
// - Where the return has an id, the chain begins with the earliest call of A that has it. Where it
//   has none, with the earliest open call of A, and only if A never calls C itself: the orphan is
//   then the return of a call that was lost. Where B answers some calls of A itself, the returns of
//   both kinds are given to calls in the order of their times.
// - Each further call was made by the callee of the one before after that arrived; one with the
//   return's id goes before others, then the shorter chain, then the earlier call.
// - The return ends the whole chain: the first call as A sees it, the others at that instant, so
//   far as the clocks of their callers tell; so each call lies in the one before it.
// Costs nothing without orphans; else a sort of the calls without return, and a search of at most
// 1,024 steps a return.
guint64 bb_forwarding_join(BbCall *calls, guint32 count, const BbCall *orphans, guint32 n_orphans,
                           guint64 *n_left, GArray *tosses);
