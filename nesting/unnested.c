// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's calls. Out: how late those of a kind are made, and whether for anybody.
#include "nesting/unnested.h"

#include "nesting/caused.h"

#include <math.h>

#define FEWEST 20u     // calls of a kind that are not nested in any,
#define LEAST 0.05     // their share of the kind, and how many of them must follow calls to the
#define DUE_LEAST 0.15 // node by more than chance, for all of the kind to be looked at as late
#define DUE_LATER 0.3 // or at longer lags, and some more of few: chance favours one of many reaches
#define WITHIN_MOST 0.25 // share that may be made while a call is open: of others, it was lost
#define LATER_PAIRS 250000.0
#define TIMES_MORE 1.1 // by which a longer reach has to explain more to be the better one
#define ASIDE_MOST 64  // calls to the node within a reach: of more, a link is but a guess
#define SPANS 32       // of a reach, that a trace must be long to show what chance makes
#define OWN_LEAST 0.1  // share of a kind that is nested in none, if a node makes all by itself
#define OWN_OPEN 0.1   // share of those made while a call to it is open, that are for such calls,
#define OWN_EACH 0.35  // and how many follow each of these, at most

// Calls of a type that are nested in none, if they are many, and such a share of the kind; else 0.
static guint32 count_lone(const BbSite *site, guint type, const bool *nested, double least)
{
    guint32 n = 0, lone = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        n += site->children[x].type == type;
        lone += site->children[x].type == type && !nested[x];
    }
    return lone >= FEWEST && lone >= least * n ? lone : 0;
}

gint64 bb_unnested_reach(const BbSite *site, const BbGapScale *scale, guint type,
                         const bool *nested)
{
    guint32 lone = count_lone(site, type, nested, LEAST);
    if (lone == 0)
        return 0;
    BbLags lags = bb_lags_of(site, scale, BB_CAUSED_PAIRS);
    double best = bb_caused_share(site, &lags, type, nested), aside = site->n_parents / site->span;
    gint64 found = best >= DUE_LEAST ? lags.reach : 0;
    if (bb_caused_within(site, scale, type).of_all > WITHIN_MOST)
        return found;
    double due = DUE_LATER + 2 / sqrt(lone);
    lags.pairs = LATER_PAIRS;
    for (;;) {
        lags.reach *= 2;
        if (aside * (double)lags.reach > ASIDE_MOST || SPANS * (double)lags.reach > site->span)
            return found;
        double share = bb_caused_later(site, &lags, type, nested, due);
        if (share > 0 && share > TIMES_MORE * best) {
            found = lags.reach;
            best = share;
        } else if (found > 0) {
            return found;
        }
    }
}

bool bb_unnested_is_own(const BbSite *site, const BbGapScale *scale, guint type, const bool *nested)
{
    if (count_lone(site, type, nested, OWN_LEAST) == 0)
        return false;
    BbCausedWithin within = bb_caused_within(site, scale, type);
    return within.of_open < OWN_OPEN && within.follow < OWN_EACH * site->n_parents;
}
