// SPDX-License-Identifier: Apache-2.0
// AMQP 0-9-1: synchronous methods by channel, content over several frames, closes, loss; what of
// AMQP 1.0 is refused.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define HEADER "'AMQP' 00000901"
#define METHOD(channel, ids, arguments) "01" channel "[" ids arguments "] ce"
#define CONTENT_HEAD(channel, size) "02" channel "[003c 0000" size "0000] ce"
#define BODY(channel, bytes) "03" channel "[" bytes "] ce"
#define ORDERS "06 'orders'"
#define DECLARE METHOD("0001", "0032000a", "0000" ORDERS "02 00000000") // 25 bytes
#define DECLARED METHOD("0001", "0032000b", ORDERS "00000000 00000000") // 27
#define GET METHOD("0001", "003c0046", "0000" ORDERS "01")              // 22
#define PUBLISH(channel, exchange, key) METHOD(channel, "003c0028", "0000" exchange key "00")
#define LOGIN                                             \
    "CALL 1 amqp connection.start 38\nRET 1 amqp ok 33\n" \
    "CALL 2 amqp connection.tune 20\nRET 2 amqp ok 20\n"  \
    "CALL 3 amqp connection.open 16\nRET 3 amqp ok 13\n"  \
    "CALL 4 amqp channel.open 13\nRET 4 amqp ok 16\n"

static Steps *connected(void)
{
    Steps *s = steps_new(7777); // not a port of AMQP: content must do
    up(s, HEADER);
    down(s, METHOD("0000", "000a000a", "0009 [] ['PLAIN'] ['en_US_x']"));
    up(s, METHOD("0000", "000a000b", "[] 05 'PLAIN' [] 05 'en_US' 00"));
    down(s, METHOD("0000", "000a001e", "07ff 00020000 003c"));
    up(s, METHOD("0000", "000a001f", "07ff 00020000 003c"));
    up(s, METHOD("0000", "000a0028", "01 '/' 00 00"));
    down(s, METHOD("0000", "000a0029", "00"));
    up(s, METHOD("0001", "0014000a", "00"));
    down(s, METHOD("0001", "0014000b", "00000000"));
    return s;
}

// ---- synchronous methods ------------------------------------------------------------------------

START_TEST(declarations)
{
    g_autoptr(Steps) s = connected();
    up(s, DECLARE);
    down(s, DECLARED);
    up(s, METHOD("0001", "0028000a", "0000 04 'logs' 05 'topic' 02 00000000"));
    down(s, METHOD("0001", "0028000b", ""));
    up(s, METHOD("0001", "00320014", "0000" ORDERS "04 'logs' 03 'a.#' 00 00000000"));
    down(s, METHOD("0001", "00320015", ""));
    up(s, METHOD("0001", "003c0014", "0000" ORDERS "00 00 00000000"));
    down(s, METHOD("0001", "003c0015", "02 'c1'"));
    up(s, METHOD("0001", "0055000a", "00"));
    down(s, METHOD("0001", "0055000b", ""));
    steps_check(s, LOGIN "CALL 5 amqp queue.declare orders 26\nRET 5 amqp ok 27\n"
                         "CALL 6 amqp exchange.declare logs 30\nRET 6 amqp ok 12\n"
                         "CALL 7 amqp queue.bind orders 35\nRET 7 amqp ok 12\n"
                         "CALL 8 amqp basic.consume orders 27\nRET 8 amqp ok 15\n"
                         "CALL 9 amqp confirm.select 13\nRET 9 amqp ok 12\n");
}
END_TEST

START_TEST(without_waiting)
{
    g_autoptr(Steps) s = connected();
    up(s, METHOD("0001", "0032000a", "0000" ORDERS "12 00000000")); // durable, no-wait
    up(s, METHOD("0001", "003c0014", "0000" ORDERS "00 08 00000000"));
    up(s, DECLARE);
    down(s, DECLARED);
    down(s, METHOD("0001", "003c001e", "02 'c1' 01")); // the queue is gone
    steps_check(s, LOGIN "MSG > amqp queue.declare orders 26\nMSG > amqp basic.consume orders 27\n"
                         "CALL 5 amqp queue.declare orders 26\nRET 5 amqp ok 27\n"
                         "MSG < amqp basic.cancel 16\n");
}
END_TEST

