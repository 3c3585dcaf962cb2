// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: sites with the candidate parents of each child.
#include "nesting/sites.h"

#include "data/tally.h"
#include "nesting/timesort.h"

#include <stdlib.h>
#include <string.h>

#define SCANNED_MOST 256u // parents before a call that may outlast them
#define LATE_FEWEST 20u   // calls of a kind that are not nested in any,
#define LATE_LEAST 0.05   // their share of the kind, and how many of them must follow calls to the
#define DUE_LEAST 0.3     // node by more than chance, for all of the kind to be looked at as late
#define TIME_MAX (G_GINT64_CONSTANT(1) << 60) // in quanta: differences never overflow

struct BbSites {
    const BbCall *calls;
    guint32 n_calls, n_names;
    gint64 window_ns, base_ns, quantum_ns;
    bool labels;
    BbRoles *roles;
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
                      bool labels, BbRoles *roles, const BbGapScale *scale)
{
    BbSites *sites = g_new0(BbSites, 1);
    *sites = (BbSites){.calls = calls,
                       .n_calls = n_calls,
                       .n_names = n_names,
                       .window_ns = skew_window_ns,
                       .base_ns = n_calls > 0 ? calls[0].call_ns : 0,
                       .quantum_ns = find_quantum(calls, n_calls),
                       .labels = labels,
                       .roles = roles,
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
    guint32 node = parent ? call->caller : call->callee;
    return (BbTallyKey){sites->roles ? bb_roles_of(sites->roles, node) : node,
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

// Candidates of children, as they are found: those of child x are all[start[x] .. + size[x]).
typedef struct {
    guint32 *start, *size;
    GArray *all, *suitors;
    guint32 list[SCANNED_MOST];
} Found;

// The candidates of child x, the likeliest where there are many.
static void note(const BbSites *sites, const BbSite *site, BbOnset *onset, Found *found, guint32 x,
                 guint32 *list, guint32 n)
{
    if (n > BB_SITE_CANDIDATES)
        prune(sites, site, onset, x, list, n, found->suitors);
    found->start[x] = found->all->len;
    found->size[x] = MIN(n, BB_SITE_CANDIDATES);
    g_array_append_vals(found->all, list, found->size[x]);
}

// Calls that their node made while a call to it was open and that returned before it was answered.
static void find_nested(BbSites *sites, BbSite *site, BbOnset *onset, Found *found,
                        guint64 *children, guint64 *candidates)
{
    guint32 n_children, n;
    const BbChild *by_end = bb_candidates_children(sites->candidates, &n_children);
    g_autofree guint32 *place = g_new(guint32, sites->n_calls); // of a call among the children
    g_autoptr(GArray) scratch = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 x = 0; x < n_children; x++)
        place[site->children[x].call] = x;
    while (bb_candidates_next_child(sites->candidates)) {
        guint32 x = place[by_end[bb_candidates_child(sites->candidates)].call];
        const guint32 *list = bb_candidates_list(sites->candidates, &n);
        *children += n > 0;
        *candidates += n;
        note_mean(site, onset, x, list, n);
        g_array_set_size(scratch, 0);
        g_array_append_vals(scratch, list, n);
        note(sites, site, onset, found, x, (guint32 *)(void *)scratch->data, n);
    }
}

// Calls that are not nested in any, if many of a kind follow calls to the node all the same: they
// outlast their parent, or are made after its return. *reach: how long after its arrival.
static bool is_late_kind(const BbSites *sites, const BbSite *site, const Found *found, guint type,
                         gint64 *reach)
{
    g_autoptr(GArray) lone = g_array_new(FALSE, FALSE, sizeof(gint64));
    guint32 n = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        if (site->children[x].type != type)
            continue;
        const BbCall *call = &sites->calls[site->children[x].call];
        if (bb_candidates_is_knotted(sites->candidates, call->caller, call->callee))
            return false;
        n++;
        if (found->size[x] == 0)
            g_array_append_val(lone, site->children[x].s);
    }
    return lone->len >= LATE_FEWEST && lone->len >= LATE_LEAST * n &&
           bb_onset_due(site, sites->scale, (const gint64 *)(const void *)lone->data, lone->len,
                        reach) >= DUE_LEAST;
}

// Adds, for the children of a late kind, the parents that arrived before them.
static void find_late(const BbSites *sites, BbSite *site, BbOnset *onset, Found *found, guint type,
                      gint64 reach)
{
    guint32 next = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        guint32 n = 0;
        while (next < site->n_parents && site->parents[next].s <= child->s)
            next++;
        if (child->type != type)
            continue;
        for (guint32 p = next; p > 0 && n < SCANNED_MOST; p--) {
            if (site->parents[p - 1].s < child->s - reach)
                break;
            found->list[n++] = p - 1;
        }
        for (guint32 i = 0; i < n / 2; i++) { // ascending
            guint32 other = found->list[i];
            found->list[i] = found->list[n - 1 - i];
            found->list[n - 1 - i] = other;
        }
        note_mean(site, onset, x, found->list, n);
        note(sites, site, onset, found, x, found->list, n);
    }
}

static void find_candidates(BbSites *sites, BbSite *site, BbOnset *onset, guint64 *children,
                            guint64 *candidates)
{
    guint32 n = site->n_children;
    g_autofree guint32 *start = g_new0(guint32, n), *size = g_new0(guint32, n);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) suitors = g_array_new(FALSE, FALSE, sizeof(Suitor));
    Found found = {.start = start, .size = size, .all = all, .suitors = suitors};
    gint64 reach;
    find_nested(sites, site, onset, &found, children, candidates);
    for (guint t = 0; t < site->n_child_types; t++)
        if (is_late_kind(sites, site, &found, t, &reach))
            find_late(sites, site, onset, &found, t, reach);
    for (guint32 x = 0; x < n; x++)
        site->first[x + 1] = site->first[x] + size[x];
    site->list = g_new(guint32, site->first[n] + 1);
    for (guint32 x = 0; x < n; x++)
        for (guint32 i = 0; i < size[x]; i++)
            site->list[site->first[x] + i] = g_array_index(all, guint32, start[x] + i);
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
