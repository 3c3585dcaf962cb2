// SPDX-License-Identifier: Apache-2.0
// Messages as signals: which quantum a time is in, roots of counts.
#include "convolution/signal.h"
#include "tests/unit/test.h"

#include <math.h>

START_TEST(a_quantum_ends_before_the_next)
{
    ck_assert_uint_eq(bb_signal_quantum(1000, 1000, 10), 0);
    ck_assert_uint_eq(bb_signal_quantum(1009, 1000, 10), 0);
    ck_assert_uint_eq(bb_signal_quantum(1010, 1000, 10), 1);
    ck_assert_uint_eq(bb_signal_quantum(5, -15, 10), 2);
}
END_TEST

START_TEST(any_two_times)
{
    ck_assert_uint_eq(bb_signal_quantum(G_MAXINT64, G_MININT64, 1), G_MAXUINT64);
    ck_assert_uint_eq(bb_signal_quantum(G_MAXINT64, G_MININT64, G_MAXINT64), 2);
}
END_TEST

START_TEST(roots_of_counts)
{
    const guint32 quanta[] = {0, 2, 2, 5, 5, 5, 5};
    double signal[7];
    for (guint i = 0; i < 7; i++)
        signal[i] = 9; // what was there before is gone
    bb_signal_fill(signal, 7, quanta, G_N_ELEMENTS(quanta));
    const double expected[] = {1, 0, sqrt(2), 0, 0, 2, 0};
    for (guint i = 0; i < 7; i++)
        ck_assert_double_eq(signal[i], expected[i]);
}
END_TEST

START_TEST(no_messages)
{
    double signal[2] = {1, 1};
    bb_signal_fill(signal, 2, NULL, 0);
    ck_assert(signal[0] == 0 && signal[1] == 0);
}
END_TEST

TEST_MAIN("signal", a_quantum_ends_before_the_next, any_two_times, roots_of_counts, no_messages)
