// SPDX-License-Identifier: Apache-2.0
// Vertices to be looked at: the order, and how many messages they may hold.
#include "convolution/pending.h"
#include "data/random.h"
#include "tests/unit/test.h"

static bool put(BbPending *pending, guint32 count, guint32 edge)
{
    g_autofree guint32 *messages = g_new(guint32, MAX(1, count));
    for (guint32 i = 0; i < count; i++)
        messages[i] = edge;
    return bb_pending_put(pending, &(BbPendingVertex){messages, count, .edge = edge});
}

static void take(BbPending *pending, guint32 count, guint32 edge)
{
    BbPendingVertex vertex;
    ck_assert(bb_pending_take(pending, &vertex));
    ck_assert_uint_eq(vertex.count, count);
    ck_assert_uint_eq(vertex.edge, edge);
    ck_assert_uint_eq(vertex.messages[count - 1], edge);
    g_free(vertex.messages);
}

START_TEST(most_messages_first)
{
    g_autoptr(BbPending) pending = bb_pending_new(1000);
    ck_assert(put(pending, 3, 10) && put(pending, 9, 11) && put(pending, 9, 12) &&
              put(pending, 1, 13) && put(pending, 20, 14));
    ck_assert_uint_eq(bb_pending_most(pending), 20);
    take(pending, 20, 14);
    ck_assert_uint_eq(bb_pending_most(pending), 9);
    take(pending, 9, 11);
    ck_assert(put(pending, 5, 15));
    take(pending, 9, 12);
    take(pending, 5, 15);
    take(pending, 3, 10);
    ck_assert_uint_eq(bb_pending_count(pending), 1);
    take(pending, 1, 13);
    BbPendingVertex vertex;
    ck_assert(!bb_pending_take(pending, &vertex));
    ck_assert_uint_eq(bb_pending_most(pending), 0);
}
END_TEST

START_TEST(many)
{
    BbRandom random = bb_random_start(test_seed("pending"));
    g_autoptr(BbPending) pending = bb_pending_new(1u << 20);
    for (guint32 i = 0; i < 1000; i++)
        ck_assert(put(pending, 1 + (guint32)bb_random_below(&random, 50), i));
    BbPendingVertex vertex, before = {.count = G_MAXUINT32};
    for (guint i = 0; i < 1000; i++, before = vertex) {
        ck_assert(bb_pending_take(pending, &vertex));
        g_free(vertex.messages);
        ck_assert(vertex.count < before.count ||
                  (vertex.count == before.count && vertex.edge > before.edge));
    }
}
END_TEST

START_TEST(room)
{
    g_autoptr(BbPending) pending = bb_pending_new(10);
    ck_assert(put(pending, 6, 1));
    ck_assert(!put(pending, 5, 2));
    ck_assert(put(pending, 4, 3));
    ck_assert(!put(pending, 1, 4));
    take(pending, 6, 1);
    ck_assert(put(pending, 6, 5)); // what was taken makes room
    ck_assert_uint_eq(bb_pending_count(pending), 2);
}
END_TEST

TEST_MAIN("pending", most_messages_first, many, room)
