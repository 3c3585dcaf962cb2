// SPDX-License-Identifier: Apache-2.0
// DNS: which response belongs to which query, over UDP and TCP; names and labels; what is no DNS.
#include "capture/decoder.h"
#include "capture/protocols/dns_message.h"
#include "capture/protocols/label.h"
#include "tests/unit/dns_talk.h"

// ---- UDP ----------------------------------------------------------------------------------------

START_TEST(query_and_response)
{
    g_autoptr(Converse) c = converse_udp(5300);
    ask(c, 1, "www.example.com", A);
    answer(c, 1, "www.example.com", A, 0);
    ask(c, 2, "nowhere.example.com", AAAA);
    answer(c, 2, "nowhere.example.com", AAAA, 3);
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A www.example.com 33\nRET 1 dns NOERROR 33\n"
                                         "CALL 2 dns AAAA nowhere.example.com 37\n"
                                         "RET 2 dns NXDOMAIN 37\n");
}
END_TEST

// By question as much as by id, in any order and in any case of letters (0x20).
START_TEST(pairs_by_id_and_question)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 7, "a.example.com", A);
    ask(c, 7, "a.example.com", AAAA);
    ask(c, 8, "b.example.com", A);
    answer(c, 8, "B.eXample.COM", A, 2);
    answer(c, 7, "a.EXAMPLE.com", AAAA, 0);
    answer(c, 9, "a.example.com", A, 0);
    answer(c, 7, "x.example.com", A, 0);
    answer(c, 7, "A.example.com", A, 5);
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns A a.example.com 31\nCALL 2 dns AAAA a.example.com 31\n"
                     "CALL 3 dns A b.example.com 31\nRET 3 dns SERVFAIL 31\nRET 2 dns NOERROR 31\n"
                     "RET - dns NOERROR 31\nRET - dns NOERROR 31\nRET 1 dns REFUSED 31\n");
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 2);
}
END_TEST

START_TEST(retries_are_one_call)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 7, "example.com", A);
    ask(c, 7, "example.com", A);
    ask(c, 7, "example.com", A);
    answer(c, 7, "example.com", A, 0);
    ask(c, 7, "example.com", A); // the open one was answered: this is another
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A example.com 29\nRET 1 dns NOERROR 29\n"
                                         "CALL 2 dns A example.com 29\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 2);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
    ck_assert_int_eq(converse_first_ms(c, 0), 0);
}
END_TEST

// A server that saw both answers both.
START_TEST(retries_are_answered)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 7, "example.com", A);
    ask(c, 7, "example.com", A);
    answer(c, 7, "example.com", A, 0);
    answer(c, 7, "example.com", A, 0);
    answer(c, 7, "example.org", A, 0); // nobody asked
    ask(c, 7, "example.com", A);
    answer(c, 7, "example.com", A, 3);
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A example.com 29\nRET 1 dns NOERROR 29\n"
                                         "RET - dns NOERROR 29\n"
                                         "CALL 2 dns A example.com 29\nRET 2 dns NXDOMAIN 29\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 2);
}
END_TEST

#define LONG_MS 31000u // nobody waits for so long

// RFC 1035, 4.1.1: after so long it is another query of that id, and what comes answers that one.
START_TEST(id_and_question_come_again)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 7, "example.com", A); // its answer is lost
    converse_wait(c, LONG_MS - 10000);
    ask(c, 7, "example.com", A); // a late retry: it is waited for anew
    converse_wait(c, LONG_MS - 10000);
    ask(c, 7, "example.com", A);
    converse_wait(c, LONG_MS);
    ask(c, 7, "example.com", A);
    answer(c, 7, "example.com", A, 0);
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns A example.com 29\nCALL 2 dns A example.com 29\n"
                     "RET 2 dns NOERROR 29\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 2);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// A socket that asks that much draws an id again soon: this is no retry.
