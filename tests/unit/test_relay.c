// SPDX-License-Identifier: Apache-2.0
// The relay: everything arrives once and in order, strings intact; errors come back; the other
// thread may look names up while new ones are interned.
#include "data/relay.h"
#include "tests/unit/test.h"

#define MANY 50000

typedef struct Arrived {
    const BbNames *names;
    BbRelay *relay; // asked for numbers, where it is set
    guint64 count, syncs, fail_at;
    gsize longest;
} Arrived;

static bool arrive(const BbMessage *message, gpointer user, GError **error)
{
    Arrived *arrived = user;
    if (arrived->fail_at && arrived->count == arrived->fail_at) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "the disk is full");
        return false;
    }
    g_assert_cmpint(message->time_ns, ==, (gint64)arrived->count);
    if (arrived->relay)
        g_assert_cmpuint(bb_relay_number(arrived->relay), ==, arrived->count % 7);
    if (message->conn)
        arrived->longest = MAX(arrived->longest, strlen(message->conn));
    if (message->op) {
        g_autofree char *want = g_strdup_printf("name %" G_GUINT64_FORMAT, arrived->count);
        g_assert_cmpstr(bb_names_text(arrived->names, message->op), ==, want);
    }
    arrived->count++;
    return true;
}

static bool synced(gpointer user, GError **error)
{
    Arrived *arrived = user;
    arrived->syncs++;
    return true;
}

START_TEST(all_arrive_in_order)
{
    g_autoptr(BbNames) names = bb_names_new();
    Arrived arrived = {.names = names};
    g_autoptr(BbRelay) relay = bb_relay_new(arrive, synced, &arrived);
    for (gint64 i = 0; i < MANY; i++) {
        g_autofree char *name = g_strdup_printf("name %" G_GINT64_FORMAT, i);
        g_autofree char *conn = g_strnfill(i == 777 ? 1000000 : (gsize)i % 300, 'c');
        BbMessage message = bb_message_empty();
        message.time_ns = i;
        message.conn = conn;
        message.op = bb_names_intern(names, name);
        ck_assert(bb_relay_push(relay, &message, NULL));
        if (i % 10000 == 9999)
            ck_assert(bb_relay_sync(relay, NULL));
    }
    ck_assert(bb_relay_finish(relay, NULL));
    ck_assert_uint_eq(arrived.count, MANY);
    ck_assert_uint_eq(arrived.syncs, MANY / 10000);
    ck_assert_uint_eq(arrived.longest, 1000000);
}
END_TEST

START_TEST(numbers_come_along)
{
    Arrived arrived = {0};
    g_autoptr(BbRelay) relay = arrived.relay = bb_relay_new(arrive, NULL, &arrived);
    for (gint64 i = 0; i < MANY; i++) {
        BbMessage message = bb_message_empty();
        message.time_ns = i;
        ck_assert(bb_relay_push_with(relay, &message, (guint)(i % 7), NULL));
    }
    ck_assert(bb_relay_finish(relay, NULL));
    ck_assert_uint_eq(arrived.count, MANY);
}
END_TEST

START_TEST(errors_come_back)
{
    Arrived arrived = {.fail_at = 100};
    g_autoptr(GError) error = NULL;
    g_autoptr(BbRelay) relay = bb_relay_new(arrive, synced, &arrived);
    bool good = true;
    for (gint64 i = 0; i < MANY && good; i++) {
        BbMessage message = bb_message_empty();
        message.time_ns = i;
        good = bb_relay_push(relay, &message, &error);
    }
    if (good)
        good = bb_relay_finish(relay, &error);
    ck_assert(!good);
    ck_assert_str_eq(error->message, "the disk is full");
    ck_assert_uint_eq(arrived.count, 100);
}
END_TEST

TEST_MAIN("relay", all_arrive_in_order, numbers_come_along, errors_come_back)
