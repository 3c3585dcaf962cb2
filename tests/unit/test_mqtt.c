// SPDX-License-Identifier: Apache-2.0
// MQTT 3.1.1 and 5: what pairs by packet identifier and in both directions, labels, reasons, loss.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define CONNECT "10 0e 0004 'MQTT' 04 02 003c 0002 'c1'"
#define CONNACK "20 02 00 00"
#define LOGIN "CALL 1 mqtt CONNECT 16\nRET 1 mqtt ok 4\n"
#define CONNECT_5 "10 0f 0004 'MQTT' 05 02 003c 00 0002 'c1'"
#define CONNACK_5 "20 03 00 00 00"
#define LOGIN_5 "CALL 1 mqtt CONNECT 17\nRET 1 mqtt ok 5\n"

static Steps *connected(void)
{
    Steps *s = steps_new(7777); // not a port of MQTT: content must do
    up(s, CONNECT);
    down(s, CONNACK);
    return s;
}

static Steps *connected_5(void)
{
    Steps *s = steps_new(7777);
    up(s, CONNECT_5);
    down(s, CONNACK_5);
    return s;
}

// ---- calls --------------------------------------------------------------------------------------

START_TEST(a_session)
{
    g_autoptr(Steps) s = connected();
    up(s, "82 0a 0001 0005 'a/+/c' 01");
    down(s, "90 03 0001 01");
    up(s, "32 12 0007 'a/1234x' 0002 'seven b'");
    down(s, "40 02 0002");
    up(s, "c0 00");
    down(s, "d0 00");
    up(s, "a2 09 0003 0005 'a/+/c'");
    down(s, "b0 02 0003");
    up(s, "e0 00");
    steps_check(s, LOGIN "CALL 2 mqtt SUBSCRIBE a/+/c 12\nRET 2 mqtt ok 5\n"
                         "CALL 3 mqtt PUBLISH a/* 20\nRET 3 mqtt ok 4\n"
                         "CALL 4 mqtt PINGREQ 2\nRET 4 mqtt ok 2\n"
                         "CALL 5 mqtt UNSUBSCRIBE a/+/c 11\nRET 5 mqtt ok 4\n"
                         "MSG > mqtt DISCONNECT 2\n");
}
END_TEST

START_TEST(quality_of_service)
{
    g_autoptr(Steps) s = connected();
    up(s, "30 06 0002 't0' 'xy'");
    up(s, "34 08 0002 't2' 0009 'xy'");
    down(s, "50 02 0009");
    up(s, "62 02 0009");
    down(s, "70 02 0009");
    steps_check(s, LOGIN "MSG > mqtt PUBLISH t0 8\n"
                         "CALL 2 mqtt PUBLISH t2 10\nRET 2 mqtt ok 4\n"
                         "CALL 3 mqtt PUBREL 4\nRET 3 mqtt ok 4\n");
}
END_TEST

// The server has identifiers of its own: the same ones.
START_TEST(both_ways)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 08 0002 'up' 0001 'xy'");
    down(s, "32 0a 0004 'down' 0001 'xy'");
    up(s, "40 02 0001");
    down(s, "40 02 0001");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH up 10\nCALL 3 mqtt PUBLISH down 12\n"
                         "RET 3 mqtt ok 4\nRET 2 mqtt ok 4\n");
}
END_TEST

START_TEST(out_of_order)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 07 0001 'a' 0001 'xy' 32 07 0001 'b' 0002 'xy' 32 07 0001 'c' 0003 'xy'");
    down(s, "40 02 0003 40 02 0001");
    down(s, "40 02 0002");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH a 9\nCALL 3 mqtt PUBLISH b 9\nCALL 4 mqtt PUBLISH c "
                         "9\nRET 4 mqtt ok 4\nRET 2 mqtt ok 4\nRET 3 mqtt ok 4\n");
}
END_TEST

START_TEST(a_duplicate_is_the_same_call)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 07 0001 'a' 0001 'xy'");
    up(s, "3a 07 0001 'a' 0001 'xy'");
    down(s, "40 02 0001");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH a 9\nRET 2 mqtt ok 4\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 1);
}
END_TEST

