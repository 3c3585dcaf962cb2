// SPDX-License-Identifier: Apache-2.0
// How many children of each type a type of parent has.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_COUNTS_MOST 64u // children: more count as so many
#define BB_COUNTS_EACH (BB_COUNTS_MOST + 1)

// Numbers of children k of a type c stand at bb_counts_at(counts, p, c) + k.
typedef struct BbCounts {
    guint np, nc;   // types of parents, of children
    double *n;      // [p]: parents seen
    double *seen;   // parents with k children
    float *log;     // log P(k children)
    float *more;    // log P(one more, when there are k)
    float *nothing; // [p]: log P(no child of any type)
} BbCounts;

BbCounts *bb_counts_new(guint np, guint nc);
void bb_counts_free(BbCounts *counts);

static inline guint bb_counts_at(const BbCounts *counts, guint p, guint c)
{
    return (p * counts->nc + c) * BB_COUNTS_EACH;
}

void bb_counts_reset(BbCounts *counts);

// Sees a parent with each[c] children of each type.
void bb_counts_add(BbCounts *counts, guint p, const guint32 *each, double weight);

// Fills log, more and nothing from what was seen.
void bb_counts_fit(BbCounts *counts);

// Before anything was seen: from the mean number of children, mean[p * nc + c]. Half of the mass on
// the two whole numbers around it, half as by chance; or all by chance.
void bb_counts_expect(BbCounts *counts, const double *mean, bool poisson);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCounts, bb_counts_free)
