// SPDX-License-Identifier: Apache-2.0
// In: a site's parents and children. Out: the candidate parents of each child.
#include "nesting/sites_parts.h"

#include <math.h>
#include <stdlib.h>

#include "nesting/given_up.h"
#include "nesting/unnested.h"

#define LOOKED_AT_MOST 1024u // candidates of a child that are compared
#define SCANNED_MOST 256u    // parents before a call that may outlast them
#define NESTED_LEAST 0.97    // share of a kind
#define OUTLASTS 0.25 // of its own time, that a call nested in none may last longer than a parent
#define OWNED \
    1000.0 // log likelihood: candidates on the connection that a child's serves come first

typedef struct {
    double suits;
    guint32 parent;
    bool owned; // on the connection that the child's serves: these come first
} Suitor;

static int by_suit(const void *a, const void *b)
{
    const Suitor *x = a, *y = b;
    if (x->owned != y->owned)
        return x->owned ? -1 : 1;
    if (x->suits != y->suits)
        return x->suits > y->suits ? -1 : 1;
    return (x->parent > y->parent) - (x->parent < y->parent);
}

static int by_index(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

// Share of the suitors' likelihood that the kept ones have; the best stand first.
static double kept_of(const Suitor *suitor, guint32 n)
{
    double all = 0, kept = 0, most = -G_MAXDOUBLE;
    for (guint32 i = 0; i < n; i++)
        most = MAX(most, suitor[i].suits);
    for (guint32 i = 0; i < n; i++) {
        all += exp(suitor[i].suits - most);
        if (i + 1 == BB_SITE_CANDIDATES)
            kept = all;
    }
    return kept / all;
}

// Candidates of children, as they are found: those of child x are all[start[x] .. + size[x]).
typedef struct {
    BbCrew *crew;
    const BbSites *sites;
    BbSite *site;
    BbOnset *onset;
    guint32 *start, *size;
    bool *nested;                     // of children: made within a call to the node, and returned
    BbUnnested kinds[BB_SITE_TYPES];  // of children
    GArray *all;                      // of guint32
    GArray *suitors;                  // of Suitor; scratch
    guint64 n_children, n_candidates; // nested
    guint32 list[SCANNED_MOST];       // scratch
} Search;

// Puts the likeliest candidates of a child first in list, and these in order. Returns their share
// of the likelihood.
static double prune(Search *search, guint32 child, guint32 *list, guint32 n)
{
    const BbSite *site = search->site;
    g_array_set_size(search->suitors, n);
    Suitor *suitor = &g_array_index(search->suitors, Suitor, 0);
    guint32 owner = site->owner ? site->owner[child].conn : 0;
    for (guint32 i = 0; i < n; i++) {
        const BbSiteParent *parent = &site->parents[list[i]];
        double suits =
            bb_onset_log(search->onset, site, search->sites->scale, parent, &site->children[child]);
        bool owned = owner != 0 && parent->conn == owner;
        suitor[i] = (Suitor){owned ? suits + OWNED : suits, list[i], owned};
    }
    qsort(suitor, n, sizeof *suitor, by_suit);
    for (guint32 i = 0; i < BB_SITE_CANDIDATES; i++)
        list[i] = suitor[i].parent;
    qsort(list, BB_SITE_CANDIDATES, sizeof *list, by_index);
    return kept_of(suitor, n);
}

static void note_mean(Search *search, guint32 child, const guint32 *list, guint32 n)
{
    const BbSite *site = search->site;
    for (guint32 i = 0; i < n; i++)
        search->onset->mean[site->parents[list[i]].type * site->n_child_types +
                            site->children[child].type] += 1.0 / n;
}

// The candidates of child x, the likeliest where there are many.
static void note(Search *search, guint32 x, guint32 *list, guint32 n)
{
    double looked_at = n > LOOKED_AT_MOST ? (double)LOOKED_AT_MOST / n : 1;
    note_mean(search, x, list, n);
    search->site->kept[x] = 1; // of what an earlier call found nothing stays
    if (n > LOOKED_AT_MOST) {  // the latest arrivals
        list += n - LOOKED_AT_MOST;
        n = LOOKED_AT_MOST;
    }
    if (n > BB_SITE_CANDIDATES)
        search->site->kept[x] = (float)(looked_at * prune(search, x, list, n));
    search->start[x] = search->all->len;
    search->size[x] = MIN(n, BB_SITE_CANDIDATES);
    g_array_append_vals(search->all, list, search->size[x]);
}

// Calls that their node made while a call to it was open and that returned before it was answered.
// The sweep stands at the node.
static void find_nested(Search *search, const BbMember *member, GArray *scratch)
{
    BbSweep *sweep = search->crew->sweep;
    while (bb_sweep_next(sweep)) {
        guint32 x = search->crew->place[member->first_child + bb_sweep_child(sweep)], n;
        const guint32 *list = bb_sweep_list(sweep, &n);
        g_array_set_size(scratch, n);
        guint32 *own = (guint32 *)(void *)scratch->data;
        for (guint32 i = 0; i < n; i++)
            own[i] = member->first_parent + list[i];
        search->n_children += n > 0;
        search->n_candidates += n;
        note(search, x, own, n);
    }
}

static void find_all_nested(Search *search)
{
    const GArray *members = search->crew->members;
    g_autoptr(GArray) scratch = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint m = 0; m < members->len; m++) {
        const BbMember *member = &g_array_index(members, BbMember, m);
        if (members->len > 1) // else it stands there
            bb_sweep_go(search->crew->sweep, member->node);
        find_nested(search, member, scratch);
    }
}

