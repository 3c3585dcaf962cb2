// SPDX-License-Identifier: Apache-2.0
// Facts on the network: sums, limits, the same through both forms of a trace; and what one
// connection tells, packet by packet; and packets that a mirror shows twice.
#include "capture/echo.h"
#include "capture/wire.h"
#include "data/trace.h"
#include "tests/unit/scratch.h"
#include "tests/unit/test.h"
#include "viz/network_note.h"

#include <string.h>

#define MS G_GINT64_CONSTANT(1000000)

// ---- sums ---------------------------------------------------------------------------------------

START_TEST(edges_add_up)
{
    g_autoptr(BbNetwork) network = bb_network_new();
    BbNetworkEdge edge = {.client = 1, .server = 2, .connections = 1, .packets = 10};
    bb_round_trip_note(&edge.to_server, 5);
    bb_network_add(network, &edge);
    bb_round_trip_note(&edge.to_server, 1);
    edge.retransmitted = G_MAXUINT64;
    bb_network_add(network, &edge);
    bb_network_add(network, &(BbNetworkEdge){.client = 2, .server = 1, .resets = 3});
    ck_assert_uint_eq(bb_network_count(network), 2);
    const BbNetworkEdge *sum = bb_network_find(network, 1, 2);
    ck_assert_uint_eq(sum->packets, 20);
    ck_assert_uint_eq(sum->to_server.count, 3);
    ck_assert_uint_eq(sum->to_server.sum_ns, 11);
    ck_assert_uint_eq(sum->to_server.least_ns, 1);
    ck_assert_uint_eq(sum->to_server.most_ns, 5);
    bb_network_add(network, &edge);
    ck_assert_uint_eq(bb_network_find(network, 1, 2)->retransmitted, G_MAXUINT64);
    ck_assert_uint_eq(bb_network_find(network, 2, 1)->resets, 3);
    ck_assert_ptr_null(bb_network_find(network, 1, 3));
}
END_TEST

// ---- traces -------------------------------------------------------------------------------------

static BbNetworkEdge every_field(guint32 client, guint32 server)
{
    BbNetworkEdge edge = {.client = client, .server = server};
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        bb_network_set_field(&edge, field, field * G_GUINT64_CONSTANT(0x100000001) + 1);
    return edge;
}

static void write_trace(const char *path, BbTraceForm form)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNetwork) network = bb_network_new();
    guint32 a = bb_names_intern(names, "a b"), b = bb_names_intern(names, "b=%");
    BbNetworkEdge first = every_field(a, b);
    bb_network_add(network, &first);
    bb_network_add(
        network, &(BbNetworkEdge){.client = b, .server = a, .refused = 7, .packets = G_MAXUINT64});
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, form, names, NULL);
    BbMessage message = bb_message_empty();
    message.time_ns = 5;
    message.sender = a;
    message.receiver = bb_names_intern(names, "c");
    message.file = bb_names_intern(names, "in one.pcap");
    message.frame = G_MAXUINT32;
    ck_assert(bb_trace_writer_push(writer, &message, NULL));
    message.file = BB_NAME_NONE;
    message.frame = 0;
    ck_assert(bb_trace_writer_push(writer, &message, NULL));
    ck_assert(bb_trace_writer_network(writer, network, NULL));
    ck_assert(bb_trace_writer_finish(writer, NULL, NULL));
}

static void check_trace(const char *path)
{
    BbMessage message;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, NULL);
    ck_assert(bb_trace_reader_next(reader, &message, NULL));
    ck_assert_str_eq(bb_names_text(names, message.file), "in one.pcap");
    ck_assert_uint_eq(message.frame, G_MAXUINT32);
    ck_assert(bb_trace_reader_next(reader, &message, NULL));
    ck_assert_uint_eq(message.file, BB_NAME_NONE);
    ck_assert_uint_eq(message.frame, 0);
    ck_assert(!bb_trace_reader_next(reader, &message, NULL));
    ck_assert_ptr_null(bb_trace_reader_damage(reader));
    guint32 a = bb_names_find(names, "a b"), b = bb_names_find(names, "b=%");
    const BbNetwork *network = bb_trace_reader_network(reader);
    ck_assert_uint_eq(bb_network_count(network), 2);
    const BbNetworkEdge *edge = bb_network_find(network, a, b);
    ck_assert_ptr_nonnull(edge);
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        ck_assert_uint_eq(bb_network_field(edge, field),
                          field * G_GUINT64_CONSTANT(0x100000001) + 1);
    ck_assert_uint_eq(bb_network_find(network, b, a)->refused, 7);
    ck_assert_uint_eq(bb_network_find(network, b, a)->packets, G_MAXUINT64);
}

