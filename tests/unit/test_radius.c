// SPDX-License-Identifier: Apache-2.0
// RADIUS: identifiers that are used anew, repetitions, codes, damage.
#include "tests/unit/octets.h"

// A packet with this authenticator byte and attributes.
static Octets *packet(guint code, guint id, guint8 authenticator, const char *attributes)
{
    Octets *out = g_byte_array_new();
    g_autoptr(Octets) rest = octets(attributes);
    octets_be(out, code, 1);
    octets_be(out, id, 1);
    octets_be(out, 20 + rest->len, 2);
    for (guint i = 0; i < 16; i++)
        octets_be(out, authenticator, 1);
    octets_put(out, rest->data, rest->len);
    return out;
}

#define USER "01 05 'bob' 02 12 00*16"

static void ask(Steps *s, guint code, guint id, guint8 authenticator)
{
    step(s, SAY_UP, packet(code, id, authenticator, USER));
}

static void answer(Steps *s, guint code, guint id)
{
    step(s, SAY_DOWN, packet(code, id, 99, "12 04 'no'"));
}

START_TEST(codes)
{
    static const struct {
        guint request, response;
        const char *call, *status;
    } pairs[] = {
        {1, 2, "Access-Request", "Access-Accept"},
        {1, 3, "Access-Request", "Access-Reject"},
        {1, 11, "Access-Request", "Access-Challenge"},
        {4, 5, "Accounting-Request", "Accounting-Response"},
        {12, 2, "Status-Server", "Access-Accept"},
        {40, 41, "Disconnect-Request", "Disconnect-ACK"},
        {40, 42, "Disconnect-Request", "Disconnect-NAK"},
        {43, 44, "CoA-Request", "CoA-ACK"},
        {43, 45, "CoA-Request", "CoA-NAK"},
        {1, 52, "Access-Request", "Protocol-Error"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
        g_autoptr(Steps) s = steps_udp(1812);
        ask(s, pairs[i].request, 0, 1);
        answer(s, pairs[i].response, 0);
        g_autofree char *expected = g_strdup_printf("CALL 1 radius %s 43\nRET 1 radius %s 24\n",
                                                    pairs[i].call, pairs[i].status);
        steps_check(s, expected);
    }
}
END_TEST

START_TEST(identifiers)
{
    g_autoptr(Steps) s = steps_udp(1813);
    ask(s, 4, 1, 1);
    ask(s, 4, 255, 2);
    ask(s, 4, 1, 1); // again
    answer(s, 5, 255);
    answer(s, 5, 1);
    answer(s, 5, 1);
    ask(s, 4, 1, 1); // after its answer, which the client has not seen
    answer(s, 5, 1);
    answer(s, 5, 2); // nobody asked
    ask(s, 4, 1, 3); // another
    steps_check(s, "CALL 1 radius Accounting-Request 43\nCALL 2 radius Accounting-Request 43\n"
                   "RET 2 radius Accounting-Response 24\nRET 1 radius Accounting-Response 24\n"
                   "RET - radius Accounting-Response 24\nCALL 3 radius Accounting-Request 43\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 4);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 1);
}
END_TEST

// An identifier comes round again.
START_TEST(all_identifiers)
{
    g_autoptr(Steps) s = steps_udp(1812);
    for (guint i = 0; i < 3 * 256; i++) {
        ask(s, 1, i % 256, (guint8)(i / 256));
        answer(s, 2, i % 256);
    }
    ck_assert_uint_eq(steps_count(s, BB_CALLS), 3 * 256);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS), 3 * 256);
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 0);
}
END_TEST