static bool is_knotted(const Search *search, const BbSiteChild *child)
{
    return bb_candidates_is_knotted(search->sites->candidates, &search->sites->calls[child->call]);
}

// What is known of kinds of children but those between nodes on circles.
static void find_unnested(Search *search)
{
    const BbSite *site = search->site;
    bool knotted[BB_SITE_TYPES] = {false};
    for (guint32 x = 0; search->sites->candidates->any_knotted && x < site->n_children; x++)
        knotted[site->children[x].type] |= is_knotted(search, &site->children[x]);
    bb_unnested_find(site, search->sites->scale, search->nested, knotted, search->kinds);
}

// Calls of a type are nobody's.
static void forget(Search *search, guint type)
{
    const BbSite *site = search->site;
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->children[x].type == type) {
            search->size[x] = 0;
            search->site->kept[x] = 1;
        }
    for (guint p = 0; p < site->n_parent_types; p++)
        search->onset->mean[p * site->n_child_types + type] = 0;
}

// The candidates in search->list, latest first, of child x.
static void note_backwards(Search *search, guint32 x, guint32 n)
{
    for (guint32 i = 0; i < n / 2; i++) {
        guint32 other = search->list[i];
        search->list[i] = search->list[n - 1 - i];
        search->list[n - 1 - i] = other;
    }
    note(search, x, search->list, n);
}

// Adds, for the children of a late kind, the parents that arrived before them.
static void find_late(Search *search, guint type, gint64 reach)
{
    const BbSite *site = search->site;
    guint32 next = 0;
    bb_onset_add_late(search->onset, site, search->sites->scale, type, reach);
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        guint32 n = 0;
        while (next < site->n_parents && site->parents[next].s <= child->s)
            next++;
        if (child->type != type)
            continue;
        for (guint32 p = next; p > 0 && n < SCANNED_MOST; p--) {
            if (site->parents[p - 1].s < child->s - 2 * reach)
                break;
            search->list[n++] = p - 1;
        }
        note_backwards(search, x, n);
    }
}

// Adds, for a child that has no candidate, the parents that were open when it was called and until
// least. Parents behind `next` arrived after it.
static void find_open(Search *search, guint32 x, guint32 next, gint64 least)
{
    guint32 n = 0;
    for (guint32 p = next; p > 0 && next - p < SCANNED_MOST; p--)
        if (search->site->parents[p - 1].e >= least)
            search->list[n++] = p - 1;
    note_backwards(search, x, n);
}

// Of children that no parent outlasts: stamps of one node may be taken a moment late; and a parent
// may have given up what took very long (given_up.h).
static void find_outlasting(Search *search)
{
    BbSite *site = search->site;
    g_autofree double *too_long = bb_given_up_least(site, search->nested);
    guint32 next = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        while (next < site->n_parents && site->parents[next].s <= child->s)
            next++;
        if (search->size[x] > 0 || search->kinds[child->type].is_own || is_knotted(search, child))
            continue;
        gint64 least = child->e - (gint64)(OUTLASTS * (double)(child->e - child->s));
        find_open(search, x, next, least);
        if (search->size[x] > 0 || (double)child->trip < too_long[child->type])
            continue;
        find_open(search, x, next, child->s + 1);
        child->given_up = search->size[x] > 0;
    }
}

static void find_all(Search *search)
{
    const BbSite *site = search->site;
    find_all_nested(search);
    for (guint32 x = 0; x < site->n_children; x++)
        search->nested[x] = search->size[x] > 0;
    find_unnested(search);
    for (guint t = 0; t < site->n_child_types; t++) {
        if (search->kinds[t].reach > 0)
            find_late(search, t, search->kinds[t].reach);
        else if (search->kinds[t].is_own)
            forget(search, t);
    }
    find_outlasting(search);
}

// What was found, child by child.
static void put_lists(const Search *search)
{
    BbSite *site = search->site;
    guint32 n = site->n_children;
    for (guint32 x = 0; x < n; x++)
        site->first[x + 1] = site->first[x] + search->size[x];
    site->list = g_new(guint32, site->first[n] + 1);
    for (guint32 x = 0; x < n; x++)
        for (guint32 i = 0; i < search->size[x]; i++)
            site->list[site->first[x] + i] =
                g_array_index(search->all, guint32, search->start[x] + i);
}

