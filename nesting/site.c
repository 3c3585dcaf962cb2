// SPDX-License-Identifier: Apache-2.0
// In: children that change parents. Out: each parent's children in order of time.
#include "nesting/site.h"

#include "nesting/timesort.h"

#include <string.h>

BbSite *bb_site_new(guint32 n_parents, guint32 n_children)
{
    BbSite *site = g_new0(BbSite, 1);
    site->n_parents = n_parents;
    site->n_children = n_children;
    site->parents = g_new0(BbSiteParent, n_parents);
    site->children = g_new0(BbSiteChild, n_children);
    site->first = g_new0(guint32, (gsize)n_children + 1);
    site->kept = g_new(float, n_children);
    site->parent = g_new(guint32, n_children);
    site->kids = g_new0(BbKids, n_parents);
    for (guint32 x = 0; x < n_children; x++) {
        site->parent[x] = BB_SITE_NONE;
        site->kept[x] = 1;
    }
    return site;
}

void bb_site_free(BbSite *site)
{
    if (!site)
        return;
    for (guint32 p = 0; p < site->n_parents; p++)
        g_free(site->kids[p].at);
    g_free(site->kids);
    g_free(site->parent);
    g_free(site->kept);
    g_free(site->owner);
    g_free(site->freed);
    g_free(site->limit);
    g_free(site->list);
    g_free(site->inner);
    g_free(site->first);
    g_free(site->children);
    g_free(site->parents);
    g_free(site);
}

// Where the parents of each stretch go: place[p] is their index in the sample, BB_SITE_NONE for
// those left out.
static guint32 *choose_stretches(const BbSite *site, guint32 n_parents, guint n_stretches)
{
    guint32 *place = g_new(guint32, site->n_parents), next = 0;
    memset(place, 0xff, site->n_parents * sizeof *place);
    for (guint k = 0; k < n_stretches; k++) {
        guint64 middle = (2 * (guint64)k + 1) * site->n_parents / (2 * (guint64)n_stretches);
        guint32 half = n_parents / n_stretches / 2;
        guint32 from = middle > half ? (guint32)middle - half : 0;
        guint32 to = MIN(site->n_parents, from + n_parents / n_stretches);
        for (guint32 p = from; p < to; p++)
            if (place[p] == BB_SITE_NONE)
                place[p] = next++;
    }
    return place;
}

static guint32 count_inside(const BbSite *site, const guint32 *place, guint32 x)
{
    guint32 inside = 0;
    for (guint32 i = site->first[x]; i < site->first[x + 1]; i++)
        inside += place[site->list[i]] != BB_SITE_NONE;
    return inside;
}

BbSite *bb_site_sample(const BbSite *site, guint32 n_parents, guint n_stretches)
{
    g_autofree guint32 *place = choose_stretches(site, n_parents, n_stretches);
    guint32 parents = 0, children = 0, candidates = 0;
    for (guint32 p = 0; p < site->n_parents; p++)
        parents += place[p] != BB_SITE_NONE;
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 inside = count_inside(site, place, x);
        children += inside > 0;
        candidates += inside;
    }
    BbSite *sample = bb_site_new(parents, children);
    sample->n_parent_types = site->n_parent_types;
    sample->n_child_types = site->n_child_types;
    sample->number = site->number;
    sample->is_join = site->is_join;
    sample->span = MAX(1, site->span * parents / site->n_parents);
    sample->list = g_new(guint32, candidates + 1);
    sample->inner = site->inner ? g_new(guint8, candidates + 1) : NULL;
    sample->owner = site->owner ? g_new(BbSiteEnd, children) : NULL;
    sample->n_pools = site->n_pools;
    sample->freed = site->freed ? g_new(BbSiteFreed, children) : NULL;
    for (guint32 p = 0; p < site->n_parents; p++)
        if (place[p] != BB_SITE_NONE)
            sample->parents[place[p]] = site->parents[p];
    guint32 next = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        if (count_inside(site, place, x) == 0)
            continue;
        sample->children[next] = site->children[x];
        if (site->owner)
            sample->owner[next] = site->owner[x];
        if (site->freed)
            sample->freed[next] = site->freed[x];
        guint32 *to = &sample->first[next + 1];
        *to = sample->first[next++];
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++) {
            if (place[site->list[i]] == BB_SITE_NONE)
                continue;
            if (site->inner)
                sample->inner[*to] = site->inner[i];
            sample->list[(*to)++] = place[site->list[i]];
        }
    }
    return sample;
}

void bb_site_clear(BbSite *site)
{
    for (guint32 x = 0; x < site->n_children; x++)
        site->parent[x] = BB_SITE_NONE;
    for (guint32 p = 0; p < site->n_parents; p++)
        site->kids[p].n = 0;
}

static void make_room(BbKids *kids, guint32 n)
{
    if (n <= kids->room)
        return;
    kids->room = MAX(MAX(4, n), kids->room + kids->room / 2);
    kids->at = g_renew(guint32, kids->at, kids->room);
}

void bb_site_give(BbSite *site, guint32 x, guint32 parent)
{
    BbKids *kids = &site->kids[parent];
    make_room(kids, kids->n + 1);
    guint32 place = bb_kids_before(kids, x);
    memmove(kids->at + place + 1, kids->at + place, (kids->n - place) * sizeof *kids->at);
    kids->at[place] = x;
    kids->n++;
    site->parent[x] = parent;
}

void bb_site_take(BbSite *site, guint32 x)
{
    BbKids *kids = &site->kids[site->parent[x]];
    guint32 place = bb_kids_before(kids, x);
    memmove(kids->at + place, kids->at + place + 1, (kids->n - place - 1) * sizeof *kids->at);
    kids->n--;
    site->parent[x] = BB_SITE_NONE;
}

void bb_site_put(BbSite *site, guint32 parent, const guint32 *kids, guint32 n)
{
    BbKids *to = &site->kids[parent];
    make_room(to, n);
    if (n > 0)
        memcpy(to->at, kids, n * sizeof *kids);
    to->n = n;
    for (guint32 k = 0; k < n; k++)
        site->parent[kids[k]] = parent;
}

void bb_site_restore(BbSite *site, const guint32 *parent)
{
    bb_site_clear(site);
    for (guint32 x = 0; x < site->n_children; x++)
        if (parent[x] != BB_SITE_NONE)
            bb_site_give(site, x, parent[x]);
}

guint32 *bb_site_by_conn(const BbSite *site, guint32 *n)
{
    g_autofree BbTimed *order = g_new(BbTimed, site->n_children);
    g_autofree BbTimed *scratch = g_new(BbTimed, site->n_children);
    *n = 0;
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->children[x].conn != 0)
            order[(*n)++] = (BbTimed){site->children[x].conn, x};
    bb_timesort(order, scratch, *n);
    guint32 *children = g_new(guint32, *n);
    for (guint32 i = 0; i < *n; i++)
        children[i] = order[i].index;
    return children;
}
