// SPDX-License-Identifier: Apache-2.0
// Delays: each distribution has its moments and its limits.
#include "data/delay.h"
#include "tests/unit/test.h"

#include <math.h>

#define DRAWS 200000
#define MS 1e6

typedef struct {
    double mean, deviation, least, most, median; // ms
} Moments;

static int by_value(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static Moments moments_of(const BbDelay *delay)
{
    BbRandom random = bb_random_start(11);
    g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(gint64));
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        gint64 x = bb_delay_sample(delay, &random);
        sum += (double)x / MS;
        squares += (double)x / MS * ((double)x / MS);
        g_array_append_val(samples, x);
    }
    g_array_sort(samples, by_value);
    double mean = sum / DRAWS;
    return (Moments){
        .mean = mean,
        .deviation = sqrt(squares / DRAWS - mean * mean),
        .least = (double)g_array_index(samples, gint64, 0) / MS,
        .most = (double)g_array_index(samples, gint64, DRAWS - 1) / MS,
        .median = (double)g_array_index(samples, gint64, DRAWS / 2) / MS,
    };
}

static Moments moments_of_term(BbDelayTerm term)
{
    BbDelay delay = {.count = 1, .terms = {term}};
    return moments_of(&delay);
}

START_TEST(nothing_is_nothing)
{
    BbRandom random = bb_random_start(1);
    ck_assert_int_eq(bb_delay_sample(&(BbDelay){0}, &random), 0);
}
END_TEST

START_TEST(constant)
{
    Moments m = moments_of_term((BbDelayTerm){BB_DELAY_CONSTANT, 50 * MS, 0});
    ck_assert_double_eq(m.least, 50);
    ck_assert_double_eq(m.most, 50);
}
END_TEST

START_TEST(normal)
{
    Moments m = moments_of_term((BbDelayTerm){BB_DELAY_NORMAL, 50 * MS, 5 * MS});
    ck_assert_double_eq_tol(m.mean, 50, 0.05);
    ck_assert_double_eq_tol(m.deviation, 5, 0.05);
}
END_TEST

// With a deviation of the mean, 16 % of a normal distribution would be below 0: what remains has
// the mean m + s phi(1)/Phi(1).
START_TEST(normal_is_cut_at_0)
{
    Moments m = moments_of_term((BbDelayTerm){BB_DELAY_NORMAL, 50 * MS, 50 * MS});
    ck_assert_double_ge(m.least, 0);
    ck_assert_double_eq_tol(m.mean, 50 + 50 * 0.24197 / 0.84134, 0.3);
}
END_TEST

START_TEST(uniform)
{
    Moments m = moments_of_term((BbDelayTerm){BB_DELAY_UNIFORM, 10 * MS, 30 * MS});
    ck_assert_double_eq_tol(m.mean, 20, 0.1);
    ck_assert_double_eq_tol(m.deviation, 20 / sqrt(12), 0.1);
    ck_assert_double_ge(m.least, 10);
    ck_assert_double_le(m.most, 30);
}
END_TEST

START_TEST(exponential)
{
    Moments m = moments_of_term((BbDelayTerm){BB_DELAY_EXPONENTIAL, 20 * MS, 0});
    ck_assert_double_eq_tol(m.mean, 20, 0.2);
    ck_assert_double_eq_tol(m.deviation, 20, 0.4);
}
END_TEST

START_TEST(lognormal)
{
    Moments m = moments_of_term(bb_delay_lognormal(20 * MS, 16 * MS));
    ck_assert_double_eq_tol(m.mean, 20, 0.2);
    ck_assert_double_eq_tol(m.deviation, 16, 0.6);
    ck_assert_double_gt(m.least, 0);
}
END_TEST

// Shape 3: mean 1.5, median 2^(1/3) times the least.
START_TEST(pareto)
{
    Moments m = moments_of_term((BbDelayTerm){BB_DELAY_PARETO, 10 * MS, 3});
    ck_assert_double_eq_tol(m.mean, 15, 0.2);
    ck_assert_double_eq_tol(m.median, 10 * cbrt(2), 0.1);
    ck_assert_double_ge(m.least, 10);
    ck_assert_double_gt(m.most, 100);
}
END_TEST

START_TEST(sum)
{
    BbDelay delay = {
        .count = 2,
        .terms = {{BB_DELAY_CONSTANT, 5 * MS, 0}, {BB_DELAY_EXPONENTIAL, 20 * MS, 0}},
    };
    Moments m = moments_of(&delay);
    ck_assert_double_eq_tol(m.mean, 25, 0.2);
    ck_assert_double_ge(m.least, 5);
}
END_TEST

// A shape of 0.01 gives numbers beyond any time.
START_TEST(never_beyond_the_limit)
{
    BbDelay delay = {.count = 1, .terms = {{BB_DELAY_PARETO, 10 * MS, 0.01}}};
    BbRandom random = bb_random_start(3);
    gint64 most = 0;
    for (int i = 0; i < 1000; i++)
        most = MAX(most, bb_delay_sample(&delay, &random));
    ck_assert_int_eq(most, BB_DELAY_MAX_NS);
}
END_TEST

TEST_MAIN("delay", nothing_is_nothing, constant, normal, normal_is_cut_at_0, uniform, exponential,
          lognormal, pareto, sum, never_beyond_the_limit)