// Of version 3.1, which had the flag in other packets, too.
START_TEST(duplicates_of_version_3_1)
{
    g_autoptr(Steps) s = connected();
    up(s, "82 06 0001 0001 'a' 01");
    up(s, "8a 06 0001 0001 'a' 01");
    down(s, "90 03 0001 01");
    up(s, "a2 05 0002 0001 'a'");
    up(s, "aa 05 0002 0001 'a'");
    down(s, "b0 02 0002");
    up(s, "62 02 0003");
    up(s, "6a 02 0003");
    down(s, "70 02 0003");
    up(s, "8a 06 0004 0001 'b' 01"); // the first was not seen
    steps_check(s, LOGIN "CALL 2 mqtt SUBSCRIBE a 8\nRET 2 mqtt ok 5\n"
                         "CALL 3 mqtt UNSUBSCRIBE a 7\nRET 3 mqtt ok 4\n"
                         "CALL 4 mqtt PUBREL 4\nRET 4 mqtt ok 4\nCALL 5 mqtt SUBSCRIBE b 8\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 3);
}
END_TEST

// Without the flag the identifier was free again: its acknowledgement was not seen.
START_TEST(an_identifier_used_again)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 07 0001 'a' 0001 'xy'");
    up(s, "32 07 0001 'b' 0001 'xy'");
    down(s, "40 02 0001");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH a 9\nCALL 3 mqtt PUBLISH b 9\nRET 3 mqtt ok 4\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(a_long_message_is_passed_over)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 84e006 0001 'a' 0001 00*110591 ff");
    down(s, "40 02 0001");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 mqtt PUBLISH a 110600\nRET 2 mqtt ok 4\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// ---- reasons ------------------------------------------------------------------------------------

START_TEST(refusals)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, CONNECT);
    down(s, "20 02 00 05");
    steps_check(s, "CALL 1 mqtt CONNECT 16\nRET 1 mqtt 5 4\n");
    g_autoptr(Steps) t = connected();
    up(t, "82 0a 0001 0001 'a' 01 0001 'b' 01");
    down(t, "90 04 0001 01 80");
    steps_check(t, LOGIN "CALL 2 mqtt SUBSCRIBE a 12\nRET 2 mqtt 128 6\n");
}
END_TEST

START_TEST(reasons_of_version_5)
{
    g_autoptr(Steps) s = connected_5();
    up(s, "82 09 0001 02 0b01 0001 'a' 01");
    down(s, "90 06 0001 02 1f00 87"); // behind a property
    up(s, "32 08 0001 'a' 0002 00 'xy'");
    down(s, "40 04 0002 10 00"); // no matching subscribers is a success
    up(s, "32 08 0001 'a' 0003 00 'xy'");
    down(s, "40 03 0003 97");
    up(s, "a2 06 0004 00 0001 'a'");
    down(s, "b0 04 0004 00 11");
    up(s, "34 08 0001 'a' 0005 00 'xy'");
    down(s, "50 03 0005 83");
    down(s, "e0 01 8b");
    steps_check(s, LOGIN_5 "CALL 2 mqtt SUBSCRIBE a 11\nRET 2 mqtt 135 8\n"
                           "CALL 3 mqtt PUBLISH a 10\nRET 3 mqtt ok 6\n"
                           "CALL 4 mqtt PUBLISH a 10\nRET 4 mqtt 151 5\n"
                           "CALL 5 mqtt UNSUBSCRIBE a 8\nRET 5 mqtt ok 6\n"
                           "CALL 6 mqtt PUBLISH a 10\nRET 6 mqtt 131 5\n"
                           "MSG < mqtt DISCONNECT 3\n");
}
END_TEST

START_TEST(authentication_in_turns)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, CONNECT_5);
    down(s, "f0 02 18 00");
    up(s, "f0 02 18 00");
    down(s, CONNACK_5);
    steps_check(s,
                "CALL 1 mqtt CONNECT 17\nMSG < mqtt AUTH 4\nMSG > mqtt AUTH 4\nRET 1 mqtt ok 5\n");
}
END_TEST

// Section 3.3.2.3.4: a number stands for the topic it was sent with, each direction by itself.
START_TEST(topic_aliases)
{
    g_autoptr(Steps) s = connected_5();
    up(s, "30 0c 0005 't/one' 03 230001 'x'");
    up(s, "30 07 0000 03 230001 'x'");
    up(s, "30 11 0000 0d 0b8001 26 0001'k'0001'v' 230001 'x'"); // behind other properties
    down(s, "30 07 0000 03 230001 'x'");                        // never named
    up(s, "30 07 0000 03 230063 'x'");                          // more than are remembered
    steps_check(s, LOGIN_5 "MSG > mqtt PUBLISH t/one 14\nMSG > mqtt PUBLISH t/one 9\n"
                           "MSG > mqtt PUBLISH t/one 19\nMSG < mqtt PUBLISH ? 9\n"
                           "MSG > mqtt PUBLISH ? 9\n");
}
END_TEST

