// SPDX-License-Identifier: Apache-2.0
// Dialogs of an unknown protocol: turn-taking, pairing under loss, greetings, one-way traffic,
// reordering, resets. What decoders stand on.
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include "capture/loss.h"
#include "data/crc32c.h"
#include "data/message.h"

static const BbDirection up = BB_TO_SERVER, down = BB_TO_CLIENT;

START_TEST(turns_are_calls)
{
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_text(c, up, "\x01one");
    converse_text(c, up, "\x01more");
    converse_text(c, down, "\x02reply");
    converse_text(c, up, "\x01two");
    converse_text(c, down, "\x02r");
    converse_text(c, down, "\x02 st");
    ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 9\n"
                                         "RET 1 tcp ok 6\n"
                                         "CALL 2 tcp - 4\n"
                                         "RET 2 tcp ok 6\n");
    ck_assert_int_eq(converse_first_ms(c, 0), 0);
    ck_assert_int_eq(converse_last_ms(c, 0), 1);
    ck_assert_int_eq(converse_last_ms(c, 3), 5);
}
END_TEST

START_TEST(greeting_is_free)
{
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_text(c, down, "\x02hello");
    converse_text(c, up, "\x01one");
    converse_text(c, down, "\x02reply");
    ck_assert_str_eq(converse_result(c), "MSG < tcp - 6\n"
                                         "CALL 1 tcp - 4\n"
                                         "RET 1 tcp ok 6\n");
}
END_TEST

START_TEST(one_way_is_free)
{
    g_autoptr(Converse) c = converse_udp(9999);
    converse_text(c, up, "\x01one");
    converse_text(c, up, "\x01two");
    ck_assert_str_eq(converse_result(c), "MSG > udp - 4\nMSG > udp - 4\n");
}
END_TEST

START_TEST(unanswered_call_is_kept)
{
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_text(c, up, "\x01one");
    converse_text(c, down, "\x02reply");
    converse_text(c, up, "\x01two");
    ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 4\n"
                                         "RET 1 tcp ok 6\n"
                                         "CALL 2 tcp - 4\n");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// The reply to the first call is lost: the second reply must not be taken for it.
START_TEST(lost_reply_does_not_shift)
{
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_text(c, up, "\x01one");
    converse_lose(c, down, 50);
    converse_text(c, up, "\x01two");
    converse_text(c, down, "\x02reply");
    converse_text(c, up, "\x01three");
    converse_text(c, down, "\x02reply 3");
    ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 4\n"
                                         "CALL 2 tcp - 4\n"
                                         "RET 2 tcp ok 6\n"
                                         "CALL 3 tcp - 6\n"
                                         "RET 3 tcp ok 8\n");
    ck_assert_uint_eq(converse_loss(c, BB_TCP_GAPS), 1);
    ck_assert_uint_eq(converse_loss(c, BB_TCP_GAP_BYTES), 50);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// A request is lost: its reply is an orphan, and the next pair is right.
START_TEST(lost_request_leaves_an_orphan)
{
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_text(c, up, "\x01one");
    converse_text(c, down, "\x02reply");
    converse_lose(c, up, 30);
    converse_text(c, down, "\x02reply 2");
    converse_text(c, up, "\x01three");
    converse_text(c, down, "\x02reply 3.");
    ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 4\n"
                                         "RET 1 tcp ok 6\n"
                                         "RET - tcp ok 8\n"
                                         "CALL 2 tcp - 6\n"
                                         "RET 2 tcp ok 9\n");
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
}
END_TEST

START_TEST(midstream_is_joined)
{
    g_autoptr(Converse) c = converse_tcp_midstream(9999);
    converse_text(c, down, "\x02tail of a reply");
    converse_text(c, up, "\x01two");
    converse_text(c, down, "\x02reply");
    ck_assert_str_eq(converse_result(c), "MSG < tcp - 16\n"
                                         "CALL 1 tcp - 4\n"
                                         "RET 1 tcp ok 6\n");
    ck_assert_uint_eq(converse_loss(c, BB_TCP_MIDSTREAM), 1);
}
END_TEST

