// SPDX-License-Identifier: Apache-2.0
// The slow twin of the model of a node (nesting/model.h): every score is worked out from the
// assignments themselves, rule by rule. It shares with the model only what has tests of its own:
// bins, densities of samples, the copula.
#pragma once

#include "tests/unit/brute_gaps.h"

static inline void brute_free(Brute *brute)
{
    for (guint p = 0; p < BRUTE_TYPES; p++) {
        for (guint s = 0; s < G_N_ELEMENTS(brute->slots[p]); s++)
            for (guint r = 0; r < 4; r++)
                for (guint w = 0; w < BRUTE_WHAT; w++)
                    g_free(brute->slots[p][s].density[r][w]);
        bb_copula_free(brute->copula[p]);
    }
    for (guint o = 0; o <= BRUTE_ORDERS; o++)
        for (guint r = 0; r < 4; r++)
            for (guint w = 0; w < BRUTE_WHAT; w++)
                g_free(brute->pools[o].density[r][w]);
    g_free(brute);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Brute, brute_free)

static inline double brute_single(const Brute *brute, guint type);

// Learns from assignments, the last of which also shows what goes together. seen is lent.
static inline Brute *brute_new(const BbSite *site, const BbGapScale *scale, GPtrArray *seen,
                               double trust)
{
    Brute *brute = g_new0(Brute, 1);
    brute->site = site;
    brute->scale = scale;
    brute->seen = seen;
    brute->trust = trust;
    brute->weight = 1.0 / seen->len;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    for (guint k = 0; k < seen->len; k++)
        for (guint32 p = 0; p < site->n_parents; p++)
            brute_gather(brute, p, kids, brute_kids(site, g_ptr_array_index(seen, k), p, kids));
    guint end = site->n_child_types * BRUTE_ORDERS;
    for (guint p = 0; p < site->n_parent_types; p++) {
        for (guint s = 0; s <= end; s++)
            brute_choose(brute, &brute->slots[p][s], site->n_child_types, s == end);
        brute->copula[p] = bb_copula_new(2 * end + 1);
    }
    for (guint p = 0; p < site->n_parent_types; p++)
        brute->at_once[p] = brute_is_at_once(brute, p);
    brute_share(brute);
    guint32 parents[BRUTE_TYPES] = {0}; // of a type; of few nothing is learned
    for (guint32 p = 0; p < site->n_parents; p++)
        parents[site->parents[p].type]++;
    for (guint32 p = 0; p < site->n_parents; p++) {
        BruteGap gaps[BB_COPULA_MOST];
        guint16 which[BB_COPULA_MOST];
        float z[BB_COPULA_MOST];
        guint32 n = brute_kids(site, g_ptr_array_index(seen, seen->len - 1), p, kids);
        if (n == 0 || n >= BB_COPULA_MOST || parents[site->parents[p].type] < BB_COPULA_PARENTS)
            continue;
        brute_gaps(brute, p, kids, n, gaps);
        guint all = brute_together(brute, p, gaps, kids, n, which, z);
        bb_copula_count(brute->copula[site->parents[p].type], which, z, all);
    }
    for (guint p = 0; p < site->n_parent_types; p++) {
        bb_copula_fit(brute->copula[p]);
        brute->single[p] = brute_single(brute, p);
    }
    return brute;
}

static inline void brute_census(const BbSite *site, const guint32 *kids, guint32 n, guint *each)
{
    for (guint c = 0; c < site->n_child_types; c++)
        each[c] = 0;
    for (guint32 k = 0; k < n; k++)
        each[site->children[kids[k]].type]++;
}

// How many of the parents of a type had these children; c < 0: exactly, else as many of type c, 64
// standing for more. *all: how many parents there are.
static inline double brute_had(const Brute *brute, guint type, const guint *want, gint c,
                               double *all)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    double had = 0;
    *all = 0;
    for (guint k = 0; k < brute->seen->len; k++) {
        for (guint32 p = 0; p < site->n_parents; p++) {
            guint each[BRUTE_TYPES];
            bool same = true;
            if (site->parents[p].type != type)
                continue;
            brute_census(site, kids, brute_kids(site, g_ptr_array_index(brute->seen, k), p, kids),
                         each);
            for (guint t = 0; t < site->n_child_types; t++)
                same &= c < 0 ? each[t] == want[t]
                              : t != (guint)c || MIN(each[t], BRUTE_COUNTS - 1) == want[t];
            had += same ? brute->weight : 0;
            *all += brute->weight;
        }
    }
    return had;
}

