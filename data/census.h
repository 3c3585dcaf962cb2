// SPDX-License-Identifier: Apache-2.0
// Counts path instances by pattern, window after window, with the statistics of each vertex
// (paper, section 5.1, step 5).
#pragma once

#include "data/path.h"
#include "data/pattern.h"

// Calls without return that began an instance, and so are in no pattern.
typedef struct BbUnreturned {
    guint32 caller, callee;
    guint64 count;
} BbUnreturned;

// What every view of patterns reads.
typedef struct BbPatterns {
    const char *algorithm; // "nesting", static
    GPtrArray *patterns;   // of BbPattern*, owned, in order of first appearance
    BbFacts facts;         // of the whole trace
    GArray *unreturned;    // of BbUnreturned, by falling count, then by names
    // Patterns that were rare when there were too many; nothing else is known of them any more.
    guint64 forgotten, forgotten_instances;
    gint64 forgotten_latency_ns;
} BbPatterns;

typedef struct BbCensusOptions {
    const char *algorithm;
    bool labels;    // operation labels are part of a vertex
    bool last_byte; // a call lasts until the last byte of its return
    guint limit;    // patterns kept; more than that, and the rarest are forgotten. 0: no limit
} BbCensusOptions;

#define BB_CENSUS_LIMIT 65536u // of a run that nobody told otherwise

typedef struct BbCensus BbCensus;

// names is lent.
BbCensus *bb_census_new(const BbCensusOptions *options, const BbNames *names);
void bb_census_free(BbCensus *census);

// Counts the instances of a window and writes into each of which pattern it is; adds the facts.
// First, where there are more patterns than the limit, it forgets the rarest ones (of equals the
// latest), all but half of the limit: so a single window is counted in full. The index of a pattern
// never changes; that of a forgotten one holds NULL in BbPatterns.patterns, and when its shape
// comes again, it is a new pattern. Memory: some 160 bytes a call of a pattern that is kept or new
// in the window, 16 bytes for each that was forgotten.
void bb_census_add(BbCensus *census, BbPaths *paths);

// Whether the pattern of that index is not forgotten.
bool bb_census_is_kept(const BbCensus *census, guint32 pattern);

// The patterns, each with its calls in order of mean delay. After it, only free.
BbPatterns *bb_census_finish(BbCensus *census);

BbPatterns *bb_patterns_new(const char *algorithm); // none yet
void bb_patterns_free(BbPatterns *patterns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCensus, bb_census_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPatterns, bb_patterns_free)
