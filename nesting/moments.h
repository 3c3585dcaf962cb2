// SPDX-License-Identifier: Apache-2.0
// The calls and returns of a site's answered children, in order of time, returns before calls; and
// their callees, numbered.
#pragma once

#include "nesting/site.h"
#include "nesting/timesort.h"

typedef struct BbMoments {
    const BbSite *site;
    BbTimed *returns; // index: of the child
    guint32 n;        // of these
    guint32 *callee;  // of children: its number
    guint32 n_callees;
    guint32 x, i; // the next child and return
} BbMoments;

// The site is lent. Cost: linear.
BbMoments bb_moments_of(const BbSite *site);
void bb_moments_clear(BbMoments *moments);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbMoments, bb_moments_clear)

// From the first on again.
void bb_moments_rewind(BbMoments *moments);

// The next child that calls, or else has its return. False: there are no more.
bool bb_moments_next(BbMoments *moments, guint32 *x, bool *calls);

static inline bool bb_moments_has(const BbSiteChild *child)
{
    return !child->unanswered && child->e > child->s;
}
