// SPDX-License-Identifier: Apache-2.0
// Apache Thrift: encodings with and without frames, sequence numbers, exceptions, the walk.
#include "capture/protocols/thrift_message.h"
#include "tests/unit/octets.h"

// Strict binary; method is five letters. type: 01 call, 02 reply, 03 exception, 04 oneway.
#define STRICT(type, seqid, body) "800100" type " [ 'pingA' ] 000000" seqid " " body
#define OLD(type, seqid, body) "[ 'pingA' ] " type " 000000" seqid " " body
#define COMPACT(type, seqid, body) "82" type " " seqid " 05 'pingA' " body
#define VOID "00"
#define NUMBER "08 0000 0000002a 00"              // result: field 0, i32
#define DECLARED "0c 0001 0b 0001 [ 'no' ] 00 00" // field 1, a structure

// All kinds of values, one after the other.
#define BINARY_ALL                                                                        \
    "02 0001 01  03 0002 07  04 0003 0000000000000000  06 0004 0001  08 0005 00000001  "  \
    "0a 0006 0000000000000001  0b 0007 [ 'text' ]  0c 0008 02 0001 00 00  "               \
    "0d 0009 0b 08 00000001 [ 'key' ] 00000001  0f 000a 08 00000003 00*12  "              \
    "0e 000b 0b 00000002 [ 'a' ] [ 'bc' ]  0d 000c 06 0a 00000002 00*20  10 000d 00*16  " \
    "0f 000e 0f 00000001 0c 00000001 00  0d 000f 00 00 00000000  00"
#define COMPACT_ALL                                                                           \
    "11 12 13 07 14 02 15 02 16 8001 17 00*8 18 04 'text' 1c 11 00 "                          \
    "1b 01 85 03 'key' 02 19 35 02 02 02 1a 28 01 'a' 02 'bc' 19 f3 14 00*20 1b 00 1d 00*16 " \
    "09 80 01 12 01 00"

START_TEST(framed)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, "[" STRICT("01", "01", VOID) "]");
    up(s, "[" STRICT("01", "02", BINARY_ALL) "]");
    down(s, "[" STRICT("02", "02", NUMBER) "]");
    down(s, "[" STRICT("02", "01", DECLARED) "]");
    up(s, "[" STRICT("04", "03", VOID) "]");
    up(s, "[" STRICT("01", "04", VOID) "]");
    down(s, "[" STRICT("03", "04", "08 0002 00000001 00") "]");
    g_autoptr(Octets) all = octets(BINARY_ALL);
    g_autofree char *expected =
        g_strdup_printf("CALL 1 thrift pingA 22\nCALL 2 thrift pingA %u\nRET 2 thrift ok 29\n"
                        "RET 1 thrift exception 35\nMSG > thrift pingA 22\nCALL 3 thrift pingA 22\n"
                        "RET 3 thrift error 29\n",
                        21 + all->len);
    steps_check(s, expected);
}
END_TEST

START_TEST(framed_others)
{
    g_autoptr(Steps) s = steps_new(9090);
    up(s, "[" OLD("01", "01", VOID) "]");
    down(s, "[" OLD("02", "01", VOID) "]");
    steps_check(s, "CALL 1 thrift pingA 19\nRET 1 thrift ok 19\n");
    g_autoptr(Steps) compact = steps_new(4000);
    up(compact, "[" COMPACT("21", "8101", VOID) "]");
    down(compact, "[" COMPACT("41", "8101", "1c 18 02 'no' 00 00") "]");
    up(compact, "[" COMPACT("21", "02", VOID) "]");
    down(compact, "[" COMPACT("41", "02", "05 00 02 00") "]");
    steps_check(compact, "CALL 1 thrift pingA 15\nRET 1 thrift exception 21\n"
                         "CALL 2 thrift pingA 14\nRET 2 thrift ok 17\n");
}
END_TEST

