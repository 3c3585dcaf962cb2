// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace. Out: causal paths and their patterns. The order of the stage's
// steps.
#include "nesting/nesting.h"

#include "nesting/candidates.h"
#include "nesting/census.h"
#include "nesting/choice.h"
#include "nesting/trees.h"

BbNestingOptions bb_nesting_options_default(void)
{
    return (BbNestingOptions){.overlap_penalty = 2, .bin_floor_ns = 1000000, .labels = true};
}

static void choose_parents(BbPaths *paths, guint32 n_names, const BbNestingOptions *options)
{
    paths->parent = g_new(guint32, paths->n_calls);
    paths->confidence = g_new(float, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        paths->parent[i] = BB_CALL_NO_PARENT;
        paths->confidence[i] = BB_CONFIDENCE_NONE;
    }
    g_autoptr(BbCandidates) candidates =
        bb_candidates_new(paths->calls, paths->n_calls, n_names, options->skew_window_ns);
    g_autoptr(BbChoice) choice = bb_choice_new(options);
    while (bb_candidates_next_node(candidates))
        bb_choice_run(choice, candidates, paths->parent, &paths->children, &paths->candidates);
}

BbPaths *bb_nesting_run(BbPairs *pairs, const BbNestingOptions *options)
{
    const BbNames *names = bb_pairs_names(pairs);
    BbPaths *paths = bb_paths_new();
    paths->algorithm = "nesting";
    bb_pairs_finish(pairs, paths);
    choose_parents(paths, bb_names_count(names), options);
    g_autoptr(BbTrees) trees = bb_trees_new(paths, options->labels, options->latency_last_byte);
    bb_trees_list(trees, paths);
    bb_census_take(paths, trees, names, options->labels, options->latency_last_byte);
    return paths;
}
