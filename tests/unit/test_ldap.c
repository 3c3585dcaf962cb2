// SPDX-License-Identifier: Apache-2.0
// LDAP and CLDAP: operations by messageID, searches with many answers, security layers, loss.
#include "capture/protocols/ldap_message.h"
#include "capture/protocols/ldap_wrap.h"
#include "tests/unit/octets.h"

#define SEARCH(id) "30(02(" id ")63(04('dc=example')0a(02)0a(00)02(00)02(00)01(00)87('cn')30()))"
#define ENTRY(id) "30(02(" id ")64(04('cn=a')30(30(04('cn')31(04('a'))))))"
#define DONE(id, code) "30(02(" id ")65(0a(" code ")04()04()))"
#define BIND(id) "30(02(" id ")60(02(03)04('cn=x')80('pw')))"
#define BOUND(id, code) "30(02(" id ")61(0a(" code ")04()04()))"
#define START_TLS(id) "30(02(" id ")77(80('1.3.6.1.4.1.1466.20037')))"
#define EXTENDED(id, code) "30(02(" id ")78(0a(" code ")04()04()))"
#define SASL_BIND(id) "30(02(" id ")60(02(03)04()a3(04('GSS-SPNEGO')04('token'))))"
// Kerberos: sealed, and signed with the checksum in front; NTLM, signed.
#define SEALED(text) "[0504 06ff 0000 001c 0000000000000001 " text "]"
#define SIGNED(message) "[0504 04ff 000c 000c 0000000000000001 'checksum....' " message "]"
#define SIGNED_BEHIND(message) "[0504 04ff 000c 0000 0000000000000001 " message " 'checksum....']"
#define SIGNED_NTLM(message) "[01000000 'checksum' 00000000 " message "]"

START_TEST(bind_search_unbind)
{
    g_autoptr(Steps) s = steps_new(10389);
    up(s, BIND("01"));
    down(s, BOUND("01", "00"));
    up(s, SEARCH("02"));
    down(s, ENTRY("02") ENTRY("02") "30(02(02)73(04('ldap://b/')))" DONE("02", "00"));
    up(s, "30(02(03)42())");
    step(s, END_UP, octets(""));
    step(s, END_DOWN, octets(""));
    steps_check(s, "CALL 1 ldap bind simple 20\nRET 1 ldap ok 14\n"
                   "CALL 2 ldap search sub 40\nRET 2 ldap ok 84\n"
                   "MSG > ldap unbind 7\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

START_TEST(operations)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, "30(02(01)66(04('cn=a')30(30(0a(00)30(04('x')31(04('y')))))))");
    down(s, "30(02(01)67(0a(32)04()04('no')))");
    up(s, "30(02(02)68(04('cn=a')30(30(04('x')31(04('y'))))))");
    down(s, "30(02(02)69(0a(44)04()04()))");
    up(s, "30(02(03)4a('cn=a'))");
    down(s, "30(02(03)6b(0a(20)04()04()))");
    up(s, "30(02(04)6c(04('cn=a')04('cn=b')01(ff)))");
    down(s, "30(02(04)6d(0a(0a)04()04()))");
    up(s, "30(02(05)6e(04('cn=a')30(04('x')04('y'))))");
    down(s, "30(02(05)6f(0a(06)04()04()))");
    up(s, "30(02(06)77(80('1.3.6.1.4.1.4203.1.11.3')))");
    down(s, "30(02(06)78(0a(00)04()04()))");
    up(s, "30(02(07)77(80('1.2.3.4')))");
    down(s, "30(02(07)78(0a(5f)04()04()))");
    up(s, "30(02(08)60(02(03)04()a3(04('EXTERNAL')))a0(30(04('1.2'))))"); // with controls
    down(s, BOUND("08", "0e"));
    steps_check(s, "CALL 1 ldap modify 30\nRET 1 ldap insufficientAccessRights 16\n"
                   "CALL 2 ldap add 25\nRET 2 ldap entryAlreadyExists 14\n"
                   "CALL 3 ldap delete 11\nRET 3 ldap noSuchObject 14\n"
                   "CALL 4 ldap modifyDN 22\nRET 4 ldap referral 14\n"
                   "CALL 5 ldap compare 21\nRET 5 ldap compareTrue 14\n"
                   "CALL 6 ldap extended WhoAmI 32\nRET 6 ldap ok 14\n"
                   "CALL 7 ldap extended 1.2.3.4 16\nRET 7 ldap 95 14\n"
                   "CALL 8 ldap bind EXTERNAL 33\nRET 8 ldap saslBindInProgress 14\n");
}
END_TEST

