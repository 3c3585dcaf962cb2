// SPDX-License-Identifier: Apache-2.0
// In: times by kind. Out: checks of their middle, and of how far others are from it.
#include "nesting/usual.h"

#include <math.h>

#include "tests/unit/test.h"

static const BbTallyKey one = {1, 2, 3}, other = {1, 2, 4};

START_TEST(kinds_are_apart)
{
    g_autoptr(BbUsual) usual = bb_usual_new();
    bb_usual_add(usual, one, 10);
    ck_assert_ptr_null(bb_usual_find(usual, other));
    bb_usual_add(usual, other, 1000);
    bb_usual_add(usual, one, 1000);
    ck_assert_uint_eq(bb_usual_find(usual, one)->count, 2);
    ck_assert_int_eq(bb_usual_middle(bb_usual_find(usual, one)), 100);
    ck_assert_uint_eq(bb_usual_find(usual, other)->count, 1);
}
END_TEST

START_TEST(deviations_are_of_logs)
{
    g_autoptr(BbUsual) usual = bb_usual_new();
    bb_usual_add(usual, one, 10);
    bb_usual_add(usual, one, 1000);
    const BbUsualTimes *times = bb_usual_find(usual, one);
    ck_assert_double_eq_tol(bb_usual_off(times, 100, 0.1), 0, 1e-9);
    ck_assert_double_eq_tol(bb_usual_off(times, 10000, 0.1), 2, 1e-9);
    ck_assert_double_eq_tol(bb_usual_off(times, 1, 0.1), -2, 1e-9);
    ck_assert_double_eq_tol(bb_usual_off(times, 1000, 2 * log(10)), 0.5, 1e-9);
}
END_TEST

START_TEST(times_may_be_any_number)
{
    g_autoptr(BbUsual) usual = bb_usual_new();
    bb_usual_add(usual, one, G_MININT64);
    bb_usual_add(usual, one, 0);
    ck_assert_int_eq(bb_usual_middle(bb_usual_find(usual, one)), 1);
    bb_usual_add(usual, other, G_MAXINT64);
    ck_assert_int_eq(bb_usual_middle(bb_usual_find(usual, other)), G_GINT64_CONSTANT(1) << 62);
}
END_TEST

TEST_MAIN("usual", kinds_are_apart, deviations_are_of_logs, times_may_be_any_number)
