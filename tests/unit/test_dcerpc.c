// SPDX-License-Identifier: Apache-2.0
// DCE/RPC: interfaces, fragments, faults, both orders of bytes, datagrams, loss.
#include "capture/protocols/dcerpc_packet.h"
#include "tests/unit/octets.h"

enum { REQUEST = 0, RESPONSE = 2, FAULT = 3, BIND = 11, BIND_ACK, BIND_NAK, ALTER, ALTER_ACK };
enum { AUTH3 = 16, CO_CANCEL = 18, ORPHANED = 19 };
enum { FIRST = 1, LAST = 2, WHOLE = 3, MAYBE = 0x40 };

#define EPMAPPER "0883afe1 1f5d c911 91a4 08002b14a0fa 0300 0000"
#define EPMAPPER_BIG "e1af8308 5d1f 11c9 91a4 08002b14a0fa 0003 0000"
#define UNKNOWN "78563412 0000 0000 0000 000000000000 0100 0000"
#define NDR "045d888a eb1c c911 9fe8 08002b104860 0200 0000"

// ---- packets ------------------------------------------------------------------------------------

// Little-endian, of any body.
static Octets *packet(guint type, guint flags, guint32 id, const char *body)
{
    Octets *out = octets("05 00");
    g_autoptr(Octets) rest = octets(body);
    octets_be(out, type << 8 | flags, 2);
    octets_be(out, 0x10000000, 4);
    octets_le(out, 16 + rest->len, 2);
    octets_le(out, 0, 2);
    octets_le(out, id, 4);
    octets_put(out, rest->data, rest->len);
    return out;
}

static void ask(Steps *s, guint type, guint flags, guint32 id, const char *body)
{
    step(s, SAY_UP, packet(type, flags, id, body));
}

static void answer(Steps *s, guint type, guint flags, guint32 id, const char *body)
{
    step(s, SAY_DOWN, packet(type, flags, id, body));
}

#define BIND_BODY(context, interface) "d016 d016 00000000 01 000000" context " 01 00" interface NDR
#define ACCEPT "d016 d016 01000000 0400 '135' 00 0000 01 000000 0000 0000" NDR
#define REJECT "d016 d016 01000000 0000 0000 02 000000 0200 0100 00*20 0200 0100 00*20"
#define CALL(context, opnum) "00000000" context opnum

static void bind_epmapper(Steps *s)
{
    ask(s, BIND, WHOLE, 1, BIND_BODY("0000", EPMAPPER));
    answer(s, BIND_ACK, WHOLE, 1, ACCEPT);
}

#define BOUND "CALL 1 dcerpc bind epmapper 72\nRET 1 dcerpc ok 60\n"

// ---- connections --------------------------------------------------------------------------------

START_TEST(calls)
{
    g_autoptr(Steps) s = steps_new(49152);
    bind_epmapper(s);
    ask(s, REQUEST, WHOLE, 2, CALL("0000", "0300") "aa*40");
    ask(s, REQUEST, WHOLE, 3, CALL("0000", "0200"));
    ask(s, REQUEST, WHOLE, 4, CALL("0700", "0900")); // a context nobody has bound
    answer(s, RESPONSE, WHOLE, 3, "00000000 0000 00 00 aa*10");
    answer(s, RESPONSE, WHOLE, 2, "00000000 0000 00 00");
    answer(s, FAULT, WHOLE, 4, "00000000 0700 00 00 0200011c 00000000");
    answer(s, FAULT, WHOLE, 5, "00000000 0700 00 00 78563412 00000000");
    steps_check(s, BOUND "CALL 2 dcerpc epmapper.3 64\nCALL 3 dcerpc epmapper.2 24\n"
                         "CALL 4 dcerpc ?.9 24\nRET 3 dcerpc ok 34\nRET 2 dcerpc ok 24\n"
                         "RET 4 dcerpc op_rng_error 32\nRET - dcerpc 0x12345678 32\n");
}
END_TEST

