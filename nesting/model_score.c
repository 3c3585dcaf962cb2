// SPDX-License-Identifier: Apache-2.0
// In: a model, and children that a parent may have. Out: how likely that is.
#include "nesting/model_state.h"

#include <math.h>
#include <string.h>

#define INNER_EACH 4.0 // log likelihood that a call of a circle is of the innermost around it

double bb_model_gap_log_without(const BbModel *model, const BbModelGap *gap)
{
    const BbSlot *slot = gap->slot;
    const BbDensity *density = slot->used[gap->from.what];
    guint16 bins[BB_OWN_SAMPLES];
    guint way = bb_model_way(slot->reference), bin = gap->bin, of_slot = 0, n = 0;
    for (guint i = 0; i < model->own->n; i++) {
        const BbOwnGap *own = &gap->own[i];
        of_slot += own->slot == slot->number;
        if (own->slot == slot->number && own->what[way] == gap->from.what)
            bins[n++] = own->bin[way];
    }
    double weight = model->own->weight, spread = slot->spread - of_slot * weight;
    if (!density)
        return (double)model->scale->floor_log[bin] + log(BB_SLOT_RARE / spread);
    if (of_slot == 0)
        return (double)(density->log[bin] + slot->bias[gap->from.what]);
    double like_it = MAX(density->n - n * weight, 0) + BB_SLOT_RARE;
    return log(bb_density_without(density, model->scale, bin, bins, n, weight) * like_it / spread);
}

// What the gap gave the density of strays itself is left out, as above.
static double stray_density(const BbModel *model, const BbModelGap *gap, guint bin)
{
    const BbDensity *start = gap->slot->stray;
    guint16 bins[BB_OWN_SAMPLES], n = 0;
    guint way = bb_model_way(BB_FROM_START);
    for (guint i = 0; gap->own && start->few[bin] > 0 && i < model->own->n; i++)
        if (gap->own[i].slot == gap->slot->number && gap->own[i].what[way] == BB_SLOT_ARRIVAL)
            bins[n++] = gap->own[i].bin[way];
    return n > 0 ? bb_density_without(start, model->scale, bin, bins, n, model->own->weight)
                 : exp((double)start->log[bin]);
}

double bb_model_gap_log_stray(const BbModel *model, const BbModelGap *gap, double log_gap)
{
    bool is_rare = gap->slot->bias[gap->from.what] < (float)log(BB_SLOT_STRAY);
    guint bin = bb_gap_bin(model->scale, gap->since);
    return is_rare ? log(exp(log_gap) + BB_SLOT_STRAY * stray_density(model, gap, bin)) : log_gap;
}

void bb_model_await_pool(const BbModel *model, const BbSite *site, const guint32 *kids, guint32 n,
                         guint32 child, BbModelGap *gap)
{
    if (bb_reference_waits(site, child, gap->from, kids, n))
        gap->waited = (guint16)(1 + bb_gap_bin(model->scale, site->freed[child].at - gap->from.at));
}

// Share of the gap that was over when the pool had a connection.
static double over_by_then(const BbModelGap *gap)
{
    const BbDensity *density = gap->slot->used[gap->from.what];
    guint bin = gap->waited - 1u;
    return density ? (double)density->below[bin] : BB_DENSITY_FLOOR * (bin + 0.5) / BB_GAP_BINS;
}

// log of both ways: it stayed for its gap, or waited since that was over.
typedef struct {
    double stays, waits, over, most;
} FreedLogs;

static FreedLogs freed_logs(const BbModelGap *gap, const BbSiteFreed *freed, double log_gap)
{
    const BbSlot *slot = gap->slot;
    bool seen = slot->used[gap->from.what];
    double event = (double)(seen ? slot->bias[gap->from.what] : slot->unseen);
    FreedLogs logs = {.stays = log_gap + (double)slot->stays,
                      .waits = event + (double)(slot->waits + freed->log),
                      .over = over_by_then(gap)};
    logs.most = MAX(logs.stays, logs.waits);
    return logs;
}

double bb_model_freed_log(const BbModelGap *gap, const BbSiteFreed *freed, double log_gap)
{
    if (freed->at == G_MININT64)
        return log_gap;
    if (gap->waited == 0)
        return log_gap + (double)gap->slot->stays;
    FreedLogs logs = freed_logs(gap, freed, log_gap);
    return logs.most + log(exp(logs.stays - logs.most) + logs.over * exp(logs.waits - logs.most));
}

