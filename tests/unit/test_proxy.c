// SPDX-License-Identifier: Apache-2.0
// Heads of the PROXY protocol in front of others: passed over, whoever speaks first; what only
// looks like one is not.
#include "capture/protocols/proxy.h"
#include "tests/unit/octets.h"

#include "data/random.h"

#define LINE "'PROXY TCP4 192.0.2.1 192.0.2.2 1111 80' 0d0a"
#define LINE_6 "'PROXY TCP6 2001:db8::1 2001:db8::2 1111 80' 0d0a"
#define LINE_UNKNOWN "'PROXY UNKNOWN' 0d0a"
#define SIGNATURE "0d0a0d0a000d0a515549540a"
#define BINARY SIGNATURE "2111000c c0000201 c0000202 0457 0050"
#define BINARY_LOCAL SIGNATURE "20000000"
#define BINARY_LOCAL_ANY SIGNATURE "20ff0004 00*4"
#define BINARY_UNIX SIGNATURE "213100d8 00*216"
#define BINARY_LONG SIGNATURE "2111fff0 00*65520" // with a certificate, say

static const char *const heads[] = {LINE,         LINE_6,           LINE_UNKNOWN, BINARY,
                                    BINARY_LOCAL, BINARY_LOCAL_ANY, BINARY_UNIX,  BINARY_LONG};

// ---- what is one --------------------------------------------------------------------------------

static BbMatch match(const char *notation, guint32 *size)
{
    g_autoptr(Octets) bytes = octets(notation);
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    return bb_proxy_match(copy, bytes->len, size);
}

START_TEST(heads_and_their_beginnings)
{
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++) {
        g_autoptr(Octets) bytes = octets(heads[i]);
        gsize enough = bytes->data[0] == 'P' ? bytes->len : 16;
        for (gsize length = 0; length <= bytes->len && length < 300; length++) {
            g_autofree guint8 *copy = g_memdup2(bytes->data, length);
            guint32 size = 0;
            BbMatch found = bb_proxy_match(copy, length, &size);
            ck_assert_msg(found == (length < enough ? BB_MATCH_MORE : BB_MATCH_REQUEST),
                          "%s: %zu bytes", heads[i], length);
            ck_assert_uint_eq(size, length < enough ? 0 : bytes->len);
        }
    }
}
END_TEST

START_TEST(others)
{
    static const char *const notations[] = {
        "'PROXY me' 0d0a",
        "'PROXY TCP5 192.0.2.1 192.0.2.2 1111 80' 0d0a",
        "'PROXY TCP4 ' 00*10",
        "'PROXY TCP4 192.0.2.1' 0a",
        "'PROXY TCP4 ' '1'*96", // 107 bytes without an end
        "'PROPFIND / HTTP/1.1' 0d0a",
        "'GET / HTTP/1.1' 0d0a",
        "0d0a'GET / HTTP/1.1' 0d0a",
        SIGNATURE "3111000c", // versions, commands, families and transports that are none
        SIGNATURE "2211000c",
        SIGNATURE "2141000c",
        SIGNATURE "2113000c",
        "0d0a0d0a000d0a51554955 2111000c",
        "16030100",
    };
    guint32 size = 0;
    for (guint i = 0; i < G_N_ELEMENTS(notations); i++)
        ck_assert_msg(match(notations[i], &size) == BB_MATCH_NO, "%s", notations[i]);
    BbRandom random = bb_random_start(test_seed("others"));
    for (guint i = 0; i < 100000; i++) {
        guint8 bytes[16];
        for (guint k = 0; k < sizeof bytes; k++)
            bytes[k] = (guint8)(bb_random_bits(&random) >> 32);
        ck_assert_int_eq(bb_proxy_match(bytes, sizeof bytes, &size), BB_MATCH_NO);
    }
}
END_TEST

// ---- what follows -------------------------------------------------------------------------------

#define GET "'GET /a HTTP/1.1' 0d0a0d0a"
#define HEAD_A "'HEAD /a HTTP/1.1' 0d0a0d0a"
#define OK "'HTTP/1.1 200 OK' 0d0a 'Content-Length: 2' 0d0a0d0a 'hi'"
#define LONG "'HTTP/1.1 200 OK' 0d0a 'Content-Length: 2000' 0d0a0d0a"

START_TEST(http)
{
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
        for (guint apart = 0; apart < 2; apart++) {
            g_autoptr(Steps) s = steps_new(80);
            up(s, heads[i]);
            if (apart)
                up(s, HEAD_A);
            else
                octets_read(g_array_index(s->steps, Step, 0).bytes, HEAD_A, '\0');
            down(s, LONG);
            up(s, GET);
            down(s, OK);
            steps_check(s, "CALL 1 http HEAD /a 20\nRET 1 http 200 41\n"
                           "CALL 2 http GET /a 19\nRET 2 http 200 40\n");
        }
}
END_TEST

