// SPDX-License-Identifier: Apache-2.0
// How far the patterns that were found are from the true ones (paper, section 7.5.1): patterns that
// are not true, patterns that were missed, and those missing among the most frequent or costly.
#pragma once

#include <glib.h>
#include <stdbool.h>

// A pattern on both sides: how often it was found, and how often it really occurs.
typedef struct BbPatternPair {
    guint64 found, real;      // instances; 0 on the side where there is no such pattern
    gint64 found_ns, real_ns; // their latencies, summed
    guint32 size;             // calls in an instance
    guint32 example;          // root of an instance, among the links,
    bool example_found;       // as it was found; else a true one
    guint64 wrong;            // found instances with a wrong link or without one that they had
    double stated_right;      // expected number without, by the confidences; NAN if not stated
} BbPatternPair;

// Found and not there (false positives), there and not found (false negatives).
typedef struct BbErrors {
    guint64 found, real;     // how many there are on either side
    guint64 false_positives; // of found
    guint64 false_negatives; // of real
} BbErrors;

// Each of the three counts the same errors, in units of its own.
typedef struct BbMismatch {
    BbErrors patterns;  // a pattern is right when it exists on the other side
    BbErrors instances; // by pattern, as many are right as there are on the other side
    BbErrors calls;     // those of such instances
} BbMismatch;

BbMismatch bb_mismatch_of(const BbPatternPair *pairs, guint32 n_pairs);

#define BB_OMITTED_MAX 50u // longest top list that is looked at
#define BB_TOLERANCES 3u

extern const double bb_tolerances[BB_TOLERANCES]; // 0, 0.02, 0.06

typedef enum { BB_OMITTED_BY_COUNT, BB_OMITTED_BY_LATENCY } BbOmittedKey;

// For N = 1 .. BB_OMITTED_MAX, how many of the true top N are not in the found top N. A pattern
// whose found figure is less than that of the found N-th by no more than the tolerance is forgiven:
// it ties. Lists stop where there are no more true patterns.
typedef struct BbOmitted {
    guint32 n;                                      // lists that there are: the longest N
    guint32 missing[BB_OMITTED_MAX][BB_TOLERANCES]; // [N - 1]
} BbOmitted;

// Ties in the order of the true patterns go to the one that comes first.
BbOmitted bb_omitted_of(const BbPatternPair *pairs, guint32 n_pairs, BbOmittedKey key);
