// SPDX-License-Identifier: Apache-2.0
// Counts the paths of free-form messages by the chain of nodes they pass: the patterns of
// convolution (paper, section 5.2, figures 9 and 13). An instance is a tree of messages; each way
// from its root to a message that caused no other is one complete path.
#pragma once

#include "data/census.h"

typedef struct BbChains BbChains;

// names is lent. limit: chains kept, of 16 nodes on average; more than that when a window comes, or
// patterns of more nodes at the end, and the rarest are forgotten, those that go on from them
// before them, all but half of the limit. 0: no limit. Memory: some 250 bytes a chain, at the end
// as much for each node of a pattern; 8 bytes for each chain that was forgotten, which is a new one
// when it comes again.
BbChains *bb_chains_new(const BbNames *names, guint limit);
void bb_chains_free(BbChains *chains);

// Counts the instances of a window, and writes into each the pattern of the path to its last
// message: the one that took longest. The index of a pattern never changes. paths->mode, onward and
// modes are used; its messages are linked by parent.
void bb_chains_add(BbChains *chains, BbPaths *paths);

bool bb_chains_is_kept(const BbChains *chains, guint32 pattern);

// The patterns: chains in which each node has at most one call. A pattern's count is that of the
// paths that end at its last node, corrected for messages whose effect went to others: the lesser
// of the messages there that got no effect, and all of them less those that are expected to have
// one. These are the expected number of effects, over that of effects of a message that has any, by
// those whose effects are sure: at a load where effects are mistaken, some messages get another's
// besides their own. latency of the root: from when the first message is sent until the last one
// arrives, of the paths before the correction. delays of each node but the root: of the messages of
// this chain's vertex, modes of nearly equal delay as one; call_delay: one value, the first of
// these. Patterns whose count is 0 stay in their place, as NULL. Derived pairs follow, as patterns
// of two messages; of those, at most limit are kept, and the others count as forgotten patterns
// without instances. After it, only free.
BbPatterns *bb_chains_finish(BbChains *chains);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbChains, bb_chains_free)
