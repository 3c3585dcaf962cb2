// SPDX-License-Identifier: Apache-2.0
// Maps between clocks: lines, steps, inverse, joined; times never fall; the ends of time.
#include "merge/clock_map.h"
#include "tests/unit/test.h"

#include "data/random.h"

#define MS G_GINT64_CONSTANT(1000000)
#define S (1000 * MS)
#define T0 G_GINT64_CONSTANT(1795164688000000000)

static void add(BbClockMap *map, gint64 from_ns, gint64 to_ns, gint64 offset_ns, double drift)
{
    bb_clock_map_add(map, &(BbClockPiece){.from_ns = from_ns,
                                          .to_ns = to_ns,
                                          .anchor_ns = from_ns,
                                          .offset_ns = offset_ns,
                                          .drift = drift,
                                          .error_ns = 1000});
}

START_TEST(one_line)
{
    g_autoptr(BbClockMap) map = bb_clock_map_new();
    add(map, T0, T0 + 60 * S, 5 * S, 10e-6);
    ck_assert_int_eq(bb_clock_map_apply(map, T0), T0 + 5 * S);
    ck_assert_int_eq(bb_clock_map_apply(map, T0 + 100 * S), T0 + 105 * S + MS);
    ck_assert_int_eq(bb_clock_map_apply(map, T0 - 100 * S), T0 - 95 * S - MS);
}
END_TEST

// This clock jumps ahead by 5 s at 10 s: nothing was seen between 9.9 and 15.1.
START_TEST(a_jump_ahead)
{
    g_autoptr(BbClockMap) map = bb_clock_map_new();
    add(map, T0, T0 + 9900 * MS, 0, 0);
    add(map, T0 + 15100 * MS, T0 + 60 * S, -5 * S, 0);
    ck_assert_int_eq(bb_clock_map_step_ns(map, 0), -5 * S);
    ck_assert_int_eq(bb_clock_map_apply(map, T0 + 9900 * MS), T0 + 9900 * MS);
    ck_assert_int_eq(bb_clock_map_apply(map, T0 + 15100 * MS), T0 + 10100 * MS);
    gint64 between = bb_clock_map_apply(map, T0 + 12500 * MS);
    ck_assert_int_eq(between, T0 + 10 * S);
    g_autoptr(BbClockMap) back = bb_clock_map_invert(map);
    ck_assert_int_eq(bb_clock_map_apply(back, T0 + 20 * S), T0 + 25 * S);
    ck_assert_int_eq(bb_clock_map_apply(back, T0 + 5 * S), T0 + 5 * S);
}
END_TEST

static gint64 apply_near(const BbClockMap *map, gint64 time_ns, gint64 near_ns)
{
    return bb_clock_map_apply_in(map, bb_clock_map_lap(map, time_ns, near_ns), time_ns);
}

// It steps back by 5 s at 10 s: from 5 to 10 s it shows every time twice, and what came before
// tells them apart.
START_TEST(a_step_back)
{
    g_autoptr(BbClockMap) map = bb_clock_map_new();
    add(map, T0, T0 + 10 * S, 0, 0);
    add(map, T0 + 5 * S, T0 + 60 * S, 5 * S, 0);
    ck_assert_uint_eq(bb_clock_map_laps(map), 2);
    ck_assert_int_eq(bb_clock_map_at(map, 0)->to_ns, T0 + 10 * S);
    ck_assert_int_eq(bb_clock_map_at(map, 1)->from_ns, T0 + 5 * S);
    ck_assert_int_eq(apply_near(map, T0 + 8 * S, T0 + 7900 * MS), T0 + 8 * S);
    ck_assert_int_eq(apply_near(map, T0 + 8 * S, T0 + 12900 * MS), T0 + 13 * S);
    ck_assert_int_eq(bb_clock_map_apply(map, T0 + 8 * S), T0 + 8 * S);
    ck_assert_int_eq(bb_clock_map_apply(map, T0 + 11 * S), T0 + 16 * S);
    ck_assert_uint_eq(bb_clock_map_falls(map), 0);
    g_autoptr(BbClockMap) back = bb_clock_map_invert(map);
    ck_assert_uint_eq(bb_clock_map_laps(back), 2);
    ck_assert_uint_eq(bb_clock_map_falls(back), 1);
    ck_assert_int_eq(bb_clock_map_apply(back, T0 + 9 * S), T0 + 9 * S);
    ck_assert_int_eq(bb_clock_map_apply(back, T0 + 11 * S), T0 + 6 * S);
}
END_TEST

// By 60 s: it shows no time twice, and nothing is ambiguous.
START_TEST(a_step_back_beyond_its_beginning)
{
    g_autoptr(BbClockMap) map = bb_clock_map_new();
    add(map, T0, T0 + 10 * S, 0, 0);
    add(map, T0 - 50 * S, T0 - 20 * S, 60 * S, 0);
    for (guint near = 0; near < 2; near++) {
        gint64 near_ns = near ? T0 : T0 + 60 * S;
        ck_assert_int_eq(apply_near(map, T0 + 5 * S, near_ns), T0 + 5 * S);
        ck_assert_int_eq(apply_near(map, T0 - 30 * S, near_ns), T0 + 30 * S);
        ck_assert_int_eq(apply_near(map, T0 - S, near_ns), T0 - S);
        ck_assert_int_eq(apply_near(map, T0 - 19 * S, near_ns), T0 + 41 * S);
    }
}
END_TEST

