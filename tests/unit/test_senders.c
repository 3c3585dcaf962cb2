// SPDX-License-Identifier: Apache-2.0
// Messages by sender, and those that follow others, against a slow twin.
#include "convolution/senders.h"
#include "data/random.h"
#include "tests/unit/test.h"

#include <stdlib.h>

static void push(BbTraffic *traffic, gint64 time_ns, guint32 sender, guint32 receiver)
{
    BbMessage message = bb_message_empty();
    message.time_ns = time_ns;
    message.sender = sender;
    message.receiver = receiver;
    ck_assert(bb_traffic_push(traffic, &message));
}

START_TEST(by_sender)
{
    g_autoptr(BbNames) names = bb_names_new();
    guint32 a = bb_names_intern(names, "a"), b = bb_names_intern(names, "b"),
            c = bb_names_intern(names, "c");
    g_autoptr(BbTraffic) traffic = bb_traffic_new(names);
    push(traffic, 1095, a, b);
    push(traffic, 1020, b, c);
    push(traffic, 1000, a, c);
    push(traffic, 1039, a, b);
    bb_traffic_finish(traffic);
    g_autoptr(BbSenders) senders = bb_senders_new(traffic, 10);
    BbQuanta sent = bb_senders_sent(senders, a);
    ck_assert_uint_eq(sent.count, 3);
    ck_assert(sent.quanta[0] == 0 && sent.quanta[1] == 3 && sent.quanta[2] == 9);
    ck_assert_uint_eq(senders->messages[senders->first[a] + 1], 2);
    ck_assert_uint_eq(bb_senders_sent(senders, b).count, 1);
    ck_assert_uint_eq(bb_senders_sent(senders, b).quanta[0], 2);
    ck_assert_uint_eq(bb_senders_sent(senders, c).count, 0);
}
END_TEST

START_TEST(edges_of_the_tolerance)
{
    const guint32 in[] = {10, 50}, out[] = {0, 14, 15, 16, 17, 17, 18, 54, 58, 90};
    BbQuanta causes = {in, 2}, sent = {out, G_N_ELEMENTS(out)};
    guint32 found[G_N_ELEMENTS(out)];
    ck_assert_uint_eq(bb_senders_follow(causes, sent, 6, 1, found), 4);
    for (guint i = 0; i < 4; i++)
        ck_assert_uint_eq(found[i], i + 2);
    ck_assert_uint_eq(bb_senders_follow(causes, sent, 8, 0, found), 2);
    ck_assert(found[0] == 6 && found[1] == 8);
    ck_assert_uint_eq(bb_senders_follow(causes, sent, 0, 12, found), 9); // 0 is 10 - 10; not 90
    ck_assert_uint_eq(bb_senders_follow(causes, sent, 60, 0, found), 0);
    ck_assert_uint_eq(bb_senders_follow(causes, (BbQuanta){out, 0}, 6, 1, found), 0);
    ck_assert_uint_eq(bb_senders_follow((BbQuanta){in, 0}, sent, 6, 1, found), 0);
}
END_TEST

static gint by_number(gconstpointer left, gconstpointer right)
{
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    return a < b ? -1 : a > b;
}

static BbQuanta draw(BbRandom *random, guint32 *quanta, guint32 span)
{
    gsize count = bb_random_below(random, 100);
    for (gsize i = 0; i < count; i++)
        quanta[i] = (guint32)bb_random_below(random, span);
    qsort(quanta, count, sizeof *quanta, by_number);
    return (BbQuanta){quanta, count};
}

static bool follows(BbQuanta causes, guint32 quantum, guint32 lag, guint32 tolerance)
{
    for (gsize i = 0; i < causes.count; i++)
        if (ABS((gint64)quantum - causes.quanta[i] - lag) <= (gint64)tolerance)
            return true;
    return false;
}

START_TEST(like_the_slow_twin)
{
    BbRandom random = bb_random_start(test_seed("senders"));
    for (guint round = 0; round < 2000; round++) {
        guint32 in[100], out[100], found[100];
        guint32 span = 1 + (guint32)bb_random_below(&random, round % 2 ? 50 : 5000);
        BbQuanta causes = draw(&random, in, span), sent = draw(&random, out, span);
        guint32 lag = (guint32)bb_random_below(&random, span);
        guint32 tolerance = (guint32)bb_random_below(&random, 5);
        gsize count = bb_senders_follow(causes, sent, lag, tolerance, found), k = 0;
        for (guint32 i = 0; i < sent.count; i++)
            if (follows(causes, out[i], lag, tolerance)) {
                ck_assert_uint_lt(k, count);
                ck_assert_uint_eq(found[k++], i);
            }
        ck_assert_uint_eq(k, count);
    }
}
END_TEST

TEST_MAIN("senders", by_sender, edges_of_the_tolerance, like_the_slow_twin)
