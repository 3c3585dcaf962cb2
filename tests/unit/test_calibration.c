// SPDX-License-Identifier: Apache-2.0
// Confidences against what came true.
#include "diagnose/calibration.h"

#include <math.h>

#include "tests/unit/test.h"

static void add(BbCalibration *calibration, double confidence, guint count, guint right)
{
    for (guint i = 0; i < count; i++)
        bb_calibration_add(calibration, confidence, i < right);
}

START_TEST(each_goes_into_its_bin)
{
    static const struct {
        double confidence;
        guint bin;
    } cases[] = {{0, 0},   {0.0999, 0}, {0.1, 1},   {0.55, 5}, {0.8999, 8},
                 {0.9, 9}, {0.989, 9},  {0.99, 10}, {1, 10},   {1.5, 10}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbCalibration calibration = {.stated = 0};
        bb_calibration_add(&calibration, cases[i].confidence, true);
        ck_assert_uint_eq(calibration.bins[cases[i].bin].count, 1);
        ck_assert_uint_eq(calibration.bins[cases[i].bin].right, 1);
        ck_assert_double_le(calibration.bins[cases[i].bin].sum, 1);
        ck_assert_uint_eq(calibration.stated, 1);
    }
    ck_assert_double_eq(bb_calibration_bound(0), 0);
    ck_assert_double_eq(bb_calibration_bound(BB_CALIBRATION_BINS), 1);
}
END_TEST

START_TEST(what_is_kept_is_no_error)
{
    BbCalibration calibration = {.stated = 0};
    add(&calibration, 0.75, 8, 6);
    add(&calibration, 1, 5, 5);
    ck_assert_double_eq_tol(bb_calibration_error(&calibration), 0, 1e-12);
}
END_TEST

// 10 of 0.95 of which 6 are right (off by 0.35), 30 of 0.55 of which 18 are (off by 0.05).
START_TEST(errors_weigh_by_number)
{
    BbCalibration calibration = {.stated = 0};
    add(&calibration, 0.95, 10, 6);
    add(&calibration, 0.55, 30, 18);
    ck_assert_double_eq_tol(bb_calibration_error(&calibration), (3.5 + 1.5) / 40, 1e-12);
}
END_TEST

START_TEST(what_is_not_stated_is_counted_apart)
{
    BbCalibration calibration = {.stated = 0};
    add(&calibration, -1, 3, 3);
    add(&calibration, (double)NAN, 1, 1);
    ck_assert_uint_eq(calibration.stated, 0);
    ck_assert_uint_eq(calibration.not_stated, 4);
    ck_assert(isnan(bb_calibration_error(&calibration)));
}
END_TEST

TEST_MAIN("calibration", each_goes_into_its_bin, what_is_kept_is_no_error, errors_weigh_by_number,
          what_is_not_stated_is_counted_apart)
