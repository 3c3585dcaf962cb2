// SPDX-License-Identifier: Apache-2.0
// What nodes see: their edges as streams, the rare ones of a node as one.
#include "convolution/streams.h"
#include "tests/unit/planted.h"

#include <string.h>

static void send_times(Planted *planted, const char *from, const char *to, guint count, gint64 at)
{
    for (guint i = 0; i < count; i++)
        planted_send(planted, from, to, at + 10 * (gint64)i, PLANTED_ROOT);
}

// "B:3 C:2*": node and messages of each stream, * of pooled ones.
static char *text_of(const Planted *planted, const BbStream *streams, guint32 n)
{
    GString *text = g_string_new(NULL);
    for (guint32 i = 0; i < n; i++)
        g_string_append_printf(text, "%s%s:%u%s", i ? " " : "",
                               bb_names_text(planted->names, streams[i].node), streams[i].count,
                               streams[i].pooled ? "*" : "");
    return g_string_free(text, FALSE);
}

// Each message is in one stream of its receiver and in one of its sender, with its times.
static void check_streams(const BbTraffic *traffic, const BbStream *streams, guint32 n, bool in)
{
    g_autofree guint8 *seen = g_new0(guint8, traffic->n_messages + 1);
    for (guint32 s = 0; s < n; s++)
        for (guint32 i = 0; i < streams[s].count; i++) {
            guint32 message = streams[s].message[i];
            const BbCall *call = &traffic->messages[message];
            ck_assert_uint_eq(streams[s].node, in ? call->callee : call->caller);
            ck_assert_int_eq(streams[s].ns[i], in ? call->arrived_ns : call->call_ns);
            ck_assert_uint_eq(seen[message]++, 0);
            if (i > 0)
                ck_assert_int_le(streams[s].ns[i - 1], streams[s].ns[i]);
        }
    for (guint32 i = 0; i < traffic->n_messages; i++)
        ck_assert_uint_eq(seen[i], 1);
    for (guint32 s = 1; s < n; s++) {
        ck_assert_uint_le(streams[s - 1].node, streams[s].node);
        ck_assert(!streams[s - 1].pooled || streams[s - 1].node != streams[s].node);
    }
}

static Planted *some_traffic(void)
{
    Planted *planted = planted_new(1);
    send_times(planted, "A", "B", 5, 0);
    send_times(planted, "C", "B", 2, 5);
    send_times(planted, "D", "B", 1, 22);
    send_times(planted, "E", "B", 3, 1);
    send_times(planted, "B", "C", 4, 100);
    send_times(planted, "B", "D", 1, 100);
    send_times(planted, "F", "F", 1, 50);
    bb_traffic_finish(planted->traffic);
    return planted;
}

static void expect(guint rare, const char *wanted_in, const char *wanted_out)
{
    g_autoptr(Planted) planted = some_traffic();
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, rare);
    check_streams(planted->traffic, streams->in, streams->n_in, true);
    check_streams(planted->traffic, streams->out, streams->n_out, false);
    g_autofree char *in = text_of(planted, streams->in, streams->n_in);
    g_autofree char *out = text_of(planted, streams->out, streams->n_out);
    ck_assert_str_eq(in, wanted_in);
    ck_assert_str_eq(out, wanted_out);
}

START_TEST(each_edge_is_a_stream)
{
    expect(0, "B:5 B:2 B:1 B:3 C:4 D:1 F:1", "A:5 B:4 B:1 C:2 D:1 E:3 F:1");
    expect(1, "B:5 B:2 B:1 B:3 C:4 D:1 F:1", "A:5 B:4 B:1 C:2 D:1 E:3 F:1");
}
END_TEST

START_TEST(rare_edges_of_a_node_are_one)
{
    expect(3, "B:5 B:3 B:3* C:4 D:1 F:1", "A:5 B:4 B:1 C:2 D:1 E:3 F:1");
    expect(4, "B:5 B:6* C:4 D:1 F:1", "A:5 B:4 B:1 C:2 D:1 E:3 F:1");
    expect(100, "B:11* C:4 D:1 F:1", "A:5 B:5* C:2 D:1 E:3 F:1");
}
END_TEST