// Of x below a parent, besides when and how often it was called: connections; and where calls go in
// circles, that it is of the innermost of those around it. Of calls that stand within each other,
// and may have caused each other, times alone do not tell whether they have, or are made at once.
static double link_log(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                       guint32 before, guint32 x)
{
    double log = bb_connections_log(model->connections, site, index, kids, before, x);
    return site->inner ? log - INNER_EACH * bb_site_inner(site, x, index) : log;
}

void bb_model_gather(const BbModel *model, const BbSite *site, const BbModelGap *gaps,
                     const guint32 *kids, guint n, BbTogether *of)
{
    guint16 first = (guint16)(model->nc * BB_SLOT_ORDERS + 1); // of durations
    guint64 there[BB_SITE_TYPES * BB_SLOT_ORDERS / 64 + 1] = {0};
    of->n = 0;
    if (2 * n + 1 > BB_COPULA_MOST)
        return;
    for (guint i = 0; i <= n; i++) {
        guint number = gaps[i].number;
        guint64 bit = (guint64)1 << number % 64;
        if (there[number / 64] & bit)
            return;
        there[number / 64] |= bit;
        of->which[i] = (guint16)number;
        of->z[i] = bb_model_gap_normal(&gaps[i]);
    }
    for (guint i = 0; i < n; i++) {
        of->which[n + 1 + i] = (guint16)(first + gaps[i].number);
        of->z[n + 1 + i] = site->children[kids[i]].lasts / BB_SITE_NORMAL;
    }
    of->n = 2 * n + 1;
}

// terms: where to note them; NULL: nowhere.
G_ALWAYS_INLINE static inline double parent_log(const BbModel *model, const BbSite *site,
                                                guint32 index, const guint32 *kids, guint32 n,
                                                BbTerms *terms)
{
    const BbSiteParent *parent = &site->parents[index];
    guint p = bb_model_kind(model, parent);
    guint8 seen[BB_SITE_TYPES];
    BbModelGap gaps[BB_MODEL_NEAR + 2];
    BbReturns returns;
    BbBrood brood = bb_brood_start(model->repertoire, p);
    double sum = 0;
    memset(seen, 0, model->nc);
    bb_returns_start(&returns, site, parent);
    for (guint32 i = 0; i < n; i++) {
        const BbSiteChild *x = &site->children[kids[i]];
        guint k = seen[x->type]++;
        bb_brood_add(&brood, model->repertoire, p, x->type, k);
        gaps[i] = bb_model_kid_gap(model, site, parent, kids, i, &returns, kids[i], k);
        bb_returns_add(&returns, x);
        double log = bb_model_kid_log(model, site, parent, &gaps[i], x);
        if (terms)
            terms->at[i] = bb_model_term(&gaps[i], k, log);
        sum += log + link_log(model, site, index, kids, i, kids[i]);
    }
    gaps[n] = bb_model_end_gap(model, site, parent, kids, n, &returns);
    double log = bb_model_gap_log(model, &gaps[n]);
    sum += log;
    if (terms) {
        terms->at[n] = bb_model_term(&gaps[n], 0, log);
        terms->sum = sum;
        terms->brood = brood;
    }
    if (model->copula[p]) {
        BbTogether together;
        bb_model_gather(model, site, gaps, kids, n, &together);
        sum += bb_copula_log(model->copula[p], together.which, together.z, together.n);
    }
    return sum + bb_repertoire_log(model->repertoire, model->own, site, index, p, &brood);
}

double bb_model_parent(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                       guint32 n)
{
    return parent_log(model, site, index, kids, n, NULL);
}

double bb_model_terms(const BbModel *model, const BbSite *site, guint32 index, BbTerms *terms)
{
    const BbKids *kids = &site->kids[index];
    if (kids->n + 1 > terms->room) {
        terms->room = kids->n + 1 + kids->n / 4;
        terms->at = g_renew(BbTerm, terms->at, terms->room);
    }
    double log = parent_log(model, site, index, kids->at, kids->n, terms);
    gint64 reach = G_MININT64;
    for (guint32 i = 0; i < kids->n; i++) {
        terms->at[i].reach = reach;
        reach = MAX(reach, site->children[kids->at[i]].e);
    }
    terms->at[kids->n].reach = reach;
    return log;
}