// What a certain reply answers was a request of the same protocol, malformed as it may be.
START_TEST(malformed_request_is_known_by_its_reply)
{
    static const char *const requests[] = {"GET/ HTTP/1.1\r\nHost: a\r\n\r\n", "hello it\r\n",
                                           "\x16\x03\x01 hello, is this TLS?"};
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++) {
        g_autoptr(Converse) c = converse_tcp(80);
        g_autofree char *told = g_strdup_printf("CALL 1 http - %zu\nRET 1 http 400 47\n"
                                                "CALL 2 http GET / 18\nRET 2 http 204 27\n",
                                                strlen(requests[i]));
        converse_text(c, up, requests[i]);
        converse_text(c, down, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        converse_text(c, up, "GET / HTTP/1.1\r\n\r\n");
        converse_text(c, down, "HTTP/1.1 204 No Content\r\n\r\n");
        ck_assert_str_eq(converse_result(c), told);
    }
}
END_TEST

// The same of one that the snap length cut, but not where its begin is missing.
START_TEST(cut_request_is_known_by_its_reply)
{
    g_autoptr(Converse) c = converse_tcp(80), headless = converse_tcp(80);
    converse_text(c, up, "GET");
    converse_lose(c, up, 400);
    converse_text(c, down, "HTTP/1.1 204 No Content\r\n\r\n");
    ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 3\nRET 1 http 204 27\n");
    converse_lose(headless, up, 400);
    converse_text(headless, up, "x: y\r\n\r\n");
    converse_text(headless, down, "HTTP/1.1 204 No Content\r\n\r\n");
    ck_assert_str_eq(converse_result(headless), "MSG > tcp - 8\nRET - http 204 27\n");
}
END_TEST

#define QUERY "\x14\0\0\0\x03SELECT a FROM shops"
#define DONE "\x07\0\0\x01\0\0\0\x02\0\0\0"

// Both sides together tell the protocol, in whatever pieces the answer comes. It may never be
// whole, or be another's.
START_TEST(known_by_question_and_answer)
{
    for (gsize segment = 1; segment <= 30; segment++) {
        g_autoptr(Converse) c = converse_tcp_midstream(9999), torn = converse_tcp_midstream(9999);
        converse_segment_size(c, segment);
        converse_say(c, up, QUERY, sizeof QUERY - 1);
        converse_say(c, down, DONE, sizeof DONE - 1);
        converse_say(c, up, QUERY, sizeof QUERY - 1);
        converse_say(c, down, DONE, sizeof DONE - 1);
        ck_assert_str_eq(converse_result(c), "CALL 1 mysql SELECT shops 24\nRET 1 mysql ok 11\n"
                                             "CALL 2 mysql SELECT shops 24\nRET 2 mysql ok 11\n");
        converse_say(torn, up, QUERY, sizeof QUERY - 1);
        converse_segment_size(torn, segment);
        converse_say(torn, down, DONE, 6);
        converse_say(torn, up, "what?", 5);
        converse_say(torn, down, "HTTP/1.1 204 No Content\r\n\r\n", 27);
        ck_assert_ptr_nonnull(strstr(converse_result(torn), "CALL 1 tcp - 24\nRET 1 tcp ok 6\n"));
    }
}
END_TEST