START_TEST(id_is_drawn_again)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 7, "example.com", A); // its answer is lost
    for (guint i = 0; i < 4096; i++) {
        ask(c, 100 + i, "example.com", A);
        answer(c, 100 + i, "example.com", A, 0);
    }
    ask(c, 7, "example.com", A);
    answer(c, 7, "example.com", A, 0);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 4098 dns NOERROR 29\n"));
    ck_assert_ptr_null(strstr(converse_result(c), "RET 1 "));
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// The second query is lost, too: its answer is nobody's.
START_TEST(answer_to_an_old_id)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 7, "example.com", A);
    converse_wait(c, LONG_MS);
    answer(c, 7, "example.com", A, 0);
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A example.com 29\nRET - dns NOERROR 29\n");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(responses_without_question)
{
    g_autoptr(Converse) c = converse_udp(53);
    for (guint id = 1; id <= 9; id++) // the first is too old to be found by id alone
        ask(c, id, "example.com", A);
    say(c, BB_TO_CLIENT, header(4, QR | 1, 0, 0, 0, 0));
    say(c, BB_TO_CLIENT, header(4, QR | 1, 0, 0, 0, 0));
    say(c, BB_TO_CLIENT, header(1, QR | 1, 0, 0, 0, 0));
    g_autofree char *result = g_strdup(strstr(converse_result(c), "RET"));
    ck_assert_str_eq(result, "RET 4 dns FORMERR 12\nRET - dns FORMERR 12\nRET - dns FORMERR 12\n");
}
END_TEST

START_TEST(response_codes)
{
    static const struct {
        guint rcode;
        const char *name;
    } codes[] = {{0, "NOERROR"},    {1, "FORMERR"},  {2, "SERVFAIL"},    {3, "NXDOMAIN"},
                 {4, "NOTIMP"},     {5, "REFUSED"},  {6, "YXDOMAIN"},    {7, "YXRRSET"},
                 {8, "NXRRSET"},    {9, "NOTAUTH"},  {10, "NOTZONE"},    {11, "DSOTYPENI"},
                 {12, "RCODE12"},   {16, "BADVERS"}, {17, "BADKEY"},     {18, "BADTIME"},
                 {19, "BADMODE"},   {20, "BADNAME"}, {21, "BADALG"},     {22, "BADTRUNC"},
                 {23, "BADCOOKIE"}, {24, "RCODE24"}, {4095, "RCODE4095"}};
    for (guint i = 0; i < G_N_ELEMENTS(codes); i++) {
        g_autoptr(Converse) c = converse_udp(53);
        ask(c, 1, "example.com", A);
        Message *m = header(1, QR | (codes[i].rcode & 15), 1, 0, 0, 1);
        put_question(m, "example.com", A, 1);
        put(m, "", 1); // EDNS: the root, with the upper bits in the TTL
        put16(m, OPT);
        put16(m, 1232);
        put16(m, codes[i].rcode >> 4 << 8);
        put16(m, 0);
        put16(m, 0);
        say(c, BB_TO_CLIENT, m);
        g_autofree char *line = g_strdup_printf("RET 1 dns %s 40\n", codes[i].name);
        ck_assert_str_eq(strstr(converse_result(c), "RET"), line);
    }
}
END_TEST

START_TEST(opcodes)
{
    g_autoptr(Converse) c = converse_udp(53);
    say(c, BB_TO_SERVER, question(1, OPCODE(5), "example.com", SOA));
    say(c, BB_TO_CLIENT, question(1, QR | OPCODE(5) | 5, "example.com", SOA));
    say(c, BB_TO_SERVER, question(2, OPCODE(4) | AA, "example.org", SOA));
    say(c, BB_TO_SERVER, header(3, OPCODE(2), 0, 0, 0, 0));
    say(c, BB_TO_CLIENT, header(3, QR | OPCODE(2) | 4, 0, 0, 0, 0));
    say(c, BB_TO_SERVER, header(4, RD, 0, 0, 0, 0)); // RFC 7873, 5.4
    say(c, BB_TO_SERVER, header(0, OPCODE(6), 0, 0, 0, 0));
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns UPDATE example.com 29\nRET 1 dns REFUSED 29\n"
                     "CALL 2 dns NOTIFY example.org 29\nCALL 3 dns STATUS 12\nRET 3 dns NOTIMP 12\n"
                     "CALL 4 dns - 12\nMSG > dns DSO 12\n");
}
END_TEST

