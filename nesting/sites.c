// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: sites with the candidate parents of each child.
#include "nesting/sites.h"

#include "data/tally.h"
#include "nesting/timesort.h"

#include <stdlib.h>
#include <string.h>

#define TIME_MAX (G_GINT64_CONSTANT(1) << 60) // in quanta: differences never overflow

struct BbSites {
    const BbCall *calls;
    guint32 n_calls, n_names;
    gint64 window_ns, base_ns, quantum_ns;
    bool labels;
    const BbGapScale *scale;
    const guint8 *place; // NULL: callers tell parents apart
    BbCandidates *candidates;
    guint32 n_sites;
};

static guint64 gcd(guint64 a, guint64 b)
{
    while (b != 0) {
        guint64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static guint64 distance(gint64 a, gint64 b)
{
    return a > b ? (guint64)a - (guint64)b : (guint64)b - (guint64)a;
}

// The unit of the trace's stamps: all differences are multiples of it.
static gint64 find_quantum(const BbCall *calls, guint32 n)
{
    guint64 unit = 0;
    for (guint32 i = 0; i < n && unit != 1; i++) {
        const BbCall *call = &calls[i];
        unit = gcd(unit, distance(call->call_ns, calls[0].call_ns));
        unit = gcd(unit, distance(call->arrived_ns, calls[0].call_ns));
        if (!bb_call_is_returned(call))
            continue;
        unit = gcd(unit, distance(call->replied_ns, calls[0].call_ns));
        unit = gcd(unit, distance(call->return_ns, calls[0].call_ns));
    }
    return unit == 0 || unit > G_MAXINT64 ? 1 : (gint64)unit;
}

BbSites *bb_sites_new(const BbCall *calls, guint32 n_calls, guint32 n_names, gint64 skew_window_ns,
                      bool labels, const BbGapScale *scale)
{
    BbSites *sites = g_new0(BbSites, 1);
    *sites = (BbSites){.calls = calls,
                       .n_calls = n_calls,
                       .n_names = n_names,
                       .window_ns = skew_window_ns,
                       .base_ns = n_calls > 0 ? calls[0].call_ns : 0,
                       .quantum_ns = find_quantum(calls, n_calls),
                       .labels = labels,
                       .scale = scale};
    return sites;
}

void bb_sites_free(BbSites *sites)
{
    if (!sites)
        return;
    bb_candidates_free(sites->candidates);
    g_free(sites);
}

void bb_sites_rewind(BbSites *sites, const guint8 *place)
{
    bb_candidates_free(sites->candidates);
    sites->place = place;
    sites->n_sites = 0;
    sites->candidates =
        bb_candidates_new(sites->calls, sites->n_calls, sites->n_names, sites->window_ns);
}

static gint64 quanta(const BbSites *sites, gint64 time_ns)
{
    gint64 at = bb_time_between(sites->base_ns, time_ns) / sites->quantum_ns;
    return CLAMP(at, -TIME_MAX, TIME_MAX);
}

// ---- kinds -------------------------------------------------------------------------------------

typedef struct {
    BbTallyKey key; // name, operation, kind
    guint64 n;
} Kind;

static int by_number(const void *a, const void *b)
{
    const Kind *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    if (x->key.a != y->key.a)
        return x->key.a < y->key.a ? -1 : 1;
    if (x->key.b != y->key.b)
        return x->key.b < y->key.b ? -1 : 1;
    return (x->key.c > y->key.c) - (x->key.c < y->key.c);
}

static BbTallyKey key_of(const BbSites *sites, guint32 index, bool parent)
{
    const BbCall *call = &sites->calls[index];
    if (parent && sites->place)
        return (BbTallyKey){0, 0, sites->place[index]};
    return (BbTallyKey){parent ? call->caller : call->callee,
                        sites->labels ? call->op : BB_NAME_NONE, 0};
}

// Numbers the kinds of n calls, the commonest first; what is rarer than the first
// BB_SITE_TYPES - 1 shares a number. Returns how many numbers there are.
static guint number_kinds(const BbSites *sites, const guint32 *calls, guint32 n, bool parent,
                          guint16 *number)
{
    BbTally tally;
    bb_tally_init(&tally);
    g_autoptr(GArray) kinds = g_array_new(FALSE, FALSE, sizeof(Kind));
    for (guint32 i = 0; i < n; i++) {
        BbTallyKey key = key_of(sites, calls[i], parent);
        if (++*bb_tally_at(&tally, key) == 1)
            g_array_append_val(kinds, ((Kind){key, 0}));
    }
    for (guint k = 0; k < kinds->len; k++)
        g_array_index(kinds, Kind, k).n = bb_tally_get(&tally, g_array_index(kinds, Kind, k).key);
    qsort(kinds->data, kinds->len, sizeof(Kind), by_number);
    for (guint k = 0; k < kinds->len; k++)
        *bb_tally_at(&tally, g_array_index(kinds, Kind, k).key) = MIN(k, BB_SITE_TYPES - 1);
    for (guint32 i = 0; i < n; i++)
        number[i] = (guint16)bb_tally_get(&tally, key_of(sites, calls[i], parent));
    bb_tally_clear(&tally);
    return MIN(kinds->len, BB_SITE_TYPES);
}

// ---- calls -------------------------------------------------------------------------------------

static void load_parents(const BbSites *sites, BbSite *site, const BbParent *parents)
{
    guint32 n = site->n_parents;
    g_autofree guint32 *calls = g_new(guint32, n);
    g_autofree guint16 *number = g_new(guint16, n);
    for (guint32 i = 0; i < n; i++)
        calls[i] = parents[i].call;
    site->n_parent_types = number_kinds(sites, calls, n, true, number);
    for (guint32 i = 0; i < n; i++)
        site->parents[i] = (BbSiteParent){.s = quanta(sites, parents[i].arrived_ns),
                                          .e = quanta(sites, parents[i].replied_ns),
                                          .call = parents[i].call,
                                          .type = number[i]};
}

static void load_children(const BbSites *sites, BbSite *site, const BbChild *children)
{
    guint32 n = site->n_children;
    g_autofree guint32 *calls = g_new(guint32, n);
    g_autofree guint16 *number = g_new(guint16, n);
    for (guint32 i = 0; i < n; i++)
        calls[i] = children[i].call;
    site->n_child_types = number_kinds(sites, calls, n, false, number);
    g_autofree BbTimed *order = g_new(BbTimed, n), *scratch = g_new(BbTimed, n);
    for (guint32 i = 0; i < n; i++) // stable: those that start together stay in order of calls
        order[i] = (BbTimed){children[i].call, i};
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++)
        order[i].time_ns = quanta(sites, children[order[i].index].call_ns);
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++) {
        const BbChild *child = &children[order[i].index];
        site->children[i] = (BbSiteChild){.s = order[i].time_ns,
                                          .e = quanta(sites, child->end_ns),
                                          .call = child->call,
                                          .type = number[order[i].index]};
    }
}