START_TEST(several_at_a_time)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01") SEARCH("02") SEARCH("0100") "30(02(04)50(09))");
    down(s, ENTRY("02"));
    down(s, ENTRY("01"));
    down(s, DONE("0100", "20") ENTRY("02") DONE("02", "00") DONE("01", "04"));
    steps_check(s, "CALL 1 ldap search sub 40\nCALL 2 ldap search sub 40\n"
                   "CALL 3 ldap search sub 41\nMSG > ldap abandon 8\n"
                   "RET 2 ldap ok 66\nRET 1 ldap sizeLimitExceeded 40\n"
                   "RET 3 ldap noSuchObject 15\n");
}
END_TEST

START_TEST(start_tls)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, START_TLS("01"));
    down(s, EXTENDED("01", "34")); // refused: it goes on in the clear
    up(s, START_TLS("02"));
    down(s, EXTENDED("02", "00"));
    up(s, "'some other'");
    down(s, "'thing'");
    steps_check(s, "CALL 1 ldap extended StartTLS 31\nRET 1 ldap unavailable 14\n"
                   "CALL 2 ldap extended StartTLS 31\nRET 2 ldap ok 14\n"
                   "CALL 3 tcp - 10\nRET 3 tcp ok 5\n");
}
END_TEST

START_TEST(disconnection)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01"));
    down(s, "30(02(00)78(0a(34)04()04()8a('1.3.6.1.4.1.1466.20036')))");
    step(s, END_DOWN, octets(""));
    steps_check(s, "CALL 1 ldap search sub 40\nMSG < ldap extendedResponse 38\n"
                   "MSG < ldap search sub 0\n"); // over which it closes
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// Signed messages lie in the clear behind their tokens, several in one buffer too.
START_TEST(signed_messages)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SASL_BIND("01"));
    down(s, BOUND("01", "00"));
    up(s, SIGNED(SEARCH("02")));
    down(s, SIGNED(ENTRY("02") DONE("02", "00")));
    up(s, SIGNED_BEHIND(SEARCH("03")) SIGNED_NTLM(SEARCH("04")));
    down(s, SIGNED_BEHIND(DONE("03", "00")) SIGNED_NTLM(DONE("04", "01")));
    up(s, SEARCH("05")); // no layer after all
    down(s, DONE("05", "00"));
    steps_check(s, "CALL 1 ldap bind GSS-SPNEGO 33\nRET 1 ldap ok 14\n"
                   "CALL 2 ldap search sub 40\nRET 2 ldap ok 40\n"
                   "CALL 3 ldap search sub 40\nCALL 4 ldap search sub 40\n"
                   "RET 3 ldap ok 14\nRET 4 ldap operationsError 14\n"
                   "CALL 5 ldap search sub 40\nRET 5 ldap ok 14\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// A message that goes over several buffers: what is behind it in the last of them is found.
START_TEST(several_buffers)
{
    g_autoptr(Octets) all = octets("30(02(02)64(04('cn=a')30(30(04('x')31(04(7a*3000))))))");
    static const guint cuts[][2] = {{2000, 2500}, {20, 40}};
    for (guint round = 0; round < 2 * G_N_ELEMENTS(cuts); round++) {
        const guint *cut = cuts[round / 2];
        g_autoptr(Steps) s = steps_new(389);
        up(s, SASL_BIND("01"));
        down(s, BOUND("01", "00"));
        up(s, SIGNED_BEHIND(SEARCH("02")));
        Octets *out = g_byte_array_new();
        for (guint i = 0; i < 3; i++) {
            guint from = i ? cut[i - 1] : 0, to = i < 2 ? cut[i] : all->len;
            g_autoptr(Octets) done = octets(i < 2 ? "" : DONE("02", "00"));
            octets_be(out, 16 + to - from + done->len + 12, 4);
            octets_join(out,
                        octets(round % 2 ? "0504 04ff 000c 0000 0000000000000001"
                                         : "0504 04ff 000c 000c 0000000000000001 'checksum....'"));
            octets_put(out, all->data + from, to - from);
            octets_put(out, done->data, done->len);
            octets_join(out, octets(round % 2 ? "'0hecksum....'" : ""));
        }
        step(s, SAY_DOWN, out);
        up(s, SIGNED_BEHIND(SEARCH("03")));
        down(s, SIGNED_BEHIND(DONE("03", "20")));
        g_autofree char *expected = g_strdup_printf(
            "CALL 1 ldap bind GSS-SPNEGO 33\nRET 1 ldap ok 14\nCALL 2 ldap search sub 40\n"
            "RET 2 ldap ok %u\nCALL 3 ldap search sub 40\nRET 3 ldap noSuchObject 14\n",
            all->len + 14);
        steps_check(s, expected);
        ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
    }
}
END_TEST

// Its second buffer is lost, or encrypted: the message ends with what was seen.
START_TEST(several_buffers_lost)
{
    for (guint round = 0; round < 2; round++) {
        g_autoptr(Steps) s = steps_new(389);
        up(s, SASL_BIND("01"));
        down(s, BOUND("01", "00"));
        up(s, SIGNED(SEARCH("02")));
        down(s, SIGNED("30 82 0100 02(02) 65 8200f9 0a(00)"));
        step(s, round ? SAY_DOWN : LOSE_DOWN, octets(SEALED("7a*300")));
        up(s, SIGNED(SEARCH("03")));
        down(s, SIGNED(DONE("03", "20")));
        g_autofree char *expected = g_strdup_printf(
            "CALL 1 ldap bind GSS-SPNEGO 33\nRET 1 ldap ok 14\nCALL 2 ldap search sub 40\n"
            "RET 2 ldap ok 14\n%sCALL 3 ldap search sub 40\nRET 3 ldap noSuchObject 14\n",
            round ? "MSG < ldap ? 320\n" : "");
        steps_check(s, expected);
    }
}
END_TEST

START_TEST(sealed_messages)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SASL_BIND("01"));
    down(s, BOUND("01", "00"));
    up(s, SEALED("'question'") SEALED("'abandon'"));
    down(s, SEALED("'answer'") SEALED("'more'"));
    up(s, SEALED("'question'"));
    step(s, LOSE_DOWN, octets("00*30"));
    up(s, SEALED("'question'"));
    down(s, SEALED("'reply'"));
    steps_check(s, "CALL 1 ldap bind GSS-SPNEGO 33\nRET 1 ldap ok 14\n"
                   "CALL 2 ldap ? 28\nMSG > ldap ? 27\nRET 2 ldap - 26\nMSG < ldap ? 24\n"
                   "CALL 3 ldap ? 28\nCALL 4 ldap ? 28\nRET 4 ldap - 25\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// Of NTLM: one buffer in 256 begins as a message in the clear does.
START_TEST(sealed_like_a_message)
{
    static const char *const first[] = {"91", "30", "30 0b 02", "30 84 00000004 03 0101", "92"};
    g_autoptr(Steps) s = steps_new(389);
    g_autoptr(GString) expected =
        g_string_new("CALL 1 ldap bind GSS-SPNEGO 33\nRET 1 ldap ok 14\n");
    up(s, SASL_BIND("01"));
    down(s, BOUND("01", "00"));
    for (guint i = 0; i < G_N_ELEMENTS(first); i++) {
        g_autoptr(Octets) sealed = octets("01000000 'checksum' 00000000");
        octets_join(sealed, octets(first[i]));
        while (sealed->len < 60)
            octets_be(sealed, 0xc7, 1);
        Octets *out = g_byte_array_new();
        octets_be(out, sealed->len, 4);
        octets_put(out, sealed->data, sealed->len);
        step(s, SAY_UP, out);
        down(s, SIGNED_NTLM("'answer'"));
        g_string_append_printf(expected, "CALL %u ldap ? 64\nRET %u ldap - 26\n", i + 2, i + 2);
    }
    steps_check(s, expected->str);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, BIND("01"));
    down(s, BOUND("01", "00"));
    step(s, LOSE_UP, octets(SEARCH("02")));
    down(s, DONE("02", "00")); // its request was not seen
    up(s, SEARCH("03"));
    step(s, LOSE_DOWN, octets(DONE("03", "00")));
    up(s, SEARCH("04"));
    down(s, DONE("04", "20"));
    steps_check(s, "CALL 1 ldap bind simple 20\nRET 1 ldap ok 14\nRET - ldap ok 14\n"
                   "CALL 2 ldap search sub 40\nCALL 3 ldap search sub 40\n"
                   "RET 3 ldap noSuchObject 14\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

// Clients that give all requests one id: a lost response is not the next one, and what a search
// found whose end was lost is its own.
START_TEST(one_id)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01"));
    down(s, DONE("01", "00"));
    up(s, SEARCH("01"));
    step(s, LOSE_DOWN, octets(DONE("01", "00")));
    up(s, SEARCH("01"));
    down(s, ENTRY("01"));
    step(s, LOSE_DOWN, octets(DONE("01", "00")));
    up(s, SEARCH("01"));
    down(s, ENTRY("01") DONE("01", "20"));
    up(s, SEARCH("01"));
    down(s, DONE("01", "00"));
    steps_check(s, "CALL 1 ldap search sub 40\nRET 1 ldap ok 14\nCALL 2 ldap search sub 40\n"
                   "CALL 3 ldap search sub 40\nRET 3 ldap - 26\nCALL 4 ldap search sub 40\n"
                   "RET 4 ldap noSuchObject 40\nCALL 5 ldap search sub 40\nRET 5 ldap ok 14\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// The middle of a long message is missing: it is passed over, and stays what it was.
START_TEST(lost_middle)
{
    g_autoptr(Octets) all =
        octets("30(02(02)64(04('cn=a')30(30(04('jpegPhoto')31(04(ff*9000))))))");
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("02"));
    Octets *head = g_byte_array_new(), *tail = g_byte_array_new();
    octets_put(head, all->data, 3000);
    octets_put(tail, all->data + 7000, all->len - 7000);
    step(s, SAY_DOWN, head);
    step(s, LOSE_DOWN, octets("00*4000"));
    step(s, SAY_DOWN, octets_join(tail, octets(DONE("02", "00"))));
    g_autofree char *expected =
        g_strdup_printf("CALL 1 ldap search sub 40\nRET 1 ldap ok %u\n", all->len - 4000 + 14);
    steps_check(s, expected);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(cut_off)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01"));
    down(s, ENTRY("01") ENTRY("01"));
    steps_check(s, "CALL 1 ldap search sub 40\nRET 1 ldap - 52\n");
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(49389);
    s->midstream = true;
    down(s, ENTRY("07") DONE("07", "00"));
    up(s, SEARCH("08"));
    down(s, DONE("08", "00"));
    steps_check(s, "RET - ldap ok 40\nCALL 1 ldap search sub 40\nRET 1 ldap ok 14\n");
}
END_TEST

// A side that is no LDAP does not hold the connection for ever.
START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01"));
    down(s, DONE("01", "00"));
    up(s, "30 84 ff ff ff ff 02 01 02");
    up(s, SEARCH("02"));
    down(s, DONE("02", "00"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 ldap search sub 40\nRET 1 ldap ok 14\n"
                                         "CALL 2 ldap search sub 40\nRET 2 ldap ok 14\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    g_autoptr(Steps) other = steps_new(389);
    up(other, SEARCH("01"));
    for (guint i = 0; i < 40; i++)
        down(other, "ff*1000");
    ck_assert_uint_eq(steps_count(other, BB_DECODER_GAVE_UP), 1);
}
END_TEST

// RFC 4511, 4.11: who abandons a search waits for nothing more of it.
START_TEST(abandoned)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01"));
    down(s, ENTRY("01"));
    for (guint i = 2; i <= 40; i++) {
        g_autofree char *search = g_strdup_printf(SEARCH("%02x"), i);
        g_autofree char *entry = g_strdup_printf(ENTRY("%02x"), i);
        g_autofree char *abandon = g_strdup_printf("30(02(7f)50(%02x))", i);
        up(s, search);
        if (i > 2)
            down(s, entry);
        up(s, abandon);
    }
    down(s, DONE("01", "00"));
    up(s, SEARCH("02")); // the id is free again
    down(s, DONE("02", "00"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    const char *told = converse_result(c);
    ck_assert(g_str_has_prefix(told, "CALL 1 ldap search sub 40\nRET 1 ldap ok 40\n"
                                     "CALL 2 ldap search sub 40\nMSG > ldap abandon 8\n"
                                     "CALL 3 ldap search sub 40\nRET 3 ldap - 26\n"));
    ck_assert(g_str_has_suffix(told, "CALL 41 ldap search sub 40\nRET 41 ldap ok 14\n"));
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 0);
}
END_TEST

// What the server had sent by then belongs to nothing.
START_TEST(abandoned_too_late)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, SEARCH("01"));
    down(s, ENTRY("01"));
    up(s, "30(02(02)50(01))");
    down(s, ENTRY("01") DONE("01", "00"));
    up(s, SEARCH("01"));
    down(s, ENTRY("01") DONE("01", "00"));
    steps_check(s, "CALL 1 ldap search sub 40\nRET 1 ldap - 26\nMSG > ldap abandon 8\n"
                   "CALL 2 ldap search sub 40\nRET 2 ldap ok 40\n");
    ck_assert_uint_eq(steps_count(s, BB_REPLIES_PASSED), 2);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// However many searches are under way: each has all that it found, and begins with it.
START_TEST(many_searches)
{
    const guint searches = 200;
    g_autoptr(Steps) s = steps_new(389);
    g_autoptr(GString) expected = g_string_new(NULL);
    for (guint i = 1; i <= searches; i++) {
        g_autofree char *text = g_strdup_printf(SEARCH("%04x"), i);
        up(s, text);
        g_string_append_printf(expected, "CALL %u ldap search sub 41\n", i);
    }
    for (guint round = 0; round < 3; round++)
        for (guint i = 1; i <= searches; i++) {
            g_autofree char *text =
                g_strdup_printf(round == 2 ? DONE("%04x", "00") : ENTRY("%04x"), i);
            down(s, text);
        }
    for (guint i = 1; i <= searches; i++)
        g_string_append_printf(expected, "RET %u ldap ok 69\n", i);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(strcmp(converse_result(c), expected->str) == 0);
    ck_assert_int_eq(converse_first_ms(c, searches) + 2 * searches, converse_last_ms(c, searches));
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 0);
}
END_TEST

// Searches whose requests were not seen are put together, too, up to a limit.
START_TEST(many_orphans)
{
    g_autoptr(Steps) s = steps_new(389);
    up(s, BIND("40"));
    down(s, BOUND("40", "00"));
    for (guint round = 0; round < 2; round++)
        for (guint i = 1; i <= 20; i++) {
            g_autofree char *text = g_strdup_printf(round ? DONE("%02x", "00") : ENTRY("%02x"), i);
            down(s, text);
        }
    ck_assert_uint_eq(steps_count(s, BB_PENDING_LIMIT), 4);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 20);
}
END_TEST