// Requests that nobody answers, in one piece and in two.
START_TEST(maybe)
{
    g_autoptr(Steps) s = steps_new(49152);
    bind_epmapper(s);
    ask(s, REQUEST, WHOLE | MAYBE, 2, CALL("0000", "0300"));
    ask(s, REQUEST, FIRST | MAYBE, 3, CALL("0000", "0400"));
    ask(s, REQUEST, LAST | MAYBE, 3, CALL("0000", "0400"));
    ask(s, REQUEST, WHOLE, 4, CALL("0000", "0500"));
    answer(s, RESPONSE, WHOLE, 4, "00000000 0000 00 00");
    steps_check(s, BOUND "MSG > dcerpc epmapper.3 24\nMSG > dcerpc epmapper.4 48\n"
                         "CALL 4 dcerpc epmapper.5 24\nRET 4 dcerpc ok 24\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

START_TEST(binding)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    ask(s, ALTER, WHOLE, 2, BIND_BODY("0100", UNKNOWN));
    answer(s, ALTER_ACK, WHOLE, 2, ACCEPT);
    ask(s, REQUEST, WHOLE, 3, CALL("0100", "0500"));
    answer(s, RESPONSE, WHOLE, 3, "00000000 0000 00 00");
    ask(s, BIND, WHOLE, 4, BIND_BODY("0200", EPMAPPER));
    answer(s, BIND_ACK, WHOLE, 4, REJECT);
    ask(s, AUTH3, WHOLE, 4, "00000000");
    ask(s, BIND, WHOLE, 5, BIND_BODY("0200", EPMAPPER));
    answer(s, BIND_NAK, WHOLE, 5, "0400 01 0500");
    ask(s, CO_CANCEL, WHOLE, 6, "");
    steps_check(s, BOUND "CALL 2 dcerpc alter_context 12345678 72\nRET 2 dcerpc ok 60\n"
                         "CALL 3 dcerpc 12345678.5 24\nRET 3 dcerpc ok 24\n"
                         "CALL 4 dcerpc bind epmapper 72\nRET 4 dcerpc bind_nak 80\n"
                         "CALL 5 dcerpc bind epmapper 72\nRET 5 dcerpc bind_nak 21\n"
                         "MSG > dcerpc co_cancel 16\n");
}
END_TEST

START_TEST(big_endian)
{
    g_autoptr(Steps) s = steps_new(135);
    up(s, "05 00 0b 03 00000000 0048 0000 00000001"
          "16d0 16d0 00000000 01 000000 0000 01 00" EPMAPPER_BIG NDR);
    up(s, "05 00 00 03 00000000 0018 0000 00000002 00000000 0000 0003");
    down(s, "05 00 02 03 00000000 0018 0000 00000002 00000000 0000 0000");
    steps_check(s, "CALL 1 dcerpc bind epmapper 72\nCALL 2 dcerpc epmapper.3 24\n"
                   "RET 2 dcerpc ok 24\n");
}
END_TEST

START_TEST(fragments)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    ask(s, REQUEST, FIRST, 2, CALL("0000", "0300") "aa*100");
    ask(s, REQUEST, 0, 2, CALL("0000", "0300") "aa*100");
    ask(s, REQUEST, LAST, 2, CALL("0000", "0300") "aa*10");
    ask(s, REQUEST, WHOLE, 3, CALL("0000", "0400"));
    answer(s, RESPONSE, FIRST, 2, "00000000 0000 00 00 aa*100");
    answer(s, RESPONSE, WHOLE, 3, "00000000 0000 00 00 aa*10");
    answer(s, RESPONSE, LAST, 2, "00000000 0000 00 00 aa*50");
    steps_check(s, BOUND "CALL 2 dcerpc epmapper.3 282\nCALL 3 dcerpc epmapper.4 24\n"
                         "RET 2 dcerpc ok 198\nRET 3 dcerpc ok 34\n");
}
END_TEST

// However many come at a time, each response is whole, and begins with its first fragment.
START_TEST(fragments_of_many)
{
    const guint many = 40;
    g_autoptr(Steps) s = steps_new(135);
    g_autoptr(GString) expected = g_string_new(BOUND);
    bind_epmapper(s);
    for (guint i = 0; i < many; i++) {
        ask(s, REQUEST, WHOLE, i + 2, CALL("0000", "0300"));
        g_string_append_printf(expected, "CALL %u dcerpc epmapper.3 24\n", i + 2);
    }
    for (guint round = 0; round < 2; round++)
        for (guint i = 0; i < many; i++)
            answer(s, RESPONSE, round ? LAST : FIRST, i + 2, "00000000 0000 00 00 aa*10");
    for (guint i = 0; i < many; i++)
        g_string_append_printf(expected, "RET %u dcerpc ok 68\n", i + 2);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(strcmp(converse_result(c), expected->str) == 0);
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 0);
}
END_TEST