// How many of the parents of a type had what no other one had.
static inline double brute_single(const Brute *brute, guint type)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    double single = 0, all;
    for (guint k = 0; k < brute->seen->len; k++) {
        for (guint32 p = 0; p < site->n_parents; p++) {
            guint each[BRUTE_TYPES];
            if (site->parents[p].type != type)
                continue;
            brute_census(site, kids, brute_kids(site, g_ptr_array_index(brute->seen, k), p, kids),
                         each);
            if (brute_had(brute, type, each, -1, &all) <= 1 + 1e-9)
                single += brute->weight;
        }
    }
    return single;
}

// In how many assignments a parent had just these children.
static inline guint brute_had_itself(const Brute *brute, guint32 p, const guint *want)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    guint had = 0;
    for (guint k = 0; k < brute->seen->len; k++) {
        guint each[BRUTE_TYPES];
        bool same = true;
        brute_census(site, kids, brute_kids(site, g_ptr_array_index(brute->seen, k), p, kids),
                     each);
        for (guint t = 0; t < site->n_child_types; t++)
            same &= each[t] == want[t];
        had += same;
    }
    return had;
}

// How many parents had k children of type c. *all: of how many.
static inline double brute_had_so_many(const Brute *brute, guint type, guint c, guint k,
                                       double *all)
{
    guint want[BRUTE_TYPES] = {0};
    want[c] = k;
    return brute_had(brute, type, want, (gint)c, all);
}

// log P(k children of type c): of 9 to 63 each count has 2 % of its neighbours', and gives as much.
static inline double brute_count_log(const Brute *brute, guint type, guint c, guint k)
{
    double all, n;
    k = MIN(k, BRUTE_COUNTS - 1);
    n = brute_had_so_many(brute, type, c, k, &all);
    for (guint other = k - 1; k >= 9 && k <= 63 && other <= k + 1; other += 2)
        if (other >= 9 && other <= 63)
            n += 0.02 * (brute_had_so_many(brute, type, c, other, &all) -
                         brute_had_so_many(brute, type, c, k, &all));
    return log((n + ldexp(0.5, -(int)k - 1)) / (all + 0.5));
}

static inline double brute_kinds_log(const Brute *brute, guint32 p, const guint32 *kids, guint32 n)
{
    const BbSite *site = brute->site;
    guint type = site->parents[p].type, each[BRUTE_TYPES];
    double apart = 0, all;
    brute_census(site, kids, n, each);
    for (guint c = 0; c < site->n_child_types; c++)
        apart += brute_count_log(brute, type, c, each[c]);
    double exactly = brute_had(brute, type, each, -1, &all);
    double alpha = brute->trust < 0 ? 1 - brute->trust * all : brute->trust;
    if (brute->trust > 0) // what is new is as likely as it was
        alpha = MAX(alpha, brute->single[type] * all / (all - brute->single[type] + 1));
    if (brute->without_kinds && all >= BRUTE_FEW) {
        exactly -= brute_had_itself(brute, p, each) * brute->weight;
        all -= 1;
    }
    return log((exactly + alpha * exp(apart)) / (all + alpha));
}

static inline double brute_parent(const Brute *brute, guint32 p, const guint32 *kids, guint32 n)
{
    guint type = brute->site->parents[p].type;
    g_autofree BruteGap *gaps = g_new(BruteGap, n + 1);
    double sum = brute_kinds_log(brute, p, kids, n);
    brute_gaps(brute, p, kids, n, gaps);
    for (guint32 i = 0; i <= n; i++)
        sum += brute_gap_log(brute, &gaps[i], p, i < n ? kids[i] : BB_SITE_NONE);
    for (guint32 i = 0; i < n; i++)
        sum += brute_late_log(brute, p, gaps[i].slot, kids[i]);
    guint16 which[BB_COPULA_MOST];
    float z[BB_COPULA_MOST];
    guint together = brute_together(brute, p, gaps, kids, n, which, z);
    sum += bb_copula_log(brute->copula[type], which, z, together);
    return sum;
}