START_TEST(both_forms_of_a_trace)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "trace");
    write_trace(path, BB_TRACE_TEXT);
    check_trace(path);
    write_trace(path, BB_TRACE_BBT);
    check_trace(path);
}
END_TEST

// A .bbt cut anywhere gives what is whole, edges included, and never more.
START_TEST(cut_at_every_byte)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "trace");
    write_trace(path, BB_TRACE_BBT);
    g_autofree char *bytes = NULL;
    gsize size;
    ck_assert(g_file_get_contents(path, &bytes, &size, NULL));
    for (gsize cut = 16; cut < size; cut++) {
        BbMessage message;
        g_autoptr(BbNames) names = bb_names_new();
        const char *part = scratch_file(scratch, "cut", bytes, cut);
        g_autoptr(BbTraceReader) reader = bb_trace_reader_open(part, names, NULL);
        while (bb_trace_reader_next(reader, &message, NULL))
            ;
        guint edges = bb_network_count(bb_trace_reader_network(reader));
        ck_assert(edges == 0 || edges == 2);
        ck_assert_ptr_nonnull(bb_trace_reader_damage(reader));
    }
}
END_TEST

START_TEST(lines_that_are_comments)
{
    static const char text[] = "# bbtrace text 1\n"
                               "# network a b connections=1 tomorrow=5 packets=2\n"
                               "# network a b connections=x\n"
                               "# network a b connections\n"
                               "# network a\n"
                               "# networks a c connections=1\n";
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader =
        bb_trace_reader_open(scratch_file(scratch, "trace", text, strlen(text)), names, NULL);
    BbMessage message;
    GError *error = NULL;
    ck_assert(!bb_trace_reader_next(reader, &message, &error));
    ck_assert_ptr_null(error);
    const BbNetwork *network = bb_trace_reader_network(reader);
    ck_assert_uint_eq(bb_network_count(network), 1);
    ck_assert_uint_eq(bb_network_at(network, 0)->connections, 1);
    ck_assert_uint_eq(bb_network_at(network, 0)->packets, 2);
}
END_TEST

// ---- one connection -----------------------------------------------------------------------------

static void see(BbWire *wire, guint side, guint8 flags, gint64 ms, guint16 window)
{
    BbPacket packet = {
        .transport = BB_TRANSPORT_TCP, .tcp_flags = flags, .time_ns = ms * MS, .window = window};
    bb_wire_push(wire, side, 0, &packet);
}

static BbNetworkEdge report(BbWire *wire, bool reset)
{
    BbNetworkEdge edge = {0};
    bb_wire_report(wire, reset, &edge);
    ck_assert_uint_eq(edge.connections, 1);
    return edge;
}

START_TEST(handshake)
{
    BbWire wire = {0};
    see(&wire, 0, BB_TCP_SYN, 100, 1);
    see(&wire, 1, BB_TCP_SYN | BB_TCP_ACK, 130, 1);
    see(&wire, 0, BB_TCP_ACK, 132, 1);
    see(&wire, 0, BB_TCP_ACK, 200, 1);
    BbNetworkEdge edge = report(&wire, false);
    ck_assert_uint_eq(edge.packets, 4);
    ck_assert_uint_eq(edge.to_server.sum_ns, 30 * MS);
    ck_assert_uint_eq(edge.to_client.sum_ns, 2 * MS);
    ck_assert_uint_eq(edge.refused + edge.unanswered + edge.resets + edge.retransmitted, 0);
}
END_TEST

START_TEST(a_repeated_syn_measures_nothing)
{
    BbWire wire = {0};
    see(&wire, 0, BB_TCP_SYN, 100, 1);
    see(&wire, 0, BB_TCP_SYN, 1100, 1);
    see(&wire, 1, BB_TCP_SYN | BB_TCP_ACK, 1130, 1);
    see(&wire, 0, BB_TCP_ACK, 1132, 1);
    BbNetworkEdge edge = report(&wire, false);
    ck_assert_uint_eq(edge.to_server.count + edge.to_client.count, 0);
    ck_assert_uint_eq(edge.retransmitted, 1);
}
END_TEST

