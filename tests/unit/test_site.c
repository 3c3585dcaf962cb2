// SPDX-License-Identifier: Apache-2.0
// Assignments under random changes against a plain array, and samples of sites.
#include "nesting/site.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

#include <string.h>

static const SiteScale small = {12, 60, 3, 4, 200, 120, 20, 0};

static void check_like(const BbSite *site, const guint32 *plain)
{
    ck_assert(site_is_whole(site));
    ck_assert_mem_eq(site->parent, plain, site->n_children * sizeof *plain);
}

static void put_random(GRand *rand, BbSite *site, guint32 *plain)
{
    guint32 kids[64], n = 0, p = (guint32)g_rand_int_range(rand, 0, (gint32)site->n_parents);
    for (guint32 x = 0; x < site->n_children; x++) {
        bool wanted = bb_site_may(site, x, p) && g_rand_boolean(rand);
        if (plain[x] != BB_SITE_NONE && (wanted || plain[x] == p))
            bb_site_take(site, x);
        if (plain[x] == p)
            plain[x] = BB_SITE_NONE;
        if (!wanted)
            continue;
        kids[n++] = x;
        plain[x] = p;
    }
    bb_site_put(site, p, kids, n);
}

START_TEST(random_changes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("site"));
    for (guint round = 0; round < 20; round++) {
        g_autoptr(BbSite) site = site_random(rand, &small);
        g_autofree guint32 *plain = g_memdup2(site->parent, site->n_children * sizeof *plain);
        g_autofree guint32 *saved = g_memdup2(plain, site->n_children * sizeof *plain);
        for (guint step = 0; step < 400; step++) {
            guint32 x = (guint32)g_rand_int_range(rand, 0, (gint32)site->n_children);
            guint32 n = site->first[x + 1] - site->first[x];
            gint32 way = g_rand_int_range(rand, 0, 40);
            if (way == 0) {
                put_random(rand, site, plain);
            } else if (way == 1) {
                memcpy(saved, plain, site->n_children * sizeof *plain);
            } else if (way == 2) {
                bb_site_restore(site, saved);
                memcpy(plain, saved, site->n_children * sizeof *plain);
            } else if (plain[x] != BB_SITE_NONE) {
                bb_site_take(site, x);
                plain[x] = BB_SITE_NONE;
            } else if (n > 0) {
                plain[x] = site->list[site->first[x] + step % n];
                bb_site_give(site, x, plain[x]);
            }
            check_like(site, plain);
        }
        bb_site_clear(site);
        memset(plain, 0xff, site->n_children * sizeof *plain);
        check_like(site, plain);
    }
}
END_TEST

START_TEST(candidates)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("site candidates"));
    g_autoptr(BbSite) site = site_random(rand, &small);
    for (guint32 x = 0; x < site->n_children; x++) {
        for (guint32 p = 0; p < site->n_parents; p++) {
            bool around = site->parents[p].s <= site->children[x].s &&
                          site->children[x].e <= site->parents[p].e;
            ck_assert(bb_site_may(site, x, p) == around);
        }
    }
}
END_TEST

// Where each parent of the sample is in the whole; parents of the whole are told by `call`.
static guint32 *find_parents(const BbSite *site, const BbSite *sample)
{
    guint32 *in_whole = g_new(guint32, sample->n_parents + 1);
    for (guint32 i = 0, p = 0; i < sample->n_parents; i++, p++) {
        while (p < site->n_parents && site->parents[p].call != sample->parents[i].call)
            p++;
        ck_assert_uint_lt(p, site->n_parents); // all there, in order
        ck_assert_mem_eq(&site->parents[p], &sample->parents[i], sizeof *site->parents);
        in_whole[i] = p;
    }
    return in_whole;
}

static void check_sample(const BbSite *site, const BbSite *sample)
{
    g_autofree guint32 *in_whole = find_parents(site, sample);
    g_autofree bool *taken = g_new0(bool, site->n_parents);
    for (guint32 i = 0; i < sample->n_parents; i++)
        taken[in_whole[i]] = true;
    guint32 next = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 inside = 0;
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++) {
            if (!taken[site->list[i]])
                continue;
            ck_assert_uint_lt(next, sample->n_children);
            guint32 k = sample->first[next] + inside++;
            ck_assert_uint_lt(k, sample->first[next + 1]);
            ck_assert_uint_eq(in_whole[sample->list[k]], site->list[i]);
        }
        if (inside == 0)
            continue;
        ck_assert_uint_eq(sample->first[next + 1] - sample->first[next], inside);
        ck_assert_mem_eq(&sample->children[next], &site->children[x], sizeof *site->children);
        next++;
    }
    ck_assert_uint_eq(next, sample->n_children);
}

START_TEST(samples)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("site samples"));
    for (guint round = 0; round < 60; round++) {
        SiteScale scale = {(guint32)g_rand_int_range(rand, 1, 200),
                           (guint32)g_rand_int_range(rand, 0, 400),
                           2,
                           3,
                           2000,
                           100,
                           20,
                           0};
        g_autoptr(BbSite) site = site_random(rand, &scale);
        site->number = 77;
        guint32 wanted = (guint32)g_rand_int_range(rand, 1, (gint32)scale.n_parents + 1);
        guint stretches = 1 + round % 5;
        g_autoptr(BbSite) sample = bb_site_sample(site, wanted, stretches);
        ck_assert_uint_le(sample->n_parents, wanted);
        ck_assert_uint_eq(sample->number, 77);
        ck_assert_uint_eq(sample->n_parent_types, 2);
        ck_assert_uint_eq(sample->n_child_types, 3);
        ck_assert_double_eq_tol(sample->span,
                                MAX(1, site->span * sample->n_parents / site->n_parents), 1e-9);
        check_sample(site, sample);
        for (guint32 x = 0; x < sample->n_children; x++)
            ck_assert_uint_eq(sample->parent[x], BB_SITE_NONE);
    }
}
END_TEST

// Stretches lie apart, each whole, all of the size asked for.
START_TEST(stretches)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("site stretches"));
    SiteScale scale = {1000, 10, 1, 1, 100000, 100, 20, 0};
    g_autoptr(BbSite) site = site_random(rand, &scale);
    g_autoptr(BbSite) sample = bb_site_sample(site, 100, 4);
    g_autofree guint32 *in_whole = find_parents(site, sample);
    ck_assert_uint_eq(sample->n_parents, 100);
    guint jumps = 0;
    for (guint32 i = 1; i < 100; i++)
        jumps += in_whole[i] != in_whole[i - 1] + 1;
    ck_assert_uint_eq(jumps, 3);
    ck_assert_uint_eq(in_whole[0], 113);
    ck_assert_uint_eq(in_whole[99], 887);
}
END_TEST

TEST_MAIN("site", random_changes, candidates, samples, stretches)
