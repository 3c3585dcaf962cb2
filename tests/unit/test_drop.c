// SPDX-License-Identifier: Apache-2.0
// Losses: by chance at the rate asked for, and in bursts by a queue with one server.
#include "data/drop.h"
#include "data/random.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)

static BbMessage at(gint64 time_ns, guint32 sender, guint32 receiver)
{
    BbMessage m = bb_message_empty();
    m.time_ns = time_ns;
    m.sender = sender;
    m.receiver = receiver;
    return m;
}

static guint64 count_lost(BbDrop *drop, guint count, guint32 sender, guint32 receiver)
{
    guint64 lost = 0;
    for (guint i = 0; i < count; i++) {
        BbMessage m = at((gint64)i * MS, sender, receiver);
        lost += bb_drop_loses(drop, &m);
    }
    return lost;
}

START_TEST(by_chance)
{
    g_autoptr(BbDrop) drop = bb_drop_new(&(BbDropOptions){.chance = 0.05, .queue = 64, .seed = 1});
    guint64 lost = count_lost(drop, 100000, 1, 2);
    ck_assert_double_eq_tol((double)lost, 5000, 250);
    ck_assert_uint_eq(bb_drop_by_chance(drop), lost);
    ck_assert_uint_eq(bb_drop_by_queue(drop), 0);
}
END_TEST

START_TEST(nothing_and_all)
{
    g_autoptr(BbDrop) none = bb_drop_new(&(BbDropOptions){.queue = 64, .seed = 1});
    g_autoptr(BbDrop) all = bb_drop_new(&(BbDropOptions){.chance = 1, .queue = 64, .seed = 1});
    ck_assert_uint_eq(count_lost(none, 1000, 1, 2), 0);
    ck_assert_uint_eq(count_lost(all, 1000, 1, 2), 1000);
}
END_TEST

START_TEST(a_seed_is_a_choice)
{
    g_autoptr(BbDrop) a = bb_drop_new(&(BbDropOptions){.chance = 0.5, .queue = 1, .seed = 1});
    g_autoptr(BbDrop) b = bb_drop_new(&(BbDropOptions){.chance = 0.5, .queue = 1, .seed = 1});
    g_autoptr(BbDrop) c = bb_drop_new(&(BbDropOptions){.chance = 0.5, .queue = 1, .seed = 2});
    guint differ = 0;
    for (guint i = 0; i < 1000; i++) {
        BbMessage m = at(i, 1, 2);
        bool lost = bb_drop_loses(a, &m);
        ck_assert_int_eq(lost, bb_drop_loses(b, &m));
        differ += lost != bb_drop_loses(c, &m);
    }
    ck_assert_uint_gt(differ, 300);
}
END_TEST

START_TEST(only_of_these_nodes)
{
    g_autoptr(BbDrop) drop = bb_drop_new(&(BbDropOptions){.chance = 1, .queue = 64, .seed = 1});
    bb_drop_node(drop, 3);
    bb_drop_node(drop, 5);
    ck_assert_uint_eq(count_lost(drop, 10, 1, 2), 0);
    ck_assert_uint_eq(count_lost(drop, 10, 3, 2), 10);
    ck_assert_uint_eq(count_lost(drop, 10, 1, 5), 10);
}
END_TEST

// Ten at once into a queue of four: six are lost. A tenth of a second later there is room for one.
START_TEST(a_queue_overflows)
{
    g_autoptr(BbDrop) drop = bb_drop_new(&(BbDropOptions){.peak = 10, .queue = 4, .seed = 1});
    for (guint i = 0; i < 10; i++) {
        BbMessage m = at(0, 1, 2);
        ck_assert_int_eq(bb_drop_loses(drop, &m), i >= 4);
    }
    BbMessage early = at(99 * MS, 1, 2), room = at(100 * MS, 1, 2), full = at(101 * MS, 1, 2);
    ck_assert(bb_drop_loses(drop, &early));
    ck_assert(!bb_drop_loses(drop, &room));
    ck_assert(bb_drop_loses(drop, &full));
    BbMessage later = at(2000 * MS, 1, 2);
    ck_assert(!bb_drop_loses(drop, &later));
    ck_assert_uint_eq(bb_drop_by_queue(drop), 8);
}
END_TEST

START_TEST(a_steady_rate_below_the_peak_is_kept)
{
    g_autoptr(BbDrop) exact = bb_drop_new(&(BbDropOptions){.peak = 1000, .queue = 1, .seed = 1});
    ck_assert_uint_eq(count_lost(exact, 10000, 1, 2), 0);
    g_autoptr(BbDrop) half = bb_drop_new(&(BbDropOptions){.peak = 500, .queue = 64, .seed = 1});
    ck_assert_double_eq_tol((double)count_lost(half, 10000, 1, 2), 5000, 64);
}
END_TEST

START_TEST(the_peak_for_a_share)
{
    BbRandom random = bb_random_start(1);
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
    gint64 now_ns = 0;
    for (guint i = 0; i < 50000; i++) {
        g_array_append_val(times, now_ns);
        now_ns += (gint64)(bb_random_exponential(&random) * 1e6);
    }
    const gint64 *times_ns = (const gint64 *)(gpointer)times->data;
    double peak = bb_drop_peak_for(times_ns, times->len, 8, 0.03);
    ck_assert_double_gt(peak, 500);
    ck_assert_double_lt(peak, 2000);
    g_autoptr(BbDrop) drop = bb_drop_new(&(BbDropOptions){.peak = peak, .queue = 8, .seed = 1});
    for (guint i = 0; i < times->len; i++) {
        BbMessage m = at(times_ns[i], 1, 2);
        (void)bb_drop_loses(drop, &m);
    }
    ck_assert_double_eq_tol((double)bb_drop_by_queue(drop), 1500, 15);
    // More than all but what fits into the queue cannot be lost.
    ck_assert_double_eq(bb_drop_peak_for(times_ns, 10, 8, 0.5), 0);
    ck_assert_double_eq(bb_drop_peak_for(times_ns, 0, 8, 0.5), 0);
}
END_TEST

TEST_MAIN("drop", by_chance, nothing_and_all, a_seed_is_a_choice, only_of_these_nodes,
          a_queue_overflows, a_steady_rate_below_the_peak_is_kept, the_peak_for_a_share)
