// SPDX-License-Identifier: Apache-2.0
// A causal path pattern: path instances of equal shape, with the distribution of each node's
// latency and of each call's delay (paper, sections 3 and 5.1, step 5).
#pragma once

#include "data/names.h"
#include "data/stats.h"

// A call in a pattern, drawn as the vertex of its callee. The root's call comes from outside.
typedef struct BbPatternNode BbPatternNode;

// A delay that a node has before it sends, and how many messages had it (convolution).
typedef struct BbPatternDelay {
    gint64 delay_ns, spread_ns; // centre and standard deviation
    guint64 count;
} BbPatternDelay;

// How often one of several replicas was called, and how long that took; or of a client, that it
// called.
typedef struct BbReplica {
    guint32 node;
    guint64 count;
    gint64 latency_ns; // sum; stops at the end of gint64
} BbReplica;

struct BbPatternNode {
    guint32 node;          // the callee, or the role of its replicas
    guint32 op;            // operation label, BB_NAME_NONE if unknown or labels are off
    BbStats *call_delay;   // entry into the parent to the call of this one; 0 for the root's
    BbStats *latency;      // entry to first byte of the return (or last: --latency), with its calls
    guint64 self_total_ns; // time that this node worked itself: not covered by any of its calls;
                           // stops at the end of gint64
    guint64 critical_total_ns; // own work that the root's caller waited for (critical path); more
                               // than self where a call is made while another one, not waited
                               // for, is open; stops likewise
    guint64 turn_total_ns;     // of that, calls waited for their turn (workers), and
    guint64 pool_total_ns;     // of the caller's, it waited for a pool before it made the call
    guint64 wire_total_ns;     // on the way to it and back, as far as the root's caller waited; 0
                               // with one sighting a message
    guint64 errors;            // returns whose status is an error
    bool unanswered;   // calls without return, or with one that came when their caller had gone on:
                       // latency is how long it waited; self and critical time are parts of that
    double sure_total; // sum of the confidences of its links to the parent; expected number of
                       // right ones
    GArray *replicas;  // of BbReplica, by falling count, then by name; NULL where there are none
    GArray *delays;    // of BbPatternDelay, by falling count, then by delay: between the message
                       // to the parent and this one. NULL with nesting; empty at the root
    guint64 messages;  // of convolution: of all paths that begin like this one, up to here; 0 if
                       // not counted
    GPtrArray *calls;  // of BbPatternNode*, ordered by mean call delay, then by name; at most one
                       // with convolution
};

typedef struct BbPattern {
    guint32 client;      // the node that makes the root's call, or its role
    GArray *clients;     // its replicas, as those of a BbPatternNode
    BbPatternNode *root; // the root's call, seen at its callee
    guint64 count;       // instances; of convolution: paths that end here
    bool derived;        // convolution: not causal, explained by other paths
    double right_total;  // expected number of instances without a wrong or a lacking link;
                         // BB_CONFIDENCE_NONE where there are none
    guint64 shape;       // hash of the shape, the same on every run
} BbPattern;

BbPatternNode *bb_pattern_node_new(guint32 node, guint32 op);
void bb_pattern_node_free(BbPatternNode *node);
BbPattern *bb_pattern_new(guint32 client, BbPatternNode *root); // takes root
void bb_pattern_free(BbPattern *pattern);

// One use more; not after they were sorted.
void bb_replicas_count(GArray *replicas, guint32 node, gint64 latency_ns);
void bb_replicas_sort(GArray *replicas, const BbNames *names); // replicas may be NULL

static inline gint64 bb_replica_mean_latency(const BbReplica *replica)
{
    return replica->latency_ns / (gint64)MAX(replica->count, 1);
}

// Sum and mean of the root call's latency over the instances, in ns.
gint64 bb_pattern_total_latency(const BbPattern *pattern);
gint64 bb_pattern_mean_latency(const BbPattern *pattern);

// Expected share of the instances that have a wrong link or lack one, and of the calls of a node
// that have the right parent; less than 0 where no confidences are known.
double bb_pattern_wrong(const BbPattern *pattern);
double bb_pattern_sure(const BbPattern *pattern, const BbPatternNode *node);

// Of the node's critical_total_ns: that it stood in line, for one of its workers or for a pool.
guint64 bb_pattern_queued(const BbPatternNode *node);

// Below it, who caused a call is little better than a toss of a coin.
#define BB_PATTERN_SURE_LEAST 0.6

// Order of BbPatternDelay: by falling count, then by delay.
gint bb_pattern_delay_compare(gconstpointer left, gconstpointer right);

// Of a chain, by the nodes it passes: the same on every run. A derived one differs from a causal
// one.
guint64 bb_pattern_hash_chain(const BbPattern *pattern, const BbNames *names);

// Calls in the pattern, the root's included.
guint bb_pattern_size(const BbPattern *pattern);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPattern, bb_pattern_free)