// Whether the candidates of x lie within each other, one by one: where they overlap, they are of
// several requests.
static bool is_chain(const BbSite *site, guint32 x)
{
    for (guint32 i = site->first[x]; i + 1 < site->first[x + 1]; i++)
        if (site->parents[site->list[i + 1]].e > site->parents[site->list[i]].e)
            return false;
    return true;
}

// Counts, for each of x's candidates, those within it that may be below it, being part of a circle.
// Returns whether there is any.
static bool count_inner(const Search *search, guint32 x)
{
    BbSite *site = search->site;
    guint8 n = 0;
    for (guint32 i = site->first[x + 1]; i > site->first[x]; i--) {
        const BbSiteParent *parent = &site->parents[site->list[i - 1]];
        site->inner[i - 1] = n;
        n += bb_candidates_is_knotted(search->sites->candidates,
                                      &search->sites->calls[parent->call]);
    }
    return site->first[x] < site->first[x + 1] && site->inner[site->first[x]] > 0;
}

// Where calls go in circles.
static void put_inner(const Search *search)
{
    BbSite *site = search->site;
    bool any = false;
    site->inner = g_new0(guint8, site->first[site->n_children] + 1);
    for (guint32 x = 0; x < site->n_children; x++)
        any |= is_chain(site, x) && count_inner(search, x);
    if (!any)
        g_clear_pointer(&site->inner, g_free);
}

// Where calls go in circles, kinds of which all but a few were made while a call to the node was
// open: none of them came by itself.
static void find_caused(const Search *search)
{
    const BbSite *site = search->site;
    g_autofree double *n = g_new0(double, site->n_child_types),
                      *nested = g_new0(double, site->n_child_types);
    for (guint32 x = 0; x < site->n_children; x++) {
        n[site->children[x].type]++;
        nested[site->children[x].type] += search->nested[x];
    }
    for (guint c = 0; c < site->n_child_types; c++)
        search->onset->is_caused[c] = nested[c] >= NESTED_LEAST * n[c];
}

// Adds a child to the means of its candidates' types, by how well each suits it.
static void add_suited(const Search *search, guint32 x)
{
    const BbSite *site = search->site;
    const BbSiteChild *child = &site->children[x];
    const guint32 *list = site->list + site->first[x];
    guint32 n = site->first[x + 1] - site->first[x];
    double suits[BB_SITE_CANDIDATES], most = -G_MAXDOUBLE, sum = 0;
    for (guint32 i = 0; i < n; i++) {
        suits[i] =
            bb_onset_log(search->onset, site, search->sites->scale, &site->parents[list[i]], child);
        most = MAX(most, suits[i]);
    }
    for (guint32 i = 0; i < n; i++)
        sum += suits[i] = exp(suits[i] - most);
    for (guint32 i = 0; i < n; i++)
        search->onset->mean[site->parents[list[i]].type * site->n_child_types + child->type] +=
            suits[i] / sum;
}

// Where children have many candidates there is but one beginning (learning.h). If all of them
// counted alike, parents that hang for long, and call nobody, would be expected to make what many
// short ones make beside them.
static void suit_means(const Search *search)
{
    const BbSite *site = search->site;
    if (!bb_site_is_crowded(site))
        return;
    memset(search->onset->mean, 0,
           site->n_parent_types * site->n_child_types * sizeof *search->onset->mean);
    for (guint32 x = 0; x < site->n_children; x++)
        add_suited(search, x);
}

// Sums over children become means over parents.
static void end_means(const BbSite *site, BbOnset *onset)
{
    g_autofree double *n = g_new0(double, site->n_parent_types);
    for (guint32 i = 0; i < site->n_parents; i++)
        n[site->parents[i].type]++;
    for (guint p = 0; p < site->n_parent_types; p++)
        for (guint c = 0; c < site->n_child_types; c++)
            onset->mean[p * site->n_child_types + c] /= n[p];
}

void bb_suitors_find(BbCrew *crew, BbSite *site, BbOnset *onset, guint64 *children,
                     guint64 *candidates)
{
    g_autofree guint32 *start = g_new0(guint32, site->n_children),
                       *size = g_new0(guint32, site->n_children);
    g_autofree bool *nested = g_new(bool, site->n_children);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) suitors = g_array_new(FALSE, FALSE, sizeof(Suitor));
    Search search = {.crew = crew,
                     .sites = crew->sites,
                     .site = site,
                     .onset = onset,
                     .start = start,
                     .size = size,
                     .nested = nested,
                     .all = all,
                     .suitors = suitors};
    find_all(&search);
    put_lists(&search);
    suit_means(&search);
    if (crew->sites->candidates->any_knotted)
        put_inner(&search);
    if (site->inner)
        find_caused(&search);
    end_means(site, onset);
    *children = search.n_children;
    *candidates = search.n_candidates;
}