START_TEST(likely_question_and_certain_answer_of_another)
{
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_say(c, up, QUERY, sizeof QUERY - 1);
    converse_segment_size(c, 3);
    converse_text(c, down, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    converse_segment_size(c, 100);
    converse_text(c, up, "GET / HTTP/1.1\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(converse_result(c), "http GET / 18\n"));
}
END_TEST

// Many turns of an unknown protocol do not hide what is likely at its port.
START_TEST(likely_at_its_port_in_a_later_turn)
{
    g_autoptr(Converse) c = converse_tcp(3306);
    converse_text(c, up, "\xee\xee what");
    converse_text(c, down, "\xff");
    converse_say(c, up, QUERY, sizeof QUERY - 1);
    converse_say(c, down, DONE, sizeof DONE - 1);
    ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 7\nRET 1 tcp ok 1\n"
                                         "CALL 2 mysql SELECT shops 24\nRET 2 mysql ok 11\n");
}
END_TEST

// Where its beginning was not seen, it is none.
START_TEST(tail_of_a_request_is_not_known_by_its_reply)
{
    static const char *const told = "MSG > tcp - 4\nRET - http 204 27\n";
    g_autoptr(Converse) joined = converse_tcp_midstream(80), torn = converse_tcp(80);
    converse_text(joined, up, "tail");
    converse_text(joined, down, "HTTP/1.1 204 No Content\r\n\r\n");
    converse_lose(torn, up, 50);
    converse_text(torn, up, "tail");
    converse_text(torn, down, "HTTP/1.1 204 No Content\r\n\r\n");
    ck_assert_str_eq(converse_result(joined), told);
    ck_assert_str_eq(converse_result(torn), told);
}
END_TEST

// More requests in a pipeline than the limit: the first are given up, their replies are orphans,
// and the others still pair with their own.
START_TEST(a_deep_pipeline_keeps_its_pairs)
{
    g_autoptr(Converse) c = converse_tcp(6379);
    const guint depth = 50000, limit = 49152;
    for (guint i = 0; i < depth; i++)
        converse_text(c, up, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    for (guint i = 0; i < depth; i++) {
        g_autofree char *reply = g_strdup_printf(":%0*u\r\n", (int)(1 + i % 7), 1u);
        converse_text(c, down, reply);
    }
    const char *line = converse_result(c); // not to be split: that takes long under a sanitizer
    for (guint i = 0; i < depth; i++)
        line = strchr(line, '\n') + 1;
    for (guint i = 0; i < depth; i++, line = strchr(line, '\n') + 1) {
        guint bytes = 4 + i % 7;
        g_autofree char *orphan = g_strdup_printf("RET - redis ok %u\n", bytes);
        g_autofree char *own = g_strdup_printf("RET %u redis ok %u\n", i + 1, bytes);
        const char *expected = i < depth - limit ? orphan : own;
        ck_assert(strncmp(line, expected, strlen(expected)) == 0);
    }
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), depth - limit);
}
END_TEST

// A packet of a message that was sent again and came late is its last one, wherever it belongs.
START_TEST(a_message_ends_with_its_latest_packet)
{
    g_autoptr(Converse) c = converse_tcp(80);
    g_autofree char *body = g_strnfill(5000, 'x');
    converse_text(c, up, "GET / HTTP/1.1\r\n\r\n");
    converse_text(c, down, "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n");
    converse_say(c, down, body, 2000);
    converse_lose(c, down, 2000);
    converse_say(c, down, body, 5000);
    converse_wait(c, 300);
    converse_late(c, down, 7000, body, 2000);
    converse_wait(c, 300);
    converse_text(c, up, "GET / HTTP/1.1\r\n\r\n");
    ck_assert_int_eq(converse_first_ms(c, 1), 1);
    ck_assert_int_eq(converse_last_ms(c, 1), 311);
}
END_TEST

static void talk_mirrored(Converse *c)
{
    converse_mirror_twice(c);
    converse_text(c, up, "\x01one");
    converse_text(c, down, "\x02reply");
    converse_text(c, up, "\x01one");
    converse_text(c, down, "\x02reply");
}

START_TEST(mirrored_twice_counts_once)
{
    g_autoptr(Converse) tcp = converse_tcp(9999);
    talk_mirrored(tcp);
    ck_assert_str_eq(converse_result(tcp), "CALL 1 tcp - 4\n"
                                           "RET 1 tcp ok 6\n"
                                           "CALL 2 tcp - 4\n"
                                           "RET 2 tcp ok 6\n");
    ck_assert_uint_eq(converse_loss(tcp, BB_TCP_ECHOED), 4);
    ck_assert_uint_eq(converse_loss(tcp, BB_TCP_RETRANSMITTED), 0);
    g_autoptr(Converse) udp = converse_udp(9999);
    talk_mirrored(udp);
    ck_assert_str_eq(converse_result(udp), "CALL 1 udp - 4\n"
                                           "RET 1 udp ok 6\n"
                                           "CALL 2 udp - 4\n"
                                           "RET 2 udp ok 6\n");
    ck_assert_uint_eq(converse_loss(udp, BB_DATAGRAM_ECHOED), 4);
}
END_TEST

