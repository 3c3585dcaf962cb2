// SPDX-License-Identifier: Apache-2.0
// Patterns and paths as values: sizes, totals, emptiness.
#include "data/census.h"

#include "tests/unit/test.h"

START_TEST(size_and_latency)
{
    BbPatternNode *root = bb_pattern_node_new(1, 7);
    BbPatternNode *child = bb_pattern_node_new(2, BB_NAME_NONE);
    g_ptr_array_add(root->calls, child);
    g_ptr_array_add(root->calls, bb_pattern_node_new(2, BB_NAME_NONE));
    g_ptr_array_add(child->calls, bb_pattern_node_new(3, BB_NAME_NONE));
    g_autoptr(BbPattern) pattern = bb_pattern_new(9, root);
    ck_assert_uint_eq(pattern->client, 9);
    ck_assert_uint_eq(pattern->root->op, 7);
    ck_assert_uint_eq(bb_pattern_size(pattern), 4);
    ck_assert_int_eq(bb_pattern_total_latency(pattern), 0);
    bb_stats_push(root->latency, 10);
    bb_stats_push(root->latency, 25);
    ck_assert_int_eq(bb_pattern_total_latency(pattern), 35);
    ck_assert_int_eq(bb_pattern_mean_latency(pattern), 18);
}
END_TEST

START_TEST(empty_paths)
{
    g_autoptr(BbPaths) paths = bb_paths_new();
    ck_assert_uint_eq(paths->n_calls, 0);
    ck_assert_uint_eq(paths->n_instances, 0);
    ck_assert_int_eq(paths->facts.start_ns, BB_TIME_NONE);
    bb_paths_free(NULL);
    bb_patterns_free(NULL);
    bb_pattern_free(NULL);
    bb_pattern_node_free(NULL);
    bb_stats_free(NULL);
}
END_TEST

START_TEST(times_between)
{
    ck_assert_int_eq(bb_time_between(3, 10), 7);
    ck_assert_int_eq(bb_time_between(10, 3), -7);
    ck_assert_int_eq(bb_time_between(G_MININT64, G_MAXINT64), G_MAXINT64);
    ck_assert_int_eq(bb_time_between(G_MAXINT64, G_MININT64), G_MININT64);
    ck_assert_int_eq(bb_time_between(-1, G_MAXINT64), G_MAXINT64);
    ck_assert_int_eq(bb_time_between(G_MININT64, 0), G_MAXINT64);
}
END_TEST

START_TEST(confidence)
{
    g_autoptr(BbPattern) pattern = bb_pattern_new(1, bb_pattern_node_new(2, BB_NAME_NONE));
    ck_assert(bb_pattern_wrong(pattern) < 0); // no instance
    ck_assert(bb_pattern_sure(pattern, pattern->root) < 0);
    pattern->count = 4;
    pattern->right_total = 3.9;
    pattern->root->sure_total = 3.95;
    ck_assert_double_eq_tol(bb_pattern_wrong(pattern), 0.025, 1e-9);
    ck_assert_double_eq_tol(bb_pattern_sure(pattern, pattern->root), 0.9875, 1e-9);
    pattern->right_total = 4.0000001; // sums of floats
    ck_assert(bb_pattern_wrong(pattern) == 0);
    pattern->right_total = -1;
    ck_assert(bb_pattern_wrong(pattern) < 0);
    ck_assert(bb_pattern_sure(pattern, pattern->root) < 0);
}
END_TEST

// A role of 200,000 replicas, each of them used five times in turn, but for one more use of one.
START_TEST(many_replicas)
{
    guint n = 200000;
    gint64 start = g_get_monotonic_time();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GArray) replicas = g_array_new(FALSE, FALSE, sizeof(BbReplica));
    for (guint i = 0; i < n; i++) {
        char name[16];
        g_snprintf(name, sizeof name, "n%06u", i);
        ck_assert_uint_eq(bb_names_intern(names, name), i + 1);
    }
    for (guint round = 0; round < 5; round++)
        for (guint i = 0; i < n; i++)
            bb_replicas_count(replicas, i + 1, 10);
    bb_replicas_count(replicas, 7, 40);
    bb_replicas_sort(replicas, names);
    ck_assert_uint_eq(replicas->len, n);
    ck_assert_uint_eq(g_array_index(replicas, BbReplica, 0).node, 7);
    ck_assert_uint_eq(g_array_index(replicas, BbReplica, 0).count, 6);
    ck_assert_int_eq(bb_replica_mean_latency(&g_array_index(replicas, BbReplica, 0)), 15);
    ck_assert_int_eq(bb_replica_mean_latency(&g_array_index(replicas, BbReplica, 1)), 10);
    for (guint i = 1; i < n; i++)
        ck_assert_uint_eq(g_array_index(replicas, BbReplica, i).node, i + (i >= 7));
    ck_assert_int_lt(g_get_monotonic_time() - start, 20 * G_USEC_PER_SEC);
}
END_TEST

TEST_MAIN("pattern", confidence, size_and_latency, empty_paths, times_between, many_replicas)
