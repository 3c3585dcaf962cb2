// SPDX-License-Identifier: Apache-2.0
// Whose turn it is, among interfaces whose frames come late, in bursts, or not at all, and whose
// clocks are set.
#include "capture/sources/heads.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)
#define S (1000 * MS)
#define DAY0 (G_GINT64_CONSTANT(1700000000) * S)

// Both clocks, so long after the beginning.
static BbHeadsNow at(gint64 since_ns)
{
    return (BbHeadsNow){DAY0 + since_ns, 1000000 + since_ns / 1000};
}

static int take(BbHeads *heads, gint64 since_ns)
{
    bool crossed = false;
    int index = bb_heads_take(heads, at(since_ns), &crossed);
    ck_assert(!crossed);
    return index;
}

START_TEST(one_interface_never_waits)
{
    g_autoptr(BbHeads) heads = bb_heads_new(1);
    const BbHeadsNow no_clock = {0};
    bool crossed = false;
    for (int i = 0; i < 3; i++) {
        ck_assert(bb_heads_wants(heads, 0, no_clock));
        ck_assert_int_eq(bb_heads_put(heads, 0, DAY0 + i, no_clock), 0);
        ck_assert(!bb_heads_wants(heads, 0, no_clock));
        ck_assert_int_eq(bb_heads_take(heads, no_clock, &crossed), 0);
        ck_assert(!crossed);
    }
    bb_heads_none(heads, 0, no_clock);
    ck_assert(bb_heads_wants(heads, 0, no_clock));
    ck_assert_int_eq(bb_heads_take(heads, no_clock, &crossed), -1);
    ck_assert(bb_heads_wait(heads, no_clock) == G_MAXINT64);
}
END_TEST

START_TEST(the_earliest_of_two)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    bb_heads_put(heads, 0, DAY0 + 5 * MS, at(10 * MS));
    bb_heads_put(heads, 1, DAY0 + 3 * MS, at(10 * MS));
    ck_assert_int_eq(take(heads, 10 * MS), 1);
    bb_heads_put(heads, 1, DAY0 + 7 * MS, at(11 * MS));
    ck_assert_int_eq(take(heads, 11 * MS), 0);
    bb_heads_put(heads, 0, DAY0 + 7 * MS,
                 at(11 * MS)); // of two that are equal, the first interface
    ck_assert_int_eq(take(heads, 11 * MS), 0);
}
END_TEST

// An idle interface holds another one back until what it could have would have come.
START_TEST(an_idle_interface)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    bb_heads_put(heads, 0, DAY0 + 50 * MS, at(60 * MS));
    bb_heads_none(heads, 1, at(60 * MS));
    ck_assert_int_eq(take(heads, 60 * MS), -1);
    ck_assert_int_eq(bb_heads_wait(heads, at(60 * MS)), 110 * MS);
    ck_assert(bb_heads_wants(heads, 1, at(169 * MS)));
    bb_heads_none(heads, 1, at(169 * MS));
    ck_assert_int_eq(take(heads, 169 * MS), -1);
    bb_heads_none(heads, 1, at(170 * MS));
    ck_assert_int_eq(bb_heads_wait(heads, at(170 * MS)), 0);
    ck_assert_int_eq(take(heads, 170 * MS), 0);
    // What is older still needs no other look at it, for a short time.
    bb_heads_put(heads, 0, DAY0 + 50 * MS, at(171 * MS));
    ck_assert(!bb_heads_wants(heads, 1, at(171 * MS)));
    ck_assert(bb_heads_wants(heads, 1, at(181 * MS)));
    ck_assert_int_eq(take(heads, 171 * MS), 0);
    bb_heads_put(heads, 0, DAY0 + 51 * MS, at(171 * MS));
    ck_assert(bb_heads_wants(heads, 1, at(171 * MS)));
}
END_TEST

