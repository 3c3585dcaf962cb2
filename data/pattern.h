// SPDX-License-Identifier: Apache-2.0
// A causal path pattern: path instances of equal shape, with the distribution of each node's
// latency and of each call's delay (paper, sections 3 and 5.1, step 5).
#pragma once

#include "data/names.h"
#include "data/stats.h"

// A call in a pattern, drawn as the vertex of its callee. The root's call comes from outside.
typedef struct BbPatternNode BbPatternNode;
struct BbPatternNode {
    guint32 node;          // the callee
    guint32 op;            // operation label, BB_NAME_NONE if unknown or labels are off
    BbStats *call_delay;   // entry into the parent to entry into this one; 0 for the root's call
    BbStats *latency;      // entry to first byte of the return (or last: --latency), with its calls
    guint64 self_total_ns; // time that this node worked itself: not covered by any of its calls;
                           // stops at the end of gint64
    guint64 errors;        // returns whose status is an error
    GPtrArray *calls;      // of BbPatternNode*, ordered by mean call delay, then by name
};

typedef struct BbPattern {
    guint rank;          // 1 = most costly by the order asked for
    guint32 client;      // the node that makes the root's call
    BbPatternNode *root; // the root's call, seen at its callee
    guint64 count;       // instances
    guint64 shape;       // hash of the shape, the same on every run
} BbPattern;

BbPatternNode *bb_pattern_node_new(guint32 node, guint32 op);
void bb_pattern_node_free(BbPatternNode *node);
BbPattern *bb_pattern_new(guint32 client, BbPatternNode *root); // takes root
void bb_pattern_free(BbPattern *pattern);

// Sum and mean of the root call's latency over the instances, in ns.
gint64 bb_pattern_total_latency(const BbPattern *pattern);
gint64 bb_pattern_mean_latency(const BbPattern *pattern);

// Calls in the pattern, the root's included.
guint bb_pattern_size(const BbPattern *pattern);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPattern, bb_pattern_free)