// A ping of a domain controller: its answer has an entry and the end, in one datagram.
START_TEST(cldap)
{
    g_autoptr(Steps) s = steps_udp(389);
    up(s, SEARCH("01"));
    up(s, SEARCH("01"));
    down(s, ENTRY("01") DONE("01", "00"));
    up(s, "ff*40");
    up(s, SEARCH("02"));
    down(s, DONE("02", "35"));
    steps_check(s, "CALL 1 ldap search sub 40\nRET 1 ldap ok 40\n"
                   "CALL 2 ldap search sub 40\nRET 2 ldap unwillingToPerform 14\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 1);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

// Clients that have one id only: after so long it is another search, and not that one again.
START_TEST(cldap_id_comes_again)
{
    g_autoptr(Converse) c = converse_udp(389);
    g_autoptr(Octets) search = octets(SEARCH("01")), done = octets(DONE("01", "00"));
    for (guint i = 0; i < 3; i++) {
        converse_say(c, BB_TO_SERVER, search->data, search->len);
        converse_wait(c, i ? 10 : 31000);
    }
    converse_say(c, BB_TO_CLIENT, done->data, done->len);
    ck_assert_str_eq(converse_result(c), "CALL 1 ldap search sub 40\nCALL 2 ldap search sub 40\n"
                                         "RET 2 ldap ok 14\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_ldap;
    ck_assert_int_eq(probe_octets(d, SEARCH("01")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, DONE("01", "00")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, ENTRY("01")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, "30(02(03)42())"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, "30(02(03)42()02(01))"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30(02(03)4a('cn=a'))"), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "30 84 00 00 00 29 02 01 01 63 84 00 00"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, "30(02(01)63(04('x')0a(07)0a(00)))"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30(02(01)60(02(09)04()80()))"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30(02(ff)42())"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30(02(01)04('public')a0(02(01)02(00)02(00)30()))"),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30 80 02 01 01 42 00 00 00"), BB_MATCH_NO);
    g_autoptr(Octets) whole = octets(SEARCH("01"));
    for (gsize length = 0; length <= whole->len; length++) {
        g_autofree guint8 *copy = g_memdup2(whole->data, length);
        BbMatch match = d->probe(copy ? copy : (const guint8 *)"", length);
        ck_assert_int_eq(match, length < 25 ? BB_MATCH_MORE : BB_MATCH_REQUEST);
    }
    check_refusals(d);
}
END_TEST

START_TEST(wrapping)
{
    BbLdapWrap wrap = {0};
    gsize size;
    g_autoptr(Octets) more = octets(SIGNED_BEHIND("30(02(01)42())"));
    ck_assert_int_eq(bb_ldap_wrap_read(&wrap, more->data, more->len, &size), BB_LDAP_READ);
    ck_assert_uint_eq(size, 20);
    bb_ldap_wrap_begin(&wrap, more->data, size);
    ck_assert_uint_eq(wrap.inside, 7);
    bb_ldap_wrap_pass(&wrap, 7);
    ck_assert(bb_ldap_wrap_ended(&wrap));
    ck_assert_int_eq(bb_ldap_wrap_read(&wrap, more->data + 27, 12, &size), BB_LDAP_READ);
    ck_assert_uint_eq(size, 12);
    bb_ldap_wrap_begin(&wrap, more->data + 27, 12);
    ck_assert(!bb_ldap_wrap_ended(&wrap) && !wrap.sealed);
    const guint8 *small = (const guint8 *)"\0\0\0\5abcde", *big = (const guint8 *)"\xff\0";
    ck_assert_int_eq(bb_ldap_wrap_read(&wrap, small, 9, &size), BB_LDAP_BAD);
    ck_assert_int_eq(bb_ldap_wrap_read(&wrap, more->data, 30, &size), BB_LDAP_CUT);
    ck_assert_int_eq(bb_ldap_wrap_read(&wrap, big, 2, &size), BB_LDAP_BAD);
}
END_TEST

START_TEST(result_names)
{
    ck_assert_str_eq(bb_ldap_result_name(0), "ok");
    ck_assert_str_eq(bb_ldap_result_name(49), "invalidCredentials");
    ck_assert_str_eq(bb_ldap_result_name(122), "assertionFailed");
    ck_assert_ptr_null(bb_ldap_result_name(9));
    ck_assert_ptr_null(bb_ldap_result_name(123));
}
END_TEST

TEST_MAIN("ldap", bind_search_unbind, operations, several_at_a_time, start_tls, disconnection,
          signed_messages, several_buffers, several_buffers_lost, sealed_messages,
          sealed_like_a_message, lost_messages, one_id, lost_middle, cut_off, joined_midstream,
          damage, abandoned, abandoned_too_late, many_searches, many_orphans, cldap,
          cldap_id_comes_again, probes, wrapping, result_names)
