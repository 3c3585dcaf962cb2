// SPDX-License-Identifier: Apache-2.0
// AFS Rx: calls of both sides, several packets, repetitions, aborts, services.
#include "capture/protocols/afsrx_packet.h"
#include "tests/unit/octets.h"

enum { DATA = 1, ACK, BUSY, ABORT, ACKALL, CHALLENGE, RESPONSE };
enum { CALLER = 1, REQUEST_ACK = 2, LAST = 4, JUMBO = 0x20 };
enum { FS = 1, VLDB = 52, PTS = 73 };

static Octets *packet(guint type, guint flags, guint32 call, guint32 sequence, guint service,
                      guint security, const char *body)
{
    Octets *out = octets("b8000001 e0000004");
    g_autoptr(Octets) rest = octets(body);
    octets_be(out, call, 4);
    octets_be(out, sequence, 4);
    octets_be(out, 17, 4);
    octets_be(out, type, 1);
    octets_be(out, flags, 1);
    octets_be(out, 0, 1);
    octets_be(out, security, 1);
    octets_be(out, 0, 2);
    octets_be(out, service, 2);
    octets_put(out, rest->data, rest->len);
    return out;
}

static void ask(Steps *s, guint32 call, const char *body)
{
    step(s, SAY_UP, packet(DATA, CALLER | LAST, call, 1, FS, 0, body));
}

static void answer(Steps *s, guint32 call)
{
    step(s, SAY_DOWN, packet(DATA, LAST, call, 1, FS, 0, "00*8"));
}

START_TEST(calls)
{
    g_autoptr(Steps) s = steps_udp(7000);
    ask(s, 5, "00000084 00*8");
    step(s, SAY_DOWN, packet(CHALLENGE, 0, 0, 0, FS, 2, "00*16"));
    step(s, SAY_UP, packet(RESPONSE, CALLER, 0, 0, FS, 2, "00*32"));
    answer(s, 5);
    step(s, SAY_UP, packet(ACK, CALLER, 5, 0, FS, 0, "00*20"));
    ask(s, 6, "000000cc"); // a callback's, but of a client
    step(s, SAY_DOWN, packet(ABORT, 0, 6, 0, FS, 0, "ffffffff"));
    ask(s, 7, "00000085");
    step(s, SAY_DOWN, packet(ABORT, 0, 7, 0, FS, 0, "02f6df02"));
    step(s, SAY_DOWN, packet(ABORT, 0, 7, 0, FS, 0, "02f6df02"));
    answer(s, 9);
    steps_check(s, "CALL 1 afsrx fs.FetchStatus 40\nRET 1 afsrx ok 36\n"
                   "CALL 2 afsrx cb.CallBack 32\nRET 2 afsrx -1 32\n"
                   "CALL 3 afsrx fs.StoreData 32\nRET 3 afsrx 49733378 32\n"
                   "RET - afsrx ok 36\n");
}
END_TEST

