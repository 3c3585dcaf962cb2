// SPDX-License-Identifier: Apache-2.0
// Diameter: requests of both sides, results, loss.
#include "tests/unit/octets.h"

enum { CER = 257, CCR = 272, DWR = 280 };
enum { REQUEST = 0x80, PROXIABLE = 0x40, ERROR = 0x20, AGAIN = 0x10 };
#define ORIGIN "00000108 40 00000d 'peer1' 000000"
#define RESULT(code) "0000010c 40 00000c " code
#define EXPERIMENTAL(code) "00000129 40 000020 0000010a 40 00000c 000028af 0000012a 40 00000c " code

static Octets *message(guint flags, guint command, guint32 hop, const char *avps)
{
    Octets *out = g_byte_array_new();
    g_autoptr(Octets) rest = octets(avps);
    octets_be(out, 1u << 24 | (20 + rest->len), 4);
    octets_be(out, flags << 24 | command, 4);
    octets_be(out, 0, 4);
    octets_be(out, hop, 4);
    octets_be(out, 0xeeeeeeee, 4);
    octets_put(out, rest->data, rest->len);
    return out;
}

static void ask(Steps *s, guint command, guint32 hop)
{
    step(s, SAY_UP, message(REQUEST, command, hop, ORIGIN));
}

static void answer(Steps *s, guint command, guint32 hop, const char *avps)
{
    step(s, SAY_DOWN, message(0, command, hop, avps));
}

#define HELLO "CALL 1 diameter Capabilities-Exchange 36\nRET 1 diameter 2001 48\n"

static void hello(Steps *s)
{
    ask(s, CER, 0);
    answer(s, CER, 0, RESULT("000007d1") ORIGIN);
}

START_TEST(calls)
{
    g_autoptr(Steps) s = steps_new(13868);
    hello(s);
    ask(s, CCR, 5);
    ask(s, CCR, 4);
    ask(s, 316, 0xffffffff);
    ask(s, 999999, 6);
    answer(s, CCR, 4, ORIGIN RESULT("0000138c"));
    answer(s, 316, 0xffffffff, ORIGIN EXPERIMENTAL("00001389"));
    answer(s, CCR, 5, ORIGIN RESULT("000007d2"));
    step(s, SAY_DOWN, message(ERROR, 999999, 6, ORIGIN));
    answer(s, CCR, 77, ORIGIN);
    steps_check(s, HELLO "CALL 2 diameter Credit-Control 36\nCALL 3 diameter Credit-Control 36\n"
                         "CALL 4 diameter Update-Location 36\nCALL 5 diameter 999999 36\n"
                         "RET 3 diameter 5004 48\nRET 4 diameter 5001 68\nRET 2 diameter 2002 48\n"
                         "RET 5 diameter error 36\nRET - diameter - 36\n");
}
END_TEST

