// SPDX-License-Identifier: Apache-2.0
// Order: what is at most the window late comes out right, ties keep their order, the rest is
// counted.
#include "data/order.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

// What the sink got. bytes carries the number of arrival.
typedef struct {
    GArray *times, *arrivals;
    GPtrArray *conns;
    gint fail_after; // -1 for never
} Got;

static bool take(const BbMessage *message, gpointer user, GError **error)
{
    Got *got = user;
    if (got->fail_after >= 0 && (gint)got->times->len == got->fail_after) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "full");
        return false;
    }
    g_array_append_val(got->times, message->time_ns);
    g_array_append_val(got->arrivals, message->bytes);
    g_ptr_array_add(got->conns, g_strdup(message->conn));
    return true;
}

static Got got_new(void)
{
    return (Got){
        .times = g_array_new(FALSE, FALSE, sizeof(gint64)),
        .arrivals = g_array_new(FALSE, FALSE, sizeof(guint64)),
        .conns = g_ptr_array_new_with_free_func(g_free),
        .fail_after = -1,
    };
}

static void got_clear(Got *got)
{
    g_array_unref(got->times);
    g_array_unref(got->arrivals);
    g_ptr_array_unref(got->conns);
}

static gint64 time_of(const Got *got, guint i)
{
    return g_array_index(got->times, gint64, i);
}

static guint64 arrival_of(const Got *got, guint i)
{
    return g_array_index(got->arrivals, guint64, i);
}

static void push(BbOrder *order, gint64 time_ns, guint64 arrival)
{
    BbMessage message = bb_message_empty();
    message.time_ns = time_ns;
    message.bytes = arrival;
    if (!bb_order_push(order, &message, NULL))
        ck_abort();
}

static bool is_sorted(const Got *got)
{
    for (guint i = 1; i < got->times->len; i++) {
        if (time_of(got, i) < time_of(got, i - 1) ||
            (time_of(got, i) == time_of(got, i - 1) && arrival_of(got, i) < arrival_of(got, i - 1)))
            return false;
    }
    return true;
}

START_TEST(repairs_up_to_the_window)
{
    const gsize windows[] = {1, 2, 3, 4, 7, 16, 100, 1000};
    for (gsize w = 0; w < G_N_ELEMENTS(windows); w++) {
        gsize window = windows[w];
        Got got = got_new();
        g_autoptr(BbOrder) order = bb_order_new(window, take, &got);
        // Of each group of window + 1, the earliest comes last.
        for (guint64 group = 0; group < 50; group++) {
            for (guint64 i = 1; i <= window; i++)
                push(order, (gint64)(group * (window + 1) + i), 0);
            push(order, (gint64)(group * (window + 1)), 0);
        }
        ck_assert_uint_le(50 * (window + 1) - got.times->len, window + window / 4 + 1);
        ck_assert(bb_order_drain(order, NULL));
        ck_assert_uint_eq(bb_order_late(order), 0);
        ck_assert_uint_eq(got.times->len, 50 * (window + 1));
        for (guint i = 0; i < got.times->len; i++)
            ck_assert_int_eq(time_of(&got, i), i);
        got_clear(&got);
    }
}
END_TEST

START_TEST(no_window_hands_on)
{
    Got got = got_new();
    g_autoptr(BbOrder) order = bb_order_new(0, take, &got);
    push(order, 5, 0);
    ck_assert_uint_eq(got.times->len, 1);
    push(order, 3, 1);
    push(order, 5, 2);
    push(order, 4, 3);
    ck_assert_uint_eq(got.times->len, 4);
    ck_assert_int_eq(time_of(&got, 1), 3);
    ck_assert_uint_eq(bb_order_late(order), 2);
    got_clear(&got);
}
END_TEST

START_TEST(late_ones_are_counted_and_delivered)
{
    Got got = got_new();
    g_autoptr(BbOrder) order = bb_order_new(4, take, &got);
    for (gint64 i = 0; i < 100; i++)
        push(order, 1000 + i, (guint64)i);
    guint handed = got.times->len;
    ck_assert_uint_gt(handed, 90);
    push(order, 1, 100);
    ck_assert_uint_eq(bb_order_late(order), 1);
    ck_assert(bb_order_drain(order, NULL));
    ck_assert_uint_eq(got.times->len, 101);
    bool found = false;
    for (guint i = handed; i < 101; i++)
        found |= time_of(&got, i) == 1;
    ck_assert(found);
    got_clear(&got);
}
END_TEST

// The slow twin is a stable sort of everything.
static gint compare(gconstpointer a, gconstpointer b)
{
    gint64 first = ((const gint64 *)a)[0], second = ((const gint64 *)b)[0];
    gint64 first_at = ((const gint64 *)a)[1], second_at = ((const gint64 *)b)[1];
    return first != second ? (first > second) - (first < second)
                           : (first_at > second_at) - (first_at < second_at);
}

