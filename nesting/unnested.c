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
#define TIMES_MORE 1.1   // by which a longer reach has to explain more to be the better one
#define ASIDE_MOST 64    // calls to the node within a reach: of more, a link is but a guess
#define SPANS 32         // of a reach, that a trace must be long to show what chance makes
#define OWN_LEAST 0.1    // share of a kind that is nested in none, if a node makes all by itself
#define OWN_OPEN 0.1     // share of those made while a call to it is open, that are for such calls,
#define OWN_EACH 0.35    // and how many follow each of these, at most

// How many calls there are of a type, and how many of them are nested in none.
typedef struct {
    guint32 n, lone;
} Kind;

static bool are_many(const Kind *kind, double least)
{
    return kind->lone >= FEWEST && kind->lone >= least * kind->n;
}

// within: what calls to the node made of the type while they were open.
static gint64 find_reach(const BbSite *site, const BbCaused *caused, guint type, const Kind *kind,
                         const bool *nested, const BbCausedWithin *within)
{
    gint64 reach = bb_lags_longest(site), found = 0;
    double best = bb_caused_share(caused, type, nested), aside = site->n_parents / site->span;
    double due = DUE_LATER + 2 / sqrt(kind->lone);
    if (best >= DUE_LEAST)
        found = reach;
    if (within->of_all > WITHIN_MOST)
        return found;
    for (;;) {
        reach *= 2;
        if (aside * (double)reach > ASIDE_MOST || SPANS * (double)reach > site->span)
            return found;
        double share = bb_caused_later(caused, reach, type, nested, due);
        if (share > 0 && share > TIMES_MORE * best) {
            found = reach;
            best = share;
        } else if (found > 0) {
            return found;
        }
    }
}

void bb_unnested_find(const BbSite *site, const BbGapScale *scale, const bool *nested,
                      const bool *left_out, BbUnnested *found)
{
    Kind kinds[BB_SITE_TYPES] = {{0, 0}};
    g_autoptr(BbCaused) caused = NULL; // mostly not needed
    for (guint32 x = 0; x < site->n_children; x++) {
        kinds[site->children[x].type].n++;
        kinds[site->children[x].type].lone += !nested[x];
    }
    for (guint t = 0; t < site->n_child_types; t++) {
        found[t] = (BbUnnested){0, false};
        if (left_out[t] || !are_many(&kinds[t], LEAST))
            continue;
        if (!caused)
            caused = bb_caused_new(site, scale);
        BbCausedWithin within = bb_caused_within(caused, t);
        found[t].reach = find_reach(site, caused, t, &kinds[t], nested, &within);
        found[t].is_own = found[t].reach == 0 && are_many(&kinds[t], OWN_LEAST) &&
                          within.of_open < OWN_OPEN && within.follow < OWN_EACH * site->n_parents;
    }
}
