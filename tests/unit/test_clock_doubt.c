// SPDX-License-Identifier: Apache-2.0
// What a merge left of its clocks: from which share on it is told, and with which figures.
#include "data/clock_doubt.h"
#include "tests/unit/test.h"

static char *tell(guint64 moved, guint64 before, guint64 error_ns)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    bb_counters_add(counters, BB_RETURNS_MOVED, moved);
    bb_counters_add(counters, BB_RETURNS_BEFORE, before);
    bb_counters_add(counters, BB_CLOCK_ERROR, error_ns);
    const BbClockDoubt doubt = bb_clock_doubt_of(counters, 1000);
    return bb_clock_doubt_tell(&doubt);
}

static void expect(guint64 error_ns, const char *words)
{
    g_autofree char *told = tell(100, 48, error_ns);
    ck_assert_ptr_nonnull(told);
    ck_assert_msg(strstr(told, words) != NULL, "%s", told);
}

START_TEST(few_are_not_told)
{
    g_autofree char *none = tell(0, 0, 730001), *few = tell(5, 4, 730001);
    ck_assert_ptr_null(none);
    ck_assert_ptr_null(few);
    g_autofree char *enough = tell(5, 5, 730001);
    ck_assert_ptr_nonnull(enough);
    const BbClockDoubt doubt = {.error_ns = 1};
    ck_assert_ptr_null(bb_clock_doubt_tell(&doubt));
}
END_TEST

START_TEST(figures)
{
    expect(0, "15 % of the calls had a return that preceded them, or their arrival: what");
    expect(0, "bbpaths --skew-window allows for it, bbtrace merge --clocks=correct ");
    expect(730001, "known to within 730 us: ");
    expect(730001, "--skew-window=731us ");
    expect(1, "--skew-window=1us ");
    expect(10000000, "--skew-window=10000us ");
    expect(10000001, "--skew-window=11ms ");
    expect(G_MAXUINT64, "--skew-window=18446744073710ms ");
}
END_TEST

START_TEST(without_calls_nothing_is_wrong)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    bb_counters_add(counters, BB_RETURNS_MOVED, 5);
    ck_assert(bb_clock_doubt_of(counters, 0).share == 0);
    ck_assert(bb_clock_doubt_of(counters, 2).share == 1);
    bb_counters_add(counters, BB_CALLS_MERGED, 50); // of which two are left
    ck_assert_double_eq_tol(bb_clock_doubt_of(counters, 2).share, 0.1, 1e-9);
}
END_TEST

TEST_MAIN("clock_doubt", few_are_not_told, figures, without_calls_nothing_is_wrong)