// The snap length cut both: header and question are enough, and the header alone pairs by id.
START_TEST(cut_datagrams)
{
    BbDnsMessage message;
    g_autoptr(Message) m = header(1, QR, 1, 2, 0, 0);
    put_question(m, "www.example.com", A, 1);
    gsize end = m->len;
    put_record(m, A, "\1\2\3\4", 4);
    put_record(m, A, "\1\2\3\5", 4);
    for (gsize length = 0; length <= m->len; length++) {
        g_autofree guint8 *copy = g_memdup2(m->data, length);
        BbDnsVerdict verdict = bb_dns_message_read(&message, copy, length);
        ck_assert_int_eq(verdict, length < end      ? BB_DNS_SHORT
                                  : length < m->len ? BB_DNS_CUT
                                                    : BB_DNS_EXACT);
        ck_assert_int_eq(message.has_question, length >= end);
    }
    put(m, "x", 1);
    ck_assert_int_eq(bb_dns_message_read(&message, m->data, m->len), BB_DNS_ODD);
}
END_TEST

// ---- multicast ----------------------------------------------------------------------------------

START_TEST(mdns_is_free)
{
    g_autoptr(Converse) c = converse_udp(5353);
    Message *m = header(0, 0, 2, 0, 0, 0);
    put_question(m, "_ipp._tcp.local", PTR, 0x8001);
    put_question(m, "_ipps._tcp.local", PTR, 1);
    say(c, BB_TO_SERVER, m);
    m = header(0, QR | AA, 0, 1, 0, 0);
    put_question(m, "printer.local", A, 0x8001);
    put16(m, 0);
    put16(m, 120);
    put16(m, 4);
    put(m, "\12\0\0\7", 4);
    say(c, BB_TO_SERVER, m);
    say(c, BB_TO_SERVER, question(0, 0, "host.local", A));
    say(c, BB_TO_SERVER, question(5, 0, "host.local", A)); // one-shot, RFC 6762, 5.1
    ck_assert_str_eq(converse_result(c), "MSG > dns PTR _ipp._tcp.local 55\nMSG > dns - 41\n"
                                         "MSG > dns A host.local 28\nCALL 1 dns A host.local 28\n");
}
END_TEST

// An id like any other: forwarders and tests ask so, without recursion.
START_TEST(id_0)
{
    g_autoptr(Converse) udp = converse_udp(53), tcp = converse_tcp(53);
    say(udp, BB_TO_SERVER, question(0, 0, "example.com", A));
    say(udp, BB_TO_CLIENT, question(0, QR, "example.com", A));
    ck_assert_str_eq(converse_result(udp), "CALL 1 dns A example.com 29\nRET 1 dns NOERROR 29\n");
    say_framed(tcp, BB_TO_SERVER, question(0, 0, "example.com", A));
    say_framed(tcp, BB_TO_CLIENT, question(0, QR, "example.com", A));
    ck_assert_str_eq(converse_result(tcp), "CALL 1 dns A example.com 31\nRET 1 dns NOERROR 31\n");
}
END_TEST