// Some clients number all their calls alike: a new one takes the place of one without answer.
START_TEST(one_id_for_all)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    ask(s, REQUEST, WHOLE, 1, CALL("0000", "0100"));
    step(s, LOSE_DOWN, packet(RESPONSE, WHOLE, 1, "00000000 0000 00 00"));
    ask(s, REQUEST, WHOLE, 1, CALL("0000", "0200"));
    answer(s, RESPONSE, WHOLE, 1, "00000000 0000 00 00");
    steps_check(s, BOUND "CALL 2 dcerpc epmapper.1 24\nCALL 3 dcerpc epmapper.2 24\n"
                         "RET 3 dcerpc ok 24\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// The first fragment of one, all of the next: the former has no part in the latter.
START_TEST(one_id_for_fragments)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    ask(s, REQUEST, FIRST, 1, CALL("0000", "0100") "aa*100");
    ask(s, REQUEST, WHOLE, 1, CALL("0000", "0200"));
    answer(s, RESPONSE, WHOLE, 1, "00000000 0000 00 00");
    steps_check(s, BOUND "CALL 2 dcerpc epmapper.1 124\nCALL 3 dcerpc epmapper.2 24\n"
                         "RET 3 dcerpc ok 24\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

START_TEST(lost_fragments)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    ask(s, REQUEST, FIRST, 2, CALL("0000", "0300") "aa*100");
    step(s, LOSE_UP, packet(REQUEST, LAST, 2, CALL("0000", "0300") "aa*100"));
    answer(s, RESPONSE, FIRST, 2, "00000000 0000 00 00 aa*100");
    step(s, LOSE_DOWN, packet(RESPONSE, LAST, 2, "00000000 0000 00 00"));
    ask(s, REQUEST, LAST, 9, CALL("0000", "0300")); // its beginning is among what is lost
    ask(s, REQUEST, WHOLE, 3, CALL("0000", "0400"));
    answer(s, RESPONSE, WHOLE, 3, "00000000 0000 00 00");
    steps_check(s, BOUND "CALL 2 dcerpc epmapper.3 124\nRET 2 dcerpc - 124\n"
                         "CALL 3 dcerpc epmapper.4 24\nRET 3 dcerpc ok 24\n");
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(49152);
    s->midstream = true;
    ask(s, REQUEST, WHOLE, 20, CALL("0000", "0300"));
    answer(s, RESPONSE, WHOLE, 20, "00000000 0000 00 00");
    steps_check(s, "CALL 1 dcerpc ?.3 24\nRET 1 dcerpc ok 24\n");
}
END_TEST

START_TEST(many_contexts)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    for (guint i = 1; i <= 16; i++) {
        g_autofree char *body = g_strdup_printf(BIND_BODY("%02x00", UNKNOWN), i);
        ask(s, ALTER, WHOLE, 1 + i, body);
        answer(s, ALTER_ACK, WHOLE, 1 + i, ACCEPT);
    }
    ask(s, REQUEST, WHOLE, 50, CALL("0000", "0100")); // the oldest, which made room
    ask(s, REQUEST, WHOLE, 51, CALL("0100", "0100"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "?.1 24\nCALL 19 dcerpc 12345678.1 24\n"));
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(135);
    bind_epmapper(s);
    answer(s, REQUEST, WHOLE, 2, CALL("0000", "0100")); // a server does not ask
    ask(s, REQUEST, WHOLE, 2, CALL("0000", "0100"));
    answer(s, RESPONSE, WHOLE, 2, "00000000 0000 00 00");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), BOUND "CALL 2 dcerpc epmapper.1 24\nRET 2 dcerpc ok 24\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// ---- datagrams ----------------------------------------------------------------------------------

// C706, 12.5.1: the activity is made of one byte. Little-endian.
static Octets *datagram(guint type, guint flags, guint8 activity, guint32 sequence, guint opnum,
                        guint fragment, const char *body)
{
    Octets *out = octets("04");
    g_autoptr(Octets) rest = octets(body);
    octets_be(out, type, 1);
    octets_be(out, flags, 1);
    octets_be(out, 0, 1);
    octets_be(out, 0x10000000, 4);
    g_autoptr(Octets) ids = octets("00*16 " EPMAPPER);
    octets_put(out, ids->data, 32);
    for (guint i = 0; i < 16; i++)
        octets_be(out, activity, 1);
    octets_le(out, 0, 4);
    octets_le(out, 3, 4);
    octets_le(out, sequence, 4);
    octets_le(out, opnum, 2);
    octets_be(out, 0xffffffff, 4);
    octets_le(out, rest->len, 2);
    octets_le(out, fragment, 2);
    octets_be(out, 0, 2);
    octets_put(out, rest->data, rest->len);
    return out;
}

