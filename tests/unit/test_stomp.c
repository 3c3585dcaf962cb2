// SPDX-License-Identifier: Apache-2.0
// STOMP: CONNECT, receipts, errors; frames with and without a length; loss.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define CONNECT "'CONNECT' 0a 'accept-version:1.2' 0a 'host:h' 0a0a 00" // 36 bytes
#define CONNECTED "'CONNECTED' 0a 'version:1.2' 0a0a 00"                // 24
#define LOGIN "CALL 1 stomp CONNECT 36\nRET 1 stomp ok 24\n"
#define SEND(more) "'SEND' 0a 'destination:/queue/orders' 0a" more

static Steps *connected(void)
{
    Steps *s = steps_new(7777); // not a port of STOMP: content must do
    up(s, CONNECT);
    down(s, CONNECTED);
    return s;
}

START_TEST(receipts)
{
    g_autoptr(Steps) s = connected();
    up(s, SEND("'receipt:r1' 0a0a 'x' 00") SEND("'receipt:r2' 0a0a 'y' 00"));
    down(s, "'RECEIPT' 0a 'receipt-id:r2' 0a0a 00");
    down(s, "'RECEIPT' 0a 'receipt-id:r1' 0a0a 00");
    up(s, "'DISCONNECT' 0a 'receipt:77' 0a0a 00");
    down(s, "'RECEIPT' 0d0a 'receipt-id:77' 0d0a0d0a 00");
    steps_check(s, LOGIN "CALL 2 stomp SEND /queue/orders 45\nCALL 3 stomp SEND /queue/orders 45\n"
                         "RET 3 stomp ok 24\nRET 2 stomp ok 24\nCALL 4 stomp DISCONNECT 24\n"
                         "RET 4 stomp ok 27\n");
}
END_TEST

START_TEST(other_frames_are_free)
{
    g_autoptr(Steps) s = connected();
    up(s, "'SUBSCRIBE' 0a 'id:0' 0a 'destination:/topic/a.1234.b' 0a0a 00");
    up(s, SEND("0a 'text' 00"));
    down(s, "0a0a"); // heartbeats
    up(s, "0d0a");
    down(s, "'MESSAGE' 0a 'destination:/topic/a.b' 0a 'message-id:1' 0a0a 'hello' 00");
    up(s, "'ACK' 0a 'id:1' 0a0a 00 'UNSUBSCRIBE' 0a 'id:0' 0a0a 00");
    steps_check(s,
                LOGIN "MSG > stomp SUBSCRIBE /topic/a.*.b 45\nMSG > stomp SEND /queue/orders 37\n"
                      "MSG < stomp MESSAGE /topic/a.b 51\nMSG > stomp ACK 11\n"
                      "MSG > stomp UNSUBSCRIBE 19\n");
}
END_TEST

// Names of headers are of any bytes but a colon and those of line ends.
START_TEST(names_of_headers)
{
    g_autoptr(Steps) s = connected();
    up(s, SEND("'receipt:1' 0a 'gr' c3b6c39f 'e:5' 0a 'my header:x' 0a 01ff ':' 0a0a 'x' 00"));
    up(s, SEND("'receipt:2' 0a0a 'y' 00"));
    down(s, "'RECEIPT' 0a 'receipt-id:1' 0a0a 00 'RECEIPT' 0a 'receipt-id:2' 0a0a 00");
    steps_check(s, LOGIN "CALL 2 stomp SEND /queue/orders 70\n"
                         "CALL 3 stomp SEND /queue/orders 44\n"
                         "RET 2 stomp ok 23\nRET 3 stomp ok 23\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(a_length_allows_for_nul)
{
    g_autoptr(Steps) s = connected();
    up(s, SEND("'content-length:3' 0a 'content-length:9' 0a0a 'a' 00 'b' 00")); // the first counts
    up(s, "'BEGIN' 0a 'transaction:t' 0a0a 00");
    steps_check(s, LOGIN "MSG > stomp SEND /queue/orders 70\nMSG > stomp BEGIN 22\n");
}
END_TEST

START_TEST(errors)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "'STOMP' 0a 'accept-version:9' 0a0a 00");
    down(s, "'ERROR' 0a 'message:version' 0a0a 'no' 00");
    steps_check(s, "CALL 1 stomp STOMP 25\nRET 1 stomp error 26\n");
    g_autoptr(Steps) t = connected();
    up(t, SEND("'receipt:r1' 0a0a 'x' 00"));
    down(t, "'ERROR' 0a 'receipt-id:r1' 0a0a 00");
    down(t, "'ERROR' 0a 'message:bye' 0a0a 00");
    steps_check(t, LOGIN "CALL 2 stomp SEND /queue/orders 45\nRET 2 stomp error 22\n"
                         "MSG < stomp ERROR 20\n");
}
END_TEST

