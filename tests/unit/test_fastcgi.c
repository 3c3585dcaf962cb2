// SPDX-License-Identifier: Apache-2.0
// FastCGI: requests by id, many at a time, streams in pieces, statuses, management, loss.
#include "tests/unit/octets.h"

enum { BEGIN = 1, ABORT, END, PARAMS, STDIN, STDOUT, STDERR, GET_VALUES = 9, RESULT, UNKNOWN };

static void record(Octets *out, guint type, guint id, const void *content, gsize length)
{
    guint padding = (8 - length % 8) % 8;
    octets_be(out, 1, 1);
    octets_be(out, type, 1);
    octets_be(out, id, 2);
    octets_be(out, length, 2);
    octets_be(out, padding, 1);
    octets_be(out, 0, 1);
    octets_put(out, content, length);
    octets_be(out, 0, padding);
}

static void text(Octets *out, guint type, guint id, const char *content)
{
    record(out, type, id, content, strlen(content));
}

static void begin(Octets *out, guint id)
{
    record(out, BEGIN, id, "\0\1\1\0\0\0\0\0", 8);
}

static void end_with(Octets *out, guint id, guint application, guint protocol)
{
    const guint8 content[8] = {[3] = (guint8)application, [4] = (guint8)protocol};
    record(out, END, id, content, sizeof content);
}

static void length(Octets *out, gsize value)
{
    if (value < 128)
        octets_be(out, value, 1);
    else
        octets_be(out, value | 0x80000000u, 4);
}

static void pair(Octets *out, const char *name, const char *value)
{
    length(out, strlen(name));
    length(out, strlen(value));
    octets_put(out, name, strlen(name));
    octets_put(out, value, strlen(value));
}

static void ask(Octets *out, guint id, const char *method, const char *uri, const char *body)
{
    g_autoptr(Octets) params = g_byte_array_new();
    begin(out, id);
    pair(params, "QUERY_STRING", "");
    pair(params, "REQUEST_METHOD", method);
    pair(params, "SCRIPT_NAME", "/index.php");
    pair(params, "REQUEST_URI", uri);
    record(out, PARAMS, id, params->data, params->len);
    record(out, PARAMS, id, "", 0);
    if (body[0])
        text(out, STDIN, id, body);
    record(out, STDIN, id, "", 0);
}

static void answer(Octets *out, guint id, const char *reply)
{
    text(out, STDOUT, id, reply);
    record(out, STDOUT, id, "", 0);
    end_with(out, id, 0, 0);
}

static void up_ask(Steps *s, guint id, const char *method, const char *uri, const char *body)
{
    Octets *bytes = g_byte_array_new();
    ask(bytes, id, method, uri, body);
    step(s, SAY_UP, bytes);
}

static void down_answer(Steps *s, guint id, const char *reply)
{
    Octets *bytes = g_byte_array_new();
    answer(bytes, id, reply);
    step(s, SAY_DOWN, bytes);
}

