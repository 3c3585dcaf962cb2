// SPDX-License-Identifier: Apache-2.0
// Skew: whose clock moves which time, drift, random clocks, the ends of time.
#include "data/skew.h"
#include "tests/unit/test.h"

#include <math.h>

#define MS G_GINT64_CONSTANT(1000000)
#define T0 (1000 * 1000 * MS)

static BbMessage message(BbNames *names, const char *from, const char *to, gint64 time_ns)
{
    BbMessage m = bb_message_empty();
    m.sender = bb_names_intern(names, from);
    m.receiver = bb_names_intern(names, to);
    m.time_ns = time_ns;
    return m;
}

START_TEST(senders_and_receivers_stamp)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSkew) skew = bb_skew_new(names, (BbSkewClock){0}, 1);
    bb_skew_set(skew, "a", (BbSkewClock){.offset_ns = 3 * MS});
    bb_skew_set(skew, "b", (BbSkewClock){.offset_ns = -5 * MS});
    BbMessage m = message(names, "a", "b", T0);
    m.end_ns = T0 + MS;
    m.recv_ns = T0 + 2 * MS;
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, T0 + 3 * MS);
    ck_assert_int_eq(m.end_ns, T0 + 4 * MS);
    ck_assert_int_eq(m.recv_ns, T0 - 3 * MS);
}
END_TEST

START_TEST(sightings_are_the_receivers)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSkew) skew = bb_skew_new(names, (BbSkewClock){0}, 1);
    bb_skew_set(skew, "a", (BbSkewClock){.offset_ns = 3 * MS});
    bb_skew_set(skew, "b", (BbSkewClock){.offset_ns = -5 * MS});
    BbMessage m = message(names, "a", "b", T0);
    m.at_receiver = true;
    m.end_ns = T0 + MS;
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, T0 - 5 * MS);
    ck_assert_int_eq(m.end_ns, T0 - 4 * MS);
    ck_assert_int_eq(m.recv_ns, BB_TIME_NONE);
}
END_TEST

START_TEST(others_are_right)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSkew) skew = bb_skew_new(names, (BbSkewClock){0}, 1);
    bb_skew_set(skew, "a", (BbSkewClock){.offset_ns = 3 * MS});
    BbMessage m = message(names, "c", "a", T0);
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, T0);
    BbSkewClock clock = {.offset_ns = 1};
    ck_assert(bb_skew_clock(skew, bb_names_find(names, "c"), &clock));
    ck_assert_int_eq(clock.offset_ns, 0);
    ck_assert(!bb_skew_clock(skew, bb_names_find(names, "a"), &clock)); // has stamped nothing
    ck_assert(!bb_skew_clock(skew, 1000, &clock));
}
END_TEST

// 20 ppm: 20 us after a second, counted from the first message of the trace.
START_TEST(clocks_drift)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSkew) skew = bb_skew_new(names, (BbSkewClock){0}, 1);
    bb_skew_set(skew, "a", (BbSkewClock){.offset_ns = MS, .drift_ppm = -20});
    BbMessage first = message(names, "x", "a", T0), m = message(names, "a", "x", T0);
    bb_skew_apply(skew, &first);
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, T0 + MS);
    m.time_ns = T0 + 1000 * MS;
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, T0 + 1001 * MS - 20000);
}
END_TEST

START_TEST(random_clocks_are_normal_and_the_nodes_own)
{
    g_autoptr(BbNames) names = bb_names_new(), others = bb_names_new();
    BbSkewClock deviation = {.offset_ns = 10 * MS, .drift_ppm = 50};
    g_autoptr(BbSkew) skew = bb_skew_new(names, deviation, 1);
    g_autoptr(BbSkew) reversed = bb_skew_new(others, deviation, 1);
    g_autoptr(BbSkew) other_seed = bb_skew_new(names, deviation, 2);
    double squares = 0, drifts = 0;
    guint same = 0;
    for (int i = 0; i < 2000; i++) {
        g_autofree char *name = g_strdup_printf("n%d", i);
        g_autofree char *back = g_strdup_printf("n%d", 1999 - i);
        BbMessage m = message(names, name, "z", T0), r = message(others, back, "z", T0);
        BbMessage o = m;
        bb_skew_apply(skew, &m);
        bb_skew_apply(reversed, &r);
        bb_skew_apply(other_seed, &o);
        double off = (double)(m.time_ns - T0) / (double)MS;
        squares += off * off / 2000;
        same += m.time_ns == o.time_ns;
        BbSkewClock clock;
        ck_assert(bb_skew_clock(skew, m.sender, &clock));
        drifts += clock.drift_ppm * clock.drift_ppm / 2000;
    }
    ck_assert_double_eq_tol(sqrt(squares), 10, 0.6);
    ck_assert_double_eq_tol(sqrt(drifts), 50, 3);
    ck_assert_uint_eq(same, 0);
    for (int i = 0; i < 2000; i++) {
        g_autofree char *name = g_strdup_printf("n%d", i);
        BbSkewClock a, b;
        ck_assert(bb_skew_clock(skew, bb_names_find(names, name), &a));
        ck_assert(bb_skew_clock(reversed, bb_names_find(others, name), &b));
        ck_assert_int_eq(a.offset_ns, b.offset_ns);
    }
}
END_TEST

START_TEST(time_has_two_ends)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSkew) skew = bb_skew_new(names, (BbSkewClock){0}, 1);
    bb_skew_set(skew, "a", (BbSkewClock){.offset_ns = -2 * T0});
    bb_skew_set(skew, "b", (BbSkewClock){.offset_ns = 2 * T0});
    BbMessage m = message(names, "a", "b", T0);
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, 0);
    m = message(names, "b", "a", G_MAXINT64 - 5);
    bb_skew_apply(skew, &m);
    ck_assert_int_eq(m.time_ns, G_MAXINT64);
    ck_assert_uint_eq(bb_skew_clipped(skew), 2);
}
END_TEST

TEST_MAIN("skew", senders_and_receivers_stamp, sightings_are_the_receivers, others_are_right,
          clocks_drift, random_clocks_are_normal_and_the_nodes_own, time_has_two_ends)
