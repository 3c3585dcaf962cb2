// SPDX-License-Identifier: Apache-2.0
// Time since a moment, by clocks that go on, step back, and alternate.
#include "cli/since.h"
#include "tests/unit/test.h"

START_TEST(time_passes)
{
    BbSince since = bb_since(BB_TIME_NONE);
    ck_assert(!bb_since_passed(&since, 1000, 10)); // it begins here
    ck_assert(!bb_since_passed(&since, 1009, 10));
    ck_assert(bb_since_passed(&since, 1010, 10));
    ck_assert(bb_since_passed(&since, 1011, 10)); // until it begins anew
    since = bb_since(1011);
    ck_assert(!bb_since_passed(&since, 1020, 10));
    ck_assert(bb_since_passed(&since, 1021, 10));
}
END_TEST

START_TEST(a_clock_that_is_set_back_begins_anew)
{
    BbSince since = bb_since(1000);
    for (guint i = 0; i < BB_SINCE_BACK; i++)
        ck_assert(!bb_since_passed(&since, 500 + i, 10));
    ck_assert_int_eq(since.ns, 1000);
    ck_assert(!bb_since_passed(&since, 600, 10));
    ck_assert_int_eq(since.ns, 600);
    ck_assert(bb_since_passed(&since, 610, 10));
}
END_TEST

// Or a status that is due each second would never be, or be with each frame.
START_TEST(two_clocks_that_alternate_do_not)
{
    BbSince since = bb_since(BB_TIME_NONE);
    guint passed = 0;
    for (gint64 at = 0; at < 1000; at++) {
        if (bb_since_passed(&since, 5000 + at, 100)) {
            since = bb_since(5000 + at);
            passed++;
        }
        if (at % 2 == 0)
            ck_assert(!bb_since_passed(&since, at, 100));
    }
    ck_assert_uint_eq(passed, 9);
}
END_TEST

TEST_MAIN("since", time_passes, a_clock_that_is_set_back_begins_anew,
          two_clocks_that_alternate_do_not)