START_TEST(requests_in_turn)
{
    g_autoptr(Steps) s = steps_new(9001);
    up_ask(s, 1, "GET", "/cart/17?x=1", "");
    down_answer(s, 1, "Content-type: text/html\r\n\r\nhello");
    up_ask(s, 1, "POST", "/order", "a=1&b=2");
    down_answer(s, 1, "X-Powered-By: PHP\r\nStatus: 404 Not Found\r\n\r\n");
    steps_check(s, "CALL 1 fastcgi GET /cart/* 128\nRET 1 fastcgi 200 64\n"
                   "CALL 2 fastcgi POST /order 136\nRET 2 fastcgi 404 80\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

// Records of two requests between each other; the second is answered first.
START_TEST(many_at_a_time)
{
    g_autoptr(Steps) s = steps_new(9000);
    up_ask(s, 1, "GET", "/a", "");
    up_ask(s, 2, "GET", "/b", "");
    Octets *down = g_byte_array_new();
    text(down, STDOUT, 2, "Status: 500 No\r\n");
    text(down, STDOUT, 1, "Location: http://a/\r\n\r\n");
    text(down, STDERR, 1, "warning");
    text(down, STDOUT, 2, "\r\n");
    end_with(down, 2, 0, 0);
    end_with(down, 1, 0, 0);
    step(s, SAY_DOWN, down);
    g_autoptr(Converse) c = steps_play(s, 1460);
    const char *result = converse_result(c);
    ck_assert_msg(strstr(result, "CALL 1 fastcgi GET /a "), "%s", result);
    ck_assert_msg(strstr(result, "CALL 2 fastcgi GET /b "), "%s", result);
    ck_assert_msg(strstr(result, "RET 1 fastcgi 302 48\n"), "%s", result); // STDERR is no part
    ck_assert_msg(strstr(result, "RET 2 fastcgi 500 56\n"), "%s", result);
}
END_TEST

// Parameters may be cut anywhere; lengths have one byte or four.
START_TEST(parameters_in_pieces)
{
    g_autofree char *cookie = g_strnfill(300, 'c');
    g_autoptr(Octets) params = g_byte_array_new();
    pair(params, "HTTP_COOKIE", cookie);
    pair(params, "", "");
    pair(params, "REQUEST_METHOD", "PUT");
    pair(params, "A_NAME_THAT_IS_LONGER_THAN_ALL_OF_THEM", "1");
    pair(params, "SCRIPT_NAME", "/docs/index.php");
    for (guint piece = 1; piece < 9; piece++) {
        g_autoptr(Steps) s = steps_new(9000);
        Octets *up = g_byte_array_new();
        begin(up, 7);
        for (guint at = 0; at < params->len; at += piece)
            record(up, PARAMS, 7, params->data + at, MIN(piece, params->len - at));
        record(up, PARAMS, 7, "", 0);
        record(up, STDIN, 7, "", 0);
        step(s, SAY_UP, up);
        down_answer(s, 7, "Status: 201\n\n");
        g_autofree char *expected = g_strdup_printf(
            "CALL 1 fastcgi PUT /docs/index.php %u\nRET 1 fastcgi 201 48\n", up->len);
        steps_check(s, expected);
    }
}
END_TEST

START_TEST(refusals_and_ends)
{
    static const struct {
        guint application, protocol;
        const char *status;
    } ends[] = {{0, 0, "ok"},         {3, 0, "error"},        {0, 1, "CANT_MPX_CONN"},
                {0, 2, "OVERLOADED"}, {0, 3, "UNKNOWN_ROLE"}, {0, 9, "error"}};
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autoptr(Steps) s = steps_new(9000);
        up_ask(s, 1, "GET", "/", "");
        Octets *down = g_byte_array_new();
        end_with(down, 1, ends[i].application, ends[i].protocol);
        step(s, SAY_DOWN, down);
        g_autofree char *expected =
            g_strdup_printf("CALL 1 fastcgi GET / 112\nRET 1 fastcgi %s 16\n", ends[i].status);
        steps_check(s, expected);
    }
}
END_TEST

// A reply may end before its header section does.
START_TEST(headless_replies)
{
    static const char *const replies[][2] = {{"A: b\r\n.", "ok"}, {"Status: 404\n", "404"}};
    for (guint i = 0; i < G_N_ELEMENTS(replies); i++) {
        g_autoptr(Steps) s = steps_new(9000);
        up_ask(s, 1, "GET", "/", "");
        down_answer(s, 1, replies[i][0]);
        g_autofree char *expected = g_strdup_printf(
            "CALL 1 fastcgi GET / 112\nRET 1 fastcgi %s %u\n", replies[i][1], 40u + 8 * i);
        steps_check(s, expected);
    }
}
END_TEST

// Section 5.4: the request is over, but still answered.
START_TEST(aborted)
{
    g_autoptr(Steps) s = steps_new(9000);
    Octets *up = g_byte_array_new();
    ask(up, 1, "GET", "/slow", "");
    record(up, ABORT, 1, "", 0);
    step(s, SAY_UP, up);
    Octets *down = g_byte_array_new();
    end_with(down, 1, 0, 0);
    step(s, SAY_DOWN, down);
    steps_check(s, "CALL 1 fastcgi GET /slow 120\nRET 1 fastcgi error 16\n");
}
END_TEST

START_TEST(management)
{
    g_autoptr(Steps) s = steps_new(9001);
    Octets *up = g_byte_array_new(), *down = g_byte_array_new();
    record(up, GET_VALUES, 0, "\16\0FCGI_MAX_CONNS", 16);
    step(s, SAY_UP, up);
    record(down, RESULT, 0, "\16\1FCGI_MAX_CONNS9", 17);
    step(s, SAY_DOWN, down);
    up = g_byte_array_new();
    record(up, GET_VALUES, 0, "\16\0FCGI_MAX_OTHER", 16);
    step(s, SAY_UP, up);
    down = g_byte_array_new();
    record(down, UNKNOWN, 0, "\11\0\0\0\0\0\0\0", 8);
    step(s, SAY_DOWN, down);
    up_ask(s, 1, "GET", "/", "");
    down_answer(s, 1, "Status: 200 OK\r\n\r\n");
    steps_check(s, "CALL 1 fastcgi GET_VALUES 24\nRET 1 fastcgi ok 32\n"
                   "CALL 2 fastcgi GET_VALUES 24\nRET 2 fastcgi UNKNOWN_TYPE 16\n"
                   "CALL 3 fastcgi GET / 112\nRET 3 fastcgi 200 56\n");
}
END_TEST

// More requests at a time than are remembered: the oldest is ended.
START_TEST(too_many_at_a_time)
{
    g_autoptr(Steps) s = steps_new(9000);
    for (guint id = 1; id <= 9; id++)
        up_ask(s, id, "GET", "/", "");
    for (guint id = 9; id > 1; id--)
        down_answer(s, id, "Status: 200 OK\r\n\r\n");
    ck_assert_uint_eq(steps_count(s, BB_PENDING_LIMIT), 1);
    ck_assert_uint_eq(steps_count(s, BB_CALLS), 9);
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// Large bodies are passed over; a gap inside of a record does no harm.
START_TEST(large_bodies)
{
    g_autofree char *body = g_strnfill(50000, 'x');
    g_autoptr(Steps) s = steps_new(9000);
    up_ask(s, 1, "POST", "/up", body);
    Octets *down = g_byte_array_new();
    text(down, STDOUT, 1, "Content-type: a\r\n\r\n");
    octets_put(down, "\1\6\0\1\xea\x60\0\0", 8); // 60000 bytes
    step(s, SAY_DOWN, down);
    g_autoptr(Octets) zeros = octets("00*20000");
    step(s, SAY_DOWN, g_byte_array_ref(zeros));
    step(s, LOSE_DOWN, g_byte_array_ref(zeros));
    step(s, SAY_DOWN, g_byte_array_ref(zeros));
    down = g_byte_array_new();
    end_with(down, 1, 0, 0);
    step(s, SAY_DOWN, down);
    steps_check(s, "CALL 1 fastcgi POST /up 50128\nRET 1 fastcgi 200 40056\n");
}
END_TEST

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(9000);
    s->midstream = true;
    up(s, "0105 0001 0004 04 00 'abcd' 00000000 0105 0001 0000 00 00");
    down_answer(s, 1, "Status: 200 OK\r\n\r\n");
    up_ask(s, 1, "GET", "/next", "");
    down_answer(s, 1, "Status: 200 OK\r\n\r\n");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "MSG > tcp - 24\nRET - fastcgi 200 56\n"
                                         "CALL 1 fastcgi GET /next 120\nRET 1 fastcgi 200 56\n");
}
END_TEST

