// SPDX-License-Identifier: Apache-2.0
// Limits on what connections hold, together and in number: what goes first, what is counted, and
// that what comes afterwards is understood.
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include "capture/capture.h"

static const BbDirection up = BB_TO_SERVER, down = BB_TO_CLIENT;

// ---- bytes held ---------------------------------------------------------------------------------

START_TEST(half_a_header_is_dropped)
{
    g_autoptr(Converse) c = converse_tcp_held(80, 1000);
    g_autofree char *path = g_strnfill(3000, 'a');
    converse_text(c, up, "GET / HTTP/1.1\r\n\r\n");
    converse_text(c, down, "HTTP/1.1 204 No Content\r\n\r\n");
    converse_text(c, up, "GET /");
    converse_text(c, up, path);
    converse_text(c, up, "GET /b HTTP/1.1\r\n\r\n");
    converse_text(c, down, "HTTP/1.1 204 No Content\r\n\r\n");
    ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), 1);
    ck_assert(g_str_has_prefix(converse_result(c), "CALL 1 http GET / 18\nRET 1 http 204 27\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "http GET /b 19\n"));
}
END_TEST

// Replies to what was forgotten belong to nothing; the next call and its own find each other.
START_TEST(open_calls_are_forgotten)
{
    g_autoptr(Converse) c = converse_tcp_held(6379, 500);
    GString *told = g_string_new(NULL);
    for (guint i = 0; i < 5; i++) {
        converse_text(c, up, "*1\r\n$4\r\nPING\r\n");
        g_string_append_printf(told, "CALL %u redis PING 14\n", i + 1);
    }
    for (guint i = 0; i < 5; i++) {
        converse_text(c, down, "+PONG\r\n");
        g_string_append(told, "RET - redis ok 7\n");
    }
    converse_text(c, up, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    converse_text(c, down, ":1\r\n");
    g_string_append(told, "CALL 6 redis GET 20\nRET 6 redis ok 4\n");
    ck_assert_str_eq(converse_result(c), told->str);
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 5);
    ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), 0);
    g_string_free(told, TRUE);
}
END_TEST

START_TEST(few_open_calls_hold_nothing)
{
    g_autoptr(Converse) c = converse_tcp_held(6379, 0);
    for (guint i = 0; i < 4; i++)
        converse_text(c, up, "*1\r\n$4\r\nPING\r\n");
    for (guint i = 0; i < 4; i++)
        converse_text(c, down, "+PONG\r\n");
    (void)converse_result(c);
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 0);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

START_TEST(quiet_commands_are_one_way)
{
    g_autoptr(Converse) c = converse_tcp_held(11211, 100);
    converse_text(c, up, "mg a v q\r\n");
    converse_text(c, up, "mg b v q\r\n");
    converse_text(c, up, "get c\r\n");
    converse_text(c, down, "END\r\n");
    ck_assert_str_eq(converse_result(c), "MSG > memcached MG 10\nMSG > memcached MG 10\n"
                                         "CALL 3 memcached GET 7\nRET 3 memcached ok 5\n");
    ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), 1);
}
END_TEST

// The bytes of Parse, Bind, Execute and Sync of a statement.
static const char parse[] = "P\0\0\0\x18s\0SELECT * FROM t\0\0\0";
static const char execute[] = "B\0\0\0\x0d\0s\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\4";
static const char ready[] = "C\0\0\0\x0dSELECT 0\0Z\0\0\0\5I";

static const char *statement_label(gsize max_held_bytes)
{
    g_autoptr(Converse) c = converse_tcp_held(5432, max_held_bytes);
    converse_say(c, up, parse, sizeof parse - 1);
    converse_say(c, up, execute, sizeof execute - 1);
    converse_say(c, down, ready, sizeof ready - 1);
    converse_say(c, up, execute, sizeof execute - 1);
    converse_say(c, down, ready, sizeof ready - 1);
    ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), max_held_bytes < 100 ? 1 : 0);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), 2);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
    return strstr(converse_result(c), "CALL 2 postgresql SELECT t") ? "SELECT t" : "another";
}

START_TEST(statements_are_forgotten)
{
    ck_assert_str_eq(statement_label(10000), "SELECT t");
    ck_assert_str_eq(statement_label(50), "another");
}
END_TEST

// ---- number of connections ----------------------------------------------------------------------

typedef struct Crowd {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    GString *gone; // ports of the connections that ended, in order
} Crowd;

static bool note_end(const BbMessage *message, gpointer user, GError **error)
{
    Crowd *crowd = user;
    if (message->kind == BB_FREE)
        g_string_append_printf(crowd->gone, "%s ", bb_names_text(crowd->names, message->sender));
    return true;
}

