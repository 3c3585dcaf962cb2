// SPDX-License-Identifier: Apache-2.0
// Peaks of correlograms: planted ones are found where they are, chance makes no more than was
// stated, also where messages crowd, and the mirror explains what no cause does.
#include "convolution/correlogram.h"
#include "convolution/load.h"
#include "convolution/peaks.h"
#include "tests/unit/planted.h"

#include <string.h>

#define BINS 256u

static BbPeakTest test_of(double z_least, double excess_least)
{
    return (BbPeakTest){.z_least = z_least, .excess_least = excess_least};
}

static void fill_noise(BbRandom *random, guint32 *counts, guint32 bins, double mean)
{
    for (guint32 i = 0; i < bins; i++)
        counts[i] = planted_poisson(random, mean);
}

static const BbPeak *peak_at(const GArray *peaks, guint i)
{
    ck_assert_uint_lt(i, peaks->len);
    return &g_array_index(peaks, BbPeak, i);
}

// Whatever is found is well-formed.
static void check_peaks(const GArray *peaks, guint32 bins, const BbPeakTest *test)
{
    for (guint i = 0; i < peaks->len; i++) {
        const BbPeak *peak = peak_at(peaks, i);
        ck_assert_uint_lt(peak->low, peak->high);
        ck_assert_uint_le(peak->high, bins);
        ck_assert_double_gt(peak->z, test->z_least);
        ck_assert_double_ge(peak->excess, test->excess_least);
        ck_assert(i == 0 || peak[-1].high <= peak->low);
    }
}

// ---- planted -----------------------------------------------------------------------------------

START_TEST(planted_peaks_are_found)
{
    BbRandom random = bb_random_start(1);
    const struct {
        double noise;
        guint32 at, width, height;
    } cases[] = {{0, 40, 1, 30},  {0, 0, 1, 30},      {0, 255, 1, 30},  {1, 100, 1, 25},
                 {1, 100, 8, 10}, {10, 60, 3, 40},    {100, 60, 4, 90}, {5, 120, 24, 12},
                 {0.1, 7, 2, 10}, {1000, 200, 2, 400}};
    const BbPeakTest test = test_of(5, 5);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint32 counts[BINS];
        fill_noise(&random, counts, BINS, cases[i].noise);
        for (guint32 k = 0; k < cases[i].width; k++)
            counts[cases[i].at + k] += cases[i].height;
        g_autoptr(GArray) peaks = bb_peaks_find(counts, NULL, BINS, &test);
        check_peaks(peaks, BINS, &test);
        ck_assert_msg(peaks->len == 1, "case %u: %u peaks", i, peaks->len);
        const BbPeak *peak = peak_at(peaks, 0);
        double planted = cases[i].width * cases[i].height;
        double middle = cases[i].at + cases[i].width / 2.0;
        ck_assert_double_eq_tol((peak->low + peak->high) / 2.0, middle, 1 + cases[i].width / 4.0);
        ck_assert_double_eq_tol(peak->high - peak->low, cases[i].width, 1 + cases[i].width / 2.0);
        double chance = cases[i].width * cases[i].noise;
        ck_assert_double_eq_tol(peak->excess, planted, 0.1 * planted + 4 * sqrt(chance + 1));
    }
}
END_TEST

// What is beyond the longest delay is no peak, however high.
START_TEST(no_peaks_beyond)
{
    BbRandom random = bb_random_start(6);
    guint32 counts[BINS];
    fill_noise(&random, counts, BINS, 4);
    counts[30] += 60;
    for (guint32 i = 98; i < 104; i++)
        counts[i] += 60;
    BbPeakTest test = test_of(5, 5);
    test.beyond = BINS - 100;
    g_autoptr(GArray) peaks = bb_peaks_find(counts, NULL, BINS, &test);
    check_peaks(peaks, BINS - test.beyond, &test);
    ck_assert_uint_eq(peaks->len, 2);
    ck_assert_uint_eq(peak_at(peaks, 1)->high, 100);
    test.beyond = BINS - 20;
    ck_assert_double_lt(bb_peaks_best(counts, NULL, BINS, &test), 5);
    test.beyond = 0;
    ck_assert_double_gt(bb_peaks_best(counts, NULL, BINS, &test), 15);
}
END_TEST