// Whatever is lost, the next request and its reply are found.
START_TEST(losses)
{
    static const struct {
        StepKind kind[2];
        const char *expected;
    } cases[] = {
        {{LOSE_UP, SAY_DOWN},
         "CALL 1 fastcgi GET /one 120\nRET 1 fastcgi 200 56\n"
         "RET - fastcgi 200 56\n"
         "CALL 2 fastcgi GET /three 120\nRET 2 fastcgi 200 56\n"},
        {{SAY_UP, LOSE_DOWN},
         "CALL 1 fastcgi GET /one 120\nRET 1 fastcgi 200 56\n"
         "CALL 2 fastcgi GET /two 120\n"
         "CALL 3 fastcgi GET /three 120\nRET 3 fastcgi 200 56\n"},
        {{LOSE_UP, LOSE_DOWN},
         "CALL 1 fastcgi GET /one 120\nRET 1 fastcgi 200 56\n"
         "CALL 2 fastcgi GET /three 120\nRET 2 fastcgi 200 56\n"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Steps) s = steps_new(9000);
        up_ask(s, 1, "GET", "/one", "");
        down_answer(s, 1, "Status: 200 OK\r\n\r\nabcdef");
        up_ask(s, 1, "GET", "/two", "");
        down_answer(s, 1, "Status: 200 OK\r\n\r\nabcdef");
        g_array_index(s->steps, Step, 2).kind = cases[i].kind[0];
        g_array_index(s->steps, Step, 3).kind = cases[i].kind[1];
        up_ask(s, 1, "GET", "/three", "");
        down_answer(s, 1, "Status: 200 OK\r\n\r\nabcdef");
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_str_eq(converse_result(c), cases[i].expected);
    }
}
END_TEST

