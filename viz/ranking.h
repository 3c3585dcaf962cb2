// SPDX-License-Identifier: Apache-2.0
// The selection of patterns that all views of one run share: which are shown, in which order, and
// what was left out.
#pragma once

#include "viz/view.h"

struct BbRanking {
    const BbPattern **shown; // lent; in order of rank
    guint32 *rank_shown;     // of each; from 1, with gaps only where rare ones are left out
    guint n_shown;
    guint32 *rank; // by index into BbPatterns.patterns; 0 for what is left out
    guint n_ranks;
    bool chains;                        // they are of convolution
    guint64 n_patterns;                 // all there were,
    guint64 forgotten;                  // with those of which nothing more is known
    guint64 rare;                       // left out because of min_share
    bool queued;                        // some node of those shown stood in line so long that it
                                        // is told,
    bool wire;                          // or so much was on the way to it and back
    guint64 derived, derived_shown;     // of n_patterns, of n_shown; they have no instances
    BbViewOptions options;              // as asked for, all resolved
    guint64 instances, instances_shown; // of all patterns, of those shown; paths of convolution
    gint64 latency_ns, latency_left_ns; // total latency of all, of those left out; each saturates
};

// top_of_format: what BB_TOP_OF_FORMAT stands for. BB_SHARE_OF_FORMAT stands for 0.
BbRanking *bb_ranking_new(const BbPatterns *patterns, const BbNames *names,
                          const BbViewOptions *options, guint top_of_format);
void bb_ranking_free(BbRanking *ranking);

// Share of all instances; of a derived pattern, how many it had if it had any.
double bb_ranking_share(const BbRanking *ranking, const BbPattern *pattern);

// As a share of the pattern's latency: that the node stood in line, for one of its workers or for a
// pool. 0 where it is too little to be told.
double bb_ranking_queued(const BbPattern *pattern, const BbPatternNode *node);
// Likewise: that calls of the node and returns were on the way.
double bb_ranking_wire(const BbPattern *pattern, const BbPatternNode *node);

// Whether the options chose at all: some pattern could be left out.
bool bb_ranking_chooses(const BbRanking *ranking);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRanking, bb_ranking_free)