START_TEST(not_opened)
{
    BbWire refused = {0}, unanswered = {0}, joined = {0};
    see(&refused, 0, BB_TCP_SYN, 100, 1);
    see(&refused, 1, BB_TCP_RST | BB_TCP_ACK, 101, 0);
    BbNetworkEdge edge = report(&refused, true);
    ck_assert_uint_eq(edge.refused, 1);
    ck_assert_uint_eq(edge.resets, 0);
    ck_assert_uint_eq(edge.zero_windows, 0);
    see(&unanswered, 0, BB_TCP_SYN, 100, 1);
    ck_assert_uint_eq(report(&unanswered, false).unanswered, 1);
    see(&joined, 0, BB_TCP_ACK, 100, 1);
    edge = report(&joined, true);
    ck_assert_uint_eq(edge.unanswered + edge.refused, 0);
    ck_assert_uint_eq(edge.resets, 1);
}
END_TEST

START_TEST(windows_that_close)
{
    BbWire wire = {0};
    static const guint16 windows[] = {10, 0, 0, 5, 0, 1};
    for (guint i = 0; i < G_N_ELEMENTS(windows); i++) {
        see(&wire, 1, BB_TCP_ACK, i, windows[i]);
        see(&wire, 0, BB_TCP_ACK, i, 100);
    }
    ck_assert_uint_eq(report(&wire, false).zero_windows, 2);
}
END_TEST

// Told whenever one likes, the facts are the same together, each once.
START_TEST(told_while_it_goes_on)
{
    static const struct {
        guint side;
        guint8 flags;
        guint16 window;
    } packets[] = {{0, BB_TCP_SYN, 1}, {1, BB_TCP_SYN | BB_TCP_ACK, 1},
                   {0, BB_TCP_ACK, 1}, {1, BB_TCP_ACK, 0},
                   {0, BB_TCP_SYN, 1}, {1, BB_TCP_ACK, 3},
                   {1, BB_TCP_ACK, 0}, {0, BB_TCP_RST, 0}};
    for (guint mask = 0; mask < 1u << G_N_ELEMENTS(packets); mask++) {
        BbWire wire = {0}, whole = {0};
        BbNetworkEdge edge = {0}, want = {0};
        for (guint i = 0; i < G_N_ELEMENTS(packets); i++) {
            see(&wire, packets[i].side, packets[i].flags, 10 * i, packets[i].window);
            see(&whole, packets[i].side, packets[i].flags, 10 * i, packets[i].window);
            if (mask >> i & 1)
                bb_wire_tell(&wire, &edge);
        }
        bb_wire_report(&wire, true, &edge);
        bb_wire_report(&whole, true, &want);
        ck_assert_mem_eq(&edge, &want, sizeof edge);
    }
}
END_TEST

// ---- packets seen twice -------------------------------------------------------------------------

static BbPacket packet_at(gint64 time_ns)
{
    static const guint8 a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2}, text[] = "hello";
    return (BbPacket){
        .time_ns = time_ns,
        .source = bb_address_v4(a),
        .target = bb_address_v4(b),
        .source_port = 40000,
        .target_port = 80,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = BB_TCP_ACK,
        .seq = 1,
        .ack = 2,
        .window = 3,
        .ip_id = 4,
        .payload = text,
        .captured = 5,
        .length = 5,
    };
}

START_TEST(seen_twice)
{
    BbEchoes *echoes = bb_echoes_new();
    BbPacket first = packet_at(10 * MS), again = packet_at(12 * MS), late = packet_at(15 * MS);
    ck_assert(!bb_echoes_check(echoes, &first));
    ck_assert(bb_echoes_check(echoes, &again));
    ck_assert(bb_echoes_check(echoes, &again)); // of a mirror of three ports
    ck_assert(!bb_echoes_check(echoes, &late)); // sent again
    BbPacket other = packet_at(15 * MS);
    other.ip_id = 5;
    ck_assert(!bb_echoes_check(echoes, &other));
    other = packet_at(15 * MS);
    other.payload = (const guint8 *)"world";
    ck_assert(!bb_echoes_check(echoes, &other));
    other = packet_at(15 * MS);
    other.source = packet_at(0).target;
    other.target = packet_at(0).source;
    ck_assert(!bb_echoes_check(echoes, &other));
    bb_echoes_free(echoes);
}
END_TEST