// Another request under the same identifier: nobody answers the first any more.
START_TEST(used_anew)
{
    g_autoptr(Steps) s = steps_udp(1812);
    ask(s, 1, 7, 1);
    ask(s, 1, 7, 2);
    answer(s, 2, 7);
    steps_check(s, "CALL 1 radius Access-Request 43\nCALL 2 radius Access-Request 43\n"
                   "RET 2 radius Access-Accept 24\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

static void say(Converse *c, BbDirection direction, Octets *packet)
{
    converse_say(c, direction, packet->data, packet->len);
    g_byte_array_unref(packet);
}

// RFC 5080, 2.2.1: who waits for 30 s gives up; a late response answers nothing, and what is sent
// again then is another request.
START_TEST(given_up)
{
    g_autoptr(Converse) c = converse_udp(1812);
    say(c, BB_TO_SERVER, packet(1, 7, 1, USER));
    converse_wait(c, 20000);
    say(c, BB_TO_SERVER, packet(1, 7, 1, USER)); // waited for anew
    converse_wait(c, 20000);
    say(c, BB_TO_SERVER, packet(1, 7, 1, USER));
    converse_wait(c, 31000);
    say(c, BB_TO_CLIENT, packet(2, 7, 99, "12 04 'no'")); // to a request that was not seen
    say(c, BB_TO_SERVER, packet(1, 7, 1, USER));
    say(c, BB_TO_CLIENT, packet(2, 7, 99, "12 04 'no'"));
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 radius Access-Request 43\nRET - radius Access-Accept 24\n"
                     "CALL 2 radius Access-Request 43\nRET 2 radius Access-Accept 24\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 2);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
}
END_TEST

START_TEST(other_ports)
{
    g_autoptr(Steps) s = steps_udp(50000); // found by both sides
    ask(s, 1, 7, 1);
    answer(s, 2, 7);
    ask(s, 1, 8, 2);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 2 radius Access-Request 43\n"));
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_udp(1812);
    ask(s, 1, 7, 1);
    down(s, "02 07 0018 00*16 12 09 'no'"); // an attribute beyond the end
    down(s, "63 07 0014 00*16");
    down(s, "02 07 0013 00*16");
    answer(s, 3, 7);
    steps_check(s, "CALL 1 radius Access-Request 43\nRET 1 radius Access-Reject 24\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 3);
    g_autoptr(Steps) other = steps_udp(1812);
    up(other, "'something else'");
    steps_check(other, "MSG > udp - 14\n");
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_radius;
    ck_assert_int_eq(probe_octets(d, "01 07 0014 00*16"), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "02 07 0018 00*16 12 04 'no'"), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "01 07 0020 00*16 04 06 7f000001 05 06 00000001"),
                     BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, "02 07 002c 00*16 06 06 00000002 50 12 00*16"),
                     BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, "02 07 0020 00*16 01 06 00000002 02 06 00000002"),
                     BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "02 07 0014 00*16 12 04 'no'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "02 07 0018 00*16 00 04 'no'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "02 07 0018 00*16 12 01 'no'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "06 07 0014 00*16"), BB_MATCH_NO);
    check_refusals(d);
}
END_TEST

// At a port that says nothing both sides together tell; of several requests before the first answer
// nobody knows which one that answers, and the conversation goes by turns.
START_TEST(odd_port)
{
    g_autoptr(Steps) one = steps_udp(9999);
    ask(one, 1, 7, 1);
    answer(one, 2, 7);
    ask(one, 1, 8, 2);
    answer(one, 2, 8);
    steps_check(one, "CALL 1 radius - 43\nRET 1 radius Access-Accept 24\n"
                     "CALL 2 radius Access-Request 43\nRET 2 radius Access-Accept 24\n");
    g_autoptr(Steps) two = steps_udp(9999);
    ask(two, 1, 7, 1);
    ask(two, 1, 8, 2);
    answer(two, 2, 7);
    answer(two, 2, 8);
    g_autoptr(Converse) c = steps_play(two, 1460);
    ck_assert_str_eq(converse_result(c), "MSG > udp - 43\nCALL 1 udp - 43\nRET 1 udp ok 48\n");
}
END_TEST

TEST_MAIN("radius", codes, identifiers, all_identifiers, used_anew, given_up, other_ports, damage,
          probes, odd_port)