START_TEST(several_packets)
{
    g_autoptr(Steps) s = steps_udp(7000);
    step(s, SAY_UP, packet(DATA, CALLER, 5, 1, FS, 0, "00000085 00*1400"));
    step(s, SAY_UP, packet(DATA, CALLER | LAST, 5, 3, FS, 0, "00*100"));
    step(s, SAY_UP, packet(DATA, CALLER | REQUEST_ACK, 5, 2, FS, 0, "00*1404"));
    step(s, SAY_UP, packet(DATA, CALLER | REQUEST_ACK, 5, 2, FS, 0, "00*1404")); // again
    step(s, SAY_DOWN, packet(DATA, 0, 5, 1, FS, 0, "00*1404"));
    step(s, SAY_DOWN, packet(DATA, 0, 5, 1, FS, 0, "00*1404")); // again
    step(s, SAY_DOWN, packet(DATA, LAST, 5, 2, FS, 0, "00*10"));
    step(s, SAY_DOWN, packet(DATA, LAST, 5, 2, FS, 0, "00*10")); // again
    step(s, SAY_UP, packet(DATA, CALLER, 5, 1, FS, 0, "00000085 00*1400"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    // It was written with the packet that says it is the last.
    ck_assert_str_eq(converse_result(c), "CALL 1 afsrx fs.StoreData 1560\nRET 1 afsrx ok 1470\n");
    ck_assert_int_eq(converse_last_ms(c, 1), 6);
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 2);
}
END_TEST

// Of another connection, or another channel of it.
static Octets *elsewhere(guint32 connection, Octets *packet)
{
    octets_patch_be(packet, 4, connection, 4);
    return packet;
}

// Without a call's number: all that the connection has open, on every channel.
START_TEST(aborted_connection)
{
    g_autoptr(Steps) s = steps_udp(7000);
    ask(s, 4, "00000084");
    answer(s, 4);
    ask(s, 5, "00000084");
    step(s, SAY_UP, elsewhere(0xe0000007, packet(DATA, CALLER | LAST, 6, 1, FS, 0, "00000085")));
    step(s, SAY_UP, elsewhere(0xe0000008, packet(DATA, CALLER | LAST, 7, 1, FS, 0, "00000086")));
    step(s, SAY_UP, packet(ABORT, CALLER, 0, 0, FS, 0, "ffffffff")); // a caller's
    step(s, SAY_DOWN, packet(ABORT, 0, 0, 0, FS, 0, "ffffffff"));
    step(s, SAY_DOWN, elsewhere(0xe0000008, packet(DATA, LAST, 7, 1, FS, 0, "00*8")));
    steps_check(s, "CALL 1 afsrx fs.FetchStatus 32\nRET 1 afsrx ok 36\n"
                   "CALL 2 afsrx fs.FetchStatus 32\nCALL 3 afsrx fs.StoreData 32\n"
                   "CALL 4 afsrx fs.StoreACL 32\nRET 2 afsrx -1 32\nRET 3 afsrx -1 32\n"
                   "RET 4 afsrx ok 36\n");
}
END_TEST

// What has a number that no connection begins with is still a packet.
START_TEST(large_numbers)
{
    g_autoptr(Steps) s = steps_udp(7000);
    ask(s, 5, "00000082");
    step(s, SAY_DOWN, packet(DATA, 0, 5, 0x01000000, FS, 0, "00*1404"));
    Octets *last = packet(DATA, LAST, 5, 0x01000001, FS, 0, "00*4");
    octets_patch_be(last, 16, 0x01000002, 4); // serial
    step(s, SAY_DOWN, last);
    ask(s, 0x01000001, "00000084");
    answer(s, 0x01000001);
    steps_check(s, "CALL 1 afsrx fs.FetchData 32\nRET 1 afsrx ok 1464\n"
                   "CALL 2 afsrx fs.FetchStatus 32\nRET 2 afsrx ok 36\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(jumbograms)
{
    g_autoptr(Steps) s = steps_udp(7000);
    ask(s, 5, "00000082");
    step(s, SAY_DOWN, packet(DATA, JUMBO, 5, 1, FS, 0, "00*1412 20 000000 00*1412 04 000000 00*9"));
    steps_check(s, "CALL 1 afsrx fs.FetchData 32\nRET 1 afsrx ok 2869\n");
}
END_TEST

// Both ends of a pair of ports call each other, here under the same numbers.
START_TEST(calls_back)
{
    g_autoptr(Steps) s = steps_udp(7000);
    ask(s, 5, "00000084");
    step(s, SAY_DOWN, packet(DATA, CALLER | LAST, 8, 1, FS, 0, "000000ce"));
    step(s, SAY_UP, packet(DATA, LAST, 8, 1, FS, 0, ""));
    answer(s, 5);
    steps_check(s, "CALL 1 afsrx fs.FetchStatus 32\nCALL 2 afsrx cb.Probe 32\n"
                   "RET 2 afsrx ok 28\nRET 1 afsrx ok 36\n");
}
END_TEST

START_TEST(labels)
{
    static const struct {
        guint service, security;
        const char *body, *label;
    } cases[] = {
        {VLDB, 0, "000001f8", "vldb.GetEntryByName"},
        {VLDB, 2, "00000207", "vldb.GetEntryByNameN"},
        {PTS, 2, "000001f8", "pts.NameToID"},
        {PTS, 0, "00000999", "pts.2457"},
        {PTS, 2, "deadbeef", "pts.?"}, // encrypted
        {FS, 0, "00010001", "fs.FetchData64"},
        {FS, 0, "00000050", "bos.80"},
        {FS, 0, "00001000", "rx.4096"},
        {4, 0, "00000079", "vol.121"},
        {731, 0, "00000001", "kauth.1"},
        {22314, 0, "0000000c", "budb.12"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Steps) s = steps_udp(7009);
        step(s, SAY_UP,
             packet(DATA, CALLER | LAST, 1, 1, cases[i].service, cases[i].security, cases[i].body));
        g_autofree char *expected = g_strdup_printf("CALL 1 afsrx %s 32\n", cases[i].label);
        steps_check(s, expected);
    }
}
END_TEST

// The first packet is missing: what is called is not known, but it is a call.
START_TEST(lost_packets)
{
    g_autoptr(Steps) s = steps_udp(7000);
    step(s, SAY_UP, packet(DATA, CALLER | LAST, 5, 2, FS, 0, "00*100"));
    answer(s, 5);
    ask(s, 6, "00000082");
    step(s, SAY_DOWN, packet(DATA, 0, 6, 1, FS, 0, "00*1404")); // and its last is not seen
    steps_check(s, "CALL 1 afsrx fs.? 128\nRET 1 afsrx ok 36\n"
                   "CALL 2 afsrx fs.FetchData 32\nRET 2 afsrx - 1432\n");
}
END_TEST

START_TEST(many_calls)
{
    g_autoptr(Steps) s = steps_udp(7000);
    for (guint i = 1; i <= 20; i++)
        ask(s, i, "00000084");
    for (guint i = 1; i <= 20; i++)
        answer(s, i);
    ck_assert_uint_eq(steps_count(s, BB_CALLS), 20);
    ck_assert_uint_ge(steps_count(s, BB_PENDING_LIMIT), 4);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS), 20);
    g_autoptr(Steps) turns = steps_udp(7000);
    for (guint i = 1; i <= 40; i++) {
        ask(turns, i, "00000084");
        answer(turns, i);
    }
    ck_assert_uint_eq(steps_count(turns, BB_RETURNS), 40);
    ck_assert_uint_eq(steps_count(turns, BB_RETURNS_ORPHANED), 0);
    ck_assert_uint_eq(steps_count(turns, BB_PENDING_LIMIT), 0);
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_udp(7000);
    ask(s, 5, "00000084");
    down(s, "'no packet'");
    answer(s, 5);
    steps_check(s, "CALL 1 afsrx fs.FetchStatus 32\nRET 1 afsrx ok 36\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

static BbMatch probe(Octets *bytes)
{
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    BbMatch match = bb_decoder_afsrx.probe(copy, bytes->len);
    g_byte_array_unref(bytes);
    return match;
}

START_TEST(probes)
{
    ck_assert_int_eq(probe(packet(DATA, CALLER, 5, 1, FS, 0, "00")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe(packet(DATA, LAST, 5, 1, FS, 0, "00")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe(packet(DATA, CALLER, 5, 1, 9999, 0, "00")), BB_MATCH_MAYBE);
    ck_assert_int_eq(probe(packet(ACK, CALLER, 5, 0, FS, 0, "")), BB_MATCH_MAYBE);
    ck_assert_int_eq(probe(packet(DATA, CALLER, 0, 1, FS, 0, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(DATA, CALLER, 5, 0, FS, 0, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(14, CALLER, 5, 1, FS, 0, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(DATA, CALLER, 0x7f000000, 1, FS, 0, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(DATA, CALLER, 5, 0x7f000000, FS, 0, "")), BB_MATCH_NO);
    Octets *late = packet(DATA, CALLER, 5, 1, FS, 0, "");
    octets_patch_be(late, 16, 0x7f000000, 4); // serial
    ck_assert_int_eq(probe(late), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(DATA, CALLER, 5, 1, FS, 9, "")), BB_MATCH_NO);
    check_refusals(&bb_decoder_afsrx);
}
END_TEST

TEST_MAIN("afsrx", calls, several_packets, aborted_connection, large_numbers, jumbograms,
          calls_back, labels, lost_packets, many_calls, damage, probes)
