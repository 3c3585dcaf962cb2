// SPDX-License-Identifier: Apache-2.0
// At which lags events follow others more often than chance has it: the excess of their
// cross-correlation over what independent events would give.
#pragma once

#include "nesting/gap.h"
#include "nesting/site.h"

#include <stdbool.h>

// Events of one kind at a site, in order of time.
typedef struct BbEvents {
    gint64 *at;
    guint32 n;
} BbEvents;

// Arrivals of the calls to the node, or their replies, of each type of parent, or of all as one
// (by_type false). Freed with their number of lists.
BbEvents *bb_events_of_parents(const BbSite *site, bool arrivals, bool by_type);

// The node's own calls, or their returns, of each type of child: of those that are wanted ([child];
// NULL: all).
BbEvents *bb_events_of_children(const BbSite *site, bool calls, const bool *wanted);

void bb_events_free(BbEvents *events, guint n_lists);

// The first of them at this time or later; n: none.
guint32 bb_events_from(const BbEvents *events, gint64 at);

// Which lags are looked at.
typedef struct BbLags {
    const BbGapScale *scale; // lent
    gint64 reach;  // the longest lag that counts, in quanta; up to twice that, either way,
                   // lags tell what chance makes
    gint64 period; // of replicas (site.h)
    double pairs;  // looked at: of more a sample
} BbLags;

// As long as all but one in a hundred calls to the site last, at most, in quanta.
gint64 bb_lags_longest(const BbSite *site);

// Up to the longest.
BbLags bb_lags_of(const BbSite *site, const BbGapScale *scale, double pairs);

// By how much each lag from x to y is more frequent than chance would have it, by bin. Returns the
// share of y that this is; below 0 where there is nothing to compare.
double bb_lags_excess(const BbLags *lags, const BbEvents *x, const BbEvents *y,
                      double count[BB_GAP_BINS]);
