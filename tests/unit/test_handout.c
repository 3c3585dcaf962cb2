// SPDX-License-Identifier: Apache-2.0
// What a pool that all requests share hands out is known from times and connections alone, and is
// little of what workers have or requests hold. A slow twin finds the same.
#include "nesting/handout.h"
#include "tests/unit/test.h"
#include "tests/unit/worker_sites.h"

enum { POOL = 8 }; // connections

static void find(BbSite *site)
{
    g_auto(BbMoments) moments = bb_moments_of(site);
    bb_handout_find(site, &moments);
}

static double share_handed(const BbSite *site)
{
    guint n = 0;
    for (guint32 x = 0; x < site->n_children; x++)
        n += site->children[x].handed;
    return (double)n / site->n_children;
}

// Calls that overlap, on the free connection that was returned last, or first; a connection more
// where none is.
static BbSite *site_of_pool(GRand *rand, guint n, bool last)
{
    BbSite *site = bb_site_new(0, n);
    gint64 at = 0, back[POOL] = {0}; // of connections: when they were returned, or will be
    for (guint32 x = 0; x < n; x++) {
        guint taken = POOL;
        at += g_rand_int_range(rand, 1, 300);
        for (guint c = 0; c < POOL; c++) {
            bool is_free = back[c] > 0 && back[c] <= at;
            if (is_free && (taken == POOL || (back[c] > back[taken]) == last))
                taken = c;
        }
        for (guint c = 0; c < POOL && taken == POOL; c++)
            if (back[c] == 0)
                taken = c;
        if (taken == POOL) { // all are used: this one waits
            taken = 0;
            for (guint c = 1; c < POOL; c++)
                taken = back[c] < back[taken] ? c : taken;
            at = back[taken];
        }
        back[taken] = at + g_rand_int_range(rand, 200, 1000);
        site->children[x] =
            (BbSiteChild){.s = at, .e = back[taken], .callee = 1, .conn = 1 + taken};
    }
    return site;
}

START_TEST(a_pool_hands_them_out)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("handout pool"));
    for (guint last = 0; last < 2; last++) {
        g_autoptr(BbSite) site = site_of_pool(rand, 2000, last == 1);
        find(site);
        ck_assert_double_ge(share_handed(site), 0.99); // all but those that open one
    }
}
END_TEST

START_TEST(workers_have_their_own)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("handout workers"));
    for (guint held = 0; held < 2; held++) {
        g_autoptr(BbSite) site =
            site_of_workers(rand, held == 1 ? WORKER_HELD : WORKER_THREADS, 16, 100, 0.6);
        find(site);
        ck_assert_double_le(share_handed(site), 0);
    }
}
END_TEST

START_TEST(nothing_is_known)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("handout nothing"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_FRESH, 4, 20, 0.6);
    find(site);
    ck_assert_double_eq(share_handed(site), 0);
    for (guint32 x = 0; x < site->n_children; x++)
        site->children[x].conn = 0;
    find(site);
    ck_assert_double_eq(share_handed(site), 0);
}
END_TEST

// ---- the slow twin -----------------------------------------------------------------------------

static bool twin_counts(const BbSiteChild *child)
{
    return child->conn != 0 && !child->unanswered && child->e > child->s;
}

// The return that made a connection free for x; BB_SITE_NONE: it was not.
static guint32 twin_free(const BbSite *site, guint32 x, guint32 conn)
{
    const BbSiteChild *child = &site->children[x];
    gint64 period = MAX(site->period, 1);
    guint32 last = BB_SITE_NONE;
    for (guint32 y = 0; y < site->n_children; y++) {
        const BbSiteChild *other = &site->children[y];
        if (!twin_counts(other) || other->conn != conn || y >= x)
            continue;
        if (other->e > child->s)
            return BB_SITE_NONE;
        bool here = site->period == 0 || other->s / period == child->s / period;
        if (here && (last == BB_SITE_NONE || other->e >= site->children[last].e))
            last = y;
    }
    for (guint32 y = x; y < site->n_children; y++)
        if (twin_counts(&site->children[y]) && site->children[y].conn == conn)
            return last;
    return BB_SITE_NONE;
}