void bb_terms_free(BbTerms *terms)
{
    if (!terms)
        return;
    g_free(terms->at);
    g_free(terms);
}

BbBrood bb_model_brood(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                       guint32 n)
{
    guint p = bb_model_kind(model, &site->parents[index]);
    guint8 seen[BB_SITE_TYPES];
    BbBrood brood = bb_brood_start(model->repertoire, p);
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i < n; i++) {
        guint c = site->children[kids[i]].type;
        bb_brood_add(&brood, model->repertoire, p, c, seen[c]++);
    }
    brood.log = bb_repertoire_log(model->repertoire, model->own, site, index, p, &brood);
    return brood;
}

double bb_model_more(const BbModel *model, const BbSite *site, guint32 index, const BbBrood *brood,
                     guint32 same, guint32 x)
{
    BbBrood with = *brood;
    guint p = bb_model_kind(model, &site->parents[index]);
    bb_brood_add(&with, model->repertoire, p, site->children[x].type, same);
    return bb_repertoire_log(model->repertoire, model->own, site, index, p, &with) - brood->log;
}

// The gap of x after the last of some children; *order: how many of its type are among them.
static BbModelGap next_gap(const BbModel *model, const BbSite *site, guint32 index,
                           const guint32 *kids, guint32 n, guint32 x, guint *order)
{
    guint32 from = n > BB_MODEL_NEAR ? n - BB_MODEL_NEAR : 0;
    *order = 0;
    for (guint32 i = from; i < n; i++)
        *order += site->children[kids[i]].type == site->children[x].type;
    const guint32 *near = n > 0 ? kids + from : NULL;
    return bb_model_kid_gap(model, site, &site->parents[index], near, n - from, NULL, x, *order);
}

double bb_model_pool_wait(const BbModel *model, const BbSite *site, guint32 index,
                          const guint32 *kids, guint32 i, double *quanta)
{
    guint order;
    *quanta = 0;
    BbModelGap gap = next_gap(model, site, index, kids, i, kids[i], &order);
    if (gap.waited == 0)
        return 0;
    const BbSiteFreed *freed = &site->freed[kids[i]];
    const BbDensity *density = gap.slot->used[gap.from.what];
    FreedLogs logs = freed_logs(&gap, freed, bb_model_gap_log(model, &gap));
    double waits = logs.over * exp(logs.waits - logs.most);
    double wanted = density ? bb_density_mean_below(density, model->scale, gap.waited - 1u) : 0;
    *quanta = MAX((double)(freed->at - gap.from.at) - wanted, 0);
    return waits / (waits + exp(logs.stays - logs.most));
}

double bb_model_gap(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                    guint32 n, guint32 x)
{
    guint order;
    BbModelGap gap = next_gap(model, site, index, kids, n, x, &order);
    return bb_model_kid_log(model, site, &site->parents[index], &gap, &site->children[x]);
}

double bb_model_next(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, guint32 x)
{
    guint order, p = bb_model_kind(model, &site->parents[index]), c = site->children[x].type;
    BbModelGap gap = next_gap(model, site, index, kids, n, x, &order);
    const BbCounts *counts = model->repertoire->counts;
    const float *more = counts->more + bb_counts_at(counts, p, c);
    return bb_model_kid_log(model, site, &site->parents[index], &gap, &site->children[x]) +
           link_log(model, site, index, kids, n, x) + (double)more[MIN(order, BB_COUNTS_MOST)];
}

double bb_model_part(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 from, guint32 n, bool to_end)
{
    const BbSiteParent *parent = &site->parents[index];
    guint8 seen[BB_SITE_TYPES];
    BbReturns returns;
    double sum = 0;
    memset(seen, 0, model->nc);
    bb_returns_start(&returns, site, parent);
    for (guint32 i = 0; i < n; i++) {
        const BbSiteChild *x = &site->children[kids[i]];
        guint rank = seen[x->type]++;
        if (i >= from) {
            BbModelGap gap =
                bb_model_kid_gap(model, site, parent, kids, i, &returns, kids[i], rank);
            sum += bb_model_kid_log(model, site, parent, &gap, x) +
                   link_log(model, site, index, kids, i, kids[i]);
        }
        bb_returns_add(&returns, x);
    }
    if (!to_end)
        return sum;
    BbModelGap end = bb_model_end_gap(model, site, parent, kids, n, &returns);
    return sum + bb_model_gap_log(model, &end);
}

