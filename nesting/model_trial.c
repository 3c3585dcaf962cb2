// SPDX-License-Identifier: Apache-2.0
// In: what the children that a parent has are in its score. Out: its score with others, by what
// differs: the children that come or go, and those after them until they count from what they
// counted from before. Sums add up in another order than in bb_model_parent, so the last bits may
// differ.
#include "nesting/model_state.h"

#include <string.h>

// Which children differ. Before and after them both lists are alike.
typedef struct {
    const BbKids *now;
    const guint32 *kids; // instead
    guint32 n;
    guint32 from;            // in both
    guint32 now_to, kids_to; // behind the last one
    gint64 reach;            // their latest return
    guint32 types;           // a bit each: those of which there are more or fewer
    gint8 more[BB_SITE_TYPES];
    guint8 seen[BB_SITE_TYPES]; // of such types: how many came before, instead
} Difference;

static guint type_of(const BbTerm *term)
{
    return term->number / BB_SLOT_ORDERS;
}

static void find_difference(Difference *of, const BbKids *now, const guint32 *kids, guint32 n)
{
    guint32 both = MIN(now->n, n), from = 0, same = 0;
    while (from < both && now->at[from] == kids[from])
        from++;
    while (from + same < both && now->at[now->n - 1 - same] == kids[n - 1 - same])
        same++;
    of->now = now;
    of->kids = kids;
    of->n = n;
    of->from = from;
    of->now_to = now->n - same;
    of->kids_to = n - same;
}

// How many of a type the parent has before a place.
static guint count_before(const BbTerms *terms, const BbKids *now, guint32 place, guint type)
{
    for (guint32 i = place; i < now->n; i++)
        if (type_of(&terms->at[i]) == type)
            return terms->at[i].rank;
    for (guint32 i = place; i > 0; i--)
        if (type_of(&terms->at[i - 1]) == type)
            return terms->at[i - 1].rank + 1u;
    return 0;
}

static void count_more(Difference *of, const BbSite *site, const BbTerms *terms)
{
    const guint32 *now = of->now->at;
    of->types = 0;
    of->reach = G_MININT64;
    memset(of->more, 0, sizeof of->more);
    for (guint32 i = of->from; i < of->now_to; i++) {
        const BbSiteChild *x = &site->children[now[i]];
        of->reach = MAX(of->reach, x->e);
        of->types |= 1u << x->type;
        of->more[x->type]--;
    }
    for (guint32 i = of->from; i < of->kids_to; i++) {
        const BbSiteChild *x = &site->children[of->kids[i]];
        of->reach = MAX(of->reach, x->e);
        of->types |= 1u << x->type;
        of->more[x->type]++;
    }
    for (guint32 left = of->types; left; left &= left - 1) {
        guint c = (guint)__builtin_ctz(left);
        of->seen[c] = (guint8)count_before(terms, of->now, of->from, c);
    }
}

// The returns of the children before those that differ, as who asks from time `at` on sees them:
// from the last one backwards, as most are too early to count.
static void resume(BbReturns *returns, const Difference *of, const BbSite *site,
                   const BbSiteParent *parent, const BbTerms *terms, gint64 at)
{
    BbReference open[BB_MODEL_NEAR + 2];
    guint n = 0;
    bool found = false;
    bb_returns_start(returns, site, parent);
    BbReference *latest = &returns->latest;
    *latest = bb_returns_until(returns, site, parent, MIN(at, parent->e));
    for (guint32 i = of->from; i > 0; i--) {
        gint64 reach = terms->at[i].reach;
        if (reach < latest->at || (found && reach == latest->at))
            break;
        const BbSiteChild *y = &site->children[of->now->at[i - 1]];
        BbReference returned = {y->e, bb_slot_return(y->type)};
        if (y->e > at) {
            open[n++] = returned;
        } else if (y->e > latest->at || (y->e == latest->at && !found)) {
            *latest = returned;
            found = true;
        }
    }
    while (n > 0)
        returns->open[returns->n_open++] = open[--n];
}

static bool is_same(const BbTerm *term, const BbModelGap *gap)
{
    return term->from == gap->from.at && term->what == gap->from.what &&
           term->number == gap->number && term->waited == (gap->waited > 0);
}

