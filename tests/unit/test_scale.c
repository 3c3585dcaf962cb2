// SPDX-License-Identifier: Apache-2.0
// Quantum and longest delay from the traffic alone, for delays from 20 us to 10 s.
#include "convolution/scale.h"
#include "tests/unit/planted.h"

static BbScale guess(Planted *planted)
{
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, 30);
    return bb_scale_guess(streams, planted->traffic->start_ns, planted->traffic->end_ns);
}

// A -> B -> C, so busy that several messages are under way at once.
static void plant(Planted *planted, guint count, double delay_ns, double sd_ns, double under_way)
{
    double at = 0;
    for (guint i = 0; i < count; i++) {
        at += bb_random_exponential(&planted->random) * delay_ns / under_way;
        gint64 sent = EPOCH + (gint64)at;
        guint32 cause = planted_send(planted, "A", "B", sent, PLANTED_ROOT);
        planted_send(planted, "B", "C", planted_later(planted, sent, delay_ns, sd_ns), cause);
    }
}

static void expect(BbScale scale, double shortest_ns, double longest_ns, double sd_ns)
{
    ck_assert_msg(scale.quantum_ns > 0, "delay %g: nothing found", shortest_ns);
    double quantum = (double)scale.quantum_ns, reach = (double)scale.max_delay_ns;
    ck_assert_msg(quantum <= sd_ns && quantum <= shortest_ns / 4, "delay %g, sd %g: quantum %g",
                  shortest_ns, sd_ns, quantum);
    ck_assert_msg(reach >= longest_ns + 3 * sd_ns && reach <= 25 * longest_ns,
                  "delay %g, sd %g: longest %g", longest_ns, sd_ns, reach);
    ck_assert_double_le(reach / quantum, 2049);
    ck_assert_double_ge(reach / quantum, 15);
}

START_TEST(delays_of_any_length)
{
    const double delays[] = {2e4, 1e5, 1e6, 1e7, 5e7, 1e9, 1e10};
    for (guint i = 0; i < G_N_ELEMENTS(delays); i++)
        for (guint busy = 0; busy < 2; busy++) {
            g_autoptr(Planted) planted = planted_new(i);
            plant(planted, 1000, delays[i], delays[i] / 5, busy ? 2 : 0.1);
            expect(guess(planted), delays[i], delays[i], delays[i] / 5);
        }
}
END_TEST

// The longest is what counts for one, the narrowest for the other.
START_TEST(two_delays_far_apart)
{
    g_autoptr(Planted) planted = planted_new(2);
    for (guint i = 0; i < 1000; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 2000 * SECOND);
        guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
        at = planted_later(planted, at, 5.0 * MS, 1.0 * MS);
        cause = planted_send(planted, "B", "C", at, cause);
        planted_send(planted, "C", "D", planted_later(planted, at, 300.0 * MS, 50.0 * MS), cause);
    }
    BbScale scale = guess(planted);
    ck_assert_int_gt(scale.quantum_ns, 0);
    ck_assert_int_le(scale.quantum_ns, 2 * MS);
    ck_assert_int_ge(scale.max_delay_ns, 400 * MS);
    ck_assert_int_le(scale.max_delay_ns, 8 * SECOND);
}
END_TEST

START_TEST(noise_shows_nothing)
{
    guint shown = 0;
    for (guint64 seed = 0; seed < 30; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        planted_noise(planted, "A", "B", 600, 100 * SECOND);
        planted_noise(planted, "B", "C", 900, 100 * SECOND);
        BbScale scale = guess(planted);
        shown += scale.quantum_ns > 0;
        ck_assert_int_eq(scale.quantum_ns > 0, scale.max_delay_ns > 0);
    }
    ck_assert_uint_le(shown, 1);
}
END_TEST

START_TEST(little_shows_nothing)
{
    g_autoptr(Planted) none = planted_new(1);
    ck_assert_int_eq(guess(none).quantum_ns, 0);
    g_autoptr(Planted) one = planted_new(1);
    planted_send(one, "A", "B", EPOCH, PLANTED_ROOT);
    ck_assert_int_eq(guess(one).quantum_ns, 0);
    g_autoptr(Planted) at_once = planted_new(1);
    for (guint i = 0; i < 200; i++)
        planted_send(at_once, i % 2 ? "A" : "B", i % 2 ? "B" : "C", EPOCH, PLANTED_ROOT);
    ck_assert_int_eq(guess(at_once).quantum_ns, 0);
    g_autoptr(Planted) far = planted_new(1); // all of time
    for (guint i = 0; i < 50; i++) {
        planted_send(far, "A", "B", i % 2 ? G_MININT64 + 1 : G_MAXINT64, PLANTED_ROOT);
        planted_send(far, "B", "C", i % 2 ? G_MAXINT64 : 0, PLANTED_ROOT);
    }
    BbScale scale = guess(far);
    ck_assert_int_ge(scale.quantum_ns, 0);
    ck_assert_int_ge(scale.max_delay_ns, scale.quantum_ns);
}
END_TEST

