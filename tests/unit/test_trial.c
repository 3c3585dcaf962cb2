// SPDX-License-Identifier: Apache-2.0
// Lists of children that two parents would have: nothing is lost, and the right ones go.
#include "nesting/trial.h"
#include "tests/unit/test.h"
#include "tests/unit/worker_sites.h"

static bool has(const BbTrial *trial, guint32 x)
{
    for (guint32 k = 0; k < trial->n; k++)
        if (trial->at[k] == x)
            return true;
    return false;
}

static void check_order(const BbTrial *trial)
{
    for (guint32 k = 1; k < trial->n; k++)
        ck_assert_uint_lt(trial->at[k - 1], trial->at[k]);
}

// Of two parents' children, those that change are what `goes` says, and may.
static void check(const BbSite *site, const BbTrial *a, const BbTrial *b, guint32 from, guint32 to,
                  const bool *goes)
{
    const BbKids *of = &site->kids[from], *others = &site->kids[to];
    ck_assert_uint_eq(a->n + b->n, of->n + others->n);
    check_order(a);
    check_order(b);
    for (guint32 k = 0; k < of->n; k++) {
        ck_assert(has(goes[of->at[k]] ? b : a, of->at[k]));
        ck_assert(!goes[of->at[k]] || bb_site_may(site, of->at[k], to));
    }
    for (guint32 k = 0; k < others->n; k++) {
        ck_assert(has(goes[others->at[k]] ? a : b, others->at[k]));
        ck_assert(!goes[others->at[k]] || bb_site_may(site, others->at[k], from));
    }
}

static BbSite *assigned_site(GRand *rand)
{
    BbSite *site = site_of_workers(rand, WORKER_HELD, 6, 100, 0.8);
    worker_assign(rand, site, 0.3);
    return site;
}

// A child, its parent and another candidate of it; false: there is none.
static bool pick(GRand *rand, const BbSite *site, guint32 *x, guint32 *from, guint32 *to)
{
    *x = (guint32)g_rand_int_range(rand, 0, (gint32)site->n_children);
    *from = site->parent[*x];
    if (*from == BB_SITE_NONE)
        return false;
    *to = site->list[g_rand_int_range(rand, (gint32)site->first[*x], (gint32)site->first[*x + 1])];
    return *to != *from;
}

typedef bool (*Exchange)(BbTrial *a, BbTrial *b, const BbSite *site, guint32 x, guint32 to,
                         guint32 y);
typedef bool (*Goes)(const BbSite *site, guint32 z, guint32 x, guint32 to, guint32 y);

static bool goes_with_run(const BbSite *site, guint32 z, guint32 x, guint32 to, guint32 y)
{
    if (site->parent[z] == site->parent[x])
        return site->children[z].conn == site->children[x].conn;
    return y != BB_SITE_NONE && site->parent[z] == to &&
           site->children[z].conn == site->children[y].conn;
}

static bool goes_with_tail(const BbSite *site, guint32 z, guint32 x, guint32 to, guint32 y)
{
    const BbKids *others = &site->kids[to];
    if (site->parent[z] == site->parent[x])
        return z >= x;
    return site->parent[z] == to && y < others->n && z >= others->at[y];
}

// What is exchanged against `to` at place y of its children; for runs: against that of this child.
static guint32 pick_other(GRand *rand, const BbKids *others, bool child)
{
    guint32 y = (guint32)g_rand_int_range(rand, 0, (gint32)others->n + 1);
    return !child ? y : y < others->n ? others->at[y] : BB_SITE_NONE;
}

static void check_exchange(const char *name, Exchange exchange, Goes goes_with, bool child)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed(name));
    g_autoptr(BbSite) site = assigned_site(rand);
    g_autofree bool *goes = g_new(bool, site->n_children);
    guint done = 0, refused = 0;
    for (guint i = 0; i < 5000; i++) {
        guint32 x, from, to;
        BbTrial a, b;
        if (!pick(rand, site, &x, &from, &to))
            continue;
        guint32 y = pick_other(rand, &site->kids[to], child);
        if (!exchange(&a, &b, site, x, to, y)) {
            refused++;
            continue;
        }
        for (guint32 z = 0; z < site->n_children; z++)
            goes[z] = goes_with(site, z, x, to, y);
        check(site, &a, &b, from, to, goes);
        done++;
    }
    ck_assert_uint_gt(done, 500);
    ck_assert_uint_gt(refused, 100);
}

START_TEST(runs)
{
    check_exchange("trial runs", bb_trial_runs, goes_with_run, true);
}
END_TEST

START_TEST(tails)
{
    check_exchange("trial tails", bb_trial_tails, goes_with_tail, false);
}
END_TEST

// Together they would have more than is looked at.
START_TEST(too_many)
{
    enum { KIDS = BB_MODEL_NEAR + 1 };
    g_autoptr(BbSite) site = bb_site_new(2, KIDS);
    site->parents[0] = site->parents[1] = (BbSiteParent){.s = 0, .e = 10 * KIDS};
    for (guint32 x = 0; x < KIDS; x++)
        site->children[x] = (BbSiteChild){.s = 10 * x, .e = 10 * x + 5, .conn = 1 + x % 2};
    site_find_candidates(site, 0);
    for (guint32 x = 0; x < KIDS; x++)
        bb_site_give(site, x, x % 2);
    BbTrial a, b;
    ck_assert(!bb_trial_runs(&a, &b, site, 0, 1, 1));
    bb_site_take(site, KIDS - 1);
    ck_assert(bb_trial_runs(&a, &b, site, 0, 1, 1));
    ck_assert_uint_eq(a.n, BB_MODEL_NEAR / 2);
    ck_assert_uint_eq(b.at[0], 0);
}
END_TEST

START_TEST(one_more_or_less)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("trial one"));
    g_autoptr(BbSite) site = assigned_site(rand);
    for (guint i = 0; i < 2000; i++) {
        guint32 x, from, to;
        BbTrial less, more;
        if (!pick(rand, site, &x, &from, &to))
            continue;
        bb_trial_without(&less, &site->kids[from], x);
        bb_trial_with(&more, &site->kids[to], x);
        check_order(&less);
        check_order(&more);
        ck_assert_uint_eq(less.n + 1, site->kids[from].n);
        ck_assert_uint_eq(more.n, site->kids[to].n + 1);
        ck_assert(!has(&less, x) && has(&more, x));
        bb_trial_insert(&less, x);
        ck_assert_mem_eq(less.at, site->kids[from].at, less.n * sizeof *less.at);
    }
}
END_TEST

TEST_MAIN("trial", runs, tails, too_many, one_more_or_less)
