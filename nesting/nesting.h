// SPDX-License-Identifier: Apache-2.0
// The nesting algorithm (Aguilera et al., SOSP 2003, section 5.1): from the messages of a trace to
// causal paths and their patterns. The stage's one public header.
//
//     g_autoptr(BbPairs) pairs = bb_pairs_new(names);
//     while (...)
//         bb_pairs_push(pairs, &message);
//     g_autoptr(BbPaths) paths = bb_nesting_run(pairs, &options);
#pragma once

#include "nesting/pairs.h"

typedef struct BbNestingOptions {
    // A candidate parent's score is its histogram's weight, times for each of these c^-penalty,
    // with c the children it was given already: those that overlap the child in time, those with
    // the same callee, and all. c = 0 counts as 1.
    double overlap_penalty, same_penalty, any_penalty;
    gint64 bin_floor_ns;    // delays below it share the first bin of a histogram
    double smoothing;       // standard deviation of the histograms' smoothing, in bins; 0 = none
    gint64 skew_window_ns;  // by how much a child may stick out of its parent at either end
    bool labels;            // operation labels are part of a pattern's shape (never of the choice)
    bool latency_last_byte; // a call lasts until its return's last byte, where that is known
} BbNestingOptions;

// The paper's: penalties 2, 0 and 0, a floor of 1 ms, no smoothing, no window; labels, first byte.
BbNestingOptions bb_nesting_options_default(void);

// Infers. Uses pairs up: after it, only free. The caller frees the result, which refers to names of
// the pairs' table.
// Confidences are BB_CONFIDENCE_NONE.
// Cost: n log n for n messages, plus two passes over the candidate parents of all calls (on
// average the parallelism of the trace for each); some 125 bytes a call, none per candidate.
BbPaths *bb_nesting_run(BbPairs *pairs, const BbNestingOptions *options);
