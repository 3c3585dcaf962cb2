// SPDX-License-Identifier: Apache-2.0
// HTTP/1: what a message begins with, and lines of header sections and chunks.
#include "capture/protocols/http_line.h"
#include "tests/unit/http_talk.h"

// ---- probing ------------------------------------------------------------------------------------

static BbMatch probe(const char *text, gsize length)
{
    g_autofree guint8 *exact = g_memdup2(text, length);
    return bb_decoder_http.probe(length ? exact : (const guint8 *)"", length);
}

// Every beginning of a message is undecided until the last byte that matters.
static void check_probe(const char *text, BbMatch expected)
{
    gsize length = strlen(text);
    for (gsize i = 0; i < length; i++)
        ck_assert_msg(probe(text, i) == BB_MATCH_MORE || probe(text, i) == BB_MATCH_LIKELY,
                      "%zu of %s", i, text);
    ck_assert_int_eq(probe(text, length), expected);
}

START_TEST(probe_accepts)
{
    check_probe("GET / HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("GET / HTTP/1.0\n", BB_MATCH_REQUEST);
    check_probe("\r\nHEAD /x?y HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("OPTIONS * HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("CONNECT a:1 HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("ABCDEFGHIJABCDEFGHIJABCDE-28 / HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("HTTP/1.1 200 ", BB_MATCH_REPLY);
    check_probe("HTTP/1.0 404\n", BB_MATCH_REPLY);
    check_probe("HTTP/1.0 404\r", BB_MATCH_REPLY);
}
END_TEST

START_TEST(probe_refuses)
{
    static const char *const texts[] = {
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "INVITE sip:bob@example.com SIP/2.0\r\n",
        "OPTIONS rtsp://example.com/media RTSP/1.0\r\n",
        "REQMOD icap://example.com/x ICAP/1.0\r\n",
        "SIP/2.0 200 OK\r\n",
        "RTSP/1.0 200 OK\r\n",
        "HTTP/2.0 200 OK\r\n",
        "HTTP/1.1 2000\r\n",
        "HTTP/1.1 099 X\r\n",
        "HTTP/1.1  200 OK\r\n",
        "HTTP/1.x 200 OK\r\n",
        "ICY 200 OK\r\n",
        "GET /\r\n",
        "GET key\r\n",
        "GET / HTTP/1.1 x\r\n",
        "GET / HTTP/1.\r\n",
        "GET / http/1.1\r\n",
        "get / HTTP/1.1\r\n",
        "GET\t/ HTTP/1.1\r\n",
        "GET /\x01 ",
        "GET /\x7f ",
        " GET / HTTP/1.1\r\n",
        "HTTP/1.1\r\n",
        "EHLO example.com\r\n",
        "220 mail.example.com ESMTP\r\n",
        "+OK\r\n",
        "*1\r\n$4\r\nPING\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\x16\x03\x01\x02",
        "1GET / HTTP/1.1\r\n",
        "ABCDEFGHIJABCDEFGHIJABCDEF-29 / HTTP/1.1\r\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        ck_assert_msg(probe(texts[i], strlen(texts[i])) == BB_MATCH_NO, "%s", texts[i]);
}
END_TEST

START_TEST(probe_is_bounded)
{
    g_autofree char *path = g_strnfill(BB_HTTP_START_MAX, 'p');
    static const char *const likely[] = {"GET /", "OPTIONS /", "POST http://a/"};
    static const char *const others[] = {"GET p",  "TAKE /", "GET /a b",
                                         "GET  /", "GETS /", "GET /a HTTP/1.1"};
    g_autofree char *most = g_strnfill(BB_HTTP_START_MAX + 10, 'p');
    for (guint i = 0; i < G_N_ELEMENTS(likely); i++) {
        memcpy(most, likely[i], strlen(likely[i]));
        ck_assert_int_eq(probe(most, BB_HTTP_START_MAX - 1), BB_MATCH_LIKELY);
        ck_assert_int_eq(probe(most, BB_HTTP_START_MAX), BB_MATCH_REQUEST);
        ck_assert_int_eq(probe(most, BB_HTTP_START_MAX + 10), BB_MATCH_REQUEST);
    }
    most[BB_HTTP_START_MAX - 1] = '\r';
    ck_assert_int_eq(probe(most, BB_HTTP_START_MAX), BB_MATCH_NO);
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        memcpy(path, others[i], strlen(others[i]));
        ck_assert_int_eq(probe(path, BB_HTTP_START_MAX - 1), BB_MATCH_MORE);
        ck_assert_int_eq(probe(path, BB_HTTP_START_MAX), BB_MATCH_NO);
    }
}
END_TEST

START_TEST(probe_refuses_random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20030610);
    for (guint i = 0; i < 100000; i++) {
        char bytes[64];
        for (guint k = 0; k < sizeof bytes; k++)
            bytes[k] = (char)g_rand_int_range(rand, 0, 256);
        ck_assert_int_eq(probe(bytes, sizeof bytes), BB_MATCH_NO);
    }
}
END_TEST

// ---- lines --------------------------------------------------------------------------------------

static BbHttpFraming framing_of(const char *line)
{
    BbHttpFraming framing = {0};
    g_autofree guint8 *exact = g_memdup2(line, strlen(line));
    bb_http_field_line(&framing, exact, strlen(line));
    return framing;
}

START_TEST(fields)
{
    ck_assert_uint_eq(framing_of("Content-Length: 42 ").length, 42);
    ck_assert_uint_eq(framing_of("CONTENT-LENGTH:042").length, 42);
    ck_assert(!framing_of("Content-Length: ").has_length);
    ck_assert(!framing_of("Content-Lengths: 4").has_length);
    ck_assert(!framing_of("Content-Length").has_length);
    ck_assert(!framing_of("Content-Length 4").has_length);
    ck_assert_uint_eq(framing_of("Content-Length: 4611686018427387904").length, BB_HTTP_BODY_MAX);
    ck_assert(framing_of("Content-Length: 4611686018427387905").bad_length);
    ck_assert(framing_of("Content-Length: 1,2").bad_length);
    ck_assert(!framing_of("Content-Length: 2, 2,").bad_length);
    ck_assert_int_eq(framing_of("Transfer-Encoding: chunked;q=1").coding, BB_HTTP_CHUNKED);
    ck_assert_int_eq(framing_of("Transfer-Encoding: chunked, gzip").coding, BB_HTTP_OTHER_CODING);
    ck_assert_int_eq(framing_of("Transfer-Encoding: chunkedx").coding, BB_HTTP_OTHER_CODING);
    ck_assert_int_eq(framing_of("Transfer-Encoding: ,").coding, BB_HTTP_PLAIN);
    ck_assert_int_eq(framing_of("upgrade: WebSocket").upgrade, BB_HTTP_UPGRADE_WEBSOCKET);
    ck_assert_int_eq(framing_of("Upgrade: TLS/1.0 , h2c").upgrade, BB_HTTP_UPGRADE_H2C);
    ck_assert_int_eq(framing_of("Upgrade: h2c,websocket").upgrade, BB_HTTP_UPGRADE_H2C);
    ck_assert_int_eq(framing_of("Upgrade: websocket/13").upgrade, BB_HTTP_UPGRADE_WEBSOCKET);
    ck_assert_int_eq(framing_of("Upgrade: h2").upgrade, BB_HTTP_UPGRADE);
    ck_assert_int_eq(framing_of("Upgrade: h2cx").upgrade, BB_HTTP_UPGRADE);
    ck_assert_int_eq(framing_of("Upgrade: ,").upgrade, BB_HTTP_NO_UPGRADE);
    ck_assert(framing_of("Expect: 100-continue").expect);
    ck_assert(!framing_of("Expect: 200-ok").expect);
    ck_assert(!framing_of("").has_length);
}
END_TEST

START_TEST(chunk_lines)
{
    static const struct {
        const char *line;
        guint64 size;
    } good[] = {{"0", 0},
                {"a", 10},
                {"FF;x=\"y\"", 255},
                {"10 ", 16},
                {"000000000000000000001", 1},
                {"4000000000000000", BB_HTTP_BODY_MAX}};
    static const char *const bad[] = {"",
                                      ";x",
                                      "x",
                                      "0x10",
                                      "-1",
                                      "+1",
                                      "1x",
                                      "4000000000000001",
                                      "10000000000000000",
                                      "fffffffffffffffffffff"};
    guint64 size;
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        ck_assert(bb_http_chunk_line((const guint8 *)good[i].line, strlen(good[i].line), &size));
        ck_assert_uint_eq(size, good[i].size);
    }
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
        ck_assert_msg(!bb_http_chunk_line((const guint8 *)bad[i], strlen(bad[i]), &size), "%s",
                      bad[i]);
}
END_TEST

TEST_MAIN("http_line", probe_accepts, probe_refuses, probe_is_bounded, probe_refuses_random_bytes,
          fields, chunk_lines)
