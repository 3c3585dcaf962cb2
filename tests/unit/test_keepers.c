// SPDX-License-Identifier: Apache-2.0
// Planted processes that each keep a connection to a database: when each request began, told by
// these connections.
#include "nesting/keepers.h"

#include <math.h>
#include <string.h>

#include "data/random.h"
#include "nesting/workers.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)
#define NODE 1
#define DB 2

typedef struct {
    guint workers;    // each has a line, which requests get into by chance
    guint n;          // requests
    guint calls;      // of a request; 0: one to three
    double gap_ms;    // mean time between arrivals
    double none;      // share of the requests that make no call
    bool shared;      // the connections are: each call takes any one that is free
    bool lost;        // every fiftieth request was not seen, but what it calls
    guint unreturned; // of so many calls one has no return that was seen; 0: none
} System;

typedef struct {
    BbServed *served;
    gint64 *begun; // the truth
    BbCall *calls; // that the node makes, in order of call_ns
    guint32 *made;
    guint32 n, n_made;
} Planted;

static void planted_clear(Planted *planted)
{
    g_free(planted->served);
    g_free(planted->begun);
    g_free(planted->calls);
    g_free(planted->made);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Planted, planted_clear)

static gint64 about(BbRandom *random, double ms)
{
    return (gint64)(ms * exp(0.3 * bb_random_normal(random)) * MS);
}

static int by_call(const void *a, const void *b)
{
    const BbCall *x = a, *y = b;
    return (x->call_ns > y->call_ns) - (x->call_ns < y->call_ns);
}

// The connection that rests at a time and is next by number; the one that rests first else.
static guint32 any_free(gint64 *free_ns, guint n, gint64 now_ns, guint32 *turn)
{
    guint32 first = 0;
    for (guint k = 0; k < n; k++) {
        guint32 conn = (*turn + k) % n;
        if (free_ns[conn] <= now_ns) {
            *turn = conn + 1;
            return conn;
        }
        first = free_ns[conn] < free_ns[first] ? conn : first;
    }
    return first;
}

// A request takes 1 ms, then each call some 4 ms and what follows 3 ms, but for 0.3 ms after the
// last one.
static Planted plant(const System *system, guint64 seed)
{
    BbRandom random = bb_random_start(seed);
    guint n = system->n;
    Planted planted = {g_new0(BbServed, n),
                       g_new0(gint64, n),
                       g_new0(BbCall, 24 * n),
                       g_new0(guint32, 24 * n),
                       0,
                       0};
    g_autofree gint64 *idle_ns = g_new0(gint64, system->workers);
    g_autofree gint64 *free_ns = g_new0(gint64, system->workers);
    gint64 now_ns = 0;
    guint32 turn = 0;
    for (guint32 i = 0; i < n; i++) {
        now_ns += (gint64)(bb_random_exponential(&random) * system->gap_ms * MS);
        guint32 worker = (guint32)bb_random_below(&random, system->workers);
        gint64 begun_ns = MAX(now_ns, idle_ns[worker]), at_ns = begun_ns + about(&random, 1);
        guint calls = system->calls ? system->calls : 1 + (guint)bb_random_below(&random, 3);
        calls = bb_random_chance(&random, system->none) ? 0 : calls;
        for (guint k = 0; k < calls; k++) {
            guint32 conn = worker;
            if (system->shared)
                conn = any_free(free_ns, system->workers, at_ns, &turn);
            at_ns += k > 0 ? about(&random, 3) : 0;
            BbCall *call = &planted.calls[planted.n_made++];
            *call = (BbCall){.caller = NODE, .callee = DB, .conn = 1 + conn, .call_ns = at_ns};
            at_ns = call->return_ns = at_ns + about(&random, 4);
            free_ns[conn] = MAX(free_ns[conn], at_ns);
            if (system->unreturned && planted.n_made % system->unreturned == 0)
                call->return_ns = BB_TIME_NONE;
        }
        idle_ns[worker] = at_ns + about(&random, calls > 0 ? 0.3 : 2);
        if (system->lost && i % 50 == 0)
            continue;
        planted.begun[planted.n] = begun_ns;
        planted.served[planted.n++] = (BbServed){.s = now_ns, .e = idle_ns[worker], .call = i};
    }
    qsort(planted.calls, planted.n_made, sizeof *planted.calls, by_call);
    for (guint32 i = 0; i < planted.n_made; i++)
        planted.made[i] = i;
    return planted;
}

// Share of the requests whose beginning is known; -1: nothing was learned.
static double right_of(const System *system, guint64 seed)
{
    g_auto(Planted) planted = plant(system, seed);
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbKeepers) keepers = bb_keepers_learn(planted.served, planted.n, planted.calls,
                                                    planted.made, planted.n_made, scale);
    if (!keepers)
        return -1;
    g_autofree gint64 *begun = g_new(gint64, planted.n);
    guint32 right = 0;
    bb_keepers_begin(keepers, planted.served, planted.n, planted.calls, planted.made,
                     planted.n_made, begun);
    for (guint32 i = 0; i < planted.n; i++)
        right += (begun[i] == G_MININT64 ? planted.served[i].s : begun[i]) == planted.begun[i];
    return (double)right / planted.n;
}

// Of three seeds, the least.
static double least_right(const System *system)
{
    double least = 1;
    guint32 seed = test_seed("keepers");
    for (guint i = 0; i < 3; i++)
        least = MIN(least, right_of(system, seed + i));
    return least;
}

