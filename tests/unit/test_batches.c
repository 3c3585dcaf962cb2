// SPDX-License-Identifier: Apache-2.0
// Batch means: exact means, and standard errors that know what belongs together.
#include "diagnose/batches.h"

#include <math.h>

#include "data/random.h"
#include "tests/unit/test.h"

static void check_near(double found, double expected, double tolerance)
{
    ck_assert_msg(fabs(found - expected) <= tolerance * expected, "%g, not %g", found, expected);
}

START_TEST(few_requests_are_a_batch_each)
{
    g_autoptr(BbBatches) batches = bb_batches_new();
    ck_assert(isinf(bb_batches_error(batches, (const guint[]){0}, 1)));
    for (gint64 value = 1; value <= 4; value++) {
        bb_batches_begin(batches);
        bb_batches_add(batches, 0, value);
    }
    ck_assert_uint_eq(bb_batches_requests(batches), 4);
    check_near(bb_batches_mean(batches, 0), 2.5, 1e-12);
    check_near(bb_batches_error(batches, (const guint[]){0}, 1), sqrt(5.0 / 3 / 4), 1e-12);
}
END_TEST

// Of n that do not depend on each other it is the deviation over the root of n, however many.
START_TEST(independent_ones)
{
    BbRandom random = bb_random_start(7);
    for (guint n = 20; n <= 200000; n *= 10) {
        double ratio = 0;
        for (guint trial = 0; trial < 40; trial++) {
            g_autoptr(BbBatches) batches = bb_batches_new();
            gint64 sum = 0;
            for (guint i = 0; i < n / (n > 20000 ? 10 : 1); i++) {
                gint64 value = (gint64)bb_random_below(&random, 1001);
                sum += value;
                bb_batches_begin(batches);
                bb_batches_add(batches, 3, value);
            }
            double count = (double)bb_batches_requests(batches);
            check_near(bb_batches_mean(batches, 3), (double)sum / count, 1e-12);
            ratio += bb_batches_error(batches, (const guint[]){3}, 1) / (289 / sqrt(count)) / 40;
        }
        check_near(ratio, 1, 0.1);
    }
}
END_TEST

// A hundred requests in a row that are slow together are one event.
START_TEST(ones_that_belong_together)
{
    BbRandom random = bb_random_start(9);
    double found = 0;
    for (guint trial = 0; trial < 40; trial++) {
        g_autoptr(BbBatches) batches = bb_batches_new();
        gint64 value = 0;
        for (guint i = 0; i < 64000; i++) {
            if (i % 100 == 0)
                value = (gint64)bb_random_below(&random, 1001);
            bb_batches_begin(batches);
            bb_batches_add(batches, 0, value);
        }
        found += bb_batches_error(batches, (const guint[]){0}, 1) / 40;
    }
    check_near(found, 289 / sqrt(640), 0.1);
}
END_TEST

// What one figure loses another one gets: their sum does not vary.
START_TEST(a_sum_of_figures)
{
    BbRandom random = bb_random_start(11);
    g_autoptr(BbBatches) batches = bb_batches_new();
    for (guint i = 0; i < 1000; i++) {
        gint64 part = (gint64)bb_random_below(&random, 1000);
        bb_batches_begin(batches);
        bb_batches_add(batches, 0, part);
        bb_batches_add(batches, 5, 1000 - part);
    }
    ck_assert(bb_batches_error(batches, (const guint[]){0}, 1) > 1);
    ck_assert(bb_batches_error(batches, (const guint[]){0, 5}, 2) < 1e-9);
    ck_assert(bb_batches_mean(batches, 77) == 0);
}
END_TEST

TEST_MAIN("batches", few_requests_are_a_batch_each, independent_ones, ones_that_belong_together,
          a_sum_of_figures)