static bool twin_later(const BbSite *site, guint32 a, guint32 b)
{
    gint64 x = site->children[a].e, y = site->children[b].e;
    return x != y ? x > y : a > b;
}

typedef struct {
    bool newest, oldest;
    guint free;
} TwinPlace;

static TwinPlace twin_place(const BbSite *site, guint32 x, guint n_conns)
{
    const BbSiteChild *child = &site->children[x];
    guint32 own = twin_counts(child) ? twin_free(site, x, child->conn) : BB_SITE_NONE;
    if (own == BB_SITE_NONE)
        return (TwinPlace){false, false, 0};
    TwinPlace place = {true, true, 1};
    for (guint32 conn = 1; conn <= n_conns; conn++) {
        guint32 other = twin_free(site, x, conn);
        if (other == BB_SITE_NONE || other == own || site->children[other].callee != child->callee)
            continue;
        place.free++;
        *(twin_later(site, other, own) ? &place.newest : &place.oldest) = false;
    }
    return place;
}

static void compare_with_twin(BbSite *site, guint n_conns, guint n_callees)
{
    for (guint32 callee = 1; callee <= n_callees; callee++) {
        double newest = 0, oldest = 0, all = 0, chance = 0;
        for (guint32 x = 0; x < site->n_children; x++) {
            TwinPlace place = twin_place(site, x, n_conns);
            if (place.free < 2 || site->children[x].callee != callee)
                continue;
            newest += place.newest;
            oldest += place.oldest;
            chance += 1.0 / place.free;
            all++;
        }
        bool ordered = all >= 30 && MAX(newest, oldest) - chance >= 0.5 * (all - chance);
        for (guint32 x = 0; x < site->n_children; x++) {
            TwinPlace place = twin_place(site, x, n_conns);
            bool next = newest >= oldest ? place.newest : place.oldest;
            if (site->children[x].callee == callee)
                ck_assert(site->children[x].handed == (ordered && next));
        }
    }
}

START_TEST(twin)
{
    enum { CALLS = 150, CONNS = 9, CALLEES = 2, PERIOD = 100000 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("handout twin"));
    for (guint round = 0; round < 40; round++) {
        g_autoptr(BbSite) site = bb_site_new(0, CALLS);
        guint replicas = 1 + round % 3;
        site->period = replicas > 1 ? PERIOD : 0;
        for (guint32 x = 0; x < CALLS; x++) {
            gint64 s = (gint64)(x % replicas) * PERIOD + g_rand_int_range(rand, 0, 1500);
            guint32 conn = (guint32)g_rand_int_range(rand, 0, CONNS + 1);
            site->children[x] = (BbSiteChild){.s = s,
                                              .e = s + g_rand_int_range(rand, 0, 100),
                                              .callee = 1 + conn % CALLEES,
                                              .conn = conn,
                                              .unanswered = g_rand_int_range(rand, 0, 20) == 0};
        }
        qsort(site->children, CALLS, sizeof *site->children, site_child_order);
        find(site);
        compare_with_twin(site, CONNS, CALLEES);
        g_autoptr(BbSite) pool = site_of_pool(rand, CALLS, round % 2 == 0);
        for (guint i = 0; i < 5 * (round % 8); i++) // some that were never handed out so
            pool->children[g_rand_int_range(rand, 0, CALLS)].conn =
                1 + (guint32)g_rand_int_range(rand, 0, POOL);
        find(pool);
        compare_with_twin(pool, POOL, 1);
    }
}
END_TEST

TEST_MAIN("handout", a_pool_hands_them_out, workers_have_their_own, nothing_is_known, twin)
