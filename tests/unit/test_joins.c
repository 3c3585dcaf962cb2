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

static guint8 plain_place(const BbPaths *paths, guint32 call, gint64 *ready_ns)
{
    guint32 later;
    *ready_ns = G_MININT64;
    if (!bb_call_is_returned(&paths->calls[call]) || !is_join(paths, paths->calls[call].callee))
        return 0;
    return company(paths, call, &later, ready_ns) == 1 ? 4 : (guint8)MIN(1 + later, 3);
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

TEST_MAIN("joins", like_asking_all, deep_chain)
