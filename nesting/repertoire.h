// SPDX-License-Identifier: Apache-2.0
// Which kinds of children a type of parent has together, in any order: single counts (counts.h),
// and exact multisets where they were seen often enough (signatures.h).
#pragma once

#include "nesting/counts.h"
#include "nesting/own.h"
#include "nesting/signatures.h"

typedef struct BbRepertoire {
    BbCounts *counts;
    BbSignatures *signatures;
    guint64 signature[BB_SITE_TYPES]; // of one child of each type
} BbRepertoire;

// The children of one parent by kind, in any order.
typedef struct BbBrood {
    guint64 signature;
    double apart; // log probability of so many of each, by single counts
    double log;   // the same by exact multisets
} BbBrood;

BbRepertoire *bb_repertoire_new(guint n_parent_types, guint n_child_types);
void bb_repertoire_free(BbRepertoire *repertoire);

void bb_repertoire_forget(BbRepertoire *repertoire);

// Sees a parent of type p in its assignment; notes in own what it gives. own may be NULL.
void bb_repertoire_add(BbRepertoire *repertoire, BbOwn *own, const BbSite *site, guint32 parent,
                       guint p, double weight);

// Ends the count. trust: weight of exact multisets (signatures.h); may be changed.
void bb_repertoire_fit(BbRepertoire *repertoire, double trust);
void bb_repertoire_trust(BbRepertoire *repertoire, double trust);

// Before anything was seen: from the mean numbers of children (counts.h).
void bb_repertoire_expect(BbRepertoire *repertoire, const double *mean, bool poisson);

static inline BbBrood bb_brood_start(const BbRepertoire *repertoire, guint p)
{
    return (BbBrood){bb_signature_start(p), (double)repertoire->counts->nothing[p], 0};
}

// Another child of type c, of which there are k.
static inline void bb_brood_add(BbBrood *brood, const BbRepertoire *repertoire, guint p, guint c,
                                guint k)
{
    const float *count = repertoire->counts->log + bb_counts_at(repertoire->counts, p, c);
    if (k < BB_COUNTS_MOST)
        brood->apart += (double)(count[k + 1] - count[k]);
    brood->signature += repertoire->signature[c];
}

// log P(brood) among the other parents of type p: without what this one gave.
double bb_repertoire_log(const BbRepertoire *repertoire, const BbOwn *own, const BbSite *site,
                         guint32 parent, guint p, const BbBrood *brood);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRepertoire, bb_repertoire_free)