// A query goes to a group, and the answer comes from another address: neither finds the other.
START_TEST(llmnr_is_free)
{
    g_autoptr(Converse) group = converse_udp(5355), member = converse_udp(5355);
    g_autoptr(Converse) tcp = converse_tcp(5355), dns = converse_udp(53);
    say(group, BB_TO_SERVER, question(7, 0, "host", A));
    say(group, BB_TO_SERVER, question(7, 0, "host", A));
    say(group, BB_TO_SERVER, question(8, 0, "host", AAAA));
    ck_assert_str_eq(converse_result(group),
                     "MSG > dns A host 22\nMSG > dns A host 22\nMSG > dns AAAA host 22\n");
    say(member, BB_TO_CLIENT, question(7, QR, "host", A));
    ck_assert_str_eq(converse_result(member), "MSG < dns A host 22\n");
    ck_assert_uint_eq(converse_loss(member, BB_RETURNS_ORPHANED), 0);
    Message *framed[] = {g_byte_array_new(), g_byte_array_new()};
    for (guint i = 0; i < 2; i++) { // RFC 4795, 2.4: to one host over TCP
        frame(framed[i], question(7, i ? QR : 0, "host", A));
        say(tcp, (BbDirection)i, framed[i]);
        say(dns, (BbDirection)i, question(7, i ? QR : 0, "host", A));
    }
    ck_assert_str_eq(converse_result(tcp), "CALL 1 dns A host 24\nRET 1 dns NOERROR 24\n");
    ck_assert_str_eq(converse_result(dns), "CALL 1 dns A host 22\nRET 1 dns NOERROR 22\n");
}
END_TEST

// ---- TCP ----------------------------------------------------------------------------------------

START_TEST(tcp_out_of_order)
{
    g_autoptr(Message) up = g_byte_array_new();
    g_autoptr(Message) down = g_byte_array_new();
    frame(up, question(1, RD, "one.example.com", A));
    frame(up, question(2, RD, "two.example.com", A));
    frame(up, question(3, RD, "three.example.com", MX));
    frame(down, question(3, QR, "three.example.com", MX));
    frame(down, question(1, QR | 3, "one.example.com", A));
    frame(down, header(2, QR | 1, 0, 0, 0, 0));
    check_tcp(up, down,
              "CALL 1 dns A one.example.com 35\nCALL 2 dns A two.example.com 35\n"
              "CALL 3 dns MX three.example.com 37\nRET 3 dns NOERROR 37\nRET 1 dns NXDOMAIN 35\n"
              "RET 2 dns FORMERR 14\n");
}
END_TEST

START_TEST(tcp_loss)
{
    g_autoptr(Converse) c = converse_tcp(53);
    say_framed(c, BB_TO_SERVER, question(1, RD, "one.example.com", A));
    converse_lose(c, BB_TO_CLIENT, 35);
    say_framed(c, BB_TO_SERVER, question(2, RD, "two.example.com", A));
    say_framed(c, BB_TO_CLIENT, question(2, QR, "two.example.com", A));
    converse_lose(c, BB_TO_SERVER, 100);
    converse_say(c, BB_TO_SERVER, "the rest of something", 21);
    say_framed(c, BB_TO_SERVER, question(4, RD, "four.example.com", A));
    say_framed(c, BB_TO_CLIENT, question(3, QR, "three.example.com", A));
    say_framed(c, BB_TO_CLIENT, question(4, QR, "four.example.com", A));
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns A one.example.com 35\nCALL 2 dns A two.example.com 35\n"
                     "RET 2 dns NOERROR 35\nCALL 3 dns A four.example.com 36\n"
                     "RET - dns NOERROR 37\nRET 3 dns NOERROR 36\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 2);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// One lost answer costs one call, not all later ones of its id and question.
START_TEST(tcp_id_comes_again)
{
    g_autoptr(Converse) c = converse_tcp(53);
    say_framed(c, BB_TO_SERVER, question(1, RD, "one.example.com", A));
    converse_lose(c, BB_TO_CLIENT, 35);
    for (guint round = 0; round < 2; round++) {
        say_framed(c, BB_TO_SERVER, question(1, RD, "one.example.com", A));
        say_framed(c, BB_TO_CLIENT, question(1, QR, "one.example.com", A));
    }
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns A one.example.com 35\nCALL 2 dns A one.example.com 35\n"
                     "RET 2 dns NOERROR 35\nCALL 3 dns A one.example.com 35\n"
                     "RET 3 dns NOERROR 35\n");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// Whatever of a message was seen before the bytes end is kept.
START_TEST(tcp_cut_off)
{
    g_autoptr(Message) all = g_byte_array_new();
    frame(all, question(1, QR | 2, "one.example.com", A));
    g_autoptr(Converse) c = converse_tcp(53);
    say_framed(c, BB_TO_SERVER, question(1, RD, "one.example.com", A));
    converse_say(c, BB_TO_CLIENT, all->data, 20); // header and half of the question
    converse_close(c, BB_TO_CLIENT);
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns A one.example.com 35\nRET 1 dns SERVFAIL 20\n");
}
END_TEST

START_TEST(tcp_damage)
{
    static const guint8 bad[] = {0, 5, 1, 2, 3, 4, 5};
    g_autoptr(Converse) c = converse_tcp(53);
    say_framed(c, BB_TO_SERVER, question(1, RD, "one.example.com", A));
    converse_say(c, BB_TO_CLIENT, bad, sizeof bad);
    say_framed(c, BB_TO_CLIENT, question(1, QR, "one.example.com", A));
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A one.example.com 35\nRET 1 dns NOERROR 35\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// As a broken server answers: what was asked is there, the rest is not to be trusted.
START_TEST(damage_after_the_question)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 1, "example.com", A);
    Message *m = header(1, QR, 2, 2, 0, 0);
    put_question(m, "example.com", A, 1);
    put(m, "\x80zzzzzzzz", 9);
    say(c, BB_TO_CLIENT, m);
    ask(c, 2, "example.com", A);
    m = header(2, QR, 1, 2, 0, 0);
    put_question(m, "example.com", A, 1);
    put(m, "\x80zzzzzzzz", 9);
    say(c, BB_TO_CLIENT, m);
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A example.com 29\nRET 1 dns NOERROR 38\n"
                                         "CALL 2 dns A example.com 29\nRET 2 dns NOERROR 38\n");
}
END_TEST

