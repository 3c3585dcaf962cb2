// SPDX-License-Identifier: Apache-2.0
// Calls that wait for a pool of connections: whether they are known, and whose they are.
#include "nesting/pool.h"
#include "tests/unit/pool_traces.h"

#include <stdio.h>

// ---- which calls waited ------------------------------------------------------------------------

static int by_start(const void *a, const void *b)
{
    const BbSiteChild *x = a, *y = b;
    return (x->s > y->s) - (x->s < y->s);
}

static int by_arrival(const void *a, const void *b)
{
    const BbSiteParent *x = a, *y = b;
    return (x->s > y->s) - (x->s < y->s);
}

// A's calls, and those to it.
static BbSite *site_of(const Trace *trace)
{
    guint n = trace->messages->len / 2;
    BbSite *site = bb_site_new(n, n);
    site->n_parents = site->n_children = 0;
    for (guint i = 0; i < n; i++) {
        const BbMessage *call = &g_array_index(trace->messages, BbMessage, 2 * i);
        gint64 s = call[0].time_ns / 1000, e = call[1].time_ns / 1000;
        if (call->sender == A)
            site->children[site->n_children++] = (BbSiteChild){.s = s, .e = e, .callee = B};
        else
            site->parents[site->n_parents++] = (BbSiteParent){.s = s, .e = e};
    }
    if (site->n_children > 0)
        qsort(site->children, site->n_children, sizeof(BbSiteChild), by_start);
    if (site->n_parents > 0)
        qsort(site->parents, site->n_parents, sizeof(BbSiteParent), by_arrival);
    return site;
}

static void find(BbSite *site, const BbGapScale *scale)
{
    g_auto(BbMoments) moments = bb_moments_of(site);
    bb_pool_find(site, &moments, scale);
}

// The share of the calls that something let begin; 0: there is no pool.
static double share_freed(const Trace *trace)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of(trace);
    find(site, scale);
    const BbSiteFreed *freed = site->freed;
    guint n = 0;
    for (guint32 x = 0; freed && x < site->n_children; x++) {
        if (freed[x].at == G_MININT64)
            continue;
        gint64 lag = site->children[x].s - freed[x].at;
        ck_assert_int_ge(lag, 0);
        ck_assert(isfinite((double)freed[x].log));
        n++;
    }
    return site->n_children > 0 ? share(n, site->n_children) : 0;
}

START_TEST(who_waits_is_known)
{
    for (guint pool = 2; pool <= 6; pool++) {
        g_auto(Trace) trace = trace_new(40 + pool);
        Load load = {600, 2, pool, 13 * MS / pool, 3 * MS, 6 * MS};
        double waited = play(&trace, &load), freed = share_freed(&trace);
        printf("pool of %u: %.2f waited, %.2f were let begin\n", pool, waited, freed);
        ck_assert_double_gt(waited, 0.2);
        ck_assert_double_ge(freed, 0.8 * waited);
        ck_assert_double_le(freed, 1.1 * waited);
    }
}
END_TEST

// Threads that serve one request after the other, and make its calls at once after each other: as
// many calls as threads, but nobody who waits for one.
static void play_threads(Trace *trace, guint threads)
{
    for (guint t = 0; t < threads; t++) {
        double at = (1000 + 20 * bb_random_unit(&trace->random)) * MS;
        for (guint i = 0; i < 100; i++) {
            guint64 id = begin(trace, 0);
            double arrived = at += MS * bb_random_exponential(&trace->random);
            for (guint k = 0; k < 6; k++)
                at = leaf(trace, A, B, id, at + about(trace, 50), 10 * MS);
            both(trace, CLIENT, A, id, arrived, at += about(trace, 50));
        }
    }
}

// There are connections enough, or each caller has one, for all of its calls; or one alone, which
// may be that of a node that does one thing after the other.
START_TEST(nobody_waits)
{
    for (guint round = 0; round < 5; round++) {
        g_auto(Trace) wide = trace_new(50 + round), threads = trace_new(60 + round);
        double waited = play(&wide, &(Load){600, 2, 64, 2 * MS * (1 + round), 3 * MS, 6 * MS});
        ck_assert_double_le(waited, 0);
        ck_assert_double_le(share_freed(&wide), 0);
        play_threads(&threads, 2 + 4 * round);
        ck_assert_double_le(share_freed(&threads), 0);
        g_auto(Trace) one = trace_new(70 + round);
        play(&one, &(Load){600, 2, 1, 13 * MS, 3 * MS, 6 * MS});
        ck_assert_double_le(share_freed(&one), 0);
    }
}
END_TEST

static gint64 add_pool_call(BbSite *site, gint64 s, gint64 e, guint32 callee)
{
    site->children[site->n_children++] = (BbSiteChild){.s = s, .e = e, .callee = callee};
    return e;
}

// Two requests call one node, never more, and go on at once when it returns. Then others come, and
// wait for another node.
START_TEST(another_pool_is_none_of_its_business)
{
    enum { ROUNDS = 100, PARENTS = 5, CALLS = 6 };
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = bb_site_new(ROUNDS * PARENTS, ROUNDS * CALLS);
    site->n_parents = site->n_children = 0;
    for (gint64 at = 1000; site->n_parents < ROUNDS * PARENTS; at += 1000) {
        for (guint p = 0; p < PARENTS; p++)
            site->parents[site->n_parents++] =
                (BbSiteParent){.s = p < 2 ? at : at + 101, .e = at + 500};
        add_pool_call(site, at + 10, at + 100, B);
        add_pool_call(site, at + 10, at + 300, B);
        add_pool_call(site, at + 101, at + 102, C);
        add_pool_call(site, at + 101, at + 400, C);
        add_pool_call(site, at + 103, at + 350, C);
        add_pool_call(site, at + 105, at + 420, B);
    }
    find(site, scale);
    ck_assert_uint_eq(site->n_pools, 1);
    for (guint32 x = 0; x < site->n_children; x++) {
        bool waited = x % CALLS == 4;
        ck_assert((site->freed[x].at != G_MININT64) == waited);
        ck_assert_uint_eq(site->freed[x].pool, site->children[x].callee == C ? 0 : BB_SITE_NONE);
    }
}
END_TEST

START_TEST(nothing_to_know)
{
    g_auto(Trace) trace = trace_new(1);
    ck_assert_double_le(share_freed(&trace), 0);
    for (guint i = 0; i < 100; i++) // they last no time
        both(&trace, A, B, begin(&trace, 0), i, i);
    ck_assert_double_le(share_freed(&trace), 0);
}
END_TEST

START_TEST(waits_are_told)
{
    check_waits(2, 10 * MS);
}
END_TEST

TEST_MAIN("pool", who_waits_is_known, nobody_waits, another_pool_is_none_of_its_business,
          nothing_to_know, waits_are_told)
