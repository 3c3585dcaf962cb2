// SPDX-License-Identifier: Apache-2.0
// The nesting algorithm (Aguilera et al., SOSP 2003, section 5.1), with the paper's choice of
// parents or a joint one: from the messages of a trace, or of a window of one, to causal paths.
// The stage's public header; nesting/windows.h runs it over traces of any length.
//
//     g_autoptr(BbNesting) nesting = bb_nesting_new(names, &options);
//     g_autoptr(BbPairs) pairs = bb_pairs_new(names);
//     while (...)
//         bb_pairs_push(pairs, &message);
//     g_autoptr(BbPaths) paths = bb_nesting_run(nesting, pairs);
#pragma once

#include "data/roles.h"
#include "nesting/pairs.h"

typedef enum {
    BB_ASSIGN_JOINT, // a model of what each node does, learned from the trace (doc/NESTING.md)
    BB_ASSIGN_PAPER, // section 5.1, steps 3 and 4
} BbAssign;

typedef struct BbNestingOptions {
    BbAssign assign;
    // The paper's choice. A candidate parent's score is its histogram's weight, times for each of
    // these c^-penalty, with c the children it was given already: those that overlap the child in
    // time, those with the same callee, and all. c = 0 counts as 1.
    double overlap_penalty, same_penalty, any_penalty;
    gint64 bin_floor_ns; // delays below it share the first bin of a histogram
    double smoothing;    // standard deviation of the histograms' smoothing, in bins; 0 = none
    // Both.
    gint64 skew_window_ns;  // by how much a child may stick out of its parent at either end
    bool labels;            // operation labels are part of a pattern's shape, and evidence for the
                            // joint choice
    bool connections;       // likewise which connection each call goes on
    bool latency_last_byte; // a call lasts until its return's last byte, where that is known
    BbRoles *roles;         // of replicas; lent, may be NULL: each node its own
    bool find_roles;        // adds to them what the first window shows
    bool merge_replicas;    // roles stand for nodes in shapes, hence in patterns, and in findings
    guint threads;          // that work at once; 0 = one a processor. Changes no result
} BbNestingOptions;

// Joint; the paper's penalties 2, 0 and 0, a floor of 1 ms, no smoothing; no window; labels,
// connections, first byte.
BbNestingOptions bb_nesting_options_default(void);

// An inference over one or more windows of a trace: shapes keep their numbers from one to the next.
// What the choice of parents learns, it learns in each window anew.
typedef struct BbNesting BbNesting;

// names is lent.
BbNesting *bb_nesting_new(const BbNames *names, const BbNestingOptions *options);
void bb_nesting_free(BbNesting *nesting);

// Infers. Uses pairs up: after it, only free. The caller frees the result, which refers to names.
// With the paper's choice confidences are BB_CONFIDENCE_NONE.
// Cost of the paper's choice: n log n for n messages, plus two passes over the candidate parents of
// all calls (on average the parallelism of the trace for each); some 125 bytes a call, none per
// candidate.
BbPaths *bb_nesting_run(BbNesting *nesting, BbPairs *pairs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNesting, bb_nesting_free)
