// SPDX-License-Identifier: Apache-2.0
// NTP: requests and answers by timestamp, other modes, kisses of death, damage.
#include "tests/unit/octets.h"

enum { SYMMETRIC = 1, PASSIVE, CLIENT, SERVER, BROADCAST };

static Octets *packet(guint mode, guint stratum, const char *id, guint64 origin, guint64 receive,
                      guint64 transmit)
{
    Octets *out = g_byte_array_new();
    octets_be(out, 4 << 3 | mode, 1);
    octets_be(out, stratum, 1);
    octets_be(out, 6, 1);
    octets_be(out, 0xe9, 1);
    octets_be(out, 0x100, 4);
    octets_be(out, 0x200, 4);
    octets_put(out, id, 4);
    octets_be(out, 0, 8);
    octets_be(out, origin, 8);
    octets_be(out, receive, 8);
    octets_be(out, transmit, 8);
    return out;
}

static void ask(Steps *s, guint64 transmit)
{
    step(s, SAY_UP, packet(CLIENT, 0, "\0\0\0\0", 0, 0, transmit));
}

static void answer(Steps *s, guint64 origin)
{
    step(s, SAY_DOWN, packet(SERVER, 2, "\12\0\0\1", origin, 1000, 1001));
}

START_TEST(by_timestamp)
{
    g_autoptr(Steps) s = steps_udp(123);
    ask(s, 501);
    ask(s, 502);
    ask(s, 502); // again
    answer(s, 502);
    answer(s, 501);
    answer(s, 501);
    ask(s, 0); // a simple client
    answer(s, 0);
    steps_check(s, "CALL 1 ntp client 48\nCALL 2 ntp client 48\nRET 2 ntp ok 48\nRET 1 ntp ok 48\n"
                   "RET - ntp ok 48\nCALL 3 ntp client 48\nRET 3 ntp ok 48\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 1);
}
END_TEST

// Clients that do not tell the time: the last of their requests is the one that is answered.
START_TEST(untimed)
{
    g_autoptr(Steps) s = steps_udp(123);
    ask(s, 0);
    ask(s, 501);
    ask(s, 0);
    answer(s, 0);
    answer(s, 0);
    answer(s, 501);
    steps_check(s, "CALL 1 ntp client 48\nCALL 2 ntp client 48\nCALL 3 ntp client 48\n"
                   "RET 3 ntp ok 48\nRET - ntp ok 48\nRET 2 ntp ok 48\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(interleaved)
{
    g_autoptr(Steps) s = steps_udp(123);
    ask(s, 501);
    answer(s, 501);
    step(s, SAY_UP, packet(CLIENT, 0, "\0\0\0\0", 1000, 77, 502));
    answer(s, 77);
    steps_check(s,
                "CALL 1 ntp client 48\nRET 1 ntp ok 48\nCALL 2 ntp client 48\nRET 2 ntp ok 48\n");
}
END_TEST

START_TEST(kisses)
{
    g_autoptr(Steps) s = steps_udp(123);
    ask(s, 501);
    step(s, SAY_DOWN, packet(SERVER, 0, "RATE", 501, 1, 2));
    ask(s, 502);
    step(s, SAY_DOWN, packet(SERVER, 0, "\0\0\0\0", 502, 1, 2));
    ask(s, 503);
    step(s, SAY_DOWN, packet(SERVER, 1, "GPSX", 503, 1, 2)); // a clock, not a kiss
    steps_check(s,
                "CALL 1 ntp client 48\nRET 1 ntp RATE 48\nCALL 2 ntp client 48\nRET 2 ntp ok 48\n"
                "CALL 3 ntp client 48\nRET 3 ntp ok 48\n");
}
END_TEST

START_TEST(other_modes)
{
    g_autoptr(Steps) s = steps_udp(123);
    step(s, SAY_UP, packet(SYMMETRIC, 2, "\12\0\0\1", 0, 0, 501));
    step(s, SAY_DOWN, packet(PASSIVE, 2, "\12\0\0\1", 501, 1, 2));
    step(s, SAY_DOWN, packet(BROADCAST, 2, "\12\0\0\1", 0, 0, 3));
    up(s, "1e 02 0001 0000 0000 0000 0000");
    up(s, "17 00 03 2a 0000 0000");
    up(s, "1e 02 0001 0000 0000 0000 0005 'names' 000000");
    steps_check(s, "MSG > ntp symmetric active 48\nMSG < ntp symmetric passive 48\n"
                   "MSG < ntp broadcast 48\nMSG > ntp control 12\nMSG > ntp private 8\n"
                   "MSG > ntp control 20\n");
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_udp(123);
    ask(s, 501);
    down(s, "24 02 06 e9 00*20");
    answer(s, 501);
    steps_check(s, "CALL 1 ntp client 48\nRET 1 ntp ok 48\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(found_by_both_sides)
{
    g_autoptr(Steps) s = steps_udp(11123);
    ask(s, 501);
    answer(s, 501);
    ask(s, 502);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 2 ntp client 48\n"));
}
END_TEST

static BbMatch probe(Octets *bytes)
{
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    BbMatch match = bb_decoder_ntp.probe(copy, bytes->len);
    g_byte_array_unref(bytes);
    return match;
}

START_TEST(probes)
{
    ck_assert_int_eq(probe(packet(CLIENT, 0, "\0\0\0\0", 0, 0, 501)), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe(packet(SERVER, 2, "\0\0\0\0", 0, 0, 501)), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe(packet(BROADCAST, 2, "\0\0\0\0", 0, 0, 501)), BB_MATCH_MAYBE);
    ck_assert_int_eq(probe(packet(CLIENT, 17, "\0\0\0\0", 0, 0, 501)), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(0, 2, "\0\0\0\0", 0, 0, 501)), BB_MATCH_NO);
    Octets *minimal = packet(CLIENT, 0, "\0\0\0\0", 0, 0, 501);
    minimal->data[3] = 0x20; // as chrony sends
    ck_assert_int_eq(probe(minimal), BB_MATCH_LIKELY);
    Octets *coarse = packet(CLIENT, 0, "\0\0\0\0", 0, 0, 501);
    coarse->data[3] = 0x21;
    ck_assert_int_eq(probe(coarse), BB_MATCH_NO);
    Octets *digest = packet(CLIENT, 0, "\0\0\0\0", 0, 0, 501);
    ck_assert_int_eq(probe(octets_join(digest, octets("00000001 aa*16"))), BB_MATCH_LIKELY);
    digest = packet(CLIENT, 0, "\0\0\0\0", 0, 0, 501);
    ck_assert_int_eq(probe(octets_join(digest, octets("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe(octets("1e 02 0001 0000 0000 0000 0005 'name'")), BB_MATCH_NO);
    ck_assert_int_eq(probe(octets("17 00 03 2a 0001 0008 00*7")), BB_MATCH_NO);
    ck_assert_int_eq(probe(octets("17 00 01 2a 0000 0000")), BB_MATCH_NO);
    check_refusals(&bb_decoder_ntp);
}
END_TEST

TEST_MAIN("ntp", by_timestamp, untimed, interleaved, kisses, other_modes, damage,
          found_by_both_sides, probes)