START_TEST(channels_are_apart)
{
    g_autoptr(Steps) s = connected();
    up(s, GET METHOD("0002", "003c0046", "0000 05 'other' 01"));
    down(s, METHOD("0002", "003c0048", "00"));
    down(s, METHOD("0001", "003c0048", "00"));
    steps_check(s, LOGIN "CALL 5 amqp basic.get orders 22\nCALL 6 amqp basic.get other 21\n"
                         "RET 6 amqp ok 13\nRET 5 amqp ok 13\n");
}
END_TEST

START_TEST(in_order_on_a_channel)
{
    g_autoptr(Steps) s = connected();
    up(s, DECLARE METHOD("0001", "0032000a", "0000 05 'other' 02 00000000") GET);
    down(s, DECLARED METHOD("0001", "0032000b", "05 'other' 00000000 00000000"));
    down(s, METHOD("0001", "003c0048", "00"));
    steps_check(s, LOGIN "CALL 5 amqp queue.declare orders 26\nCALL 6 amqp queue.declare other 25\n"
                         "CALL 7 amqp basic.get orders 22\nRET 5 amqp ok 27\nRET 6 amqp ok 26\n"
                         "RET 7 amqp ok 13\n");
}
END_TEST

// ---- content ------------------------------------------------------------------------------------

START_TEST(publish_and_acknowledge)
{
    g_autoptr(Steps) s = connected();
    up(s, PUBLISH("0001", "00", ORDERS) CONTENT_HEAD("0001", "0000000000000006"));
    up(s, BODY("0001", "'abcd'"));
    up(s, BODY("0001", "'ef'"));
    down(s, METHOD("0001", "003c0050", "0000000000000001 00"));
    steps_check(s, LOGIN "MSG > amqp publish orders 67\nMSG < amqp ack 21\n");
    g_autoptr(Converse) c = steps_play(s, 1460);
    (void)converse_result(c);
    ck_assert_int_eq(converse_last_ms(c, 8) - converse_first_ms(c, 8), 2); // with its bodies
}
END_TEST

START_TEST(routing_keys)
{
    g_autoptr(Steps) s = connected();
#define EMPTY CONTENT_HEAD("0001", "0000000000000000")
    up(s, PUBLISH("0001", "04 'logs'", "0d 'app.1234.fail'") EMPTY);
    up(s, PUBLISH("0001", "04 'logs'", "00") EMPTY); // fanout
    up(s, PUBLISH("0001", "00", "1e 'amq.gen-JzTY20BRgKO-HjmUJj0wLg'") EMPTY);
    up(s, PUBLISH("0001", "00", "1d 'amq.rabbitmq.reply-to.g1h2AAA'") EMPTY);
    down(s, METHOD("0001", "003c003c", "02 'c1' 0000000000000001 00 04 'logs' 03 'a.b'") EMPTY);
    down(s, METHOD("0001", "003c0032", "0138 08 'NO_ROUTE' 00 04 'none'") EMPTY);
    steps_check(s, LOGIN "MSG > amqp publish logs/app.*.fail 56\nMSG > amqp publish logs 43\n"
                         "MSG > amqp publish amq.gen-* 69\n"
                         "MSG > amqp publish amq.rabbitmq.reply-to.* 68\n"
                         "MSG < amqp deliver logs/a.b 55\nMSG < amqp return none 51\n");
}
END_TEST

// Frames of several channels may come between each other.
START_TEST(interleaved)
{
    g_autoptr(Steps) s = connected();
    up(s, PUBLISH("0001", "00", "01 'a'"));
    up(s, PUBLISH("0002", "00", "01 'b'") CONTENT_HEAD("0002", "0000000000000002"));
    up(s, CONTENT_HEAD("0001", "0000000000000003") BODY("0001", "'1'"));
    up(s, BODY("0002", "'22'") "08 0000 00000000 ce" DECLARE BODY("0001", "'11'"));
    down(s, DECLARED);
    steps_check(s, LOGIN "MSG > amqp publish a 59\nMSG > amqp publish b 50\n"
                         "CALL 5 amqp queue.declare orders 26\nRET 5 amqp ok 27\n");
}
END_TEST