START_TEST(pooled_messages_are_in_order)
{
    g_autoptr(Planted) planted = some_traffic();
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, 4);
    const BbStream *pooled = &streams->in[1];
    const gint64 wanted[] = {1, 5, 11, 15, 21, 22};
    ck_assert_uint_eq(pooled->count, G_N_ELEMENTS(wanted));
    ck_assert_mem_eq(pooled->ns, wanted, sizeof wanted);
}
END_TEST

START_TEST(streams_into_a_node)
{
    g_autoptr(Planted) planted = some_traffic();
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, 4);
    const struct {
        const char *node;
        guint32 n, first;
    } cases[] = {{"A", 0, 0}, {"B", 2, 0}, {"C", 1, 2}, {"D", 1, 3}, {"E", 0, 4}, {"F", 1, 4}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint32 first,
            n = bb_streams_into(streams, bb_names_find(planted->names, cases[i].node), &first);
        ck_assert_uint_eq(n, cases[i].n);
        ck_assert_uint_eq(first, cases[i].first);
    }
    guint32 first;
    ck_assert_uint_eq(bb_streams_into(streams, G_MAXUINT32, &first), 0);
}
END_TEST

// By arrival into a node, by sending out of it: two clocks.
START_TEST(two_clocks)
{
    g_autoptr(Planted) planted = planted_new(1);
    const gint64 times[][2] = {{10, 90}, {20, 25}, {30, 40}};
    for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
        BbMessage message = bb_message_empty();
        message.sender = bb_names_intern(planted->names, "A");
        message.receiver = bb_names_intern(planted->names, i == 1 ? "C" : "B");
        message.time_ns = times[i][0];
        message.recv_ns = times[i][1];
        bb_traffic_push(planted->traffic, &message);
    }
    bb_traffic_finish(planted->traffic);
    for (guint rare = 0; rare < 5; rare += 4) {
        g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, rare);
        check_streams(planted->traffic, streams->in, streams->n_in, true);
        check_streams(planted->traffic, streams->out, streams->n_out, false);
        ck_assert_int_eq(streams->in[0].ns[0], 40);
        ck_assert_int_eq(streams->in[0].ns[1], 90);
        ck_assert_uint_eq(streams->n_out, rare ? 1 : 2);
    }
}
END_TEST

START_TEST(what_clients_get_is_left_out)
{
    g_autoptr(Planted) planted = planted_new(1);
    for (guint i = 0; i < 5; i++) {
        planted_send_kind(planted, BB_CALL, "A", "B", 100 * i, PLANTED_ROOT);
        planted_send_kind(planted, BB_RETURN, "B", "A", 100 * i + 50, 2 * i);
    }
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, 0);
    g_autofree char *in = text_of(planted, streams->in, streams->n_in);
    g_autofree char *out = text_of(planted, streams->out, streams->n_out);
    ck_assert_str_eq(in, "B:5");
    ck_assert_str_eq(out, "A:5 B:5");
}
END_TEST

// So many edges that the rarer ones share a stream, though each has enough messages.
START_TEST(streams_of_a_node_are_bounded)
{
    g_autoptr(Planted) planted = planted_new(1);
    enum { EDGES = BB_STREAMS_MAX + 100 };
    for (guint i = 0; i < EDGES; i++) {
        g_autofree char *name = g_strdup_printf("%04u", i);
        send_times(planted, name, "B", i % 2 ? 3 : 2, i);
    }
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, 0);
    check_streams(planted->traffic, streams->in, streams->n_in, true);
    ck_assert_uint_le(streams->n_in, BB_STREAMS_MAX + 1);
    guint frequent = 0;
    for (guint32 i = 0; i < streams->n_in; i++)
        frequent += !streams->in[i].pooled && streams->in[i].count == 3;
    ck_assert_uint_eq(frequent, EDGES / 2); // equals are pooled together
}
END_TEST

START_TEST(no_messages_no_streams)
{
    g_autoptr(Planted) planted = planted_new(1);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbStreams) streams = bb_streams_new(planted->traffic, 30);
    ck_assert_uint_eq(streams->n_in + streams->n_out, 0);
    guint32 first;
    ck_assert_uint_eq(bb_streams_into(streams, 1, &first), 0);
}
END_TEST

TEST_MAIN("streams", each_edge_is_a_stream, rare_edges_of_a_node_are_one,
          pooled_messages_are_in_order, streams_into_a_node, two_clocks,
          what_clients_get_is_left_out, streams_of_a_node_are_bounded, no_messages_no_streams)
