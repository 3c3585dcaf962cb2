// SPDX-License-Identifier: Apache-2.0
// The selection of patterns that all views of one run share: which are shown, in which order, and
// what was left out.
#pragma once

#include "viz/view.h"

struct BbRanking {
    const BbPattern **shown; // lent; shown[0] has rank 1
    guint n_shown;
    guint32 *rank; // by index into BbPatterns.patterns; 0 for what is left out
    guint n_ranks;
    guint64 n_patterns;                  // all there were,
    guint64 forgotten;                   // with those of which nothing more is known
    BbViewOptions options;               // as asked for, top resolved
    guint64 instances, instances_shown;  // of all patterns, of those shown
    gint64 latency_ns, latency_shown_ns; // total latency likewise; saturates
};

// top_of_format: what BB_TOP_OF_FORMAT stands for.
BbRanking *bb_ranking_new(const BbPatterns *patterns, const BbNames *names,
                          const BbViewOptions *options, guint top_of_format);
void bb_ranking_free(BbRanking *ranking);

// Whether the options chose at all: some pattern could be left out.
bool bb_ranking_chooses(const BbRanking *ranking);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRanking, bb_ranking_free)