START_TEST(bare)
{
    g_autoptr(Octets) all = octets(BINARY_ALL);
    g_autoptr(Steps) s = steps_new(4000);
    up(s, STRICT("01", "01", BINARY_ALL) STRICT("01", "02", VOID));
    down(s, STRICT("02", "01", NUMBER) STRICT("02", "02", DECLARED));
    up(s, STRICT("01", "03", "0b 0001 [ 78*5000 ] 00"));
    down(s, STRICT("02", "03", "0f 0000 0a 00000100 00*2048 00"));
    g_autofree char *expected = g_strdup_printf(
        "CALL 1 thrift pingA %u\nCALL 2 thrift pingA 18\nRET 1 thrift ok 25\n"
        "RET 2 thrift exception 31\nCALL 3 thrift pingA 5025\nRET 3 thrift ok 2074\n",
        17 + all->len);
    steps_check(s, expected);
}
END_TEST

START_TEST(bare_others)
{
    g_autoptr(Octets) all = octets(COMPACT_ALL);
    g_autoptr(Steps) s = steps_new(9090);
    up(s, COMPACT("21", "01", COMPACT_ALL));
    down(s, COMPACT("41", "01", VOID));
    up(s, COMPACT("81", "02", VOID) COMPACT("21", "03", VOID));
    down(s, COMPACT("61", "03", "18 03 'bad' 15 0c 00"));
    g_autofree char *expected =
        g_strdup_printf("CALL 1 thrift pingA %u\nRET 1 thrift ok 10\nMSG > thrift pingA 10\n"
                        "CALL 2 thrift pingA 10\nRET 2 thrift error 17\n",
                        9 + all->len);
    steps_check(s, expected);
    for (guint round = 0; round < 2; round++) { // without the port both sides must look like it
        g_autoptr(Steps) old = steps_new(round ? 4000 : 9090);
        const char *messages = "CALL 1 thrift pingA 15\nRET 1 thrift ok 22\n"
                               "CALL 2 thrift pingA 22\nRET 2 thrift error 15\n";
        up(old, OLD("01", "00", VOID));
        down(old, OLD("02", "00", NUMBER));
        up(old, OLD("01", "00", NUMBER));
        down(old, OLD("03", "00", VOID));
        if (round == 0)
            steps_check(old, messages);
        g_autoptr(Converse) c = steps_play(old, 1460);
        ck_assert_str_eq(converse_result(c), messages);
    }
}
END_TEST

// Clients that give all calls the same number.
START_TEST(in_order)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, "[" STRICT("01", "00", VOID) "] [" STRICT("01", "00", VOID) "]");
    down(s, "[" STRICT("02", "00", VOID) "] [" STRICT("02", "00", NUMBER) "]");
    step(s, LOSE_UP, octets("[" STRICT("01", "00", VOID) "]"));
    down(s, "[" STRICT("02", "00", VOID) "]");
    up(s, "[" STRICT("01", "00", VOID) "]");
    step(s, LOSE_DOWN, octets("[" STRICT("02", "00", VOID) "]"));
    up(s, "[" STRICT("01", "00", VOID) "]");
    down(s, "[" STRICT("02", "00", NUMBER) "]");
    steps_check(s, "CALL 1 thrift pingA 22\nCALL 2 thrift pingA 22\nRET 1 thrift ok 22\n"
                   "RET 2 thrift ok 29\nRET - thrift ok 22\nCALL 3 thrift pingA 22\n"
                   "CALL 4 thrift pingA 22\nRET 4 thrift ok 29\n");
}
END_TEST

#define NAMED(type, name, seqid) "[ 800100" type " [ '" name "' ] 000000" seqid " 00 ]"

