// SPDX-License-Identifier: Apache-2.0
// The joint choice of parents where calls wait for a pool of connections.
#include "tests/unit/pool_traces.h"

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

START_TEST(waits_are_told)
{
    check_waits(2, 8 * MS);
    check_waits(4, 4 * MS);
}
END_TEST

START_TEST(any_number_of_threads)
{
    g_auto(Trace) trace = trace_new(99);
    play(&trace, &(Load){300, 2, 2, 10 * MS, 3 * MS, 6 * MS});
    g_autoptr(BbPaths) first = NULL;
    for (guint threads = 1; threads <= 3; threads++) {
        BbNestingOptions options = bb_nesting_options_default();
        options.threads = threads;
        g_autoptr(BbPaths) paths = infer(&trace, &options);
        ck_assert_ptr_nonnull(paths->pool_wait);
        for (guint32 i = 0; first && i < paths->n_calls; i++) {
            const BbPoolWait *a = &first->pool_wait[i], *b = &paths->pool_wait[i];
            ck_assert(a->limit == b->limit && a->ns == b->ns);
            ck_assert_float_eq(a->share, b->share);
        }
        if (!first)
            first = g_steal_pointer(&paths);
    }
}
END_TEST

TEST_MAIN("joint pool", whose_they_are, waits_are_told, any_number_of_threads)
