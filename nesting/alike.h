// SPDX-License-Identifier: Apache-2.0
// How alike two nodes are, by their calls alone, before any inference: what speaks for and against
// their being replicas of each other.
#pragma once

#include "data/call.h"

// Nodes with fewer calls in a window are not judged.
#define BB_ALIKE_CALLS_LEAST 20u

// Bounds on differences, beyond what chance explains at some three standard deviations:
#define BB_ALIKE_EDGES_MAX 0.1    // share of calls that come from, or go to, other places
#define BB_ALIKE_USE_MAX 0.6      // (uses of one - uses of the other) / both, by one caller: 1 to 4
#define BB_ALIKE_LATENCY_MAX 0.15 // Kolmogorov-Smirnov distance of the latencies
#define BB_ALIKE_BOTH_MAX 0.05    // share of parent calls that use both though chance would not

typedef struct BbAlike BbAlike;

// calls: in order of call_ns; lent. names: all names are below it. Memory: 12 bytes a call.
BbAlike *bb_alike_new(const BbCall *calls, guint32 n_calls, guint32 names);
void bb_alike_free(BbAlike *alike);

// The nodes that can be judged, in order of their names; lent.
const guint32 *bb_alike_nodes(const BbAlike *alike, guint *count);

// Whether both are called by the same classes of nodes for the same operations in the same shares,
// and call likewise. klass: of each name.
bool bb_alike_in_edges(BbAlike *alike, guint32 u, guint32 v, const guint32 *klass);

// Whether both take as long, are used about as often by each common caller, and are alternatives:
// no more of the calls that their caller serves use both than would if each use chose by lot. Where
// that cannot be told, for too many are served at once, the uses must scatter as by lot, or go
// round all nodes of the class in turn, with one like the other in how long it takes to the next.
bool bb_alike_in_use(BbAlike *alike, guint32 u, guint32 v, const guint32 *klass);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAlike, bb_alike_free)
