// SPDX-License-Identifier: Apache-2.0
// Sites for tests: random ones, where nothing goes together, and ones of a node that does its work
// step by step. Candidates are found by asking every parent.
#pragma once

#include "nesting/site.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    guint32 n_parents, n_children;
    guint np, nc;      // kinds
    gint32 span;       // arrivals are below it
    gint32 parent_len; // durations are up to it
    gint32 child_len;
    gint32 window; // by how much a child may stick out of its parent
} SiteScale;

static inline int site_parent_order(const void *a, const void *b)
{
    const BbSiteParent *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

static inline int site_child_order(const void *a, const void *b)
{
    const BbSiteChild *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

// No length at all, the longest there is, and the wrong way round.
static const gint64 site_ends[][2] = {{0, 0}, {-(1LL << 60), 1LL << 60}, {5, 6}, {7, 2}};

// One parent and one child, which begin and end together; without candidates.
static inline BbSite *site_of_one(const gint64 ends[2])
{
    BbSite *site = bb_site_new(1, 1);
    site->n_parent_types = site->n_child_types = 1;
    site->span = 1;
    site->parents[0] = (BbSiteParent){.s = ends[0], .e = ends[1]};
    site->children[0] = (BbSiteChild){.s = ends[0], .e = ends[1]};
    return site;
}

// The first BB_SITE_CANDIDATES parents around each child are its candidates.
static inline void site_find_candidates(BbSite *site, gint64 window)
{
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 found = 0;
        for (guint32 p = 0; p < site->n_parents && found < BB_SITE_CANDIDATES; p++) {
            if (site->parents[p].s - window > site->children[x].s ||
                site->parents[p].e + window < site->children[x].e)
                continue;
            g_array_append_val(list, p);
            found++;
        }
        site->first[x + 1] = list->len;
    }
    site->list = g_new(guint32, list->len + 1);
    for (guint i = 0; i < list->len; i++)
        site->list[i] = g_array_index(list, guint32, i);
}

static inline BbSite *site_random(GRand *rand, const SiteScale *scale)
{
    BbSite *site = bb_site_new(scale->n_parents, scale->n_children);
    site->n_parent_types = scale->np;
    site->n_child_types = scale->nc;
    site->span = scale->span;
    for (guint32 p = 0; p < site->n_parents; p++) {
        gint64 s = g_rand_int_range(rand, 0, scale->span);
        site->parents[p] = (BbSiteParent){
            .s = s,
            .e = s + g_rand_int_range(rand, 0, scale->parent_len + 1),
            .call = p,
            .type = (guint16)g_rand_int_range(rand, 0, (gint32)scale->np),
        };
    }
    for (guint32 x = 0; x < site->n_children; x++) {
        gint64 s = g_rand_int_range(rand, 0, scale->span);
        gint64 trip = g_rand_int_range(rand, 0, scale->child_len + 1);
        site->children[x] = (BbSiteChild){
            .s = s,
            .e = s + trip,
            .trip = trip,
            .call = site->n_parents + x,
            .type = (guint16)g_rand_int_range(rand, 0, (gint32)scale->nc),
        };
    }
    qsort(site->parents, site->n_parents, sizeof *site->parents, site_parent_order);
    if (site->n_children > 0)
        qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    site_find_candidates(site, scale->window);
    return site;
}

// Any of its candidates to each child, and one of `none` to no parent.
static inline void site_assign(GRand *rand, BbSite *site, gint32 none)
{
    bb_site_clear(site);
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 n = site->first[x + 1] - site->first[x];
        if (n > 0 && g_rand_int_range(rand, 0, none) > 0)
            bb_site_give(site, x,
                         site->list[site->first[x] + g_rand_int_range(rand, 0, (gint32)n)]);
    }
}

// ---- a node that does its work step by step ----------------------------------------------------

typedef struct {
    guint32 n;       // requests
    guint steps;     // calls of each, one after the other, of kinds 0, 1, ...
    double between;  // mean time between arrivals
    double think;    // mean time before each call and before the return
    double away;     // mean time of a call
    bool in_line;    // requests are thought about one at a time, in the order they came
    double together; // deviation of log(slowness), which is a request's own
} StepScale;