START_TEST(one_that_leaves_holds_nobody)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    bb_heads_put(heads, 0, DAY0, at(MS));
    bb_heads_none(heads, 1, at(MS));
    ck_assert_int_eq(take(heads, MS), -1);
    bb_heads_leave(heads, 1);
    ck_assert(!bb_heads_wants(heads, 1, at(MS)));
    ck_assert_int_eq(take(heads, MS), 0);
    bb_heads_join(heads, 1);
    ck_assert(bb_heads_wants(heads, 1, at(2 * MS)));
    bb_heads_put(heads, 0, DAY0 + MS, at(2 * MS));
    bb_heads_none(heads, 1, at(2 * MS));
    ck_assert_int_eq(take(heads, 2 * MS), -1);
    bb_heads_leave(heads, 0);
    bb_heads_leave(heads, 1);
    ck_assert_int_eq(take(heads, 3 * MS), -1);
}
END_TEST

// A clock that runs ahead: nobody knows what to wait for.
START_TEST(a_stamp_of_the_future)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    bb_heads_put(heads, 0, DAY0 + 121 * MS, at(0));
    bb_heads_none(heads, 1, at(0));
    ck_assert_int_eq(take(heads, 0), 0);
    bb_heads_put(heads, 0, DAY0 + 119 * MS, at(0));
    ck_assert_int_eq(take(heads, 0), -1);
}
END_TEST

START_TEST(crossed_frames_are_counted)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    bool crossed = false;
    bb_heads_put(heads, 0, DAY0 + 50 * MS, at(200 * MS));
    bb_heads_none(heads, 1, at(200 * MS));
    ck_assert_int_eq(take(heads, 200 * MS), 0);
    bb_heads_put(heads, 0, DAY0 + 49 * MS, at(200 * MS)); // its own stamps may step a little
    ck_assert_int_eq(take(heads, 200 * MS), 0);
    bb_heads_put(heads, 1, DAY0 + 48 * MS, at(200 * MS));
    bb_heads_none(heads, 0, at(200 * MS));
    ck_assert_int_eq(bb_heads_take(heads, at(200 * MS), &crossed), 1);
    ck_assert(crossed);
}
END_TEST

START_TEST(a_step_back_is_told)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    ck_assert_int_eq(bb_heads_put(heads, 0, DAY0, at(0)), 0);
    ck_assert_int_eq(bb_heads_put(heads, 1, DAY0 - 5 * S, at(0)), 0);
    ck_assert_int_eq(take(heads, 0), 1);
    ck_assert_int_eq(bb_heads_put(heads, 1, DAY0 - 6 * S, at(0)), 0);
    ck_assert_int_eq(take(heads, 0), 1);
    ck_assert_int_eq(bb_heads_put(heads, 1, DAY0 - 7 * S - 1, at(0)), S + 1);
    ck_assert_int_eq(take(heads, 0), 1);
    ck_assert_int_eq(bb_heads_put(heads, 1, DAY0 + 3600 * S, at(0)), 0);
    ck_assert_int_eq(take(heads, 0), 0);
}
END_TEST

// The clock is set back by an hour while both have frames all the time. Nobody is passed for long,
// and afterwards order is as before.
START_TEST(the_clock_is_set_back)
{
    g_autoptr(BbHeads) heads = bb_heads_new(2);
    gint64 since_ns = 0, offset_ns = 0, longest_ns = 0, given_ns[2] = {0}, last_ns = 0;
    guint crossings = 0;
    for (guint i = 0; i < 10000; i++, since_ns += MS) {
        if (i == 5000)
            offset_ns = -3600 * S;
        // Interface 0 is read 50 ms behind: at the step it has old stamps yet.
        gint64 old_ns = i < 5050 ? 0 : offset_ns;
        if (bb_heads_wants(heads, 0, at(since_ns)))
            bb_heads_put(heads, 0, DAY0 + since_ns - 50 * MS + old_ns, at(since_ns));
        if (bb_heads_wants(heads, 1, at(since_ns)))
            bb_heads_put(heads, 1, DAY0 + since_ns - 50 * MS + offset_ns + 1, at(since_ns));
        bool crossed = false;
        int index = bb_heads_take(heads, at(since_ns), &crossed);
        ck_assert_int_ge(index, 0);
        longest_ns = MAX(longest_ns, since_ns - given_ns[index]);
        given_ns[index] = since_ns;
        crossings += crossed;
        if (crossed)
            last_ns = since_ns;
    }
    ck_assert_int_le(longest_ns, BB_HEADS_PASS_US * 1000 + 10 * MS);
    ck_assert_uint_gt(crossings, 0);
    ck_assert_int_lt(last_ns, 5000 * MS + BB_HEADS_PASS_US * 1000 + 200 * MS);
    bb_heads_leave(heads, 0);
    bb_heads_leave(heads, 1);
    bb_heads_join(heads, 0);
    bb_heads_join(heads, 1);
    bb_heads_put(heads, 0, DAY0 + since_ns + offset_ns + 2, at(since_ns));
    bb_heads_put(heads, 1, DAY0 + since_ns + offset_ns + 1, at(since_ns));
    ck_assert_int_eq(take(heads, since_ns), 1);
}
END_TEST