START_TEST(topics_are_templates)
{
    g_autoptr(Steps) s = connected();
    up(s, "30 10 000e 'dev/4711/state'");
    up(s, "30 26 0024 '550e8400-e29b-41d4-a716-446655440000'");
    up(s, "30 05 0003 '/a/'");
    steps_check(s, LOGIN "MSG > mqtt PUBLISH dev/*/state 18\nMSG > mqtt PUBLISH * 40\n"
                         "MSG > mqtt PUBLISH /a/ 7\n");
}
END_TEST

START_TEST(version_3_1)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "10 10 0006 'MQIsdp' 03 02 003c 0002 'c1'");
    down(s, CONNACK);
    up(s, "8a 06 0001 0001 'a' 00"); // DUP of those days
    down(s, "90 03 0001 00");
    steps_check(s, "CALL 1 mqtt CONNECT 18\nRET 1 mqtt ok 4\nCALL 2 mqtt SUBSCRIBE a 8\n"
                   "RET 2 mqtt ok 5\n");
}
END_TEST

// ---- joined in the middle, loss -----------------------------------------------------------------

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(1883);
    s->midstream = true;
    up(s, "c0 00");
    down(s, "d0 00");
    up(s, "82 06 0001 0001 'a' 01");
    down(s, "90 03 0001 80");
    up(s, "82 07 0002 00 0001 'b' 01"); // looks like version 5
    down(s, "90 04 0002 00 87");
    steps_check(s, "CALL 1 mqtt PINGREQ 2\nRET 1 mqtt ok 2\n"
                   "CALL 2 mqtt SUBSCRIBE a 8\nRET 2 mqtt 128 5\n"
                   "CALL 3 mqtt SUBSCRIBE b 9\nRET 3 mqtt 135 6\n");
}
END_TEST

START_TEST(lost_request)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets("32 07 0001 'a' 0001 'xy'"));
    down(s, "40 02 0001");
    up(s, "32 09 0003 'abc' 0002 'xy'");
    down(s, "40 02 0002");
    steps_check(s, LOGIN "RET - mqtt ok 4\nCALL 2 mqtt PUBLISH abc 11\nRET 2 mqtt ok 4\n");
}
END_TEST

START_TEST(lost_reply)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 07 0001 'a' 0001 'xy'");
    step(s, LOSE_DOWN, octets("40 02 0001"));
    up(s, "32 07 0001 'b' 0002 'xy'");
    down(s, "40 02 0002");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH a 9\nCALL 3 mqtt PUBLISH b 9\nRET 3 mqtt ok 4\n");
}
END_TEST

// A client that always uses identifier 1: neither the lost answer nor the lost request after it may
// pair what does not belong together.
START_TEST(lost_reply_and_request_of_one_identifier)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 07 0001 'a' 0001 'xy'");
    step(s, LOSE_DOWN, octets("40 02 0001"));
    step(s, LOSE_UP, octets("32 07 0001 'b' 0001 'xy'"));
    up(s, "30 09 0004 'free' 'xyz'");
    down(s, "40 02 0001");
    up(s, "32 09 0003 'ccc' 0001 'xy'");
    down(s, "40 02 0001");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     LOGIN "CALL 2 mqtt PUBLISH a 9\nMSG > mqtt PUBLISH free 11\nCALL 3 mqtt "
                           "PUBLISH ccc 11\nRET 3 mqtt ok 4\n");
}
END_TEST

START_TEST(lost_pings_do_not_shift)
{
    g_autoptr(Steps) s = connected();
    up(s, "c0 00");
    step(s, LOSE_DOWN, octets("d0 00"));
    up(s, "c0 00");
    down(s, "d0 00");
    up(s, "c0 00");
    down(s, "d0 00");
    g_autoptr(Converse) c = steps_play(s, 1460);
    (void)converse_result(c);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 4);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
    ck_assert_int_eq(converse_first_ms(c, 2), 2);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 4 "));
    ck_assert_ptr_null(strstr(converse_result(c), "RET 2 "));
}
END_TEST

