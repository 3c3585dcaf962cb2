// SPDX-License-Identifier: Apache-2.0
// Inference in one go, for tests: pairs to paths, paths to patterns.
#pragma once

#include "data/census.h"
#include "nesting/nesting.h"

static inline BbNestingOptions paper_options(void)
{
    BbNestingOptions options = bb_nesting_options_default();
    options.assign = BB_ASSIGN_PAPER;
    return options;
}

static inline BbPaths *infer_paths(BbPairs *pairs, const BbNames *names,
                                   const BbNestingOptions *options)
{
    g_autoptr(BbNesting) nesting = bb_nesting_new(names, options);
    return bb_nesting_run(nesting, pairs);
}

static inline BbPatterns *infer_patterns(BbPaths *paths, const BbNames *names,
                                         const BbNestingOptions *options)
{
    BbCensusOptions census_options = {
        .algorithm = "nesting", .labels = options->labels, .last_byte = options->latency_last_byte};
    g_autoptr(BbCensus) census = bb_census_new(&census_options, names);
    bb_census_add(census, paths);
    return bb_census_finish(census);
}