// As under a snap length: the begin of each reply is there, the next request is of the same id.
START_TEST(replies_cut_short)
{
    g_autoptr(Steps) s = steps_new(9000);
    for (guint i = 0; i < 3; i++) {
        Octets *begun = g_byte_array_new();
        up_ask(s, 1, "GET", "/a", "");
        text(begun, STDOUT, 1, "Status: 200 OK\r\n\r\nabcdef");
        step(s, SAY_DOWN, begun);
        step(s, LOSE_DOWN, octets("00*100"));
    }
    Octets *rest = g_byte_array_new();
    text(rest, STDOUT, 1, "behind the hole");
    end_with(rest, 1, 0, 0);
    step(s, SAY_DOWN, rest);
    up_ask(s, 1, "GET", "/a", "");
    down_answer(s, 1, "Status: 404\r\n\r\n");
    steps_check(s, "CALL 1 fastcgi GET /a 112\nRET 1 fastcgi 200 32\n"
                   "CALL 2 fastcgi GET /a 112\nRET 2 fastcgi 200 32\n"
                   "CALL 3 fastcgi GET /a 112\nRET 3 fastcgi 200 32\n"
                   "CALL 4 fastcgi GET /a 112\nRET 4 fastcgi 404 48\n");
    ck_assert_uint_eq(steps_count(s, BB_REPLIES_PASSED), 2);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// Of parameters that are lost in part the label says what is known.
START_TEST(lost_parameters)
{
    g_autoptr(Steps) s = steps_new(9000);
    g_autoptr(Octets) params = g_byte_array_new();
    pair(params, "REQUEST_METHOD", "GET");
    Octets *first = g_byte_array_new(), *rest = g_byte_array_new();
    begin(first, 1);
    record(first, PARAMS, 1, params->data, params->len);
    step(s, SAY_UP, first);
    step(s, LOSE_UP, octets("00*100"));
    text(rest, STDIN, 1, "body");
    record(rest, STDIN, 1, "", 0);
    step(s, SAY_UP, rest);
    down_answer(s, 1, "Status: 200 OK\r\n\r\n");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 fastcgi GET ? 72\nRET 1 fastcgi 200 56\n");
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *decoder = &bb_decoder_fastcgi;
    ck_assert_int_eq(probe_octets(decoder, "01"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "0101 0001 0008 00 00 0001 00 00"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "0101 0001 0008 00 00 0001 00 0000000000"),
                     BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(decoder, "0101 0001 0008 00 00 0004 00 0000000000"),
                     BB_MATCH_NO); // role
    ck_assert_int_eq(probe_octets(decoder, "0101 0000 0008 00 00 0001 00 0000000000"),
                     BB_MATCH_NO); // id
    ck_assert_int_eq(probe_octets(decoder, "0201 0001 0008 00 00 0001 00 0000000000"),
                     BB_MATCH_NO); // version
    ck_assert_int_eq(probe_octets(decoder, "0103 0001 0008 00 00 00000000 00 000000"),
                     BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(decoder, "0103 0001 0008 00 00 00000000 04 000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "0106 0001 0020 00 00 'Content-Type: a'"),
                     BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(decoder, "0106 0001 0020 00 00 'something else..'"), BB_MATCH_NO);
    check_refusals(decoder);
}
END_TEST

// The port alone is no evidence.
START_TEST(not_this_protocol)
{
    g_autoptr(Steps) s = steps_new(9000);
    up(s, "'GET / HTTP/1.1' 0d0a0d0a");
    down(s, "'HTTP/1.1 200 OK' 0d0a 'Content-Length: 0' 0d0a0d0a");
    up(s, "0102 0304 0506");
    steps_check(s, "CALL 1 http GET / 18\nRET 1 http 200 38\n");
}
END_TEST

TEST_MAIN("fastcgi", requests_in_turn, many_at_a_time, parameters_in_pieces, refusals_and_ends,
          headless_replies, aborted, management, too_many_at_a_time, large_bodies,
          joined_in_the_middle, losses, replies_cut_short, lost_parameters, probes,
          not_this_protocol)