START_TEST(same_as_sorting_everything)
{
    const guint32 seed = 513;
    printf("seed %u\n", seed);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    for (int round = 0; round < 200; round++) {
        gint count = g_rand_int_range(rand, 0, 3000), range = g_rand_int_range(rand, 1, 4000);
        Got got = got_new();
        g_autoptr(BbOrder) order = bb_order_new(3000, take, &got);
        g_autofree gint64(*all)[2] = g_malloc0_n((gsize)count + 1, sizeof *all);
        for (gint i = 0; i < count; i++) {
            all[i][0] = g_rand_int_range(rand, 0, range) + (round % 2 ? i : 0);
            all[i][1] = i;
            push(order, all[i][0], (guint64)i);
        }
        ck_assert(bb_order_drain(order, NULL));
        qsort(all, (gsize)count, sizeof *all, compare);
        ck_assert_uint_eq(got.times->len, count);
        bool same = true; // one assertion: check writes a record of each
        for (gint i = 0; i < count; i++)
            same &= time_of(&got, (guint)i) == all[i][0] &&
                    arrival_of(&got, (guint)i) == (guint64)all[i][1];
        ck_assert(same);
        got_clear(&got);
    }
}
END_TEST

START_TEST(ties_keep_their_order)
{
    Got got = got_new();
    g_autoptr(BbOrder) order = bb_order_new(64, take, &got);
    for (guint64 i = 0; i < 10000; i++)
        push(order, (gint64)((i + i % 3) / 5), i);
    ck_assert(bb_order_drain(order, NULL));
    ck_assert(is_sorted(&got));
    ck_assert_uint_eq(bb_order_late(order), 0);
    got_clear(&got);
}
END_TEST

START_TEST(strings_are_copied)
{
    Got got = got_new();
    g_autoptr(BbOrder) order = bb_order_new(10, take, &got);
    for (int i = 0; i < 1000; i++) {
        g_autofree char *conn = g_strnfill((gsize)i, 'a' + i % 26);
        g_autofree char *extra = g_strdup("x=1");
        BbMessage message = bb_message_empty();
        message.time_ns = i ^ 3;
        message.conn = i % 4 ? conn : NULL;
        message.extra = i % 3 ? extra : NULL;
        ck_assert(bb_order_push(order, &message, NULL));
        memset(conn, '!', strlen(conn));
    }
    ck_assert(bb_order_drain(order, NULL));
    for (int i = 0; i < 1000; i++) {
        const char *conn = g_ptr_array_index(got.conns, (guint)i);
        int from = i ^ 3;
        ck_assert_int_eq(time_of(&got, (guint)i), i);
        ck_assert(from % 4 ? (int)strlen(conn) == from && conn[0] == 'a' + from % 26 : !conn);
    }
    got_clear(&got);
}
END_TEST

// A hundred texts of 1 MiB are more than may wait.
START_TEST(memory_of_strings_is_bounded)
{
    Got got = got_new();
    g_autoptr(BbOrder) order = bb_order_new(1000000, take, &got);
    g_autofree char *conn = g_strnfill(1 << 20, 'x');
    for (gint64 i = 0; i < 100; i++) {
        BbMessage message = bb_message_empty();
        message.time_ns = i;
        message.conn = conn;
        ck_assert(bb_order_push(order, &message, NULL));
    }
    ck_assert_uint_ge(got.times->len, 32);
    ck_assert(bb_order_drain(order, NULL));
    ck_assert_uint_eq(got.times->len, 100);
    ck_assert(is_sorted(&got));
    got_clear(&got);
}
END_TEST

START_TEST(failure_of_the_sink_is_told)
{
    Got got = got_new();
    got.fail_after = 3;
    g_autoptr(BbOrder) order = bb_order_new(2, take, &got);
    g_autoptr(GError) error = NULL;
    BbMessage message = bb_message_empty();
    for (message.time_ns = 0; message.time_ns < 100; message.time_ns++) {
        if (!bb_order_push(order, &message, &error))
            break;
    }
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    ck_assert_int_lt(message.time_ns, 10);
    g_clear_error(&error);
    ck_assert(!bb_order_drain(order, &error));
    ck_assert_ptr_nonnull(error);
    got_clear(&got);
}
END_TEST

START_TEST(nothing)
{
    Got got = got_new();
    g_autoptr(BbOrder) order = bb_order_new(10, take, &got);
    ck_assert(bb_order_drain(order, NULL));
    push(order, 1, 0);
    ck_assert(bb_order_drain(order, NULL));
    ck_assert(bb_order_drain(order, NULL));
    ck_assert_uint_eq(got.times->len, 1);
    got_clear(&got);
}
END_TEST

TEST_MAIN("order", repairs_up_to_the_window, no_window_hands_on,
          late_ones_are_counted_and_delivered, same_as_sorting_everything, ties_keep_their_order,
          strings_are_copied, memory_of_strings_is_bounded, failure_of_the_sink_is_told, nothing)