static void crowd_begin(Crowd *crowd, guint most)
{
    BbCaptureOptions options = {.max_connections = most, .max_held_bytes = 1000000};
    *crowd = (Crowd){.names = bb_names_new(), .gone = g_string_new(NULL)};
    crowd->nodes = bb_nodes_new(crowd->names, false);
    crowd->capture =
        bb_capture_new(&options, crowd->names, crowd->nodes, &crowd->loss, note_end, crowd);
}

static void crowd_end(Crowd *crowd)
{
    bb_capture_free(crowd->capture);
    bb_nodes_free(crowd->nodes);
    bb_names_free(crowd->names);
    g_string_free(crowd->gone, TRUE);
}

// A packet of host 10.0.0.`number`.
static void send(Crowd *crowd, guint8 number, BbTransport transport, guint8 flags, const char *text)
{
    BbPacket packet = {
        .time_ns = 1000,
        .source = bb_address_v4((const guint8[]){10, 0, 0, number}),
        .target = bb_address_v4((const guint8[]){10, 0, 1, 1}),
        .source_port = 1000,
        .target_port = 9999,
        .transport = transport,
        .tcp_flags = flags,
        .seq = flags & BB_TCP_SYN ? 0 : 1,
        .payload = (const guint8 *)text,
        .captured = (guint32)strlen(text),
        .length = (guint32)strlen(text),
    };
    ck_assert(bb_capture_packet(crowd->capture, &packet, NULL));
}

static void talk(Crowd *crowd, guint8 number)
{
    send(crowd, number, BB_TRANSPORT_TCP, BB_TCP_SYN, "");
    send(crowd, number, BB_TRANSPORT_TCP, BB_TCP_ACK, "\x01hello");
}

// What is easiest to spare goes first, and only what is missed is counted.
START_TEST(the_least_missed_goes_first)
{
    Crowd crowd;
    crowd_begin(&crowd, 4);
    talk(&crowd, 1);
    send(&crowd, 2, BB_TRANSPORT_UDP, 0, "\x01hello");
    send(&crowd, 3, BB_TRANSPORT_TCP, BB_TCP_SYN, "");
    talk(&crowd, 4);
    send(&crowd, 4, BB_TRANSPORT_TCP, BB_TCP_RST, "");
    ck_assert_str_eq(crowd.gone->str, "10.0.0.4 "); // its reset ends it
    ck_assert_uint_eq(bb_capture_connections(crowd.capture), 4);
    talk(&crowd, 5); // in place of 4
    talk(&crowd, 6); // of 3
    ck_assert_str_eq(crowd.gone->str, "10.0.0.4 ");
    talk(&crowd, 7); // of 2
    ck_assert_str_eq(crowd.gone->str, "10.0.0.4 10.0.0.2 ");
    ck_assert_uint_eq(crowd.loss.count[BB_EVICTED_CONNECTIONS], 0);
    send(&crowd, 5, BB_TRANSPORT_TCP, BB_TCP_ACK, "\x01world");
    send(&crowd, 1, BB_TRANSPORT_TCP, BB_TCP_ACK, "\x01world");
    talk(&crowd, 8); // of 6, the one longest silent
    ck_assert_str_eq(crowd.gone->str, "10.0.0.4 10.0.0.2 10.0.0.6 ");
    ck_assert_uint_eq(crowd.loss.count[BB_EVICTED_CONNECTIONS], 1);
    ck_assert_uint_eq(bb_capture_connections(crowd.capture), 4);
    crowd_end(&crowd);
}
END_TEST

// A datagram is missed when its reply may still come.
START_TEST(an_open_question_is_missed)
{
    static const guint8 query[] = "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
    Crowd crowd;
    crowd_begin(&crowd, 1);
    for (guint8 i = 0; i < 3; i++) {
        BbPacket packet = {
            .source = bb_address_v4((const guint8[]){10, 0, 0, i}),
            .target = bb_address_v4((const guint8[]){10, 0, 1, 1}),
            .source_port = 1000,
            .target_port = 53,
            .transport = BB_TRANSPORT_UDP,
            .payload = query,
            .captured = sizeof query - 1,
            .length = sizeof query - 1,
        };
        ck_assert(bb_capture_packet(crowd.capture, &packet, NULL));
    }
    ck_assert_uint_eq(crowd.loss.count[BB_EVICTED_CONNECTIONS], 2);
    ck_assert_uint_eq(crowd.loss.count[BB_CALLS_UNRETURNED], 2);
    crowd_end(&crowd);
}
END_TEST

TEST_MAIN("limits", half_a_header_is_dropped, open_calls_are_forgotten, few_open_calls_hold_nothing,
          quiet_commands_are_one_way, statements_are_forgotten, the_least_missed_goes_first,
          an_open_question_is_missed)
