// SPDX-License-Identifier: Apache-2.0
// Bytes that decoders pass over where they have lost their place: counted once each, and so is who
// is not found again.
#include "capture/loss.h"
#include "tests/unit/http2_talk.h"
#include "tests/unit/octets.h"
#include "tests/unit/script.h"

#define NOISE ";;;;;;;;;;;;;;;;;;;;" // 20 bytes that begin no message

typedef struct Lossy {
    const char *name;
    Script script;
    guint unread, strayed;
} Lossy;

// Each loses a message, and goes on with noise in two packets.
static const Lossy talks[] = {
    {"redis",
     {{">*1\r\n$4\r\nPING\r\n", "<+PONG\r\n", ")*1\r\n$4\r\nPING\r\n", ">" NOISE, ">" NOISE,
       "<+PONG\r\n"},
      .port = 6379},
     40,
     1},
    {"memcached",
     {{">get a\r\n", "<END\r\n", ")get b\r\n", ">" NOISE "\r\n", ">" NOISE "\r\n", ">get c\r\n"},
      .port = 11211},
     44,
     0},
    {"smtp",
     {{"<220 a ESMTP\r\n", ">EHLO b\r\n", "<250 a\r\n", ")NOOP\r\n", ">" NOISE "\r\n",
       "<250 ok\r\n"},
      .port = 25},
     22,
     1},
    {"http",
     {{">GET /a HTTP/1.1\r\nHost: a\r\n\r\n", "<HTTP/1.1 204 No\r\n\r\n",
       ")GET /b HTTP/1.1\r\nHost: a\r\n\r\n", ">" NOISE, ">" NOISE "\r\n",
       ">GET /c HTTP/1.1\r\nHost: a\r\n\r\n"}},
     42,
     0},
    {"sip",
     {{">OPTIONS sip:a SIP/2.0\r\nVia: SIP/2.0/TCP b;branch=z9hG4bK1\r\nCall-ID: 1\r\n"
       "CSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n",
       ")OPTIONS", ">" NOISE, ">" NOISE},
      .port = 5060},
     40,
     1},
    {"jsonrpc",
     {{">{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id\":1}\n",
       "<{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":1}\n", ")lost", ">" NOISE, ">" NOISE},
      .port = 8545},
     40,
     1},
    {"nats",
     {{"<INFO {}\r\n", ">CONNECT {}\r\n", ">PING\r\n", "<PONG\r\n", ")PING\r\n", ">" NOISE "\r\n",
       ">" NOISE "\r\n", ">PING\r\n"},
      .port = 4222},
     44,
     0},
};

START_TEST(counted_once)
{
    for (guint i = 0; i < G_N_ELEMENTS(talks); i++) {
        const Lossy *talk = &talks[i];
        g_autoptr(Converse) c = play(&talk->script, 1460);
        guint unread = (guint)converse_loss(c, BB_DECODER_UNREAD);
        guint strayed = (guint)converse_loss(c, BB_DECODER_STRAYED);
        ck_assert_msg(strstr(converse_result(c), talk->name), "%s", converse_result(c));
        ck_assert_msg(unread == talk->unread && strayed == talk->strayed, "%s: %u, %u\n%s",
                      talk->name, unread, strayed, converse_result(c));
    }
}
END_TEST

// Where all is read nothing is counted, whatever is missing.
START_TEST(nothing_where_all_is_read)
{
    g_autoptr(Converse) c =
        play(SCRIPT_AT(6379, ">*1\r\n$4\r\nPING\r\n", "<+PONG\r\n", ")*1\r\n$4\r\nPING\r\n",
                       "(+PONG\r\n", ">*1\r\n$4\r\nPING\r\n", "<+PONG\r\n"),
             1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 2);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_UNREAD), 0);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_STRAYED), 0);
}
END_TEST

START_TEST(http2_search)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 :path=/a");
    UP_LOST(t);
    talk_headers(t, 3, END_BOTH, "#82 :path=/a");
    UP(t);
    talk_text(t, NOISE);
    talk_cut(t);
    talk_text(t, NOISE);
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_UNREAD), 40);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_STRAYED), 1);
}
END_TEST

START_TEST(websocket_search)
{
    g_autoptr(Steps) steps = steps_new(80);
    up(steps, "'GET / HTTP/1.1' 0d0a 'Upgrade: websocket' 0d0a 'Connection: Upgrade' 0d0a0d0a");
    down(steps, "'HTTP/1.1 101 Yes' 0d0a 'Upgrade: websocket' 0d0a 'Connection: Upgrade' 0d0a0d0a");
    down(steps, "8102 'hi'");
    step(steps, LOSE_DOWN, octets("8102 'hi'"));
    down(steps, "'" NOISE "'");
    down(steps, "'" NOISE "'");
    down(steps, "8102 'hi'");
    ck_assert_uint_eq(steps_count(steps, BB_DECODER_UNREAD), 40);
    ck_assert_uint_eq(steps_count(steps, BB_DECODER_STRAYED), 0);
}
END_TEST

TEST_MAIN("unread", counted_once, nothing_where_all_is_read, http2_search, websocket_search)