START_TEST(get)
{
    g_autoptr(Steps) s = connected();
    up(s, GET);
    down(s, METHOD("0001", "003c0047", "0000000000000001 00 00" ORDERS "00000000"));
    down(s, CONTENT_HEAD("0001", "0000000000000002"));
    down(s, BODY("0001", "'ok'"));
    up(s, METHOD("0001", "003c0050", "0000000000000001 00"));
    up(s, GET);
    down(s, METHOD("0001", "003c0048", "00"));
    steps_check(s, LOGIN "CALL 5 amqp basic.get orders 22\nRET 5 amqp ok 65\nMSG > amqp ack 21\n"
                         "CALL 6 amqp basic.get orders 22\nRET 6 amqp ok 13\n");
}
END_TEST

START_TEST(large_bodies_are_passed_over)
{
    g_autoptr(Steps) s = connected();
    up(s, PUBLISH("0001", "00", ORDERS) CONTENT_HEAD("0001", "00000000000249f0"));
    up(s, BODY("0001", "00*100000") BODY("0001", "00*50000"));
    up(s, DECLARE);
    down(s, DECLARED);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "MSG > amqp publish orders 150061\n"
                                               "CALL 5 amqp queue.declare orders 26\n"
                                               "RET 5 amqp ok 27\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// More messages under way than are remembered: the oldest is taken as complete.
START_TEST(contents_have_a_limit)
{
    g_autoptr(Steps) s = connected();
    for (guint i = 1; i <= 9; i++) {
        g_autofree char *publish = g_strdup_printf(PUBLISH("%04x", "00", "01 'a'"), i);
        up(s, publish);
    }
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "MSG > amqp publish a 18\n"));
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 1);
    ck_assert_uint_eq(converse_loss(c, BB_FREES), 9);
}
END_TEST

// ---- closes -------------------------------------------------------------------------------------

START_TEST(closed_by_the_client)
{
    g_autoptr(Steps) s = connected();
    up(s, METHOD("0001", "00140028", "00c8 03 'bye' 00000000"));
    down(s, METHOD("0001", "00140029", ""));
    up(s, METHOD("0000", "000a0032", "00c8 03 'bye' 00000000"));
    down(s, METHOD("0000", "000a0033", ""));
    steps_check(s, LOGIN "CALL 5 amqp channel.close 22\nRET 5 amqp 200 12\n"
                         "CALL 6 amqp connection.close 22\nRET 6 amqp 200 12\n");
}
END_TEST