START_TEST(requests_begin_when_their_worker_has_replied)
{
    const System few = {.workers = 2, .n = 2000, .calls = 2, .gap_ms = 9};
    const System some = {.workers = 4, .n = 2000, .calls = 2, .gap_ms = 5};
    const System many = {.workers = 16, .n = 4000, .calls = 2, .gap_ms = 1.3};
    ck_assert_double_gt(least_right(&few), 0.95);
    ck_assert_double_gt(least_right(&some), 0.94);
    ck_assert_double_gt(least_right(&many), 0.84);
}
END_TEST

START_TEST(requests_may_make_any_number_of_calls)
{
    const System any = {.workers = 4, .n = 2000, .gap_ms = 5};
    const System twenty = {.workers = 4, .n = 2000, .calls = 20, .gap_ms = 50};
    ck_assert_double_gt(least_right(&any), 0.88);
    ck_assert_double_gt(least_right(&twenty), 0.92);
}
END_TEST

// A request after one without calls begins unseen: so does a fifth of those that wait.
START_TEST(requests_may_make_none)
{
    const System none = {.workers = 4, .n = 2000, .calls = 2, .none = 0.2, .gap_ms = 5};
    ck_assert_double_gt(least_right(&none), 0.74);
}
END_TEST

START_TEST(requests_may_be_lost)
{
    const System lost = {.workers = 4, .n = 2000, .calls = 2, .lost = true, .gap_ms = 5};
    ck_assert_double_gt(least_right(&lost), 0.9);
}
END_TEST

// Nor does a connection wait for them for ever.
START_TEST(returns_may_be_lost)
{
    const System lost = {.workers = 4, .n = 2000, .calls = 2, .unreturned = 33, .gap_ms = 5};
    ck_assert_double_gt(least_right(&lost), 0.9);
}
END_TEST

START_TEST(one_connection_or_too_many_are_not_kept)
{
    const System one = {.workers = 1, .n = 500, .calls = 2, .gap_ms = 20};
    const System hosts = {.workers = 65, .n = 3000, .calls = 2, .gap_ms = 0.4};
    ck_assert_double_eq(right_of(&one, 1), -1);
    ck_assert_double_eq(right_of(&hosts, 1), -1);
}
END_TEST

// All calls of a system: requests, and what is made for them.
static BbWorkers *workers_of(const System *system, guint64 seed, Planted *planted)
{
    *planted = plant(system, seed);
    guint n = planted->n + planted->n_made;
    g_autofree BbCall *calls = g_new0(BbCall, n);
    for (guint32 i = 0; i < planted->n; i++)
        calls[i] = (BbCall){.callee = NODE,
                            .call_ns = planted->served[i].s,
                            .arrived_ns = planted->served[i].s,
                            .replied_ns = planted->served[i].e,
                            .return_ns = planted->served[i].e};
    memcpy(calls + planted->n, planted->calls, planted->n_made * sizeof *calls);
    for (guint32 i = planted->n; i < n; i++) {
        calls[i].arrived_ns = calls[i].call_ns;
        calls[i].replied_ns = calls[i].return_ns;
    }
    qsort(calls, n, sizeof *calls, by_call);
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    return bb_workers_find(calls, n, DB + 1, false, true, scale);
}

START_TEST(kept_connections_are_found)
{
    const System system = {.workers = 4, .n = 2000, .calls = 2, .gap_ms = 5};
    g_auto(Planted) planted = {0};
    g_autoptr(BbWorkers) workers = workers_of(&system, test_seed("keepers"), &planted);
    ck_assert_ptr_nonnull(workers);
    ck_assert(workers->keep[NODE]);
    ck_assert_uint_eq(workers->limit[NODE], 4);
    ck_assert_uint_eq(workers->lines[NODE], 0);
    ck_assert_uint_eq(workers->limit[DB], 0);
}
END_TEST

// Who makes no call waits, too, and does not seem to be at work meanwhile.
START_TEST(so_many_are_at_work)
{
    const System none = {.workers = 4, .n = 2000, .calls = 2, .none = 0.2, .gap_ms = 4.5};
    g_auto(Planted) planted = {0};
    g_autoptr(BbWorkers) workers = workers_of(&none, test_seed("keepers"), &planted);
    ck_assert_ptr_nonnull(workers);
    ck_assert(workers->keep[NODE]);
    ck_assert_uint_eq(workers->limit[NODE], 4);
}
END_TEST

// Of connections that all share, who had one before tells nothing; nor where nobody waits.
START_TEST(shared_connections_are_not)
{
    const System systems[] = {
        {.workers = 4, .n = 2000, .calls = 2, .shared = true, .gap_ms = 5},
        {.workers = 16, .n = 4000, .calls = 2, .shared = true, .gap_ms = 1.3},
        {.workers = 4, .n = 2000, .shared = true, .gap_ms = 4.5},
        {.workers = 60, .n = 2000, .calls = 2, .gap_ms = 20},
    };
    for (guint i = 0; i < G_N_ELEMENTS(systems); i++) {
        g_auto(Planted) planted = {0};
        g_autoptr(BbWorkers) workers = workers_of(&systems[i], test_seed("keepers"), &planted);
        ck_assert_msg(!workers || !workers->keep[NODE], "system %u", i);
    }
}
END_TEST

TEST_MAIN("keepers", requests_begin_when_their_worker_has_replied,
          requests_may_make_any_number_of_calls, requests_may_make_none, requests_may_be_lost,
          returns_may_be_lost, one_connection_or_too_many_are_not_kept, kept_connections_are_found,
          so_many_are_at_work, shared_connections_are_not)
