// SPDX-License-Identifier: Apache-2.0
// What `bbtrace merge` tells of its work.
#pragma once

#include "capture/nodes.h"
#include "cli/merge_options.h"
#include "merge/clocks.h"
#include "merge/merger.h"
#include "merge/nat.h"
#include "merge/node_rules.h"

// All of it is lent.
typedef struct BbMergeFindings {
    const BbMergeOptions *options;
    const BbNames *names;
    const BbMerger *merger; // has run
    const BbClocks *clocks; // NULL as they are
    const BbNat *nat;       // NULL where not looked for
    const BbJoin *join;
    const BbNodes *nodes;     // of --names; NULL without
    const BbNodeRules *rules; // of --alias
    guint64 written, calls;   // messages, calls among them
} BbMergeFindings;

// Damage and loss of the inputs, and what the merge itself counted. The caller frees.
BbCounters *bb_merge_counters(const BbMergeFindings *found);

// The clocks; with --quiet, what cannot be known of them.
void bb_merge_say_clocks(const BbMergeFindings *found);
// Messages, pairs of observers, names that seem to be one, translated connections.
void bb_merge_say_summary(const BbMergeFindings *found);
// What may be wrong in the trace although all inputs are good; how many messages that stand twice
// by two clocks of an observer, and joined connections of which nothing tells the sides.
void bb_merge_warn(const BbMergeFindings *found);
guint64 bb_merge_repeated(const BbMergeFindings *found);
guint64 bb_merge_unsure_sides(const BbMergeFindings *found);
// Inputs that are damaged or could not be read, with their names. Returns whether all could be
// read.
bool bb_merge_say_complaints(const BbMergeFindings *found);