// truth: the parent of each child; the caller frees it.
static inline BbSite *site_of_steps(GRand *rand, const StepScale *scale, guint32 **truth)
{
    BbSite *site = bb_site_new(scale->n, scale->n * scale->steps);
    double clock = 0, free_at[8] = {0};
    site->n_parent_types = 1;
    site->n_child_types = scale->steps;
    for (guint32 p = 0; p < scale->n; p++) {
        clock += -log(1 - g_rand_double(rand)) * scale->between;
        double at = clock, u = 0;
        for (guint k = 0; k < 12; k++)
            u += g_rand_double(rand) - 0.5; // of variance 1, nearly normal
        double slow = exp(scale->together * u);
        for (guint k = 0; k <= scale->steps; k++) {
            if (scale->in_line)
                at = MAX(at, free_at[k]);
            at += scale->think * slow * (0.5 - log(1 - g_rand_double(rand)));
            free_at[k] = at;
            if (k == scale->steps)
                break;
            BbSiteChild *child = &site->children[p * scale->steps + k];
            *child = (BbSiteChild){.s = (gint64)at, .type = (guint16)k};
            at += scale->away * slow * (0.8 + 0.4 * g_rand_double(rand));
            child->e = (gint64)at;
            child->trip = child->e - child->s;
            child->call = p; // for truth, until children are in order
        }
        site->parents[p] = (BbSiteParent){.s = (gint64)clock, .e = (gint64)at, .call = p};
    }
    qsort(site->parents, site->n_parents, sizeof *site->parents, site_parent_order);
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    site->span = MAX(1, clock);
    site_find_candidates(site, 0);
    *truth = g_new(guint32, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++) {
        (*truth)[x] = site->children[x].call;
        site->children[x].call = site->n_parents + x;
    }
    return site;
}

// What must hold of every assignment: kids and parents agree, kids are in order.
static inline bool site_is_whole(const BbSite *site)
{
    guint32 listed = 0, given = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        for (guint32 k = 0; k < site->kids[p].n; k++, listed++)
            if (site->parent[site->kids[p].at[k]] != p ||
                (k > 0 && site->kids[p].at[k - 1] >= site->kids[p].at[k]))
                return false;
    }
    for (guint32 x = 0; x < site->n_children; x++) {
        given += site->parent[x] != BB_SITE_NONE;
        if (site->parent[x] != BB_SITE_NONE && !bb_site_may(site, x, site->parent[x]))
            return false;
    }
    return listed == given;
}

// Requests of 30 ms (in us), one a millisecond, each with a call of kind 0 after 8 ms, and one of
// kind 1 that begins 5 ms after that returned. Calls of kind 2 have nothing to do with them.
static inline BbSite *site_of_delays(GRand *rand, guint32 n)
{
    BbSite *site = bb_site_new(n, 3 * n);
    double clock = 0;
    site->n_parent_types = 1;
    site->n_child_types = 3;
    for (guint32 p = 0; p < n; p++) {
        clock += -log(1 - g_rand_double(rand)) * 1000;
        BbSiteChild *kids = &site->children[3 * (gsize)p];
        gint64 s = (gint64)clock;
        kids[0].s = s + (gint64)(8000 * g_rand_double_range(rand, 0.95, 1.05));
        kids[0].e = kids[0].s + (gint64)g_rand_double_range(rand, 500, 9000);
        kids[1].s = kids[0].e + (gint64)(5000 * g_rand_double_range(rand, 0.95, 1.05));
        kids[1].e = kids[1].s + (gint64)g_rand_double_range(rand, 500, 9000);
        kids[2].s = (gint64)(g_rand_double(rand) * n * 1000);
        kids[2].e = kids[2].s + 10;
        for (guint k = 0; k < 3; k++)
            kids[k].type = (guint16)k;
        gint64 e = kids[1].e + (gint64)(3000 * g_rand_double_range(rand, 0.95, 1.05));
        site->parents[p] = (BbSiteParent){.s = s, .e = e, .call = p};
    }
    site->span = clock;
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    return site;
}

// The same, but each request makes a call of kind 0 2 ms before it replies and one of kind 1 4 ms
// after, that last longer than it.
static inline BbSite *site_of_late_calls(GRand *rand, guint32 n)
{
    BbSite *site = site_of_delays(rand, n);
    const gint64 after[] = {-2000, 4000};
    guint32 seen[3] = {0};
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        gint64 end = site->parents[seen[child->type]++].e;
        double gap = g_rand_double_range(rand, 0.9, 1.1);
        if (child->type < 2)
            child->s = end + (gint64)((double)after[child->type] * gap);
        child->e = child->s + 60000;
    }
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    return site;
}