START_TEST(two_peaks_are_two)
{
    BbRandom random = bb_random_start(2);
    guint32 counts[BINS];
    fill_noise(&random, counts, BINS, 4);
    for (guint32 i = 0; i < 4; i++) {
        counts[50 + i] += 50;
        counts[150 + i] += 200;
    }
    const BbPeakTest test = test_of(5, 5);
    g_autoptr(GArray) peaks = bb_peaks_find(counts, NULL, BINS, &test);
    check_peaks(peaks, BINS, &test);
    ck_assert_uint_eq(peaks->len, 2);
    ck_assert_uint_eq(peak_at(peaks, 0)->low, 50);
    ck_assert_uint_eq(peak_at(peaks, 0)->high, 54);
    ck_assert_uint_eq(peak_at(peaks, 1)->low, 150);
    ck_assert_uint_eq(peak_at(peaks, 1)->high, 154);
    ck_assert_double_gt(peak_at(peaks, 1)->z, peak_at(peaks, 0)->z);
}
END_TEST

START_TEST(small_excess_is_no_peak)
{
    guint32 counts[BINS] = {0};
    counts[33] = 20;
    BbPeakTest test = test_of(5, 20.5);
    g_autoptr(GArray) none = bb_peaks_find(counts, NULL, BINS, &test);
    ck_assert_uint_eq(none->len, 0);
    test.excess_least = 15;
    g_autoptr(GArray) one = bb_peaks_find(counts, NULL, BINS, &test);
    ck_assert_uint_eq(one->len, 1);
    test.z_least = peak_at(one, 0)->z;
    g_autoptr(GArray) again = bb_peaks_find(counts, NULL, BINS, &test);
    ck_assert_uint_eq(again->len, 0); // it must be above
}
END_TEST

// A single bin, and none that holds anything.
START_TEST(small_correlograms)
{
    const BbPeakTest test = test_of(3, 2);
    for (guint32 bins = 1; bins < 20; bins++) {
        guint32 counts[20] = {0};
        g_autoptr(GArray) none = bb_peaks_find(counts, counts, bins, &test);
        ck_assert_uint_eq(none->len, 0);
        ck_assert_double_eq(bb_peaks_best(counts, counts, bins, &test), 0);
        counts[bins / 2] = G_MAXUINT32;
        g_autoptr(GArray) full = bb_peaks_find(counts, NULL, bins, &test);
        check_peaks(full, bins, &test);
        ck_assert(full->len == 1 || bins == 1);
        ck_assert_double_gt(bb_peaks_tried(bins), bins - 0.5);
    }
}
END_TEST

// ---- the mirror --------------------------------------------------------------------------------

// Common bursts: a hill in the correlogram, as in its mirror.
static void fill_hill(BbRandom *random, guint32 *counts, double height)
{
    for (guint32 i = 0; i < BINS; i++)
        counts[i] = planted_poisson(random, 2 + height * exp(-(double)i * i / 1800));
}

START_TEST(the_mirror_explains_bursts)
{
    BbRandom random = bb_random_start(3);
    guint alone = 0, mirrored = 0, planted = 0;
    const BbPeakTest test = test_of(bb_peaks_deviations(0.05 / bb_peaks_tried(BINS)), 0);
    for (guint round = 0; round < 200; round++) {
        guint32 counts[BINS], mirror[BINS];
        fill_hill(&random, counts, 60);
        fill_hill(&random, mirror, 60);
        g_autoptr(GArray) without = bb_peaks_find(counts, NULL, BINS, &test);
        g_autoptr(GArray) with = bb_peaks_find(counts, mirror, BINS, &test);
        alone += without->len > 0;
        mirrored += with->len > 0;
        for (guint32 i = 0; i < 10; i++)
            counts[100 + i] += 30;
        g_autoptr(GArray) real = bb_peaks_find(counts, mirror, BINS, &test);
        for (guint i = 0; i < real->len; i++)
            planted += peak_at(real, i)->low < 110 && peak_at(real, i)->high > 100;
    }
    ck_assert_uint_ge(alone, 190);
    ck_assert_uint_le(mirrored, 20);
    ck_assert_uint_ge(planted, 200); // what one of them alone has is found
}
END_TEST

// ---- false alarms ------------------------------------------------------------------------------

START_TEST(rates_and_deviations)
{
    ck_assert_double_eq_tol(bb_peaks_deviations(0.5), 0, 1e-6);
    ck_assert_double_eq_tol(bb_peaks_deviations(0.0227501319), 2, 1e-6);
    ck_assert_double_eq_tol(bb_peaks_deviations(2.866515719e-7), 5, 1e-6);
    for (double rate = 0.4; rate > 1e-200; rate /= 10)
        ck_assert_double_eq_tol(bb_peaks_rate(bb_peaks_deviations(rate)) / rate, 1, 1e-6);
}
END_TEST

START_TEST(windows_tried)
{
    const double wanted[][2] = {{1, 1}, {7, 7}, {15, 15}, {16, 16 + 15}, {32, 32 + 31 + 15}};
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
        ck_assert_double_eq_tol(bb_peaks_tried((guint32)wanted[i][0]), wanted[i][1], 1e-9);
}
END_TEST

