// SPDX-License-Identifier: Apache-2.0
// Random numbers: the published sequence, repeated by a seed, with the moments that are stated.
#include "data/random.h"
#include "tests/unit/test.h"

#include <math.h>

#define DRAWS 200000

typedef struct {
    double mean, deviation, least, most;
} Moments;

static Moments moments_of(double (*draw)(BbRandom *), guint64 seed)
{
    BbRandom random = bb_random_start(seed);
    Moments m = {.least = INFINITY, .most = -INFINITY};
    double squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = draw(&random);
        m.mean += x / DRAWS;
        squares += x * x / DRAWS;
        m.least = MIN(m.least, x);
        m.most = MAX(m.most, x);
    }
    m.deviation = sqrt(squares - m.mean * m.mean);
    return m;
}

// The state 1, 2, 3, 4 gives these by the reference implementation of xoshiro256** 1.0.
START_TEST(published_sequence)
{
    BbRandom random = {.state = {1, 2, 3, 4}};
    ck_assert_uint_eq(bb_random_bits(&random), 11520);
    ck_assert_uint_eq(bb_random_bits(&random), 0);
    ck_assert_uint_eq(bb_random_bits(&random), 1509978240);
    ck_assert_uint_eq(bb_random_bits(&random), 1215971899390074240);
}
END_TEST

// Splitmix64 of 0 begins with e220a8397b1dcdaf, 6e789e6aa1b965f4.
START_TEST(seeded_by_splitmix)
{
    BbRandom random = bb_random_start(0);
    ck_assert_uint_eq(random.state[0], G_GUINT64_CONSTANT(0xe220a8397b1dcdaf));
    ck_assert_uint_eq(random.state[1], G_GUINT64_CONSTANT(0x6e789e6aa1b965f4));
}
END_TEST

START_TEST(seeds_differ)
{
    BbRandom a = bb_random_start(1), b = bb_random_start(1), c = bb_random_start(2);
    guint64 first = bb_random_bits(&a);
    ck_assert_uint_eq(first, bb_random_bits(&b));
    ck_assert_uint_ne(first, bb_random_bits(&c));
}
END_TEST

START_TEST(unit_is_uniform)
{
    Moments m = moments_of(bb_random_unit, 7);
    ck_assert_double_eq_tol(m.mean, 0.5, 0.003);
    ck_assert_double_eq_tol(m.deviation, sqrt(1.0 / 12), 0.003);
    ck_assert_double_ge(m.least, 0);
    ck_assert_double_lt(m.most, 1);
}
END_TEST

START_TEST(normal_is_normal)
{
    Moments m = moments_of(bb_random_normal, 7);
    ck_assert_double_eq_tol(m.mean, 0, 0.01);
    ck_assert_double_eq_tol(m.deviation, 1, 0.01);
    ck_assert_double_lt(m.least, -3.5);
    ck_assert_double_gt(m.most, 3.5);
}
END_TEST

START_TEST(exponential_is_exponential)
{
    Moments m = moments_of(bb_random_exponential, 7);
    ck_assert_double_eq_tol(m.mean, 1, 0.01);
    ck_assert_double_eq_tol(m.deviation, 1, 0.02);
    ck_assert_double_ge(m.least, 0);
}
END_TEST

START_TEST(below_stays_below)
{
    BbRandom random = bb_random_start(7);
    guint counts[5] = {0};
    for (int i = 0; i < 50000; i++)
        counts[bb_random_below(&random, 5)]++;
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(counts[i], 10000, 400);
}
END_TEST

START_TEST(chances)
{
    BbRandom random = bb_random_start(7), before = random;
    ck_assert(bb_random_chance(&random, 1));
    ck_assert(!bb_random_chance(&random, 0));
    ck_assert_mem_eq(random.state, before.state, sizeof before.state);
    guint count = 0;
    for (int i = 0; i < 50000; i++)
        count += bb_random_chance(&random, 0.3);
    ck_assert_double_eq_tol(count, 15000, 400);
}
END_TEST

TEST_MAIN("random", published_sequence, seeded_by_splitmix, seeds_differ, unit_is_uniform,
          normal_is_normal, exponential_is_exponential, below_stays_below, chances)