// Who calls after a return that is later than that of x, and before the reply, counts from such a
// one, and so do all after it.
guint32 bb_model_beside(const BbModel *model, const BbSite *site, guint32 index,
                        const guint32 *kids, guint32 place, guint32 n, guint32 x)
{
    const BbSiteChild *child = &site->children[x];
    gint64 later = G_MAXINT64; // the first of these returns
    guint32 like = 0;
    bool next = false; // it may count from the call of x
    if (bb_connections_tells(model->connections, site) || site->freed)
        return n;
    for (guint32 i = 0; i < n; i++) {
        const BbSiteChild *other = &site->children[kids[i]];
        if (next && like + 1 >= BB_SLOT_ORDERS && later <= other->s &&
            other->s <= site->parents[index].e)
            return i;
        if (kids[i] == x)
            continue;
        next |= i >= place;
        like += other->type == child->type;
        if (other->e > child->e)
            later = MIN(later, other->e);
    }
    return n;
}

guint bb_model_slots(const BbSite *site)
{
    return site->n_parent_types * (site->n_child_types * BB_SLOT_ORDERS + 1);
}

guint bb_model_waits(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, BbWait *out)
{
    const BbSiteParent *parent = &site->parents[index];
    guint32 first = bb_model_kind(model, parent) * (model->nc * BB_SLOT_ORDERS + 1);
    guint8 seen[BB_SITE_TYPES];
    BbReturns returns;
    bool leaves_out = model->own && model->own->site == site;
    memset(seen, 0, model->nc);
    bb_returns_start(&returns, site, parent);
    for (guint32 i = 0; i <= n; i++) {
        guint32 number = i < n ? kids[i] : bb_own_end(site, index);
        BbModelGap gap = i < n ? bb_model_kid_gap(model, site, parent, kids, i, &returns, kids[i],
                                                  seen[site->children[kids[i]].type]++)
                               : bb_model_end_gap(model, site, parent, kids, n, &returns);
        if (i < n)
            bb_returns_add(&returns, &site->children[kids[i]]);
        out[i] = (BbWait){.from = gap.from.at,
                          .at = i < n ? site->children[kids[i]].s : parent->e,
                          .slot = first + gap.number,
                          .event = gap.from.what,
                          .gap = leaves_out ? number : BB_SITE_NONE,
                          .first = i == 0};
        if (gap.waited > 0) {
            out[i].for_pool = true;
            out[i].freed = site->freed[kids[i]];
        }
    }
    return n + 1;
}

double bb_model_wait_log(const BbModel *model, const BbWait *wait, const BbWait *end)
{
    guint per_type = model->nc * BB_SLOT_ORDERS + 1;
    guint p = wait->slot / per_type, number = wait->slot % per_type;
    const BbSlot *slot = number == model->nc * BB_SLOT_ORDERS
                             ? bb_model_known_end(model, p)
                             : bb_model_known_slot(model, p * model->nc * BB_SLOT_ORDERS + number);
    const BbOwnGap *own =
        wait->gap == BB_SITE_NONE ? NULL : bb_own_gaps(model->own, model->own->site, wait->gap);
    BbReference from = {wait->from, wait->event};
    BbModelGap gap = bb_model_make_gap(model, slot, number, from, end->at, own);
    double log = bb_model_gap_log(model, &gap);
    if (!end->for_pool)
        return log;
    if (end->freed.at > wait->from)
        gap.waited = (guint16)(1 + bb_gap_bin(model->scale, end->freed.at - wait->from));
    return bb_model_freed_log(&gap, &end->freed, log);
}

double bb_model_connections(const BbModel *model, const BbSite *site)
{
    double sum = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        const BbKids *kids = &site->kids[p];
        for (guint32 i = 0; i < kids->n; i++)
            sum += bb_connections_log(model->connections, site, p, kids->at, i, kids->at[i]);
    }
    return sum;
}

bool bb_model_holds(const BbModel *model)
{
    return bb_connections_holds(model->connections);
}

double bb_model_lone(const BbModel *model, guint child_type)
{
    return (double)model->lone->log[child_type];
}
