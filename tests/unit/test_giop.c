// SPDX-License-Identifier: Apache-2.0
// GIOP: versions, byte orders, ids, oneway, fragments, compressed messages, datagrams.
#include "tests/unit/octets.h"

// type and flags of the head; the length goes in front of the body in its byte order.
static Octets *giop(const char *magic, guint minor, guint flags, guint type, const char *body)
{
    Octets *out = g_byte_array_new();
    g_autoptr(Octets) inside = octets(body);
    octets_put(out, magic, 4);
    octets_be(out, 0x01000000u | minor << 16 | flags << 8 | type, 4);
    if (flags & 1)
        octets_le(out, inside->len, 4);
    else
        octets_be(out, inside->len, 4);
    octets_put(out, inside->data, inside->len);
    return out;
}

enum { REQUEST, REPLY, CANCEL, LOCATE, LOCATED, CLOSE, ERROR, FRAGMENT };
enum { LITTLE = 1, MORE = 2 };

// Version 1.2: id is notation of its last byte; flags 03 asks for a reply, 00 does not.
#define ASK(id, flags) "000000" id " " flags " 000000 0000 0000 [ 'key!' ] 00000005 'echo' 00"
#define ANSWER(id, status) "000000" id " 000000" status " 00000000"

static void ask(Steps *s, const char *body)
{
    step(s, SAY_UP, giop("GIOP", 2, 0, REQUEST, body));
}

static void answer(Steps *s, const char *body)
{
    step(s, SAY_DOWN, giop("GIOP", 2, 0, REPLY, body));
}

START_TEST(out_of_order)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, ASK("01", "03"));
    ask(s, ASK("02", "03"));
    answer(s, ANSWER("02", "00"));
    answer(s, ANSWER("01", "01"));
    ask(s, ASK("01", "01")); // the id again; answered, but without a result
    answer(s, ANSWER("01", "02"));
    steps_check(s, "CALL 1 giop echo 41\nCALL 2 giop echo 41\nRET 2 giop ok 24\n"
                   "RET 1 giop USER_EXCEPTION 24\nCALL 3 giop echo 41\n"
                   "RET 3 giop SYSTEM_EXCEPTION 24\n");
}
END_TEST

START_TEST(oneway)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, ASK("00", "00"));
    step(s, SAY_UP, giop("GIOP", 2, 0, CANCEL, "00000007"));
    step(s, SAY_DOWN, giop("GIOP", 2, 0, CLOSE, ""));
    step(s, SAY_DOWN, giop("GIOP", 2, 0, ERROR, ""));
    steps_check(s, "MSG > giop echo 41\nMSG > giop CancelRequest 16\n"
                   "MSG < giop CloseConnection 12\nMSG < giop MessageError 12\n");
}
END_TEST

START_TEST(old_version)
{
    g_autoptr(Steps) s = steps_new(40683);
    step(s, SAY_UP,
         giop("GIOP", 0, LITTLE, REQUEST,
              "01000000 01000000 03000000 'abc' 00 05000000 01 000000 04000000 'key!' "
              "06000000 '_is_a' 00 0000 00000000"));
    step(s, SAY_DOWN, giop("GIOP", 0, LITTLE, REPLY, "00000000 05000000 03000000"));
    step(s, SAY_UP,
         giop("GIOP", 1, 0, REQUEST, "00000000 00000006 00 000000 [ 'key!' ] 00000005 'ping' 00"));
    steps_check(s, "CALL 1 giop _is_a 60\nRET 1 giop LOCATION_FORWARD 24\nMSG > giop ping 41\n");
}
END_TEST