// Clients that send what nobody answers as calls (before 0.9.3): the method in the reply tells.
START_TEST(unanswered)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, NAMED("01", "zip", "00"));
    up(s, NAMED("01", "ping", "00"));
    down(s, NAMED("02", "ping", "00"));
    up(s, NAMED("01", "zip", "00") NAMED("01", "zip", "00") NAMED("01", "Calc:ping", "00"));
    down(s, NAMED("02", "ping", "00"));
    up(s, NAMED("01", "add", "00") NAMED("01", "ping", "00") NAMED("01", "add", "00"));
    down(s, NAMED("03", "add", "00") NAMED("02", "ping", "00") NAMED("02", "add", "00"));
    steps_check(s, "CALL 1 thrift zip 20\nCALL 2 thrift ping 21\nRET 2 thrift ok 21\n"
                   "CALL 3 thrift zip 20\nCALL 4 thrift zip 20\nCALL 5 thrift Calc:ping 26\n"
                   "RET 5 thrift ok 21\nCALL 6 thrift add 20\nCALL 7 thrift ping 21\n"
                   "CALL 8 thrift add 20\nRET 6 thrift error 20\nRET 7 thrift ok 21\n"
                   "RET 8 thrift ok 20\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 3);
}
END_TEST

// Always the same number, other than 0: the first may be lost, or unanswered, as any.
START_TEST(same_number)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, NAMED("01", "ping", "07"));
    step(s, LOSE_DOWN, octets(NAMED("02", "ping", "07")));
    up(s, NAMED("01", "ping", "07"));
    down(s, NAMED("02", "ping", "07"));
    up(s, NAMED("01", "zip", "07") NAMED("01", "add", "07"));
    down(s, NAMED("02", "add", "07"));
    steps_check(s, "CALL 1 thrift ping 21\nCALL 2 thrift ping 21\nRET 2 thrift ok 21\n"
                   "CALL 3 thrift zip 20\nCALL 4 thrift add 20\nRET 4 thrift ok 20\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 2);
}
END_TEST

// Who begins with another number, and then gives each call the same, may have several under way.
START_TEST(same_number_after_another)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, NAMED("01", "user", "05"));
    down(s, NAMED("02", "user", "05"));
    up(s, NAMED("01", "ping", "00") NAMED("01", "ping", "00") NAMED("01", "ping", "00"));
    down(s, NAMED("02", "ping", "00") NAMED("02", "ping", "00") NAMED("02", "ping", "00"));
    steps_check(s, "CALL 1 thrift user 21\nRET 1 thrift ok 21\nCALL 2 thrift ping 21\n"
                   "CALL 3 thrift ping 21\nCALL 4 thrift ping 21\nRET 2 thrift ok 21\n"
                   "RET 3 thrift ok 21\nRET 4 thrift ok 21\n");
}
END_TEST

// Each user of a pooled connection counts from 1: a lost reply costs its own pair only.
START_TEST(numbers_restart)
{
    g_autoptr(Steps) s = steps_new(4000);
    for (guint user = 0; user < 4; user++) {
        up(s, NAMED("01", "user", "01"));
        step(s, user == 1 ? LOSE_DOWN : SAY_DOWN, octets(NAMED("02", "user", "01")));
        up(s, NAMED("01", "cart", "02"));
        down(s, NAMED("02", "cart", "02"));
    }
    steps_check(s, "CALL 1 thrift user 21\nRET 1 thrift ok 21\nCALL 2 thrift cart 21\n"
                   "RET 2 thrift ok 21\nCALL 3 thrift user 21\nCALL 4 thrift cart 21\n"
                   "RET 4 thrift ok 21\nCALL 5 thrift user 21\nRET 5 thrift ok 21\n"
                   "CALL 6 thrift cart 21\nRET 6 thrift ok 21\nCALL 7 thrift user 21\n"
                   "RET 7 thrift ok 21\nCALL 8 thrift cart 21\nRET 8 thrift ok 21\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// Numbers of their own, answered in any order: losses on both sides cost only what was lost.
START_TEST(numbers_of_their_own)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, NAMED("01", "user", "01") NAMED("01", "cart", "02") NAMED("01", "user", "03"));
    step(s, LOSE_DOWN, octets(NAMED("02", "user", "03")));
    step(s, LOSE_UP, octets(NAMED("01", "cart", "04")));
    up(s, NAMED("01", "cart", "05"));
    down(s, NAMED("02", "cart", "02") NAMED("02", "cart", "05"));
    steps_check(s, "CALL 1 thrift user 21\nCALL 2 thrift cart 21\nCALL 3 thrift user 21\n"
                   "CALL 4 thrift cart 21\nRET 2 thrift ok 21\nRET 4 thrift ok 21\n");
}
END_TEST