// A correlogram of noise has a peak at most as often as stated.
START_TEST(chance_makes_few_peaks)
{
    const double means[] = {0.003, 0.02, 0.1, 0.5, 2, 10, 100, 5000}, rate = 0.05;
    const BbPeakTest test = test_of(bb_peaks_deviations(rate / bb_peaks_tried(BINS)), 0);
    enum { ROUNDS = 800 };
    for (guint i = 0; i < G_N_ELEMENTS(means); i++) {
        BbRandom random = bb_random_start(i);
        guint alarms = 0, mirrored = 0;
        for (guint round = 0; round < ROUNDS; round++) {
            guint32 counts[BINS], mirror[BINS];
            fill_noise(&random, counts, BINS, means[i]);
            fill_noise(&random, mirror, BINS, means[i]);
            g_autoptr(GArray) peaks = bb_peaks_find(counts, NULL, BINS, &test);
            alarms += peaks->len > 0;
            double best = bb_peaks_best(counts, NULL, BINS, &test);
            ck_assert_int_eq(peaks->len > 0, best > test.z_least);
            mirrored += bb_peaks_best(counts, mirror, BINS, &test) > test.z_least;
        }
        ck_assert_msg(alarms <= 1.3 * rate * ROUNDS, "mean %g: %u", means[i], alarms);
        ck_assert_msg(mirrored <= 1.3 * rate * ROUNDS, "mean %g: %u", means[i], mirrored);
    }
}
END_TEST

#define BURST 24

static gint compare_quanta(gconstpointer left, gconstpointer right)
{
    gint64 a = *(const gint64 *)left, b = *(const gint64 *)right;
    return a < b ? -1 : a > b;
}

// Messages come in bursts of BURST quanta each.
static void fill_train(BbRandom *random, gint64 *quanta, gsize count, gsize batch, guint64 span)
{
    for (gsize i = 0; i < count; i++)
        quanta[i] = i % batch ? quanta[i - 1] : (gint64)bb_random_below(random, span - BURST);
    for (gsize i = 0; i < count; i++)
        quanta[i] += (gint64)bb_random_below(random, BURST);
    qsort(quanta, count, sizeof *quanta, compare_quanta);
}

// Messages of a burst all have pairs with those of another burst: pairs come in crowds. Told of it,
// the test keeps its rate; not told, it does not.
START_TEST(crowds_make_few_peaks)
{
    const struct {
        double in, out; // messages a quantum
        gsize batch;
        bool fooled; // when not told
    } cases[] = {{0.01, 0.01, 1, false}, {0.3, 0.3, 1, false}, {2, 0.1, 1, false},
                 {0.5, 0.5, 10, true},   {1, 1, 10, true},     {2, 1, 10, true}};
    enum { ROUNDS = 60, SPAN = 2000, LAGS = 128 };
    const double rate = 0.05;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbRandom random = bb_random_start(100 + i);
        guint told = 0, untold = 0;
        gsize n = (gsize)(cases[i].in * SPAN), m = (gsize)(cases[i].out * SPAN);
        g_autofree gint64 *in = g_new(gint64, n), *out = g_new(gint64, m);
        for (guint round = 0; round < ROUNDS; round++) {
            // No lag has fewer pairs for being longer.
            fill_train(&random, in, n, cases[i].batch, SPAN - LAGS);
            fill_train(&random, out, m, cases[i].batch, SPAN);
            guint32 counts[LAGS] = {0};
            bb_correlogram_count(&(BbTrain){in, n}, &(BbTrain){out, m}, &(BbLags){0, LAGS}, counts);
            BbPeakTest test = test_of(bb_peaks_deviations(rate / bb_peaks_tried(LAGS)), 0);
            untold += bb_peaks_best(counts, NULL, LAGS, &test) > test.z_least;
            BbStream in_stream = {.count = (guint32)n, .ns = in};
            BbStream out_stream = {.count = (guint32)m, .ns = out};
            test.crowd = bb_load_measure(&in_stream, &out_stream, 0, LAGS / 4.0).crowd;
            told += bb_peaks_best(counts, NULL, LAGS, &test) > test.z_least;
        }
        ck_assert_msg(told <= 2 * rate * ROUNDS, "case %u: %u", i, told);
        ck_assert_msg((untold > 4 * rate * ROUNDS) == cases[i].fooled, "case %u: %u", i, untold);
    }
}
END_TEST

TEST_MAIN("peaks", planted_peaks_are_found, no_peaks_beyond, two_peaks_are_two,
          small_excess_is_no_peak, small_correlograms, the_mirror_explains_bursts,
          rates_and_deviations, windows_tried, chance_makes_few_peaks, crowds_make_few_peaks)