static BbPart part_of(const guint8 *bytes, gsize length, gsize missing, gsize from)
{
    const BbMark mark = {.end = length};
    const BbView view = {.data = bytes,
                         .length = length,
                         .datagram = true,
                         .missing = missing,
                         .marks = &mark,
                         .n_marks = 1};
    BbPart part = {0};
    bb_part_add(&part, &view, from, length);
    return part;
}

// As the data of a COPY that has none.
START_TEST(nothing_joins_without_a_trace)
{
    const guint8 bytes[10] = {0};
    BbPart part = part_of(bytes, sizeof bytes, 0, 0);
    const BbPart whole = part, nothing = {0};
    bb_part_join(&part, &nothing);
    ck_assert_uint_eq(part.end_seq, whole.end_seq);
    ck_assert_uint_eq(part.bytes, whole.bytes);
    ck_assert_int_eq(part.last_ns, whole.last_ns);
    bb_part_reset(&part);
    bb_part_join(&part, &nothing);
    ck_assert(!part.begun);
}
END_TEST

// All observers have the same one, whatever their snap length, or none.
START_TEST(a_print_is_of_what_a_datagram_begins_with)
{
    guint8 bytes[200];
    for (guint i = 0; i < sizeof bytes; i++)
        bytes[i] = (guint8)(i * i);
    const BbPart whole = part_of(bytes, sizeof bytes, 0, 0);
    const BbPart cut = part_of(bytes, BB_PRINT_BYTES, sizeof bytes - BB_PRINT_BYTES, 0);
    ck_assert(whole.has_print && cut.has_print);
    ck_assert_uint_eq(whole.print, bb_crc32c(0, bytes, BB_PRINT_BYTES));
    ck_assert_uint_eq(whole.print, cut.print);
    ck_assert(!part_of(bytes, BB_PRINT_BYTES - 1, 1, 0).has_print);
    ck_assert(part_of(bytes, 12, 0, 0).has_print);
    const BbPart second = part_of(bytes, sizeof bytes, 0, 100); // another message of the datagram
    ck_assert_uint_eq(second.print, bb_crc32c(0, bytes + 100, BB_PRINT_BYTES));
}
END_TEST

// Of datagrams, too: who asks something else later has not waited. The same is sent again.
START_TEST(lost_answer_to_a_datagram)
{
    g_autoptr(Converse) c = converse_udp(9999);
    converse_text(c, BB_TO_SERVER, "ask 1");
    converse_text(c, BB_TO_CLIENT, "told 1");
    converse_wait(c, 5000);
    converse_text(c, BB_TO_SERVER, "ask 2"); // its answer is lost
    converse_wait(c, 1100);
    converse_text(c, BB_TO_SERVER, "ask 3");
    converse_text(c, BB_TO_CLIENT, "told 3");
    converse_text(c, BB_TO_SERVER, "ask 4");
    converse_wait(c, 2000);
    converse_text(c, BB_TO_SERVER, "ask 4");
    converse_text(c, BB_TO_SERVER, "and 5");
    converse_text(c, BB_TO_CLIENT, "told 4");
    ck_assert_str_eq(converse_result(c), "CALL 1 udp - 5\nRET 1 udp ok 6\nCALL 2 udp - 5\n"
                                         "CALL 3 udp - 5\nRET 3 udp ok 6\nCALL 4 udp - 15\n"
                                         "RET 4 udp ok 6\n");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

TEST_MAIN("dialog", mirrored_twice_counts_once, a_deep_pipeline_keeps_its_pairs,
          a_message_ends_with_its_latest_packet, turns_are_calls, greeting_is_free, one_way_is_free,
          unanswered_call_is_kept, lost_reply_does_not_shift, lost_request_leaves_an_orphan,
          midstream_is_joined, malformed_request_is_known_by_its_reply,
          cut_request_is_known_by_its_reply, known_by_question_and_answer,
          likely_question_and_certain_answer_of_another, likely_at_its_port_in_a_later_turn,
          tail_of_a_request_is_not_known_by_its_reply, a_print_is_of_what_a_datagram_begins_with,
          nothing_joins_without_a_trace, lost_answer_to_a_datagram)
