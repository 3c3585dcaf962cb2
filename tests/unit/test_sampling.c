// SPDX-License-Identifier: Apache-2.0
// Samples of connections: the same ones everywhere, about as many as asked for.
#include "merge/sampling.h"

#include "tests/unit/traces.h"

// The text of its connection is kept in conn.
static BbMessage on_connection(guint number, GString *conn)
{
    BbMessage message = bb_message_empty();
    g_string_printf(conn, "10.0.0.1:%u-10.0.0.2:80", number);
    message.conn = conn->str;
    return message;
}

START_TEST(a_share_of_the_connections)
{
    static const guint64 shares[] = {2, 10, 100};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GString) conn = g_string_new(NULL);
    for (gsize s = 0; s < G_N_ELEMENTS(shares); s++) {
        guint taken = 0;
        for (guint i = 0; i < 20000; i++) {
            BbMessage message = on_connection(i, conn);
            taken += bb_sampling_takes(&message, names, shares[s]);
            ck_assert(bb_sampling_takes(&message, names, 1));
        }
        double wanted = 20000.0 / (double)shares[s];
        ck_assert_double_gt(taken, wanted * 0.75);
        ck_assert_double_lt(taken, wanted * 1.25);
    }
}
END_TEST

// By another program. What is taken depends on text alone: never on the machine or the table.
START_TEST(known_ones)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GString) conn = g_string_new(NULL);
    g_autoptr(GString) taken = g_string_new(NULL);
    for (guint i = 0; i < 40; i++) {
        BbMessage message = on_connection(i, conn);
        if (bb_sampling_takes(&message, names, 8))
            g_string_append_printf(taken, "%u ", i);
    }
    ck_assert_str_eq(taken->str, "2 8 16 19 ");
}
END_TEST

START_TEST(pairs_where_there_is_no_connection)
{
    g_autoptr(BbNames) names = bb_names_new(), others = bb_names_new();
    guint taken = 0;
    (void)bb_names_intern(others, "first");
    for (guint i = 0; i < 2000; i++) {
        g_autofree char *id = g_strdup_printf("r%u", i);
        BbMessage call = bb_message_empty();
        call.sender = bb_names_intern(names, "web");
        call.receiver = bb_names_intern(names, "db");
        call.id = bb_id_parse(names, id);
        BbMessage back = bb_message_empty();
        back.receiver = bb_names_intern(others, "web");
        back.sender = bb_names_intern(others, "db");
        back.id = bb_id_parse(others, id);
        bool takes = bb_sampling_takes(&call, names, 4);
        ck_assert(takes == bb_sampling_takes(&back, others, 4));
        taken += takes;
    }
    ck_assert_uint_gt(taken, 400);
    ck_assert_uint_lt(taken, 600);
}
END_TEST

TEST_MAIN("sampling", a_share_of_the_connections, known_ones, pairs_where_there_is_no_connection)
