// SPDX-License-Identifier: Apache-2.0
// What each part of a site gave the model that was learned from it: the gaps of its children and of
// its parents' ends, and its parents' kinds of children. A score that counts them finds a guess
// likely because it was guessed; so a score leaves out what the scored gave themselves, as a
// collapsed Gibbs sampler does.
#pragma once

#include "nesting/site.h"

#define BB_OWN_SAMPLES 8u // assignments at most that a model is learned from at once
#define BB_OWN_WAYS 3u    // references that a gap of one slot may be measured from

// A gap, under each reference.
typedef struct BbOwnGap {
    guint16 slot; // of the model, from 1; 0: none, as of a child without parent
    guint16 bin[BB_OWN_WAYS];
    guint8 what[BB_OWN_WAYS]; // the kind of event that it is measured from
} BbOwnGap;

typedef struct BbOwn {
    const BbSite *site;  // lent
    guint n;             // assignments observed
    double weight;       // of each
    BbOwnGap *gaps;      // [gap * BB_OWN_SAMPLES + assignment], NULL: not kept
    guint64 *signatures; // [parent * BB_OWN_SAMPLES + assignment]
} BbOwn;

// with_gaps: else kinds of children alone.
BbOwn *bb_own_new(const BbSite *site, bool with_gaps);
void bb_own_free(BbOwn *own);

// Another assignment is observed: BB_OWN_SAMPLES at most between two times that n is set to 0.
void bb_own_next(BbOwn *own, double weight);

// A gap's number: a child's is its own, those of the ends of parents follow.
static inline guint32 bb_own_end(const BbSite *site, guint32 parent)
{
    return site->n_children + parent;
}

// What a gap gave: own->n of them, the last of which is to be filled in after bb_own_next. NULL:
// nothing, or not kept. own may be NULL.
static inline BbOwnGap *bb_own_gaps(const BbOwn *own, const BbSite *site, guint32 gap)
{
    return own && own->site == site && own->n > 0 && own->gaps
               ? &own->gaps[(gsize)gap * BB_OWN_SAMPLES]
               : NULL;
}

// Likewise the signatures of a parent.
static inline guint64 *bb_own_signatures(const BbOwn *own, const BbSite *site, guint32 parent)
{
    return own && own->site == site && own->n > 0 ? &own->signatures[(gsize)parent * BB_OWN_SAMPLES]
                                                  : NULL;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOwn, bb_own_free)
