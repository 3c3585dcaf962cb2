// SPDX-License-Identifier: Apache-2.0
// AJP13: requests with bodies, statuses, stored methods, pings, loss.
#include "tests/unit/octets.h"

enum { GET = 2, POST = 4, STORED = 0xff };

static void string(Octets *out, const char *text)
{
    octets_be(out, strlen(text), 2);
    octets_put(out, text, strlen(text) + 1);
}

// Takes inside.
static Octets *packet(const char *magic, Octets *inside)
{
    Octets *out = g_byte_array_new();
    octets_put(out, magic, 2);
    octets_be(out, inside->len, 2);
    return octets_join(out, inside);
}

static Octets *forward(guint8 method, const char *uri)
{
    Octets *in = g_byte_array_new();
    octets_be(in, 2, 1);
    octets_be(in, method, 1);
    string(in, "HTTP/1.1");
    string(in, uri);
    string(in, "10.0.0.9");
    octets_be(in, 0xffff, 2); // no name
    string(in, "www");
    octets_be(in, 80, 2);
    octets_be(in, 0, 1);
    octets_be(in, 2, 2);
    octets_be(in, 0xa008, 2); // Content-Length
    string(in, "5");
    string(in, "X-Own");
    string(in, "y");
    if (method == STORED) {
        octets_be(in, 11, 1); // size of TLS's key
        octets_be(in, 256, 2);
        octets_be(in, 10, 1);
        string(in, "AJP_REMOTE_PORT");
        string(in, "5");
        octets_be(in, 5, 1);
        string(in, "a=b");
        octets_be(in, 13, 1);
        string(in, "PATCH");
    }
    octets_be(in, 0xff, 1);
    return packet("\x12\x34", in);
}

static Octets *body(gsize length)
{
    Octets *in = g_byte_array_new();
    octets_be(in, length, 2);
    for (gsize i = 0; i < length; i++)
        octets_be(in, 2, 1);
    return packet("\x12\x34", in);
}

static Octets *headers(guint status)
{
    Octets *in = g_byte_array_new();
    octets_be(in, 4, 1);
    octets_be(in, status, 2);
    string(in, "Message");
    octets_be(in, 1, 2);
    octets_be(in, 0xa001, 2);
    string(in, "text/html");
    return packet("AB", in);
}

#define CHUNK "'AB' 0008 03 0004 'page' 00"
#define END_RESPONSE "'AB' 0002 05 01"
#define GET_BODY "'AB' 0003 06 1ffa"
#define CPING "1234 0001 0a"
#define CPONG "'AB' 0001 09"

static void exchange(Steps *s, const char *uri)
{
    step(s, SAY_UP, forward(GET, uri));
    step(s, SAY_DOWN, octets_join(headers(200), octets(CHUNK END_RESPONSE)));
}