START_TEST(long_bodies_are_passed_over)
{
    g_autoptr(Steps) s = connected();
    up(s, SEND("'content-length:150000' 0a0a 'x' *150000 00"));
    up(s, SEND("'receipt:r' 0a0a 'x' *150000 00")); // of a length that is not given
    down(s, "'RECEIPT' 0a 'receipt-id:r' 0a0a 00");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "MSG > stomp SEND /queue/orders 150055\n"
                                               "CALL 2 stomp SEND /queue/orders 150043\n"
                                               "RET 2 stomp ok 23\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(7777);
    s->midstream = true;
    up(s, SEND("'receipt:r1' 0a0a 'x' 00"));
    down(s, "'RECEIPT' 0a 'receipt-id:r1' 0a0a 00");
    steps_check(s, "CALL 1 stomp SEND /queue/orders 45\nRET 1 stomp ok 24\n");
}
END_TEST

START_TEST(losses)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets(SEND("'receipt:r1' 0a0a 'x' 00")));
    down(s, "'RECEIPT' 0a 'receipt-id:r1' 0a0a 00");
    up(s, SEND("'receipt:r2' 0a0a 'x' 00"));
    step(s, LOSE_DOWN, octets("'RECEIPT' 0a 'receipt-id:r2' 0a0a 00"));
    up(s, SEND("'receipt:r3' 0a0a 'x' 00"));
    down(s, "'RECEIPT' 0a 'receipt-id:r3' 0a0a 00");
    steps_check(s, LOGIN "RET - stomp ok 24\nCALL 2 stomp SEND /queue/orders 45\n"
                         "CALL 3 stomp SEND /queue/orders 45\nRET 3 stomp ok 24\n");
}
END_TEST

START_TEST(lost_middle)
{
    g_autoptr(Steps) s = connected();
    up(s, SEND("'content-length:12' 0a0a 'abcd'"));
    step(s, LOSE_UP, octets("'efgh'"));
    up(s, "'ijkl' 00" SEND("0a 'abcd'"));
    step(s, LOSE_UP, octets("'efgh'")); // the end may have been there
    up(s, "'ijkl' 00");
    up(s, SEND("0a 'x' 00"));
    steps_check(s, LOGIN "MSG > stomp SEND /queue/orders 59\nMSG > stomp SEND /queue/orders 36\n"
                         "MSG > stomp SEND /queue/orders 34\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(damage)
{
    static const char *const frames[] = {
        "'SAND' 0a 'a:b' 0a0a 00",              // no command
        "'SEND ' 0a 'a:b' 0a0a 00",             // alone on its line
        "'SEND' 0a 'no header' 0a0a 00",        //
        "'SEND' 0a ':b' 0a0a 00",               //
        "'SEND' 0a 'content-length:x' 0a0a 00", //
        "'SEND' 0a 'content-length:9999999999' 0a0a 00",
        "'MESSAGE' 0a 'a:b' 0a0a 00", // not for a client to say
    };
    for (guint i = 0; i < G_N_ELEMENTS(frames); i++) {
        g_autoptr(Steps) s = connected();
        up(s, SEND("0a 'x' 00"));
        up(s, frames[i]);
        up(s, SEND("0a 'yy' 00"));
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_str_eq(converse_result(c), LOGIN "MSG > stomp SEND /queue/orders 34\n"
                                                   "MSG > stomp SEND /queue/orders 35\n");
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    }
}
END_TEST

START_TEST(heads_have_a_limit)
{
    g_autoptr(Steps) s = connected();
    up(s, SEND("0a 'x' 00"));
    up(s, SEND("'a:b' *9000 0a0a 00"));
    up(s, SEND("0a 'yy' 00"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "MSG > stomp SEND /queue/orders 34\n"
                                               "MSG > stomp SEND /queue/orders 35\n");
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {CONNECT, BB_MATCH_REQUEST},
        {"'STOMP' 0d0a 'host:h' 0d0a0d0a 00", BB_MATCH_REQUEST},
        {CONNECTED, BB_MATCH_REPLY},
        {"'CONNECT' 0a0a 00", BB_MATCH_MAYBE}, // no header
        {"'CONNECT example.com:80 HTTP/1.1' 0d0a", BB_MATCH_NO},
        {"'CONNECT' 0a 'no header' 0a", BB_MATCH_NO},
        {"'CONNECT {}' 0d0a", BB_MATCH_NO},
        {"'CONN'", BB_MATCH_MORE},
        {"'SEND' 0a 'destin'", BB_MATCH_MORE},
        {"'ERROR' 0d0a", BB_MATCH_MORE}, // memcached has it, too, and goes first
        {"'connect' 0a 'a:b' 0a", BB_MATCH_NO},
        {"", BB_MATCH_MORE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_stomp, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
    check_refusals(&bb_decoder_stomp);
}
END_TEST

TEST_MAIN("stomp", receipts, other_frames_are_free, names_of_headers, a_length_allows_for_nul,
          errors, long_bodies_are_passed_over, joined_in_the_middle, losses, lost_middle, damage,
          heads_have_a_limit, probes)
