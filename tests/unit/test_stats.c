// SPDX-License-Identifier: Apache-2.0
// Statistics against sorted arrays: exact up to BB_STATS_EXACT, within 1 % after, the same in any
// order.
#include "data/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"

static int by_value(const void *a, const void *b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

static gint64 rank_value(const gint64 *sorted, gsize count, double q)
{
    double rank = ceil(q * (double)count - 1e-9);
    gsize index = rank < 1 ? 0 : (gsize)rank - 1;
    return sorted[MIN(index, count - 1)];
}

// Values of one of several characters, so that octaves, signs and ties all occur.
static gint64 random_value(GRand *rand, guint character)
{
    switch (character) {
    case 0:
        return g_rand_int_range(rand, 0, 300);
    case 1:
        return g_rand_int_range(rand, -1000000, 1000000);
    case 2:
        return (gint64)exp(g_rand_double_range(rand, 0, 34));
    case 3:
        return 50000000 + g_rand_int_range(rand, -5000000, 5000000);
    default:
        return -(gint64)exp(g_rand_double_range(rand, 0, 34));
    }
}

static void check_against(const BbStats *stats, gint64 *values, gsize count)
{
    static const double shares[] = {0, 0.01, 0.07, 0.25, 0.5, 0.9, 0.99, 1};
    qsort(values, count, sizeof *values, by_value);
    long double sum = 0, squares = 0;
    for (gsize i = 0; i < count; i++)
        sum += values[i];
    long double mean = sum / count;
    for (gsize i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    ck_assert_uint_eq(bb_stats_count(stats), count);
    ck_assert_int_eq(bb_stats_sum(stats), (gint64)sum);
    ck_assert_int_eq(bb_stats_mean(stats), (gint64)roundl(mean));
    gint64 deviation = count < 2 ? 0 : (gint64)llroundl(sqrtl(squares / (count - 1)));
    ck_assert_int_le(llabs(bb_stats_stddev(stats) - deviation), 1 + deviation / 1000000000);
    ck_assert_int_eq(bb_stats_min(stats), values[0]);
    ck_assert_int_eq(bb_stats_max(stats), values[count - 1]);
    for (gsize i = 0; i < G_N_ELEMENTS(shares); i++) {
        gint64 want = rank_value(values, count, shares[i]),
               got = bb_stats_quantile(stats, shares[i]);
        gint64 tolerance = count <= BB_STATS_EXACT ? 0 : llabs(want) / 100;
        ck_assert_msg(llabs(got - want) <= tolerance,
                      "q %g of %zu: %" G_GINT64_FORMAT " for %" G_GINT64_FORMAT, shares[i], count,
                      got, want);
    }
}

START_TEST(like_sorted_arrays)
{
    static const gsize counts[] = {
        1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 66, 200, BB_STATS_EXACT, BB_STATS_EXACT + 1, 5000};
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint character = 0; character < 5; character++) {
        for (gsize c = 0; c < G_N_ELEMENTS(counts); c++) {
            g_autoptr(BbStats) stats = bb_stats_new();
            g_autofree gint64 *values = g_new(gint64, counts[c]);
            for (gsize i = 0; i < counts[c]; i++) {
                values[i] = random_value(rand, character);
                bb_stats_push(stats, values[i]);
            }
            check_against(stats, values, counts[c]);
        }
    }
}
END_TEST

static void check_equal(const BbStats *a, const BbStats *b)
{
    ck_assert_uint_eq(bb_stats_count(a), bb_stats_count(b));
    ck_assert_int_eq(bb_stats_sum(a), bb_stats_sum(b));
    ck_assert_int_eq(bb_stats_mean(a), bb_stats_mean(b));
    ck_assert_int_eq(bb_stats_stddev(a), bb_stats_stddev(b));
    ck_assert_int_eq(bb_stats_min(a), bb_stats_min(b));
    ck_assert_int_eq(bb_stats_max(a), bb_stats_max(b));
    for (guint percent = 0; percent <= 100; percent++)
        ck_assert_int_eq(bb_stats_quantile(a, percent / 100.0),
                         bb_stats_quantile(b, percent / 100.0));
}

START_TEST(order_and_merges_do_not_matter)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    for (guint round = 0; round < 300; round++) {
        // Parts of each form (one, few, many, buckets) into each.
        static const gint32 most[] = {140, 1000, 3 * BB_STATS_EXACT};
        gsize count = (gsize)g_rand_int_range(rand, 1, most[round / 3 % 3]);
        g_autoptr(BbStats) forward = bb_stats_new();
        g_autoptr(BbStats) merged = bb_stats_new();
        BbStats *parts[3] = {bb_stats_new(), bb_stats_new(), bb_stats_new()};
        g_autofree gint64 *values = g_new(gint64, count);
        for (gsize i = 0; i < count; i++) {
            values[i] = random_value(rand, round % 5);
            bb_stats_push(forward, values[i]);
        }
        for (gsize i = count; i > 0; i--) // backward, into parts of random sizes
            bb_stats_push(parts[g_rand_int_range(rand, 0, (gint32)(round % 3) + 1)], values[i - 1]);
        for (guint p = 0; p < 3; p++) {
            bb_stats_merge(merged, parts[p]);
            bb_stats_free(parts[p]);
        }
        check_equal(forward, merged);
        check_against(merged, values, count);
    }
}
END_TEST