START_TEST(datagrams)
{
    g_autoptr(Steps) s = steps_udp(1026);
    step(s, SAY_UP, datagram(0, 8, 7, 1, 3, 0, "aa*40"));
    step(s, SAY_UP, datagram(0, 8, 7, 1, 3, 0, "aa*40")); // again
    step(s, SAY_UP, datagram(0, 8, 8, 1, 4, 0, ""));
    step(s, SAY_DOWN, datagram(4, 0, 7, 1, 3, 0, "")); // working
    step(s, SAY_DOWN, datagram(2, 0, 8, 1, 4, 0, "aa*10"));
    step(s, SAY_DOWN, datagram(3, 0, 7, 1, 3, 0, "0300011c"));
    step(s, SAY_UP, datagram(7, 0, 7, 1, 3, 0, ""));
    step(s, SAY_UP, datagram(0, 0x10, 7, 2, 5, 0, "")); // maybe
    step(s, SAY_UP, datagram(0, 0, 7, 3, 6, 0, ""));
    step(s, SAY_DOWN, datagram(6, 0, 7, 3, 6, 0, "0600011c"));
    step(s, SAY_UP, octets("ff*90"));
    steps_check(s, "CALL 1 dcerpc epmapper.3 120\nCALL 2 dcerpc epmapper.4 80\n"
                   "RET 2 dcerpc ok 90\nRET 1 dcerpc unk_if 84\n"
                   "MSG > dcerpc epmapper.5 80\nCALL 4 dcerpc epmapper.6 80\n"
                   "RET 4 dcerpc wrong_boot_time 84\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 1);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(fragmented_datagrams)
{
    g_autoptr(Steps) s = steps_udp(1026);
    step(s, SAY_UP, datagram(0, 4, 7, 1, 3, 0, "aa*100"));
    step(s, SAY_UP, datagram(0, 4, 7, 1, 3, 1, "aa*100"));
    step(s, SAY_UP, datagram(0, 6, 7, 1, 3, 2, "aa*10"));
    step(s, SAY_DOWN, datagram(9, 0, 7, 1, 3, 2, "")); // fack
    step(s, SAY_DOWN, datagram(2, 4, 7, 1, 3, 0, "aa*100"));
    step(s, SAY_DOWN, datagram(2, 6, 7, 1, 3, 1, "aa*20"));
    steps_check(s, "CALL 1 dcerpc epmapper.3 450\nRET 1 dcerpc ok 280\n");
}
END_TEST

static BbMatch probe(Octets *bytes)
{
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    BbMatch match = bb_decoder_dcerpc.probe(copy, bytes->len);
    g_byte_array_unref(bytes);
    return match;
}

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_dcerpc;
    ck_assert_int_eq(probe(packet(REQUEST, WHOLE, 1, CALL("0000", "0300"))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe(packet(BIND, WHOLE, 1, BIND_BODY("0000", EPMAPPER))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe(packet(FAULT, WHOLE, 1, "00*16")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe(packet(FAULT, WHOLE, 1, "00*10")), BB_MATCH_NO);
    ck_assert_int_eq(probe(packet(1, WHOLE, 1, "00*16")), BB_MATCH_NO); // of datagrams only
    ck_assert_int_eq(probe(packet(CO_CANCEL, WHOLE, 1, "")), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe(datagram(0, 0, 7, 1, 3, 0, "aa*40")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe(datagram(2, 0, 7, 1, 3, 0, "aa*40")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe(octets_join(datagram(2, 0, 7, 1, 3, 0, ""), octets("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "05 00 00"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, "05 02 00 03 10000000 1800 0000 01000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "05 00 00 03 10000001 1800 0000 01000000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "05 00 00 03 10000000 1800 1800 01000000"), BB_MATCH_NO);
    check_refusals(d);
}
END_TEST

START_TEST(names)
{
    char out[BB_DCERPC_NAME];
    g_autoptr(Octets) little = octets(EPMAPPER), big = octets(EPMAPPER_BIG);
    bb_dcerpc_interface_format(little->data, true, out);
    ck_assert_str_eq(out, "epmapper");
    bb_dcerpc_interface_format(big->data, false, out);
    ck_assert_str_eq(out, "epmapper");
    bb_dcerpc_interface_format(big->data, true, out);
    ck_assert_str_eq(out, "0883afe1");
}
END_TEST

TEST_MAIN("dcerpc", calls, maybe, binding, big_endian, fragments, fragments_of_many, one_id_for_all,
          one_id_for_fragments, lost_fragments, joined_midstream, many_contexts, damage, datagrams,
          fragmented_datagrams, probes, names)