// ---- against what is sorted ---------------------------------------------------------------------

#define LANES 3u
#define FRAMES 2000u

typedef struct {
    gint64 stamp_ns[FRAMES], ready_ns[FRAMES]; // when the kernel shows it
    guint next;
} Lane;

// Frames come in blocks that are shown within 100 ms, as those of the kernel.
static void fill_lane(GRand *rand, Lane *lane, gint64 mean_ns)
{
    gint64 now_ns = 0, block_ns = 0;
    for (guint i = 0; i < FRAMES; i++) {
        now_ns += 1 + (gint64)(g_rand_double(rand) * 2 * (double)mean_ns);
        if (now_ns > block_ns)
            block_ns = now_ns + g_rand_int_range(rand, 0, 101) * MS;
        lane->stamp_ns[i] = now_ns;
        lane->ready_ns[i] = block_ns;
    }
    lane->next = 0;
}

static void read_lanes(BbHeads *heads, Lane *lanes, gint64 now_ns)
{
    for (guint i = 0; i < LANES; i++) {
        Lane *lane = &lanes[i];
        if (!bb_heads_wants(heads, i, at(now_ns)))
            continue;
        if (lane->next < FRAMES && lane->ready_ns[lane->next] <= now_ns)
            bb_heads_put(heads, i, DAY0 + lane->stamp_ns[lane->next++], at(now_ns));
        else
            bb_heads_none(heads, i, at(now_ns));
    }
}

// Whatever the bursts, all come in order of time, and none later than the wait.
START_TEST(all_in_order)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("heads"));
    g_autofree Lane *lanes = g_new0(Lane, LANES);
    for (guint i = 0; i < LANES; i++)
        fill_lane(rand, &lanes[i], (i * i * i * 4 + 1) * MS);
    g_autoptr(BbHeads) heads = bb_heads_new(LANES);
    guint given = 0, turns = 0;
    gint64 now_ns = 0, latest_ns = G_MININT64;
    while (given < LANES * FRAMES) {
        ck_assert_uint_lt(turns++, 50 * LANES * FRAMES);
        read_lanes(heads, lanes, now_ns);
        gint64 rest_ns = bb_heads_wait(heads, at(now_ns));
        bool crossed = false;
        int index = bb_heads_take(heads, at(now_ns), &crossed);
        if (index < 0) {
            now_ns += MIN(rest_ns, MS);
            continue;
        }
        gint64 stamp_ns = lanes[index].stamp_ns[lanes[index].next - 1];
        ck_assert(!crossed);
        ck_assert_int_ge(stamp_ns, latest_ns);
        ck_assert_int_le(now_ns - stamp_ns, BB_HEADS_WAIT_NS + MS);
        latest_ns = stamp_ns;
        given++;
    }
}
END_TEST

TEST_MAIN("heads", one_interface_never_waits, the_earliest_of_two, an_idle_interface,
          one_that_leaves_holds_nobody, a_stamp_of_the_future, crossed_frames_are_counted,
          a_step_back_is_told, the_clock_is_set_back, all_in_order)