START_TEST(merged_with_itself)
{
    static const guint counts[] = {0, 1, 2, 32, 33, 64, 65, 1024, 1025, 2048, 2049};
    for (guint c = 0; c < G_N_ELEMENTS(counts); c++) {
        guint count = counts[c];
        g_autoptr(BbStats) once = bb_stats_new();
        g_autoptr(BbStats) twice = bb_stats_new();
        for (guint i = 0; i < count; i++) {
            bb_stats_push(once, i * i);
            bb_stats_push(twice, i * i);
            bb_stats_push(twice, i * i);
        }
        bb_stats_merge(once, once);
        check_equal(once, twice);
    }
}
END_TEST

START_TEST(empty)
{
    g_autoptr(BbStats) stats = bb_stats_new();
    ck_assert_uint_eq(bb_stats_count(stats), 0);
    ck_assert_int_eq(bb_stats_sum(stats), 0);
    ck_assert_int_eq(bb_stats_mean(stats), 0);
    ck_assert_int_eq(bb_stats_stddev(stats), 0);
    ck_assert_int_eq(bb_stats_min(stats), 0);
    ck_assert_int_eq(bb_stats_max(stats), 0);
    ck_assert_int_eq(bb_stats_quantile(stats, 0.5), 0);
}
END_TEST

START_TEST(mean_rounds_away_from_zero)
{
    g_autoptr(BbStats) up = bb_stats_new();
    g_autoptr(BbStats) down = bb_stats_new();
    bb_stats_push(up, 1);
    bb_stats_push(up, 2);
    bb_stats_push(down, -1);
    bb_stats_push(down, -2);
    ck_assert_int_eq(bb_stats_mean(up), 2);
    ck_assert_int_eq(bb_stats_mean(down), -2);
}
END_TEST

// Sums far beyond 64 bits, squares beyond 128.
START_TEST(extreme_values)
{
    g_autoptr(BbStats) same = bb_stats_new();
    g_autoptr(BbStats) both = bb_stats_new();
    for (guint i = 0; i < 1000; i++) {
        bb_stats_push(same, G_MININT64);
        bb_stats_push(both, i % 2 ? G_MAXINT64 : G_MININT64);
    }
    ck_assert_int_eq(bb_stats_sum(same), G_MININT64);
    ck_assert_int_eq(bb_stats_mean(same), G_MININT64);
    ck_assert_int_eq(bb_stats_stddev(same), 0);
    ck_assert_int_eq(bb_stats_quantile(same, 0.5), G_MININT64);
    ck_assert_int_eq(bb_stats_sum(both), -500);
    ck_assert_int_eq(bb_stats_mean(both), -1);
    ck_assert_int_eq(bb_stats_stddev(both), G_MAXINT64);
    ck_assert_int_eq(bb_stats_min(both), G_MININT64);
    ck_assert_int_eq(bb_stats_max(both), G_MAXINT64);
    ck_assert_int_eq(bb_stats_quantile(both, 1), G_MAXINT64);
}
END_TEST

// A deviation of 1 ns at the epoch's distance from zero is not lost.
START_TEST(deviation_far_from_zero)
{
    g_autoptr(BbStats) stats = bb_stats_new();
    for (guint i = 0; i < 2000; i++)
        bb_stats_push(stats, G_GINT64_CONSTANT(1700000000000000000) + (i % 2 ? 1000 : -1000));
    ck_assert_int_eq(bb_stats_mean(stats), G_GINT64_CONSTANT(1700000000000000000));
    ck_assert_int_eq(bb_stats_stddev(stats), 1000);
}
END_TEST

START_TEST(shares_out_of_range)
{
    g_autoptr(BbStats) stats = bb_stats_new();
    for (guint i = 1; i <= 100; i++) {
        bb_stats_push(stats, i);
        ck_assert_int_eq(bb_stats_quantile(stats, -1), 1);
        ck_assert_int_eq(bb_stats_quantile(stats, 2), i);
        ck_assert_int_eq(bb_stats_quantile(stats, NAN), 1);
    }
    ck_assert_int_eq(bb_stats_quantile(stats, 0.07), 7); // 0.07 * 100 > 7 in doubles
}
END_TEST

TEST_MAIN("stats", like_sorted_arrays, order_and_merges_do_not_matter, merged_with_itself, empty,
          mean_rounds_away_from_zero, extreme_values, deviation_far_from_zero, shares_out_of_range)