// ---- candidates --------------------------------------------------------------------------------

typedef struct {
    double suits;
    guint32 parent;
} Suitor;

static int by_suit(const void *a, const void *b)
{
    const Suitor *x = a, *y = b;
    if (x->suits != y->suits)
        return x->suits > y->suits ? -1 : 1;
    return (x->parent > y->parent) - (x->parent < y->parent);
}

static int by_index(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

// Puts the likeliest candidates of a child first in list, and these in order.
static void prune(const BbSites *sites, const BbSite *site, const BbOnset *onset, guint32 child,
                  guint32 *list, guint32 n, GArray *suitors)
{
    g_array_set_size(suitors, n);
    Suitor *suitor = &g_array_index(suitors, Suitor, 0);
    for (guint32 i = 0; i < n; i++)
        suitor[i] = (Suitor){
            bb_onset_log(onset, sites->scale, &site->parents[list[i]], &site->children[child]),
            list[i]};
    qsort(suitor, n, sizeof *suitor, by_suit);
    for (guint32 i = 0; i < BB_SITE_CANDIDATES; i++)
        list[i] = suitor[i].parent;
    qsort(list, BB_SITE_CANDIDATES, sizeof *list, by_index);
}

static void note_mean(const BbSite *site, BbOnset *onset, guint32 child, const guint32 *list,
                      guint32 n)
{
    for (guint32 i = 0; i < n; i++)
        onset->mean[site->parents[list[i]].type * site->n_child_types +
                    site->children[child].type] += 1.0 / n;
}

static void find_candidates(BbSites *sites, BbSite *site, BbOnset *onset, guint64 *children,
                            guint64 *candidates)
{
    guint32 n_children, count;
    const BbChild *by_end = bb_candidates_children(sites->candidates, &n_children);
    g_autofree guint32 *place = g_new(guint32, sites->n_calls); // of a call among the children
    for (guint32 x = 0; x < n_children; x++)
        place[site->children[x].call] = x;
    g_autofree guint32 *start = g_new0(guint32, n_children), *size = g_new0(guint32, n_children);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) suitors = g_array_new(FALSE, FALSE, sizeof(Suitor));
    g_autoptr(GArray) scratch = g_array_new(FALSE, FALSE, sizeof(guint32));
    while (bb_candidates_next_child(sites->candidates)) {
        guint32 x = place[by_end[bb_candidates_child(sites->candidates)].call];
        const guint32 *list = bb_candidates_list(sites->candidates, &count);
        *children += count > 0;
        *candidates += count;
        start[x] = all->len;
        size[x] = MIN(count, BB_SITE_CANDIDATES);
        note_mean(site, onset, x, list, count);
        g_array_set_size(scratch, 0);
        g_array_append_vals(scratch, list, count);
        if (count > BB_SITE_CANDIDATES)
            prune(sites, site, onset, x, &g_array_index(scratch, guint32, 0), count, suitors);
        g_array_append_vals(all, scratch->data, size[x]);
    }
    site->list = g_new(guint32, all->len + 1);
    for (guint32 x = 0; x < n_children; x++) {
        site->first[x + 1] = site->first[x] + size[x];
        memcpy(site->list + site->first[x], &g_array_index(all, guint32, start[x]),
               size[x] * sizeof *site->list);
    }
}

BbSite *bb_sites_next(BbSites *sites, BbOnset **onset, guint64 *children, guint64 *candidates)
{
    guint32 n_parents, n_children;
    const BbParent *parents;
    do {
        if (!bb_candidates_next_node(sites->candidates))
            return NULL;
        parents = bb_candidates_parents(sites->candidates, &n_parents);
    } while (sites->place && sites->place[parents[0].call] == 0);
    const BbChild *kids = bb_candidates_children(sites->candidates, &n_children);
    BbSite *site = bb_site_new(n_parents, n_children);
    site->number = sites->n_sites++;
    load_parents(sites, site, parents);
    load_children(sites, site, kids);
    const BbCall *last = &sites->calls[sites->n_calls - 1];
    site->span = MAX(1, (double)quanta(sites, last->call_ns));
    *onset = bb_onset_new(site, sites->scale);
    find_candidates(sites, site, *onset, children, candidates);
    g_autofree double *n = g_new0(double, site->n_parent_types);
    for (guint32 i = 0; i < n_parents; i++)
        n[site->parents[i].type]++;
    for (guint p = 0; p < site->n_parent_types; p++)
        for (guint c = 0; c < site->n_child_types; c++)
            (*onset)->mean[p * site->n_child_types + c] /= n[p];
    return site;
}