// A hole inside of a payload is none; one that goes beyond it ends the message with what was seen.
START_TEST(lost_middle)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 ac02 0001 'a' 0001 00*95");
    step(s, LOSE_UP, octets("00*100"));
    up(s, "00*100");
    down(s, "40 02 0001");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH a 203\nRET 2 mqtt ok 4\n");
    g_autoptr(Steps) t = connected();
    up(t, "32 ac02 0001 'a' 0001 00*95");
    step(t, LOSE_UP, octets("00*200 30 07 0001 'b' 'lost'"));
    down(t, "40 02 0001");
    up(t, "30 07 0004 'seen' 'x'");
    steps_check(t, LOGIN "CALL 2 mqtt PUBLISH a 103\nRET 2 mqtt ok 4\n"
                         "MSG > mqtt PUBLISH seen 9\n");
    ck_assert_uint_eq(steps_count(t, BB_DECODER_LOST), 1);
}
END_TEST

// ---- what is no MQTT ----------------------------------------------------------------------------

START_TEST(damage)
{
    static const char *const answers[] = {
        "20 02 00",                // no answer yet, and never
        "00 02 00 00",             // no such type
        "21 02 00 00",             // flags
        "20 ff ff ff ff",          // length
        "82 06 0001 0001 'a' 00",  // not for a server to say
        "36 06 0001 'a' 0001 'x'", // QoS 3
        "30 03 0009 'a'",          // topic beyond the message
        "d0 01 00",                // a pong has no body
    };
    for (gsize i = 0; i < G_N_ELEMENTS(answers); i++) {
        g_autoptr(Steps) s = steps_new(7777);
        up(s, CONNECT);
        down(s, answers[i]);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_msg(g_str_has_prefix(converse_result(c), "CALL 1 mqtt CONNECT 16\n"), "%zu", i);
        ck_assert_ptr_null(strstr(converse_result(c), "RET 1"));
    }
}
END_TEST

START_TEST(damage_in_the_middle)
{
    g_autoptr(Steps) s = connected();
    up(s, "32 07 0001 'a' 0001 'xy' 00 'garbage'");
    down(s, "40 02 0001");
    up(s, "32 09 0003 'abc' 0002 'xy'");
    down(s, "40 02 0002");
    steps_check(s, LOGIN "CALL 2 mqtt PUBLISH a 9\nRET 2 mqtt ok 4\n"
                         "CALL 3 mqtt PUBLISH abc 11\nRET 3 mqtt ok 4\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_GAVE_UP), 0);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {CONNECT, BB_MATCH_REQUEST},
        {"10 10 0006 'MQIsdp' 03 02", BB_MATCH_REQUEST},
        {"10 0e 0004 'MQTT' 84", BB_MATCH_REQUEST}, // a bridge
        {"10 0e 0004 'MQ'", BB_MATCH_MORE},
        {"10 0e 0004 'MQTT' 06", BB_MATCH_NO},
        {"10 0e 0004 'MQXX' 04", BB_MATCH_NO},
        {CONNACK, BB_MATCH_LIKELY},
        {"90 03 0001 00", BB_MATCH_LIKELY},
        {"82 06 0001 0001 'a' 00", BB_MATCH_LIKELY},
        {"30 0c 000a 'some/topic'", BB_MATCH_LIKELY},
        {"30 7f 000a 'some/topic' 00*9", BB_MATCH_LIKELY}, // cut
        {"30 7f 0004 'some' 00*9", BB_MATCH_MAYBE},
        {"30 0c 000a 'some' 0001 'pic'", BB_MATCH_NO}, // no text
        {"40 02 0001", BB_MATCH_MAYBE},
        {"40 02 0001 40 02 0002", BB_MATCH_LIKELY},
        {"40 02 0001 41", BB_MATCH_NO},
        {"c0 00", BB_MATCH_MAYBE},
        {"", BB_MATCH_MORE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_mqtt, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
}
END_TEST

TEST_MAIN("mqtt", a_session, quality_of_service, both_ways, out_of_order,
          a_duplicate_is_the_same_call, duplicates_of_version_3_1, an_identifier_used_again,
          a_long_message_is_passed_over, refusals, reasons_of_version_5, authentication_in_turns,
          topic_aliases, topics_are_templates, version_3_1, joined_in_the_middle, lost_request,
          lost_reply, lost_reply_and_request_of_one_identifier, lost_pings_do_not_shift,
          lost_middle, damage, damage_in_the_middle, probes)
