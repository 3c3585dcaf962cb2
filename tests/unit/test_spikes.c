// SPDX-License-Identifier: Apache-2.0
// Spikes: what stands out, where one ends and the next begins, and what may not make a difference.
#include "convolution/spikes.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#define COUNT 203u // not a multiple of four
static const BbSpikeRule rule = {4, 3};

// "lag lag ..." of the spikes.
static char *lags_of(const double *values, gsize count, const BbSpikeRule *by)
{
    g_autoptr(GArray) spikes = bb_spikes_find(values, count, by);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < spikes->len; i++)
        g_string_append_printf(text, "%s%" G_GSIZE_FORMAT, i ? " " : "",
                               g_array_index(spikes, BbSpike, i).lag);
    return g_string_free(text, FALSE);
}

static void check(const double *values, gsize count, const char *expected)
{
    g_autofree char *lags = lags_of(values, count, &rule);
    ck_assert_str_eq(lags, expected);
}

START_TEST(one)
{
    double values[COUNT] = {0};
    values[100] = 5;
    check(values, COUNT, "100");
    g_autoptr(GArray) spikes = bb_spikes_find(values, COUNT, &rule);
    ck_assert_double_eq(g_array_index(spikes, BbSpike, 0).spread, 0);
}
END_TEST

START_TEST(at_both_ends)
{
    double values[COUNT] = {0};
    values[0] = values[COUNT - 1] = 5;
    check(values, COUNT, "0 202");
}
END_TEST

START_TEST(nothing_stands_out)
{
    double values[COUNT];
    for (guint i = 0; i < COUNT; i++)
        values[i] = 1000.1;
    check(values, COUNT, "");
    for (guint i = 0; i < COUNT; i++)
        values[i] = i % 2;
    check(values, COUNT, "");
    check(values, 1, "");
    check(values, 0, "");
}
END_TEST

// One value among n equal ones is sqrt(n - 1) deviations above the mean.
START_TEST(too_few_values)
{
    double values[18] = {0};
    values[3] = 1;
    check(values, 16, "");
    check(values, 18, "3");
}
END_TEST

// Mean 1, deviation 10: 31 is 3 deviations above the mean, 41 is 4.
static void level(double *values, gsize count)
{
    for (gsize i = 0; i < count; i++)
        values[i] = i % 2 ? -9 : 11;
}

START_TEST(below_the_threshold)
{
    enum { MANY = 1000000 };
    g_autofree double *values = g_new(double, MANY);
    level(values, MANY);
    values[500] = 40.9;
    check(values, MANY, "");
    values[500] = 41.1;
    check(values, MANY, "500");
}
END_TEST

START_TEST(a_valley_parts_two)
{
    enum { MANY = 1000000 };
    g_autofree double *values = g_new(double, MANY);
    level(values, MANY);
    values[500] = 50;
    values[501] = 32; // above 3 deviations
    values[502] = 60;
    check(values, MANY, "502");
    values[501] = 30; // below
    check(values, MANY, "500 502");
    const BbSpikeRule upside_down = {4, 9}; // a valley above the spike's level is at it
    values[501] = 40;
    g_autofree char *lags = lags_of(values, MANY, &upside_down);
    ck_assert_str_eq(lags, "500 502");
}
END_TEST

START_TEST(of_equals_the_first)
{
    double values[COUNT] = {0};
    values[70] = values[71] = values[72] = 5;
    check(values, COUNT, "70");
}
END_TEST

START_TEST(spread)
{
    enum { MANY = 100000 };
    g_autofree double *values = g_new0(double, MANY);
    values[70] = values[72] = 1;
    values[71] = 2;
    g_autoptr(GArray) spikes = bb_spikes_find(values, MANY, &rule);
    ck_assert_uint_eq(spikes->len, 1);
    ck_assert_uint_eq(g_array_index(spikes, BbSpike, 0).lag, 71);
    ck_assert_double_eq_tol(g_array_index(spikes, BbSpike, 0).spread, sqrt(0.5), 1e-3);
}
END_TEST

// Values that a transform gives are off by little, and differ from plan to plan.
START_TEST(noise_of_transforms)
{
    double clean[COUNT] = {0}, noisy[COUNT];
    clean[10] = clean[11] = sqrt(6);
    clean[90] = sqrt(2) + sqrt(3);
    for (guint i = 0; i < COUNT; i++)
        noisy[i] = clean[i] + (i % 2 ? 1e-9 : -1e-9);
    g_autoptr(GArray) a = bb_spikes_find(clean, COUNT, &rule);
    g_autoptr(GArray) b = bb_spikes_find(noisy, COUNT, &rule);
    ck_assert_uint_eq(a->len, 2);
    ck_assert_uint_eq(b->len, 2);
    ck_assert_mem_eq(a->data, b->data, a->len * sizeof(BbSpike));
}
END_TEST

TEST_MAIN("spikes", one, at_both_ends, nothing_stands_out, too_few_values, below_the_threshold,
          a_valley_parts_two, of_equals_the_first, spread, noise_of_transforms)