#define HELO "'HELO a' 0d0a"
#define QUERY "14000000 03 'SELECT a FROM shops'"
#define DONE "070000010000000200 0000"
#define GREETING                                                                 \
    "4a000000 0a '8.0.32' 00 08000000 'abcdefgh' 00 ffff 21 0200 ffff 15 00*10 " \
    "'abcdefghijkl' 00 'mysql_native_password' 00"

// Servers that greet, before or after they heard for whom.
START_TEST(servers_that_speak_first)
{
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
        for (guint before = 0; before < 2; before++) {
            g_autoptr(Steps) mail = steps_new(2525);
            g_autoptr(Steps) sql = steps_new(3306);
            if (before) {
                down(mail, "'220 mx ESMTP' 0d0a");
                down(sql, GREETING);
            }
            up(mail, heads[i]);
            up(sql, heads[i]);
            if (!before) {
                down(mail, "'220 mx ESMTP' 0d0a");
                down(sql, GREETING);
            }
            up(mail, HELO);
            down(mail, "'250 hi' 0d0a");
            up(sql, QUERY);
            down(sql, DONE);
            steps_check(mail, "MSG < smtp - 14\nCALL 1 smtp HELO 8\nRET 1 smtp 250 8\n");
            steps_check(sql, "MSG < mysql greeting 78\nCALL 1 mysql SELECT shops 24\n"
                             "RET 1 mysql ok 11\n");
        }
}
END_TEST

START_TEST(what_nobody_knows)
{
    g_autoptr(Steps) s = steps_new(9999);
    up(s, LINE "01 'one'");
    down(s, "02 'reply'");
    steps_check(s, "CALL 1 tcp - 4\nRET 1 tcp ok 6\n");
    g_autoptr(Steps) nothing = steps_new(9999);
    up(nothing, BINARY);
    step(nothing, END_UP, octets(""));
    step(nothing, END_DOWN, octets(""));
    steps_check(nothing, "");
}
END_TEST

// ---- what is none -------------------------------------------------------------------------------

// Its beginning is that of another message, or the end of the connection, or the other side does
// not wait for the rest.
START_TEST(no_heads)
{
    static const char *const notations[] = {"'PROXY TCP4'", "'PROXY me' 0d0a", "0d0a0d0a00"};
    static const guint bytes[] = {10, 10, 5};
    for (guint i = 0; i < G_N_ELEMENTS(notations); i++) {
        g_autoptr(Steps) s = steps_new(9999);
        up(s, notations[i]);
        down(s, "02 'reply'");
        up(s, LINE); // too late
        down(s, "02 'reply'");
        g_autofree char *told = g_strdup_printf("CALL 1 tcp - %u\nRET 1 tcp ok 6\n"
                                                "CALL 2 tcp - 40\nRET 2 tcp ok 6\n",
                                                bytes[i]);
        steps_check(s, told);
        g_autoptr(Steps) end = steps_new(9999);
        up(end, notations[i]);
        step(end, END_UP, octets(""));
        g_autofree char *free_told = g_strdup_printf("MSG > tcp - %u\n", bytes[i]);
        steps_check(end, free_told);
    }
    g_autoptr(Steps) joined = steps_new(9999);
    joined->midstream = true;
    up(joined, LINE);
    down(joined, "02 'reply'");
    steps_check(joined, "CALL 1 tcp - 40\nRET 1 tcp ok 6\n");
}
END_TEST

// The server greeted, and does not wait for a line that begins as a head.
START_TEST(a_line_that_begins_so)
{
    g_autoptr(Steps) s = steps_new(2525);
    down(s, "'220 mx ESMTP' 0d0a");
    up(s, "'PROXY '");
    down(s, "'421 too slow' 0d0a");
    up(s, "0d0a");
    down(s, "'500 what?' 0d0a");
    steps_check(s, "MSG < smtp - 14\nCALL 1 tcp - 8\nMSG < smtp - 14\nRET 1 tcp ok 11\n");
}
END_TEST

START_TEST(torn_heads)
{
    static const char *const seen[] = {"'PROXY TCP4 19'", SIGNATURE "2111"};
    for (guint i = 0; i < G_N_ELEMENTS(seen); i++) {
        g_autoptr(Steps) s = steps_new(80);
        up(s, seen[i]);
        step(s, LOSE_UP, octets("00*20"));
        up(s, GET);
        down(s, OK);
        up(s, GET);
        down(s, OK);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_ptr_nonnull(strstr(converse_result(c), "http GET /a 19\n"));
    }
}
END_TEST

TEST_MAIN("proxy", heads_and_their_beginnings, others, http, servers_that_speak_first,
          what_nobody_knows, no_heads, a_line_that_begins_so, torn_heads)