// Either side watches the other, under the same number; a request may be sent again.
START_TEST(both_sides_ask)
{
    g_autoptr(Steps) s = steps_new(3868);
    hello(s);
    ask(s, DWR, 9);
    step(s, SAY_DOWN, message(REQUEST, DWR, 9, ORIGIN));
    step(s, SAY_UP, message(REQUEST | AGAIN, DWR, 9, ORIGIN));
    answer(s, DWR, 9, RESULT("000007d1"));
    step(s, SAY_UP, message(0, DWR, 9, RESULT("000007d1")));
    steps_check(s, HELLO "CALL 2 diameter Device-Watchdog 36\nCALL 3 diameter Device-Watchdog 36\n"
                         "RET 2 diameter 2001 32\nRET 3 diameter 2001 32\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 1);
}
END_TEST

// Clients that give all requests one identifier: a lost answer is not the next one.
START_TEST(one_identifier)
{
    g_autoptr(Steps) s = steps_new(3868);
    hello(s);
    for (guint round = 0; round < 2; round++) {
        ask(s, DWR, 7);
        step(s, LOSE_DOWN, message(0, DWR, 7, RESULT("000007d1")));
        ask(s, round ? DWR : CCR, 7);
        answer(s, round ? DWR : CCR, 7, RESULT("00000bba"));
    }
    step(s, SAY_UP, message(REQUEST | AGAIN, CCR, 7, ORIGIN)); // of another connection
    answer(s, CCR, 7, RESULT("000007d1"));
    steps_check(s, HELLO "CALL 2 diameter Device-Watchdog 36\nCALL 3 diameter Credit-Control 36\n"
                         "RET 3 diameter 3002 32\nCALL 4 diameter Device-Watchdog 36\n"
                         "CALL 5 diameter Device-Watchdog 36\nRET 5 diameter 3002 32\n"
                         "CALL 6 diameter Credit-Control 36\nRET 6 diameter 2001 32\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 0);
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 2);
}
END_TEST

START_TEST(long_messages)
{
    g_autoptr(Steps) s = steps_new(3868);
    hello(s);
    ask(s, CCR, 5);
    answer(s, CCR, 5,
           "00000001 00 002718 00*10000 " RESULT("00000bb8")); // behind what is looked at
    ask(s, CCR, 6);
    answer(s, CCR, 6, RESULT("00000bb8") "00000001 00 002718 00*10000");
    steps_check(s, HELLO "CALL 2 diameter Credit-Control 36\nRET 2 diameter - 10040\n"
                         "CALL 3 diameter Credit-Control 36\nRET 3 diameter 3000 10040\n");
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = steps_new(3868);
    hello(s);
    step(s, LOSE_UP, message(REQUEST, CCR, 5, ORIGIN));
    answer(s, CCR, 5, RESULT("000007d1"));
    ask(s, CCR, 6);
    step(s, LOSE_DOWN, message(0, CCR, 6, RESULT("000007d1")));
    ask(s, CCR, 7);
    answer(s, CCR, 7, RESULT("000007d1"));
    steps_check(s, HELLO "RET - diameter 2001 32\nCALL 2 diameter Credit-Control 36\n"
                         "CALL 3 diameter Credit-Control 36\nRET 3 diameter 2001 32\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(lost_middle)
{
    g_autoptr(Steps) s = steps_new(3868);
    hello(s);
    ask(s, CCR, 6);
    Octets *all = message(0, CCR, 6, RESULT("00000bba") "00000001 00 002718 00*10000");
    Octets *tail = g_byte_array_new();
    octets_put(tail, all->data + 9000, all->len - 9000);
    g_byte_array_set_size(all, 5000);
    step(s, SAY_DOWN, all);
    step(s, LOSE_DOWN, octets("00*4000"));
    step(s, SAY_DOWN, tail);
    ask(s, CCR, 7);
    answer(s, CCR, 7, RESULT("000007d1"));
    steps_check(s, HELLO "CALL 2 diameter Credit-Control 36\nRET 2 diameter 3002 6040\n"
                         "CALL 3 diameter Credit-Control 36\nRET 3 diameter 2001 32\n");
}
END_TEST

// Joined in the middle: at its port, or where both sides look like it.
START_TEST(joined_midstream)
{
    for (guint i = 0; i < 2; i++) {
        g_autoptr(Steps) s = steps_new(i ? 3868 : 13868);
        s->midstream = true;
        ask(s, CCR, 5);
        answer(s, CCR, 5, RESULT("000007d1"));
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_str_eq(converse_result(c),
                         "CALL 1 diameter Credit-Control 36\nRET 1 diameter 2001 32\n");
    }
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(3868);
    hello(s);
    ask(s, CCR, 5);
    down(s, "01 00000f 00 000110 00*12");
    answer(s, CCR, 5, RESULT("000007d1"));
    ask(s, CCR, 6);
    answer(s, CCR, 6, "0000010c 40 000004"); // an AVP shorter than its head
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     HELLO "CALL 2 diameter Credit-Control 36\nRET 2 diameter 2001 32\n"
                           "CALL 3 diameter Credit-Control 36\nRET 3 diameter - 28\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

static BbMatch probe(Octets *bytes)
{
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    BbMatch match = bb_decoder_diameter.probe(copy, bytes->len);
    g_byte_array_unref(bytes);
    return match;
}

START_TEST(probes)
{
    ck_assert_int_eq(probe(message(REQUEST, CER, 0, ORIGIN)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe(message(0, CER, 0, ORIGIN)), BB_MATCH_REPLY);
    ck_assert_int_eq(probe(message(REQUEST, DWR, 0, ORIGIN)), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe(message(REQUEST, 999999, 0, ORIGIN)), BB_MATCH_NO);
    ck_assert_int_eq(probe(message(REQUEST | ERROR, CER, 0, ORIGIN)), BB_MATCH_NO);
    ck_assert_int_eq(probe(message(REQUEST | 1, CER, 0, ORIGIN)), BB_MATCH_NO);
    ck_assert_int_eq(probe(message(REQUEST, CER, 0, "00000108 40 00ffff 'peer1' 000000")),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe(message(REQUEST, CER, 0, "00000108 5f 00000d 'peer1' 000000")),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(&bb_decoder_diameter, "01 000024 80 0001"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(&bb_decoder_diameter, "02 000024 80 000101"), BB_MATCH_NO);
    check_refusals(&bb_decoder_diameter);
}
END_TEST

TEST_MAIN("diameter", calls, both_sides_ask, one_identifier, long_messages, lost_messages,
          lost_middle, joined_midstream, damage, probes)