// A sample of a long trace tells as much.
START_TEST(long_traces_are_sampled)
{
    g_autoptr(Planted) planted = planted_new(6);
    plant(planted, 40000, 50.0 * MS, 10.0 * MS, 0.5);
    gint64 before = g_get_monotonic_time();
    expect(guess(planted), 50.0 * MS, 50.0 * MS, 10.0 * MS);
    ck_assert_int_lt(g_get_monotonic_time() - before, 20 * G_USEC_PER_SEC);
}
END_TEST

// C sends on what it holds at every half second: as many effects in a bin as in those around it.
START_TEST(delay_that_stands_out_from_nothing)
{
    for (guint64 seed = 0; seed < 8; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint i = 0; i < 1000; i++) {
            gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 500 * SECOND);
            guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
            at = planted_later(planted, at, 20.0 * MS, 4.0 * MS);
            cause = planted_send(planted, "B", "C", at, cause);
            planted_send(planted, "C", "D", at - at % (500 * MS) + 505 * MS, cause);
        }
        BbScale scale = guess(planted);
        ck_assert_int_gt(scale.quantum_ns, 0);
        ck_assert_int_le(scale.quantum_ns, 4 * MS);
        ck_assert_int_ge(scale.max_delay_ns, 505 * MS);
        ck_assert_int_le(scale.max_delay_ns, 8 * SECOND);
    }
}
END_TEST

// A message at a time that a clock with such steps tells.
static guint32 send_by_steps(Planted *planted, const char *from, const char *to, gint64 at_ns,
                             gint64 step_ns, guint32 cause)
{
    return planted_send(planted, from, to, at_ns / step_ns * step_ns, cause);
}

// All lags are multiples of the step then, of which no bin may have more than its width tells.
START_TEST(coarse_stamps_show_nothing)
{
    const gint64 steps[] = {US, MS, 10 * MS, SECOND};
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        g_autoptr(Planted) planted = planted_new(i);
        gint64 span = MAX(200, steps[i] / MS * 20) * SECOND;
        for (guint k = 0; k < 20000; k++)
            send_by_steps(planted, k % 2 ? "A" : "B", k % 2 ? "B" : "C",
                          EPOCH + (gint64)bb_random_below(&planted->random, (guint64)span),
                          steps[i], PLANTED_ROOT);
        ck_assert_int_eq(guess(planted).quantum_ns, 0);
    }
}
END_TEST

START_TEST(quantum_is_no_finer_than_stamps)
{
    g_autoptr(Planted) planted = planted_new(7);
    for (guint i = 0; i < 5000; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 500 * SECOND);
        guint32 cause = send_by_steps(planted, "A", "B", at, MS, PLANTED_ROOT);
        send_by_steps(planted, "B", "C", planted_later(planted, at, 20.0 * MS, 2.0 * MS), MS,
                      cause);
    }
    for (guint i = 0; i < 100; i++) { // whose step is no clock's
        planted_send(planted, "D", "E", EPOCH + i * 5 * SECOND, PLANTED_ROOT);
        planted_send(planted, "E", "F", EPOCH + i * 5 * SECOND, PLANTED_ROOT);
    }
    BbScale scale = guess(planted);
    ck_assert_int_gt(scale.quantum_ns, 0);
    ck_assert_int_eq(scale.quantum_ns % MS, 0);
    ck_assert_int_le(scale.quantum_ns, 5 * MS);
    ck_assert_int_ge(scale.max_delay_ns, 30 * MS);
    BbScale fine = {US, 10 * MS, 1};
    BbScale both = bb_scale_widest((BbScale[]){scale, fine}, 2);
    ck_assert_int_eq(both.quantum_ns, MS);
}
END_TEST

TEST_MAIN("scale", delays_of_any_length, two_delays_far_apart, noise_shows_nothing,
          little_shows_nothing, long_traces_are_sampled, delay_that_stands_out_from_nothing,
          coarse_stamps_show_nothing, quantum_is_no_finer_than_stamps)