START_TEST(locating)
{
    g_autoptr(Steps) s = steps_new(40683);
    step(s, SAY_UP, giop("GIOP", 2, 0, LOCATE, "00000001 0000 0000 [ 'key!' ]"));
    step(s, SAY_DOWN, giop("GIOP", 2, 0, LOCATED, "00000001 00000001"));
    step(s, SAY_UP, giop("GIOP", 2, 0, LOCATE, "00000002 0000 0000 [ 'key!' ]"));
    step(s, SAY_DOWN, giop("GIOP", 2, 0, LOCATED, "00000002 00000000"));
    steps_check(s, "CALL 1 giop LocateRequest 28\nRET 1 giop ok 20\n"
                   "CALL 2 giop LocateRequest 28\nRET 2 giop UNKNOWN_OBJECT 20\n");
}
END_TEST

// By a profile, by a reference.
START_TEST(targets)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, "00000001 03 000000 0001 0000 00000000 [ 'profile.' ] 00000004 'get' 00");
    ask(s, "00000002 03 000000 0002 0000 00000000 [ 'IDL:A:1' 00 ] 00000001 00000000 [ 'abcd' ] "
           "00000004 'put' 00");
    ask(s, "00000003 03 000000 0009 0000 00000000");
    steps_check(s, "CALL 1 giop get 48\nCALL 2 giop put 64\nCALL 3 giop ? 28\n");
}
END_TEST

// Both sides ask, under the same id.
START_TEST(bidirectional)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, ASK("01", "03"));
    step(s, SAY_DOWN, giop("GIOP", 2, 0, REQUEST, ASK("01", "03")));
    step(s, SAY_UP, giop("GIOP", 2, 0, REPLY, ANSWER("01", "01")));
    answer(s, ANSWER("01", "00"));
    steps_check(s, "CALL 1 giop echo 41\nCALL 2 giop echo 41\nRET 2 giop USER_EXCEPTION 24\n"
                   "RET 1 giop ok 24\n");
}
END_TEST

START_TEST(fragments)
{
    g_autoptr(Steps) s = steps_new(40683);
    step(s, SAY_UP, giop("GIOP", 2, MORE, REQUEST, ASK("01", "03")));
    step(s, SAY_UP, giop("GIOP", 2, MORE, REQUEST, ASK("02", "03")));
    step(s, SAY_UP, giop("GIOP", 2, MORE, FRAGMENT, "00000001 aa*100"));
    step(s, SAY_UP, giop("GIOP", 2, 0, FRAGMENT, "00000002 bb*10"));
    step(s, SAY_UP, giop("GIOP", 2, 0, FRAGMENT, "00000001 aa*20"));
    step(s, SAY_DOWN, giop("GIOP", 2, MORE, REPLY, ANSWER("02", "00")));
    step(s, SAY_DOWN, giop("GIOP", 2, 0, FRAGMENT, "00000002 cc*30"));
    answer(s, ANSWER("01", "00"));
    step(s, SAY_UP, giop("GIOP", 2, 0, FRAGMENT, "00000009 aa*20")); // of nothing
    steps_check(s, "CALL 1 giop echo 193\nCALL 2 giop echo 67\nRET 2 giop ok 70\n"
                   "RET 1 giop ok 24\n");
}
END_TEST

// Version 1.1: fragments without an id.
START_TEST(fragments_without_id)
{
    g_autoptr(Steps) s = steps_new(40683);
    step(s, SAY_UP,
         giop("GIOP", 1, MORE, REQUEST,
              "00000000 00000006 01 000000 [ 'key!' ] 00000005 'ping' 00"));
    step(s, SAY_UP, giop("GIOP", 1, MORE, FRAGMENT, "aa*10"));
    step(s, SAY_UP, giop("GIOP", 1, 0, FRAGMENT, "aa*10"));
    step(s, SAY_DOWN, giop("GIOP", 1, 0, REPLY, "00000000 00000006 00000000"));
    steps_check(s, "CALL 1 giop ping 85\nRET 1 giop ok 24\n");
}
END_TEST

