// SPDX-License-Identifier: Apache-2.0
// Joins against asking every call for all others.
#include "nesting/joins.h"
#include "tests/unit/test.h"

#define NODES 6u

// Calls with random nodes and parents among those before or after them; some without return.
static BbPaths *random_forest(GRand *rand, guint32 n)
{
    BbPaths *paths = bb_paths_new();
    paths->n_calls = n;
    paths->calls = g_new0(BbCall, n);
    paths->parent = g_new(guint32, n);
    gint32 roots = g_rand_int_range(rand, 2, 6);
    bool backwards = g_rand_boolean(rand);
    for (guint32 i = 0; i < n; i++) {
        guint32 back = i > 0 ? (guint32)g_rand_int_range(rand, 0, (gint32)i) : 0;
        bool is_root = i == 0 || g_rand_int_range(rand, 0, roots) == 0;
        guint32 at = backwards ? n - 1 - i : i;
        paths->parent[at] = is_root ? BB_CALL_NO_PARENT : backwards ? n - 1 - back : back;
        paths->calls[at].callee = 1 + (guint32)g_rand_int_range(rand, 0, NODES);
        paths->calls[at].replied_ns = g_rand_int_range(rand, 0, (gint32)n);
        paths->calls[at].return_ns =
            g_rand_int_range(rand, 0, 10) == 0 ? BB_TIME_NONE : paths->calls[at].replied_ns;
    }
    return paths;
}

static guint32 root_of(const BbPaths *paths, guint32 call)
{
    while (paths->parent[call] != BB_CALL_NO_PARENT)
        call = paths->parent[call];
    return call;
}

static bool same_visit(const BbPaths *paths, guint32 a, guint32 b)
{
    return bb_call_is_returned(&paths->calls[b]) &&
           paths->calls[a].callee == paths->calls[b].callee &&
           root_of(paths, a) == root_of(paths, b);
}

// How many of its tree's calls to the same node there are, how many of them return later, and when
// the latest of the others does.
static guint32 company(const BbPaths *paths, guint32 call, guint32 *later, gint64 *ready_ns)
{
    guint32 n = 0;
    *later = 0;
    *ready_ns = G_MININT64;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (!same_visit(paths, call, i))
            continue;
        gint64 mine = paths->calls[call].replied_ns, other = paths->calls[i].replied_ns;
        n++;
        bool is_later = other > mine || (other == mine && i > call);
        *later += is_later;
        if (!is_later && i != call)
            *ready_ns = MAX(*ready_ns, other);
    }
    return n;
}

static bool is_join(const BbPaths *paths, guint32 node)
{
    guint32 n = 0, shared = 0, later;
    gint64 ready_ns;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (!bb_call_is_returned(&paths->calls[i]) || paths->calls[i].callee != node)
            continue;
        n++;
        shared += company(paths, i, &later, &ready_ns) > 1;
    }
    return n > 0 && shared >= 0.2 * n;
}

// Whether nearly all that is made at a node, in trees with several calls to it, is made by the last
// of these to return, and when the others were answered.
static bool waits(const BbPaths *paths, guint32 node)
{
    guint32 made = 0, by_last = 0, later;
    gint64 ready_ns;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 parent = paths->parent[i];
        if (parent == BB_CALL_NO_PARENT || paths->calls[parent].callee != node ||
            !bb_call_is_returned(&paths->calls[parent]) ||
            company(paths, parent, &later, &ready_ns) == 1)
            continue;
        made++;
        by_last += later == 0 && paths->calls[i].call_ns >= ready_ns;
    }
    return by_last >= 0.9 * (made + 2);
}

static guint8 plain_place(const BbPaths *paths, guint32 call, gint64 *ready_ns)
{
    guint32 later;
    *ready_ns = G_MININT64;
    if (!bb_call_is_returned(&paths->calls[call]) || !is_join(paths, paths->calls[call].callee))
        return 0;
    guint32 n = company(paths, call, &later, ready_ns);
    if (!waits(paths, paths->calls[call].callee))
        *ready_ns = G_MININT64;
    return n == 1 ? 4 : (guint8)MIN(1 + later, 3);
}