START_TEST(requests_in_turn)
{
    g_autoptr(Steps) s = steps_new(18009);
    up(s, CPING);
    down(s, CPONG);
    exchange(s, "/shop/17");
    step(s, SAY_UP, forward(GET, "/none"));
    step(s, SAY_DOWN, octets_join(headers(404), octets(END_RESPONSE)));
    steps_check(s, "CALL 1 ajp CPING 5\nRET 1 ajp ok 5\n"
                   "CALL 2 ajp GET /shop/* 71\nRET 2 ajp 200 51\n"
                   "CALL 3 ajp GET /none 68\nRET 3 ajp 404 39\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

// Pieces of a body have no code: their length may look like one.
START_TEST(bodies)
{
    g_autoptr(Steps) s = steps_new(8009);
    step(s, SAY_UP, octets_join(forward(POST, "/up"), body(0x204)));
    down(s, GET_BODY);
    step(s, SAY_UP, body(5));
    down(s, GET_BODY);
    up(s, "1234 0000");
    step(s, SAY_DOWN, octets_join(headers(500), octets(CHUNK CHUNK END_RESPONSE)));
    exchange(s, "/");
    steps_check(s, "CALL 1 ajp POST /up 603\nRET 1 ajp 500 63\n"
                   "CALL 2 ajp GET / 64\nRET 2 ajp 200 51\n");
}
END_TEST

// The server may answer before the body has come: that one is not the next request.
START_TEST(late_bodies)
{
    g_autoptr(Steps) s = steps_new(8009);
    for (guint round = 0; round < 2; round++) {
        step(s, SAY_UP, forward(POST, "/login"));
        step(s, SAY_DOWN, octets_join(headers(302), octets(END_RESPONSE)));
        step(s, SAY_UP, octets_join(body(0x204), octets("1234 0000")));
        if (round == 1) { // between them, a ping
            up(s, CPING);
            down(s, CPONG);
        }
        exchange(s, "/b");
    }
    steps_check(s, "CALL 1 ajp POST /login 69\nRET 1 ajp 302 39\n"
                   "CALL 2 ajp GET /b 65\nRET 2 ajp 200 51\n"
                   "CALL 3 ajp POST /login 69\nRET 3 ajp 302 39\nCALL 4 ajp CPING 5\n"
                   "RET 4 ajp ok 5\nCALL 5 ajp GET /b 65\nRET 5 ajp 200 51\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// Its code and method, read as the length of a piece of a body, fit the packet.
START_TEST(request_like_a_body)
{
    for (gsize size = 0x204 + 2; size <= 0x204 + 3; size++) {
        g_autofree char *path = g_strnfill(4 + size - 63, 'a');
        g_autoptr(Steps) s = steps_new(8009);
        path[0] = '/';
        step(s, SAY_UP, forward(GET, "/a"));
        step(s, LOSE_DOWN, octets_join(headers(200), octets(END_RESPONSE)));
        step(s, SAY_UP, forward(POST, path));
        step(s, SAY_DOWN, octets_join(headers(200), octets(END_RESPONSE)));
        g_autofree char *expected = g_strdup_printf(
            "CALL 1 ajp GET /a 65\nCALL 2 ajp POST /* %zu\nRET 2 ajp 200 39\n", 4 + size);
        steps_check(s, expected);
    }
}
END_TEST

START_TEST(methods)
{
    g_autoptr(Steps) s = steps_new(8009);
    step(s, SAY_UP, forward(STORED, "/a"));
    step(s, SAY_DOWN, octets_join(headers(204), octets(END_RESPONSE)));
    step(s, SAY_UP, forward(17, "/b"));
    step(s, SAY_DOWN, octets_join(headers(200), octets(END_RESPONSE)));
    step(s, SAY_UP, forward(27, "/c"));
    step(s, SAY_DOWN, octets_join(headers(200), octets(END_RESPONSE)));
    steps_check(s, "CALL 1 ajp PATCH /a 107\nRET 1 ajp 204 39\n"
                   "CALL 2 ajp VERSION-CONTROL /b 65\nRET 2 ajp 200 39\n"
                   "CALL 3 ajp MKACTIVITY /c 65\nRET 3 ajp 200 39\n");
}
END_TEST

START_TEST(one_way)
{
    g_autoptr(Steps) s = steps_new(8009);
    up(s, "1234 0001 08");
    up(s, "1234 0001 07");
    steps_check(s, "MSG > ajp PING 5\nMSG > ajp SHUTDOWN 5\n");
}
END_TEST

// A ping is not answered by a request's reply.
START_TEST(mixed_replies)
{
    g_autoptr(Steps) s = steps_new(8009);
    up(s, CPING);
    step(s, SAY_DOWN, octets_join(headers(200), octets(END_RESPONSE)));
    steps_check(s, "CALL 1 ajp CPING 5\nRET - ajp 200 39\n");
}
END_TEST

// A chunk may be large: it is passed over, also where it has a gap.
START_TEST(large_chunk)
{
    g_autoptr(Steps) s = steps_new(8009);
    step(s, SAY_UP, forward(GET, "/"));
    step(s, SAY_DOWN, octets_join(headers(200), octets("'AB' 2004 03 2000 'page'")));
    step(s, LOSE_DOWN, octets("00*4096"));
    down(s, "00*4093" END_RESPONSE);
    steps_check(s, "CALL 1 ajp GET / 64\nRET 1 ajp 200 4143\n");
}
END_TEST

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(8009);
    s->midstream = true;
    down(s, CHUNK END_RESPONSE);
    exchange(s, "/next");
    steps_check(s, "CALL 1 ajp GET /next 68\nRET 1 ajp 200 51\n");
}
END_TEST

START_TEST(losses)
{
    static const struct {
        StepKind kind[2];
        const char *expected;
    } cases[] = {
        {{LOSE_UP, SAY_DOWN},
         "CALL 1 ajp GET /one 67\nRET 1 ajp 200 51\nRET - ajp 200 51\n"
         "CALL 2 ajp GET /three 69\nRET 2 ajp 200 51\n"},
        {{SAY_UP, LOSE_DOWN},
         "CALL 1 ajp GET /one 67\nRET 1 ajp 200 51\nCALL 2 ajp GET /two 67\n"
         "CALL 3 ajp GET /three 69\nRET 3 ajp 200 51\n"},
        {{LOSE_UP, LOSE_DOWN},
         "CALL 1 ajp GET /one 67\nRET 1 ajp 200 51\n"
         "CALL 2 ajp GET /three 69\nRET 2 ajp 200 51\n"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Steps) s = steps_new(8009);
        exchange(s, "/one");
        exchange(s, "/two");
        g_array_index(s->steps, Step, 2).kind = cases[i].kind[0];
        g_array_index(s->steps, Step, 3).kind = cases[i].kind[1];
        exchange(s, "/three");
        steps_check(s, cases[i].expected);
    }
}
END_TEST

// A gap between the chunks of a reply: it is kept as far as it was seen.
START_TEST(lost_middle)
{
    g_autoptr(Steps) s = steps_new(8009);
    step(s, SAY_UP, forward(GET, "/one"));
    step(s, SAY_DOWN, headers(200));
    step(s, LOSE_DOWN, octets(CHUNK));
    down(s, CHUNK END_RESPONSE);
    exchange(s, "/two");
    steps_check(s, "CALL 1 ajp GET /one 67\nRET 1 ajp 200 33\n"
                   "CALL 2 ajp GET /two 67\nRET 2 ajp 200 51\n");
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *decoder = &bb_decoder_ajp;
    ck_assert_int_eq(probe_octets(decoder, "12"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, CPING), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(decoder, CPONG), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(decoder, "1234 0040 02 02 0008 'HTTP/1.1' 00"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(decoder, "1234 0040 02 02 0008 'HT'"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "1234 0040 02 1c 0008 'HTTP/1.1' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "1234 0040 02 02 0008 'SPDY/1.1' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "'AB' 001b 04 00c8 0007 'Message' 00"), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(decoder, "'AB' 001b 04 0032 0007 'Message' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "'AB' 001b 04 00c8 7007 'Message' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, CHUNK), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(decoder, "'ABORT the mission'"), BB_MATCH_NO);
    check_refusals(decoder);
}
END_TEST

TEST_MAIN("ajp", requests_in_turn, bodies, late_bodies, request_like_a_body, methods, one_way,
          mixed_replies, large_chunk, joined_in_the_middle, losses, lost_middle, probes)