// What the server cannot do it answers by closing the channel; other calls there have no answer.
START_TEST(answered_by_a_close)
{
    g_autoptr(Steps) s = connected();
    up(s, DECLARE GET);
    down(s, METHOD("0001", "00140028", "0194 09 'NOT_FOUND' 0032000a"));
    up(s, METHOD("0001", "00140029", ""));
    up(s, METHOD("0001", "0014000a", "00"));
    down(s, METHOD("0001", "0014000b", "00000000"));
    up(s, GET);
    down(s, METHOD("0001", "003c0048", "00"));
    steps_check(s, LOGIN "CALL 5 amqp queue.declare orders 26\nCALL 6 amqp basic.get orders 22\n"
                         "RET 5 amqp 404 28\nCALL 7 amqp channel.open 13\nRET 7 amqp ok 16\n"
                         "CALL 8 amqp basic.get orders 22\nRET 8 amqp ok 13\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

START_TEST(closed_by_the_server)
{
    g_autoptr(Steps) s = connected();
    up(s, PUBLISH("0001", "04 'none'", "01 'a'") CONTENT_HEAD("0001", "0000000000000000"));
    down(s, METHOD("0001", "00140028", "0194 09 'NOT_FOUND' 003c0028"));
    up(s, METHOD("0001", "00140029", ""));
    steps_check(s, LOGIN "MSG > amqp publish none/a 44\nCALL 5 amqp channel.close 28\n"
                         "RET 5 amqp 404 12\n");
}
END_TEST

// A request that is still on its way then is none of the server's.
START_TEST(closed_amid_a_request)
{
    g_autoptr(Steps) s = connected();
    up(s, METHOD("0001", "00320014", "0000" ORDERS "04 'none' 00 00 00000000"));
    up(s, "01 0001 00000bcf 0032000a 0000" ORDERS "02 00000bbd 00*1000");
    down(s, METHOD("0001", "00140028", "0194 09 'NOT_FOUND' 00320014"));
    up(s, "00*2005 ce");
    up(s, METHOD("0001", "00140029", ""));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 5 amqp queue.bind orders 32\n"
                                               "CALL 6 amqp queue.declare orders 1025\n"
                                               "RET 5 amqp 404 28\n");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// The numbers of its Close are of other methods in 0-9-1, which servers send only.
START_TEST(version_0_8)
{
    static const char *const headers[] = {"'AMQP' 01010800", HEADER};
    for (guint i = 0; i < G_N_ELEMENTS(headers); i++) {
        g_autoptr(Steps) s = steps_new(7777);
        up(s, headers[i]);
        down(s, METHOD("0000", "000a000a", "0800 [] ['PLAIN'] ['en_US']"));
        up(s, METHOD("0000", "000a000b", "[] 05 'PLAIN' [] 05 'en_US'"));
        up(s, METHOD("0000", "000a003c", "00c8 03 'bye' 00000000"));
        down(s, METHOD("0000", "000a003d", ""));
        steps_check(s, "CALL 1 amqp connection.start 36\nRET 1 amqp ok 32\n"
                       "CALL 2 amqp connection.close 22\nRET 2 amqp 200 12\n");
    }
    g_autoptr(Steps) s = steps_new(7777);
    up(s, headers[0]);
    down(s, METHOD("0000", "000a000a", "0800 [] ['PLAIN'] ['en_US']"));
    up(s, METHOD("0000", "000a000b", "[] 05 'PLAIN' [] 05 'en_US'"));
    down(s, METHOD("0000", "000a003c", "0140 06 'forced' 00000000"));
    up(s, METHOD("0000", "000a003d", ""));
    steps_check(s, "CALL 1 amqp connection.start 36\nRET 1 amqp ok 32\n"
                   "CALL 2 amqp connection.close 25\nRET 2 amqp 320 12\n");
    g_autoptr(Steps) t = connected();
    down(t, METHOD("0000", "000a003c", "03 'mem'"));
    down(t, METHOD("0000", "000a003d", ""));
    steps_check(t, LOGIN "MSG < amqp connection.blocked 16\nMSG < amqp connection.unblocked 12\n");
}
END_TEST

// Of 0-9 and older, and still answered; what is not known at all means nothing.
START_TEST(other_methods)
{
    g_autoptr(Steps) s = connected();
    up(s, METHOD("0001", "001e000a", "05 '/data' 1e"));
    down(s, METHOD("0001", "001e000b", "0001"));
    up(s, METHOD("0001", "00630001", "00*3000"));
    up(s, DECLARE);
    down(s, METHOD("0001", "00320063", ""));
    down(s, DECLARED);
    steps_check(s, LOGIN "CALL 5 amqp access.request /data 19\nRET 5 amqp ok 14\n"
                         "CALL 6 amqp queue.declare orders 26\nRET 6 amqp ok 27\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// ---- joined in the middle, loss -----------------------------------------------------------------

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(7777);
    s->midstream = true;
    down(s, BODY("0001", "'rest'"));
    up(s, DECLARE);
    down(s, DECLARED);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 1 amqp queue.declare orders 26\n"
                                                     "RET 1 amqp ok 27\n"));
}
END_TEST

START_TEST(lost_request_and_reply)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets(DECLARE));
    down(s, DECLARED);
    up(s, DECLARE);
    down(s, DECLARED);
    up(s, DECLARE);
    step(s, LOSE_DOWN, octets(DECLARED));
    up(s, DECLARE);
    down(s, DECLARED);
    steps_check(s, LOGIN "RET - amqp ok 27\nCALL 5 amqp queue.declare orders 26\nRET 5 amqp ok 27\n"
                         "CALL 6 amqp queue.declare orders 26\n"
                         "CALL 7 amqp queue.declare orders 26\nRET 7 amqp ok 27\n");
}
END_TEST