START_TEST(too_many_torn)
{
    g_autoptr(Steps) s = steps_new(40683);
    for (guint i = 1; i <= 10; i++) {
        g_autofree char *body =
            g_strdup_printf("000000%02x 03 000000 0000 0000 [] 00000002 'a' 00", i);
        step(s, SAY_UP, giop("GIOP", 2, MORE, REQUEST, body));
    }
    ck_assert_uint_eq(steps_count(s, BB_PENDING_LIMIT), 2);
    ck_assert_uint_eq(steps_count(s, BB_CALLS), 10);
}
END_TEST

START_TEST(compressed)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, ASK("01", "03"));
    answer(s, ANSWER("01", "00"));
    step(s, SAY_UP, giop("ZIOP", 2, 0, REQUEST, "aa*50"));
    step(s, SAY_UP, giop("ZIOP", 2, 0, REQUEST, "aa*60"));
    steps_check(s, "CALL 1 giop echo 41\nRET 1 giop ok 24\nMSG > giop ? 62\nMSG > giop ? 72\n");
    ck_assert_uint_eq(steps_count(s, BB_COMPRESSED_STREAMS), 1);
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, ASK("01", "03"));
    answer(s, ANSWER("01", "00"));
    step(s, LOSE_UP, giop("GIOP", 2, 0, REQUEST, ASK("02", "03")));
    answer(s, ANSWER("02", "00"));
    ask(s, ASK("03", "03"));
    step(s, LOSE_DOWN, giop("GIOP", 2, 0, REPLY, ANSWER("03", "00")));
    ask(s, ASK("04", "03"));
    answer(s, ANSWER("04", "00"));
    steps_check(s, "CALL 1 giop echo 41\nRET 1 giop ok 24\nRET - giop ok 24\n"
                   "CALL 2 giop echo 41\nCALL 3 giop echo 41\nRET 3 giop ok 24\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(40683);
    s->midstream = true;
    answer(s, ANSWER("07", "00"));
    ask(s, ASK("08", "03"));
    answer(s, ANSWER("08", "00"));
    steps_check(s, "RET - giop ok 24\nCALL 1 giop echo 41\nRET 1 giop ok 24\n");
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(40683);
    ask(s, ASK("01", "03"));
    answer(s, ANSWER("01", "00"));
    up(s, "'GIOP' 01020000 ffffffff");
    ask(s, ASK("02", "03"));
    answer(s, ANSWER("02", "00"));
    steps_check(s,
                "CALL 1 giop echo 41\nRET 1 giop ok 24\nCALL 2 giop echo 41\nRET 2 giop ok 24\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(groups)
{
    g_autoptr(Steps) s = steps_udp(40684);
    g_autoptr(Octets) inside = giop("GIOP", 2, 0, REQUEST, ASK("01", "00"));
    Octets *first = octets("'MIOP' 10 00 0029 00000000 00000002 [ 'id-x' ]");
    octets_put(first, inside->data, inside->len);
    first->data[7] = (guint8)inside->len;
    step(s, SAY_UP, first);
    up(s, "'MIOP' 10 02 0004 00000001 00000002 [ 'id-x' ] 'rest'");
    up(s, "'MIOP' 20");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(g_str_has_prefix(converse_result(c), "MSG > giop echo 65\nMSG > giop - 28\n"));
    ck_assert_uint_eq(converse_loss(c, BB_FREES), 2);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_giop;
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01020000 00000000"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01020101 00000000"), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01000006 00000000"), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 0102"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, "'GIO'"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 02000000 00000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01030000 00000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01020008 00000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01020000 7fffffff"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "'GIOP' 01020400 00000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "'GIOX' 01020000 00000000"), BB_MATCH_NO);
    check_refusals(d);
}
END_TEST

TEST_MAIN("giop", out_of_order, oneway, old_version, locating, targets, bidirectional, fragments,
          fragments_without_id, too_many_torn, compressed, lost_messages, joined_midstream, damage,
          groups, probes)
