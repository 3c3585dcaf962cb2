// SPDX-License-Identifier: Apache-2.0
// Bins of gaps: the formula, their order, and how many gaps each holds.
#include "nesting/density.h"
#include "nesting/gap.h"
#include "tests/unit/test.h"

#include <math.h>

#define LINEAR 25.0 // quanta up to which bins are one wide

static double formula(double gap)
{
    return LINEAR * asinh(gap / LINEAR) + 0.5;
}

START_TEST(exact_where_gaps_are_short)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    for (gint64 gap = 0; gap < 128; gap++) {
        ck_assert_uint_eq(bb_gap_cell(gap), (guint)gap);
        ck_assert_uint_eq(bb_gap_bin(scale, gap), (guint)formula((double)gap));
    }
    for (gint64 gap = 0; gap <= 8; gap++) // one quantum a bin
        ck_assert_uint_eq(bb_gap_bin(scale, gap), (guint)gap);
}
END_TEST

START_TEST(near_the_formula_where_they_are_long)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("gap"));
    for (guint i = 0; i < 100000; i++) {
        gint64 gap = (gint64)exp(g_rand_double_range(rand, 4.9, 32));
        double want = MIN(formula((double)gap), BB_GAP_BINS - 1);
        // a cell is up to 1/64 of its gap wide: four tenths of a bin, half of it either way
        ck_assert_double_le(fabs(bb_gap_bin(scale, gap) + 0.5 - want), 0.75);
    }
}
END_TEST

START_TEST(never_falls)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint last = 0, cell = 0;
    for (gint64 gap = 0; gap < 300000; gap++) {
        ck_assert_uint_ge(bb_gap_bin(scale, gap), last);
        ck_assert_uint_le(bb_gap_bin(scale, gap), last + 1);
        ck_assert_uint_ge(bb_gap_cell(gap), cell);
        last = bb_gap_bin(scale, gap);
        cell = bb_gap_cell(gap);
    }
    for (guint bit = 19; bit < 63; bit++) {
        for (gint64 off = -2; off <= 2; off++) {
            guint bin = bb_gap_bin(scale, (G_GINT64_CONSTANT(1) << bit) + off);
            ck_assert_uint_ge(bin, last);
            last = bin;
        }
    }
}
END_TEST

START_TEST(ends_of_the_line)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    static const gint64 negative[] = {-1, -128, -1000000, G_MININT64 + 1, G_MININT64};
    for (gsize i = 0; i < G_N_ELEMENTS(negative); i++)
        ck_assert_uint_eq(bb_gap_bin(scale, negative[i]), 0);
    static const gint64 huge[] = {G_MAXINT64, G_MAXINT64 - 1, G_GINT64_CONSTANT(1) << 62,
                                  G_GINT64_CONSTANT(1) << 50};
    for (gsize i = 0; i < G_N_ELEMENTS(huge); i++) {
        ck_assert_uint_eq(bb_gap_cell(huge[i]), BB_GAP_CELLS - 1);
        ck_assert_uint_eq(bb_gap_bin(scale, huge[i]), BB_GAP_BINS - 1);
    }
}
END_TEST

// The width of a bin is how many whole numbers of quanta fall in it.
START_TEST(widths_count_gaps)
{
    enum { SEEN = 1 << 20 };
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint32 held[BB_GAP_BINS] = {0};
    for (gint64 gap = 0; gap < SEEN; gap++)
        held[bb_gap_bin(scale, gap)]++;
    guint last = bb_gap_bin(scale, SEEN - 1);
    for (guint b = 0; b < last; b++)
        ck_assert_double_eq((double)scale->width[b], held[b]);
    double sum = 0;
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        sum += (double)scale->width[b];
        ck_assert_double_eq_tol((double)scale->log_width[b], log((double)scale->width[b]), 1e-4);
        ck_assert_double_eq_tol(exp((double)(scale->floor_log[b] + scale->log_width[b])),
                                BB_DENSITY_FLOOR / BB_GAP_BINS, 1e-8);
    }
    ck_assert_double_eq_tol(sum / ldexp(1, 50), 1, 1e-5);
}
END_TEST

TEST_MAIN("gap", exact_where_gaps_are_short, near_the_formula_where_they_are_long, never_falls,
          ends_of_the_line, widths_count_gaps)