// In a body a hole does no harm; where frames are missing the message is kept as it was seen.
START_TEST(lost_middle)
{
    g_autoptr(Steps) s = connected();
    up(s, PUBLISH("0001", "00", ORDERS) CONTENT_HEAD("0001", "0000000000000bb8"));
    up(s, "03 0001 00000bb8 00*1000");
    step(s, LOSE_UP, octets("00*1000"));
    up(s, "00*1000 ce");
    up(s, DECLARE);
    down(s, DECLARED);
    steps_check(s, LOGIN "MSG > amqp publish orders 2053\nCALL 5 amqp queue.declare orders 26\n"
                         "RET 5 amqp ok 27\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
    g_autoptr(Steps) t = connected();
    up(t, PUBLISH("0001", "00", ORDERS));
    step(t, LOSE_UP, octets(CONTENT_HEAD("0001", "0000000000000004") BODY("0001", "'ab'")));
    up(t, BODY("0001", "'cd'"));
    up(t, DECLARE);
    down(t, DECLARED);
    g_autoptr(Converse) c = steps_play(t, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "MSG > amqp publish orders 23\n"
                                               "CALL 5 amqp queue.declare orders 26\n"
                                               "RET 5 amqp ok 27\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// ---- what is no AMQP ----------------------------------------------------------------------------

START_TEST(damage)
{
    static const char *const frames[] = {
        "01 0001 [00320063] cd", // no such method, no end
        "01 0001 [0032000b] cd", // no end
        "05 0001 [00] ce",       // no such type
    };
    for (guint i = 0; i < G_N_ELEMENTS(frames); i++) {
        g_autoptr(Steps) s = connected();
        up(s, DECLARE);
        up(s, frames[i]);
        down(s, DECLARED);
        up(s, DECLARE);
        down(s, DECLARED);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_str_eq(converse_result(c),
                         LOGIN "CALL 5 amqp queue.declare orders 26\nRET 5 amqp ok 27\n"
                               "CALL 6 amqp queue.declare orders 26\nRET 6 amqp ok 27\n");
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    }
}
END_TEST

START_TEST(version_1_0_is_another_protocol)
{
    g_autoptr(Steps) s = steps_new(5672);
    up(s, "'AMQP' 03010000");
    down(s, "'AMQP' 03010000");
    steps_check(s, "CALL 1 tcp - 8\nRET 1 tcp ok 8\n");
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {HEADER, BB_MATCH_REQUEST},
        {"'AMQP' 01010009", BB_MATCH_REQUEST},
        {"'AMQP'", BB_MATCH_MORE},
        {"'AMQP' 00010000", BB_MATCH_NO}, // 1.0
        {"'AMQX' 00000901", BB_MATCH_NO},
        {DECLARE, BB_MATCH_REQUEST},
        {DECLARED, BB_MATCH_REPLY},
        {"01 0001 0000000e 0032", BB_MATCH_MORE},
        {"01 0001 0000000e 00320063", BB_MATCH_NO},
        {"01 0001 7000000e 0032000a", BB_MATCH_NO},
        {METHOD("0001", "003c0050", "0000000000000001 00"), BB_MATCH_LIKELY}, // either side's
        {"08 0000 00000000 ce", BB_MATCH_LIKELY},
        {"08 0000 00000000", BB_MATCH_MORE},
        {"08 0001 00000000 ce", BB_MATCH_NO},
        {CONTENT_HEAD("0001", "0000000000000004"), BB_MATCH_LIKELY},
        {BODY("0001", "'abc'"), BB_MATCH_NO},
        {"", BB_MATCH_MORE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_amqp, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
}
END_TEST

TEST_MAIN("amqp", declarations, without_waiting, channels_are_apart, in_order_on_a_channel,
          publish_and_acknowledge, routing_keys, interleaved, get, large_bodies_are_passed_over,
          contents_have_a_limit, closed_by_the_client, answered_by_a_close, closed_by_the_server,
          closed_amid_a_request, version_0_8, other_methods, joined_in_the_middle,
          lost_request_and_reply, lost_middle, damage, version_1_0_is_another_protocol, probes)