// c is mapped to b, which steps back by 5 s at 10 s, and that to a.
START_TEST(maps_join_over_a_step_back)
{
    g_autoptr(BbClockMap) cb = bb_clock_map_new(), ba = bb_clock_map_new();
    add(cb, T0 + S, T0 + 10 * S, 0, 0);
    add(cb, T0 + 10 * S, T0 + 30 * S, -5 * S, 0);
    add(ba, T0, T0 + 10 * S, 0, 0);
    add(ba, T0 + 5 * S, T0 + 60 * S, 5 * S, 0);
    g_autoptr(BbClockMap) ca = bb_clock_map_join(cb, ba);
    for (gint64 t = T0 + S; t < T0 + 30 * S; t += 100 * MS)
        ck_assert_int_eq(bb_clock_map_apply(ca, t), t);
}
END_TEST

START_TEST(times_never_fall)
{
    BbRandom random = bb_random_start(test_seed("times_never_fall"));
    for (guint round = 0; round < 200; round++) {
        g_autoptr(BbClockMap) map = bb_clock_map_new();
        gint64 from_ns = T0;
        for (guint i = 1 + (guint)bb_random_below(&random, 5); i > 0; i--) {
            gint64 to_ns = from_ns + (gint64)bb_random_below(&random, 20 * S);
            add(map, from_ns, to_ns, (gint64)bb_random_below(&random, 10 * S) - 5 * S,
                (bb_random_unit(&random) - 0.5) * 1e-3);
            from_ns = to_ns + (gint64)bb_random_below(&random, 8 * S) - 2 * S;
        }
        for (guint lap = 0; lap < bb_clock_map_laps(map); lap++) {
            gint64 last_ns = G_MININT64;
            for (gint64 t = T0 - 10 * S; t < T0 + 120 * S; t += 50 * MS) {
                gint64 mapped = bb_clock_map_apply_in(map, lap, t);
                ck_assert_int_ge(mapped, last_ns);
                last_ns = mapped;
            }
        }
    }
}
END_TEST

START_TEST(maps_join)
{
    g_autoptr(BbClockMap) ab = bb_clock_map_new(), bc = bb_clock_map_new();
    add(ab, T0, T0 + 60 * S, 2 * S, 50e-6);
    add(bc, T0 + 2 * S, T0 + 30 * S, -7 * S, -20e-6); // in b's time
    add(bc, T0 + 31 * S, T0 + 62 * S, -6 * S, -20e-6);
    g_autoptr(BbClockMap) ac = bb_clock_map_join(ab, bc);
    ck_assert_uint_eq(bb_clock_map_count(ac), 2);
    ck_assert_double_eq_tol(bb_clock_map_error_ns(ac), 2000, 1e-9);
    for (gint64 t = T0 - 10 * S; t < T0 + 100 * S; t += 100 * MS) {
        gint64 over_b = bb_clock_map_apply(bc, bb_clock_map_apply(ab, t));
        ck_assert_int_le(ABS(bb_clock_map_apply(ac, t) - over_b),
                         50000); // in the gap: another line
        g_autoptr(BbClockMap) ba = bb_clock_map_invert(ab);
        ck_assert_int_le(ABS(bb_clock_map_apply(ba, bb_clock_map_apply(ab, t)) - t), 2);
    }
    g_autoptr(BbClockMap) same = bb_clock_map_same();
    g_autoptr(BbClockMap) still = bb_clock_map_join(ab, same);
    ck_assert_int_eq(bb_clock_map_apply(still, T0 + 5 * S), bb_clock_map_apply(ab, T0 + 5 * S));
}
END_TEST

// What lies in a gap of the second map alone has the line of the first piece, not none.
START_TEST(a_gap_is_no_hole)
{
    g_autoptr(BbClockMap) ab = bb_clock_map_new(), bc = bb_clock_map_new();
    add(ab, T0 + 40 * S, T0 + 41 * S, 0, 0);
    add(bc, T0, T0 + 30 * S, S, 0);
    add(bc, T0 + 50 * S, T0 + 60 * S, 2 * S, 0);
    g_autoptr(BbClockMap) ac = bb_clock_map_join(ab, bc);
    ck_assert_uint_eq(bb_clock_map_count(ac), 1);
    ck_assert_int_eq(bb_clock_map_apply(ac, T0 + 40 * S), T0 + 41 * S);
}
END_TEST

START_TEST(time_has_two_ends)
{
    g_autoptr(BbClockMap) map = bb_clock_map_new();
    add(map, T0, T0 + S, 100 * S, 1e-3);
    ck_assert_int_eq(bb_clock_map_apply(map, G_MAXINT64), G_MAXINT64);
    g_autoptr(BbClockMap) far = bb_clock_map_new();
    add(far, T0, T0 + S, G_MININT64, 0);
    ck_assert_int_eq(bb_clock_map_apply(far, -5), G_MININT64);
    g_autoptr(BbClockMap) back = bb_clock_map_invert(far);
    ck_assert_int_eq(bb_clock_map_apply(back, 5), G_MAXINT64);
    g_autoptr(BbClockMap) same = bb_clock_map_same();
    ck_assert_int_eq(bb_clock_map_apply(same, G_MININT64), G_MININT64);
    ck_assert_int_eq(bb_clock_map_apply(same, G_MAXINT64), G_MAXINT64);
}
END_TEST

TEST_MAIN("clock_map", one_line, a_jump_ahead, a_step_back, a_step_back_beyond_its_beginning,
          maps_join_over_a_step_back, times_never_fall, maps_join, a_gap_is_no_hole,
          time_has_two_ends)