// The header is that of a query, the name breaks off or runs in a circle: at DNS's port it is one,
// and is refused.
START_TEST(queries_with_broken_names)
{
    static const char *const names[] = {"\3a", "\300\14\0\1\0\1", "\3abc"};
    static const gsize lengths[] = {2, 6, 4};
    g_autoptr(Converse) c = converse_udp(53), elsewhere = converse_udp(9999);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        Message *m = header(i + 1, RD, 1, 0, 0, 0);
        put(m, names[i], lengths[i]);
        if (i == 0)
            converse_say(elsewhere, BB_TO_SERVER, m->data, m->len);
        say(c, BB_TO_SERVER, m);
    }
    say(c, BB_TO_CLIENT, header(2, QR | RD | 1, 0, 0, 0, 0));
    ck_assert_str_eq(converse_result(c), "CALL 1 dns - 14\nCALL 2 dns - 18\nCALL 3 dns - 16\n"
                                         "RET 2 dns FORMERR 12\n");
    ck_assert_str_eq(converse_result(elsewhere), "MSG > udp - 14\n");
}
END_TEST

START_TEST(damaged_datagrams)
{
    g_autoptr(Converse) c = converse_udp(53);
    ask(c, 1, "example.com", A);
    converse_text(c, BB_TO_CLIENT, "garbage, and more of it than a header");
    converse_text(c, BB_TO_CLIENT, "short");
    answer(c, 1, "example.com", A, 0);
    ck_assert_str_eq(converse_result(c), "CALL 1 dns A example.com 29\nRET 1 dns NOERROR 29\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 2);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}
END_TEST

// ---- names --------------------------------------------------------------------------------------

static BbDnsVerdict read_question(const char *wire, gsize length, BbDnsMessage *message)
{
    g_autoptr(Message) m = header(1, RD, 1, 0, 0, 0);
    put(m, wire, length);
    put16(m, A);
    put16(m, 1);
    g_autofree guint8 *copy = g_memdup2(m->data, m->len);
    return bb_dns_message_read(message, copy, m->len);
}

#define READ(wire, message) read_question(wire, sizeof(wire) - 1, message)

START_TEST(names)
{
    BbDnsMessage message;
    ck_assert_int_eq(READ("\3wWw\1A\0", &message), BB_DNS_EXACT);
    ck_assert_str_eq(message.name, "www.a");
    ck_assert_int_eq(READ("\0", &message), BB_DNS_EXACT);
    ck_assert_str_eq(message.name, "");
    ck_assert_int_eq(READ("\7a.b\\c \xff\0", &message), BB_DNS_EXACT);
    ck_assert_str_eq(message.name, "a\\.b\\\\c\\032\\255");
    ck_assert_int_eq(READ("\2\1z\0", &message),
                     BB_DNS_ODD); // control bytes are for ports to decide
    ck_assert_str_eq(message.name, "\\001z");
    ck_assert_int_eq(READ("\xc0\x0c", &message), BB_DNS_BAD);    // points to itself
    ck_assert_int_eq(READ("\1a\xc0\x0c", &message), BB_DNS_BAD); // a circle
    ck_assert_int_eq(READ("\xc0\x00", &message), BB_DNS_BAD);    // into the header
    ck_assert_int_eq(READ("\xff\xff", &message), BB_DNS_BAD);    // forward
    ck_assert_int_eq(READ("\x40"
                          "a\0",
                          &message),
                     BB_DNS_BAD); // no label type
    ck_assert_int_eq(READ("\x20"
                          "ckaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0",
                          &message),
                     BB_DNS_EXACT);
}
END_TEST

START_TEST(longest_name)
{
    BbDnsMessage message;
    g_autoptr(Message) wire = g_byte_array_new();
    for (guint i = 0; i < 127; i++)
        put(wire, "\1\xff", 2);
    put(wire, "", 1); // 255 bytes
    ck_assert_int_eq(read_question((const char *)wire->data, wire->len, &message), BB_DNS_EXACT);
    ck_assert_uint_eq(strlen(message.name), 127 * 5 - 1);
    g_autoptr(Message) longer = g_byte_array_new();
    put(longer, "\2ab", 3);
    put(longer, wire->data + 2, wire->len - 2);
    ck_assert_int_eq(read_question((const char *)longer->data, longer->len, &message), BB_DNS_BAD);
    guint8 label[64];
    memset(label, 0xff, sizeof label);
    label[0] = 63;
    g_byte_array_set_size(wire, 0);
    for (guint i = 0; i < 3; i++)
        put(wire, label, 64);
    label[0] = 61;
    put(wire, label, 62);
    put(wire, "", 1); // 255 bytes again, of which 250 are escaped
    ck_assert_int_eq(read_question((const char *)wire->data, wire->len, &message), BB_DNS_EXACT);
    ck_assert_uint_eq(strlen(message.name), 250 * 4 + 3);
}
END_TEST

// RFC 1002 has the same format, and is something else.
START_TEST(netbios_is_not_dns)
{
    g_autoptr(Message) m = header(1, 0x0110, 1, 0, 0, 0);
    put_question(m, "EJFDEBFEEBFACACACACACACACACACAAA", 32, 1);
    ck_assert_int_eq(bb_decoder_dns.probe(m->data, m->len), BB_MATCH_NO);
}
END_TEST

static void note(gpointer user, const BbAddress *address, const char *name)
{
    char text[BB_ADDRESS_TEXT];
    bb_address_format(address, text);
    g_string_append_printf(user, "%s %s\n", text, name);
}

// The end of a chain has the name that was asked for.
START_TEST(addresses)
{
    BbDnsMessage message;
    g_autoptr(GString) found = g_string_new(NULL);
    g_autoptr(Message) m = header(1, QR | RA, 1, 5, 0, 0);
    put_question(m, "Web.example.com", A, 1);
    put_record(m, CNAME, "\1x\xc0\x10", 4);
    put_record(m, A, "\12\0\0\1", 4);
    put_record(m, A, "\12\0", 2);
    put_record(m, AAAA, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\7", 16);
    put_record(m, A, "\12\0\0\2", 4);
    for (gsize cut = 0; cut < 2; cut++) {
        g_string_truncate(found, 0);
        (void)bb_dns_message_read(&message, m->data, m->len - cut);
        bb_dns_message_addresses(&message, m->data, m->len - cut, note, found);
        ck_assert_str_eq(found->str, cut ? "10.0.0.1 web.example.com\n2001:db8::7 web.example.com\n"
                                         : "10.0.0.1 web.example.com\n2001:db8::7 web.example.com\n"
                                           "10.0.0.2 web.example.com\n");
    }
}
END_TEST

// ---- labels -------------------------------------------------------------------------------------

static void check_label(const char *type, const char *name, const char *expected)
{
    char out[BB_LABEL_MAX + 1];
    gsize length = bb_label_dns(out, type, name);
    ck_assert_str_eq(out, expected);
    ck_assert_uint_eq(length, strlen(expected));
}

START_TEST(labels)
{
    check_label("A", "www.example.com", "A www.example.com");
    check_label("A", "www.example.com.", "A www.example.com");
    check_label("A", "web17.example.com", "A *.example.com");
    check_label("A", "web17.rack3.example.com", "A *.example.com");
    check_label("AAAA", "web17.prod.example.com", "AAAA *.prod.example.com");
    check_label("A", "auth.default.svc.cluster.local", "A auth.default.svc.cluster.local");
    check_label("A", "10-0-0-1.default.pod.cluster.local", "A *.default.pod.cluster.local");
    check_label("A", "1e100.net", "A 1e100.net");
    check_label("A", "a1.bbc.co.uk", "A *.bbc.co.uk");
    check_label("A", "web1.sap.de", "A *.sap.de");
    check_label("A", "s3.co.uk", "A s3.co.uk");
    check_label("A", "thisisaverylonglabelindeed.example.com", "A *.example.com");
    check_label("PTR", "4.3.2.1.in-addr.arpa", "PTR *.in-addr.arpa");
    check_label("PTR", "b._dns-sd._udp.0.0.10.in-addr.arpa", "PTR *.in-addr.arpa");
    check_label("PTR", "1.0.f.f.ip6.arpa", "PTR *.ip6.arpa");
    check_label("SRV", "_ldap._tcp.dc._msdcs.example.com", "SRV _ldap._tcp.dc._msdcs.example.com");
    check_label("PTR", "my\\.name\\0321._ipp._tcp.local", "PTR *._ipp._tcp.local");
    check_label("NS", "", "NS .");
    check_label("A", "db1", "A db1");
    check_label("A", "..", "A .");
}
END_TEST

START_TEST(long_labels)
{
    check_label("A",
                "aaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbb.cccccccccccccccccc.dddddddddddddddddd."
                "eeeeeeeeeeeeeeeeee.example.com",
                "A *.bbbbbbbbbbbbbbbbbb.cccccccccccccccccc.dddddddddddddddddd.eeeeeeeeeeeeeeeeee."
                "example.com");
    g_autofree char *label = g_strnfill(63, 'x');
    g_autofree char *name = g_strdup_printf("%s.%s", label, label);
    g_autofree char *expected = g_strdup_printf("A *.%s", label);
    check_label("A", name, expected);
    g_autofree char *escaped = g_strnfill(252, '\\');
    check_label("A", escaped, "A *");
}
END_TEST

START_TEST(type_names)
{
    static const struct {
        guint16 type;
        const char *name;
    } types[] = {{A, "A"},     {AAAA, "AAAA"}, {65, "HTTPS"},        {61, "OPENPGPKEY"},
                 {255, "ANY"}, {0, "TYPE0"},   {65535, "TYPE65535"}, {51, "NSEC3PARAM"}};
    char out[BB_DNS_TYPE_TEXT];
    for (guint i = 0; i < G_N_ELEMENTS(types); i++) {
        bb_dns_type_format(types[i].type, out);
        ck_assert_str_eq(out, types[i].name);
    }
}
END_TEST

// ---- probing ------------------------------------------------------------------------------------

static BbMatch probe(Message *m)
{
    g_autofree guint8 *copy = g_memdup2(m->data, m->len);
    BbMatch match = bb_decoder_dns.probe(copy, m->len);
    g_byte_array_unref(m);
    return match;
}

START_TEST(probes)
{
    ck_assert_int_eq(probe(question(1, RD, "example.com", A)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe(question(1, QR | 3, "example.com", A)), BB_MATCH_REPLY);
    ck_assert_int_eq(probe(question(1, RD | Z, "example.com", A)), BB_MATCH_MAYBE);
    ck_assert_int_eq(probe(question(1, RD, "example.com", 0)), BB_MATCH_MAYBE);
    ck_assert_int_eq(probe(question(1, RD | 3, "example.com", A)), BB_MATCH_NO);
    ck_assert_int_eq(probe(question(1, OPCODE(3), "example.com", A)), BB_MATCH_NO);
    ck_assert_int_eq(probe(question(1, OPCODE(9), "example.com", A)), BB_MATCH_NO);
    ck_assert_int_eq(probe(header(1, QR | 1, 0, 0, 0, 0)), BB_MATCH_MAYBE);
    Message *m = header(1, RD, 2, 0, 0, 0);
    put_question(m, "a", A, 1);
    put_question(m, "b", A, 1);
    ck_assert_int_eq(probe(m), BB_MATCH_NO);
    m = header(1, RD, 1, 0, 0, 0);
    put_question(m, "a", A, 2);
    ck_assert_int_eq(probe(m), BB_MATCH_MAYBE);
    m = question(1, RD, "example.com", A);
    put(m, "x", 1);
    ck_assert_int_eq(probe(m), BB_MATCH_MAYBE);
    m = header(1, QR, 1, 40, 0, 0);
    put_question(m, "a", A, 1);
    ck_assert_int_eq(probe(m), BB_MATCH_MAYBE); // cut, or a lie
    m = header(1, RD, 1, 1, 0, 0);
    put_question(m, "a", A, 1);
    put_record(m, A, "\1\2\3\4", 4);
    ck_assert_int_eq(probe(m), BB_MATCH_MAYBE); // a query with an answer
}
END_TEST

START_TEST(stream_prefixes)
{
    g_autoptr(Message) all = g_byte_array_new();
    Message *m = header(77, RD, 1, 0, 0, 1);
    put_question(m, "www.example.com", A, 1);
    gsize known = m->len + 2;
    put(m, "\0\0\x29\x4\xd0\0\0\0\0\0\0", 11);
    frame(all, m);
    for (gsize length = 0; length <= all->len; length++) {
        g_autofree guint8 *copy = g_memdup2(all->data, length);
        BbMatch match = bb_decoder_dns.probe(copy ? copy : (const guint8 *)"", length);
        ck_assert_int_eq(match, length < known ? BB_MATCH_MORE : BB_MATCH_REQUEST);
    }
}
END_TEST

START_TEST(random_bytes_are_not_dns)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(53);
    for (guint i = 0; i < 200000; i++) {
        guint8 bytes[128];
        gsize length = 20 + (gsize)g_rand_int_range(rand, 0, 100);
        for (gsize k = 0; k < length; k++)
            bytes[k] = (guint8)g_rand_int(rand);
        ck_assert_int_eq(bb_decoder_dns.probe(bytes, length), BB_MATCH_NO);
    }
}
END_TEST

TEST_MAIN("dns", query_and_response, pairs_by_id_and_question, retries_are_one_call,
          retries_are_answered, id_and_question_come_again, id_is_drawn_again, answer_to_an_old_id,
          responses_without_question, response_codes, opcodes, cut_datagrams, mdns_is_free, id_0,
          llmnr_is_free, tcp_out_of_order, tcp_loss, tcp_id_comes_again, tcp_cut_off, tcp_damage,
          damage_after_the_question, queries_with_broken_names, damaged_datagrams, names,
          longest_name, netbios_is_not_dns, addresses, labels, long_labels, type_names, probes,
          stream_prefixes, random_bytes_are_not_dns)