// Without an identification only what comes at once is the same packet.
START_TEST(echoes_without_identification)
{
    BbEchoes *echoes = bb_echoes_new();
    BbPacket packet = packet_at(10 * MS);
    packet.ip_id = 0;
    ck_assert(!bb_echoes_check(echoes, &packet));
    packet.time_ns += BB_ECHO_UNNAMED_NS;
    ck_assert(bb_echoes_check(echoes, &packet));
    packet.time_ns += 1;
    ck_assert(!bb_echoes_check(echoes, &packet));
    packet.ttl++; // from behind a router
    ck_assert(bb_echoes_check(echoes, &packet));
    packet.time_ns += BB_ECHO_NS;
    ck_assert(bb_echoes_check(echoes, &packet));
    packet.time_ns++;
    ck_assert(!bb_echoes_check(echoes, &packet));
    bb_echoes_free(echoes);
}
END_TEST

// A receiver that lacks a segment says so again and again: nothing else tells these apart.
START_TEST(acknowledgements_are_echoes_by_identification_alone)
{
    BbEchoes *echoes = bb_echoes_new();
    BbPacket packet = packet_at(10 * MS);
    packet.captured = packet.length = 0;
    ck_assert(!bb_echoes_check(echoes, &packet));
    ck_assert(bb_echoes_check(echoes, &packet));
    packet.ip_id = 0;
    ck_assert(!bb_echoes_check(echoes, &packet));
    ck_assert(!bb_echoes_check(echoes, &packet));
    packet.tcp_flags |= BB_TCP_FIN;
    ck_assert(!bb_echoes_check(echoes, &packet));
    ck_assert(bb_echoes_check(echoes, &packet));
    bb_echoes_free(echoes);
}
END_TEST

// ---- words --------------------------------------------------------------------------------------

START_TEST(in_words)
{
    g_autoptr(BbNetwork) network = bb_network_new();
    g_autoptr(GString) text = g_string_new("x");
    BbNetworkEdge edge = {.client = 1, .server = 2, .connections = 100, .packets = 1000};
    bb_round_trip_note(&edge.to_server, 2 * MS);
    bb_round_trip_note(&edge.to_client, 1 * MS);
    bb_network_add(network, &edge);
    bb_network_note_append_trouble(text, network, 1, 2);
    bb_network_note_append(text, network, 2, 1);
    bb_network_note_append(text, NULL, 1, 2);
    ck_assert_str_eq(text->str, "x");
    bb_network_note_append(text, network, 1, 2);
    ck_assert_str_eq(text->str, "x\nnetwork: handshake 3.00 ms, 0 % sent again, 0 full windows, "
                                "100 connections");
    g_string_assign(text, "x");
    bb_network_add(
        network,
        &(BbNetworkEdge){
            .client = 1, .server = 2, .retransmitted = 20, .zero_windows = 1, .refused = 1});
    bb_network_note_append_trouble(text, network, 1, 2);
    ck_assert_str_eq(text->str, "x\nsent again: 2.0 % of 1,000 packets\n"
                                "not opened: 1.0 % of 100 connections\n1 full window");
    g_string_assign(text, "x");
    bb_network_add(network,
                   &(BbNetworkEdge){
                       .client = 3, .server = 4, .connections = 10, .resets = 2, .unanswered = 3});
    bb_network_note_append_trouble(text, network, 3, 4);
    ck_assert_str_eq(text->str, "x\nreset: 20 % of 10 connections\n"
                                "not opened: 30 % of 10 connections");
}
END_TEST

TEST_MAIN("network", edges_add_up, both_forms_of_a_trace, cut_at_every_byte,
          lines_that_are_comments, handshake, a_repeated_syn_measures_nothing, not_opened,
          windows_that_close, told_while_it_goes_on, seen_twice, echoes_without_identification,
          acknowledgements_are_echoes_by_identification_alone, in_words)