// A gap inside of a text does no harm; elsewhere the next message is found.
START_TEST(lost_middle)
{
    g_autoptr(Octets) all = octets(STRICT("01", "01", "0b 0001 [ 78*5000 ] 00"));
    for (guint round = 0; round < 2; round++) {
        guint lost = round ? 500 : 3000;
        Octets *head = g_byte_array_new(), *tail = g_byte_array_new();
        g_autoptr(Steps) s = steps_new(4000);
        octets_put(head, all->data, 1000);
        octets_put(tail, all->data + 1000 + lost, all->len - 1000 - lost);
        step(s, SAY_UP, head);
        step(s, LOSE_UP, g_byte_array_append(g_byte_array_new(), all->data, lost));
        step(s, SAY_UP, octets_join(tail, octets(STRICT("01", "02", VOID))));
        down(s, STRICT("02", "02", VOID));
        down(s, STRICT("02", "01", VOID));
        g_autofree char *expected =
            g_strdup_printf("CALL 1 thrift pingA %u\nCALL 2 thrift pingA 18\nRET 2 thrift ok 18\n"
                            "RET 1 thrift ok 18\n",
                            5025 - lost);
        steps_check(s, expected);
        ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
    }
    g_autoptr(Steps) s = steps_new(4000);
    up(s, STRICT("01", "01", VOID));
    down(s, STRICT("02", "01", VOID));
    up(s, STRICT("01", "02", "08 0001"));
    step(s, LOSE_UP, octets("00*5"));
    up(s, STRICT("01", "03", VOID));
    down(s, STRICT("02", "03", VOID));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(g_str_has_suffix(converse_result(c), "CALL 3 thrift pingA 18\nRET 3 thrift ok 18\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(4000);
    s->midstream = true;
    down(s, STRICT("02", "01", VOID));
    up(s, STRICT("01", "02", VOID));
    down(s, STRICT("02", "02", VOID));
    steps_check(s, "RET - thrift ok 18\nCALL 1 thrift pingA 18\nRET 1 thrift ok 18\n");
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(4000);
    up(s, STRICT("01", "01", VOID));
    down(s, STRICT("02", "01", VOID));
    up(s, STRICT("01", "02", "99 0001")); // no such type
    up(s, STRICT("01", "03", VOID));
    down(s, STRICT("02", "03", VOID));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(g_str_has_suffix(converse_result(c), "CALL 3 thrift pingA 18\nRET 3 thrift ok 18\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    g_autoptr(Steps) never = steps_new(4000);
    up(never, STRICT("01", "01", "99 0001"));
    ck_assert_uint_eq(steps_count(never, BB_DECODER_GAVE_UP), 1);
}
END_TEST

START_TEST(datagrams)
{
    g_autoptr(Steps) s = steps_udp(6831);
    up(s, "82 81 01 09 'emitBatch' 1c 00 00");
    up(s, "ffff");
    up(s, STRICT("01", "01", VOID));
    down(s, STRICT("02", "01", VOID));
    steps_check(s, "MSG > thrift emitBatch 16\nCALL 1 thrift pingA 18\nRET 1 thrift ok 18\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
    up(s, NAMED("01", "zip", "02"));
    up(s, NAMED("01", "ping", "02"));
    down(s, NAMED("02", "ping", "02"));
    steps_check(s, "MSG > thrift emitBatch 16\nCALL 1 thrift pingA 18\nRET 1 thrift ok 18\n"
                   "CALL 2 thrift zip 20\nCALL 3 thrift ping 21\nRET 3 thrift ok 21\n");
}
END_TEST

// ---- the walk -----------------------------------------------------------------------------------

// In pieces of that size; returns how many bytes belong to the structure, 0 if it is bad.
static gsize walk_through(const Octets *bytes, BbThriftEncoding encoding, gsize piece)
{
    BbThriftWalk walk;
    gsize at = 0, there = 0;
    bb_thrift_walk_begin(&walk, encoding);
    while (there < bytes->len) {
        there = MIN(there + piece, bytes->len);
        BbCursor c = bb_cursor(bytes->data + at, there - at);
        BbThriftVerdict verdict = bb_thrift_walk_on(&walk, &c);
        at = there - c.left;
        if (verdict == BB_THRIFT_OK)
            return at;
        if (verdict == BB_THRIFT_BAD)
            return 0;
    }
    return bytes->len + 1;
}

START_TEST(walks)
{
    g_autoptr(Octets) binary = octets(BINARY_ALL);
    g_autoptr(Octets) compact = octets(COMPACT_ALL);
    gsize size[] = {binary->len, compact->len};
    octets_put(binary, "\xff\xff\xff", 3);
    octets_put(compact, "\xff\xff\xff", 3);
    for (gsize piece = 1; piece < 40; piece++) {
        ck_assert_uint_eq(walk_through(binary, BB_THRIFT_STRICT, piece), size[0]);
        ck_assert_uint_eq(walk_through(compact, BB_THRIFT_COMPACT, piece), size[1]);
    }
}
END_TEST

START_TEST(bad_walks)
{
    static const char *const binary[] = {
        "01 0001 00",                // no such type
        "0f 0001 08 ffffffff",       // a count below 0
        "0f 0001 00 00000001",       // a list of nothing
        "0b 0001 7fffffff",          // a text longer than any frame
        "0d 0001 08 07 00000001 00", // no such type of values
    };
    for (guint i = 0; i < G_N_ELEMENTS(binary); i++) {
        g_autoptr(Octets) bytes = octets(binary[i]);
        ck_assert_msg(walk_through(bytes, BB_THRIFT_OLD, 99) == 0, "%s", binary[i]);
    }
    g_autoptr(Octets) varint = octets("15 ff*12 00");
    ck_assert_uint_eq(walk_through(varint, BB_THRIFT_COMPACT, 99), 0);
    g_autoptr(Octets) deep = g_byte_array_new();
    for (guint i = 0; i < BB_THRIFT_DEPTH - 1; i++)
        octets_put(deep, "\x0c\0\1", 3);
    ck_assert_uint_eq(walk_through(deep, BB_THRIFT_STRICT, 99), deep->len + 1);
    octets_put(deep, "\x0c\0\1", 3);
    ck_assert_uint_eq(walk_through(deep, BB_THRIFT_STRICT, 99), 0);
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_thrift;
    ck_assert_int_eq(probe_octets(d, STRICT("01", "01", "")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, STRICT("03", "01", "")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, "[" STRICT("04", "01", "00") "]"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, "[" COMPACT("41", "01", "00") "]"), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, COMPACT("21", "01", "00")), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "8221 01 09 'emitBatch' 00"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, OLD("01", "01", "00")), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "[" OLD("01", "01", "00") "]"), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "80010001 000000"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, STRICT("05", "01", "00")), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "80010101"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "80010001 00000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "80010001 00000081"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "80010001 00000004 'a b'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "8222 01 05 'pingA'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "8201 01 05 'pingA'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "8221 ff*5"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "[ 80010001 0000 ]"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "[ 'pingA' ] 09 00000001"), BB_MATCH_NO);
    check_refusals(d);
}
END_TEST

TEST_MAIN("thrift", framed, framed_others, bare, bare_others, in_order, unanswered, same_number,
          same_number_after_another, numbers_restart, numbers_of_their_own, lost_middle,
          joined_midstream, damage, datagrams, walks, bad_walks, probes)