// Whether all types of which there are more or fewer have had so many that slots are the same.
static bool ranks_settled(const Difference *of)
{
    for (guint32 left = of->types; left; left &= left - 1) {
        guint c = (guint)__builtin_ctz(left);
        gint seen = of->seen[c], before = seen - of->more[c];
        if (of->more[c] != 0 && MIN(seen, before) < (gint)BB_SLOT_ORDERS - 1)
            return false;
    }
    return true;
}

// By how much the terms of those that differ, and of all after them, grow.
static double grow(Difference *of, const BbModel *model, const BbSite *site, guint32 index,
                   const BbTerms *terms)
{
    const BbSiteParent *parent = &site->parents[index];
    const BbSiteChild *children = site->children;
    BbReturns returns;
    double sum = 0;
    resume(&returns, of, site, parent, terms,
           of->from < of->n ? children[of->kids[of->from]].s : parent->e);
    for (guint32 i = of->from; i < of->now_to; i++)
        sum -= terms->at[i].log;
    for (guint32 i = of->from; i < of->n; i++) {
        const BbSiteChild *x = &children[of->kids[i]];
        bool differs = i < of->kids_to;
        const BbTerm *term = differs ? NULL : &terms->at[of->now_to + (i - of->kids_to)];
        if (i > of->kids_to && ranks_settled(of) &&
            bb_returns_until(&returns, site, parent, x->s).at > of->reach) {
            if (x->s <= parent->e)
                return sum;
            break; // the reply came before, and may count from one that differs
        }
        guint rank = differs ? of->seen[x->type] : (guint)(term->rank + of->more[x->type]);
        BbModelGap gap =
            bb_model_kid_gap(model, site, parent, of->kids, i, &returns, of->kids[i], rank);
        bb_returns_add(&returns, x);
        of->seen[x->type] = (guint8)(rank + 1);
        if (differs)
            sum += bb_model_kid_log(model, site, parent, &gap, x);
        else if (!is_same(term, &gap))
            sum += bb_model_kid_log(model, site, parent, &gap, x) - term->log;
    }
    const BbTerm *end = &terms->at[of->now->n];
    BbModelGap gap = bb_model_end_gap(model, site, parent, of->kids, of->n, &returns);
    return is_same(end, &gap) ? sum : sum + bb_model_gap_log(model, &gap) - end->log;
}

static BbBrood brood_of(const Difference *of, const BbModel *model, const BbTerms *terms, guint p)
{
    BbBrood brood = terms->brood;
    const BbCounts *counts = model->repertoire->counts;
    for (guint32 left = of->types; left; left &= left - 1) {
        guint c = (guint)__builtin_ctz(left);
        guint n = count_before(terms, of->now, of->now->n, c), instead = n + (guint)of->more[c];
        const float *log = counts->log + bb_counts_at(counts, p, c);
        brood.apart += (double)(log[MIN(instead, BB_COUNTS_MOST)] - log[MIN(n, BB_COUNTS_MOST)]);
        brood.signature += model->repertoire->signature[c] * (guint64)(gint64)of->more[c];
    }
    return brood;
}

// Whether a score is the sum of its terms, and of what its kinds are: as it is, and with n
// children.
static bool adds_up(const BbModel *model, const BbSite *site, guint p, guint32 n)
{
    return !site->inner && !bb_connections_tells(model->connections, site) &&
           (!model->copula[p] || 2 * n + 1 > BB_COPULA_MOST);
}

double bb_model_trial(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                      guint32 n, const BbTerms *terms)
{
    guint p = bb_model_kind(model, &site->parents[index]);
    const BbKids *now = &site->kids[index];
    if (!adds_up(model, site, p, MIN(n, now->n)))
        return bb_model_parent(model, site, index, kids, n);
    Difference of;
    find_difference(&of, now, kids, n);
    count_more(&of, site, terms);
    double sum = terms->sum + grow(&of, model, site, index, terms);
    BbBrood brood = brood_of(&of, model, terms, p);
    return sum + bb_repertoire_log(model->repertoire, model->own, site, index, p, &brood);
}
