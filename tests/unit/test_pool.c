// SPDX-License-Identifier: Apache-2.0
// Calls that wait for a pool of connections: whether they are known, and whose they are.
#include "nesting/pool.h"
#include "tests/unit/planted_traces.h"

#include <stdio.h>

// A node whose requests each make some calls, one after the other, on a pool of connections that
// gives what returns to who waits longest.
typedef struct {
    guint requests, calls;
    guint pool;         // connections
    double between;     // mean time between arrivals, us,
    double think, away; // before each call and the reply; of a call
} Load;

typedef struct {
    guint64 id;
    double wish; // when it wants to make its next call, or to reply
    double arrived;
    guint left; // calls
} Request;

// The one with a call to make that wished so first; NULL: none.
static Request *first_of(Request *requests, guint n)
{
    Request *first = NULL;
    for (guint i = 0; i < n; i++)
        if (requests[i].left > 0 && (!first || requests[i].wish < first->wish))
            first = &requests[i];
    return first;
}

static double think(Trace *trace, const Load *load)
{
    return load->think * (0.5 + bb_random_unit(&trace->random));
}

// Returns the share of the calls that waited; *wait_us: for how long in all.
static double play_waits(Trace *trace, const Load *load, double *wait_us)
{
    g_autofree Request *requests = g_new(Request, load->requests);
    g_autofree double *free_at = g_new0(double, load->pool);
    double at = 1000 * MS;
    guint waited = 0;
    *wait_us = 0;
    for (guint i = 0; i < load->requests; i++) {
        at += load->between * bb_random_exponential(&trace->random);
        requests[i] = (Request){begin(trace, 0), at + think(trace, load), at, load->calls};
    }
    for (Request *next; (next = first_of(requests, load->requests));) {
        guint line = 0;
        for (guint l = 1; l < load->pool; l++)
            line = free_at[l] < free_at[line] ? l : line;
        bool waits = free_at[line] > next->wish;
        double start = waits ? free_at[line] + about(trace, 100) : next->wish;
        *wait_us += start - next->wish;
        free_at[line] = leaf(trace, A, B, next->id, start, load->away);
        next->wish = free_at[line] + think(trace, load);
        next->left--;
        waited += waits;
        if (next->left == 0)
            both(trace, CLIENT, A, next->id, next->arrived, next->wish);
    }
    return share(waited, load->requests * load->calls);
}

static double play(Trace *trace, const Load *load)
{
    double wait_us;
    return play_waits(trace, load, &wait_us);
}

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

// The share of the calls that something let begin; 0: there is no pool.
static double share_freed(const Trace *trace)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of(trace);
    bb_pool_find(site, scale);
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

START_TEST(nothing_to_know)
{
    g_auto(Trace) trace = trace_new(1);
    ck_assert_double_le(share_freed(&trace), 0);
    for (guint i = 0; i < 100; i++) // they last no time
        both(&trace, A, B, begin(&trace, 0), i, i);
    ck_assert_double_le(share_freed(&trace), 0);
}
END_TEST

// ---- whose calls they are ----------------------------------------------------------------------

// At least the share `right` of the links.
static void check_links(guint pool, double between, double right)
{
    g_auto(Trace) trace = trace_new(70 + pool);
    double waited = play(&trace, &(Load){600, 2, pool, between, 3 * MS, 6 * MS});
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    printf("pool of %u, parallelism %.1f, %.2f waited: right %.3f\n", pool, got.parallelism, waited,
           share(got.right, got.links));
    ck_assert_double_ge(share(got.right, got.links), right);
}

// From gaps alone, without a pool: 0.56, 0.43, 0.24, 0.49, 0.31.
START_TEST(whose_they_are)
{
    check_links(2, 10 * MS, 0.87);
    check_links(2, 8 * MS, 0.85);
    check_links(2, 7 * MS, 0.65);
    check_links(4, 4 * MS, 0.7);
    check_links(4, 3.6 * MS, 0.58);
}
END_TEST

// Told is less than there was, as a wait is known by what makes it end: between half of it and all.
static void check_waits(guint pool, double between)
{
    g_auto(Trace) trace = trace_new(90 + pool);
    double wait_us, told_us = 0, waited = 0;
    Load load = {600, 2, pool, between, 3 * MS, 6 * MS};
    guint limited = 0, calls = load.requests * load.calls;
    double truth = play_waits(&trace, &load, &wait_us);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    ck_assert_ptr_nonnull(paths->pool_wait);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbPoolWait *wait = &paths->pool_wait[i];
        ck_assert(wait->limit == (paths->calls[i].caller == A ? pool : 0));
        ck_assert_int_ge(wait->ns, 0);
        limited += wait->limit > 0;
        waited += (double)wait->share;
        told_us += (double)wait->ns / 1000;
    }
    printf("pool of %u: waited %.2f for %.1f s, told %.2f for %.1f s\n", pool, truth, wait_us / 1e6,
           waited / calls, told_us / 1e6);
    ck_assert_uint_eq(limited, calls);
    ck_assert_double_ge(waited / calls, 0.6 * truth);
    ck_assert_double_le(waited / calls, 1.1 * truth);
    ck_assert_double_ge(told_us, 0.5 * wait_us);
    ck_assert_double_le(told_us, 1.1 * wait_us);
}

START_TEST(waits_are_told)
{
    check_waits(2, 10 * MS);
    check_waits(2, 8 * MS);
    check_waits(4, 4 * MS);
}
END_TEST

TEST_MAIN("pool", who_waits_is_known, nobody_waits, nothing_to_know, whose_they_are, waits_are_told)