START_TEST(like_asking_all)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("joins"));
    guint with = 0, without = 0;
    for (guint round = 0; round < 120; round++) {
        guint32 n = (guint32)g_rand_int_range(rand, 0, 40);
        g_autoptr(BbPaths) paths = random_forest(rand, n);
        g_autofree gint64 *ready_ns = NULL;
        g_autofree guint8 *place = bb_joins_find(paths, &ready_ns);
        bool any = false;
        for (guint32 i = 0; i < n; i++) {
            gint64 ready;
            guint8 want = plain_place(paths, i, &ready);
            any |= want != 0;
            ck_assert_uint_eq(place ? place[i] : 0, want);
            ck_assert_int_eq(ready_ns ? ready_ns[i] : G_MININT64, ready);
        }
        ck_assert((place != NULL) == any);
        ck_assert((ready_ns != NULL) == any);
        with += any;
        without += !any;
    }
    ck_assert_uint_gt(with, 10);
    ck_assert_uint_gt(without, 3);
}
END_TEST

// A chain as deep as a trace is long is walked once.
START_TEST(deep_chain)
{
    enum { N = 300000 };
    g_autoptr(BbPaths) paths = bb_paths_new();
    paths->n_calls = N;
    paths->calls = g_new0(BbCall, N);
    paths->parent = g_new(guint32, N);
    for (guint32 i = 0; i < N; i++) {
        paths->parent[i] = i + 1 < N ? i + 1 : BB_CALL_NO_PARENT;
        paths->calls[i].callee = 1 + i % 2;
        paths->calls[i].return_ns = paths->calls[i].replied_ns = i;
    }
    g_autofree gint64 *ready_ns = NULL;
    g_autofree guint8 *place = bb_joins_find(paths, &ready_ns);
    ck_assert_ptr_nonnull(place);
    ck_assert_uint_eq(place[N - 1], 1);
    ck_assert_uint_eq(place[N - 2], 1);
    ck_assert_uint_eq(place[N - 3], 2);
    ck_assert_uint_eq(place[0], 3);
}
END_TEST

// Requests to node 1 that calls node 2 three times; then node 2 calls node 3, for each of them or
// for the last only. Of call c of request r: answered at 100 r + 10 c, what it makes is sent at
// `after_ns` from when the one before it was answered.
static BbPaths *requests_of(guint32 n, bool is_join, gint64 after_ns)
{
    enum { CALLS = 3 };
    BbPaths *paths = bb_paths_new();
    paths->calls = g_new0(BbCall, n * (1 + 2 * CALLS));
    paths->parent = g_new(guint32, n * (1 + 2 * CALLS));
    for (guint32 r = 0; r < n; r++) {
        guint32 root = paths->n_calls++;
        paths->calls[root] = (BbCall){.callee = 1, .return_ns = 100 * r, .replied_ns = 100 * r};
        paths->parent[root] = BB_CALL_NO_PARENT;
        for (guint32 c = 0; c < CALLS; c++) {
            gint64 end = 100 * (gint64)r + 10 * c;
            guint32 at = paths->n_calls++;
            paths->calls[at] = (BbCall){.callee = 2, .return_ns = end, .replied_ns = end};
            paths->parent[at] = root;
            if (is_join && c + 1 < CALLS)
                continue;
            end += after_ns - 10;
            paths->parent[paths->n_calls] = at;
            paths->calls[paths->n_calls++] =
                (BbCall){.callee = 3, .call_ns = end, .return_ns = end + 1, .replied_ns = end + 1};
        }
    }
    return paths;
}

static void check_waiting(guint32 n, bool is_join, gint64 after_ns, bool expected)
{
    g_autoptr(BbPaths) paths = requests_of(n, is_join, after_ns);
    g_autofree gint64 *ready_ns = NULL;
    g_autofree guint8 *place = bb_joins_find(paths, &ready_ns);
    ck_assert_ptr_nonnull(place);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        bool waits = expected && call->callee == 2 && call->replied_ns % 100 > 0;
        ck_assert_int_eq(ready_ns[i], waits ? call->replied_ns - 10 : G_MININT64);
        ck_assert(call->callee != 2 || (place[i] >= 1 && place[i] <= 3));
    }
}

// What is called several times for a request waits only if the last of the calls acts for all, and
// not before the others are answered; and a few requests do not show it.
START_TEST(fan_out_is_no_join)
{
    check_waiting(40, true, 2, true);
    check_waiting(40, true, 0, true);
    check_waiting(40, true, -1, false);
    check_waiting(40, false, 2, false);
    check_waiting(20, true, 2, true);
    check_waiting(15, true, 2, false);
}
END_TEST

TEST_MAIN("joins", like_asking_all, deep_chain, fan_out_is_no_join)
