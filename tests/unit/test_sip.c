// SPDX-License-Identifier: Apache-2.0
// SIP over UDP and TCP: transactions, retransmissions, what is free, what is missing.
#include "capture/decoder.h"
#include "capture/loss.h"
#include "capture/protocols/sip_message.h"
#include "tests/unit/octets.h"

#define URI "sip:bob@example.com"

// A request or a response of transaction (branch, number, method).
static char *message(const char *start, const char *branch, guint number, const char *method,
                     const char *body)
{
    return g_strdup_printf("%s\r\nVia: SIP/2.0/UDP a.example.com:5060;rport;branch=z9hG4bK%s\r\n"
                           "From: <sip:a@example.com>;tag=1\r\nTo: <sip:b@example.com>\r\n"
                           "Call-ID: 1234@a.example.com\r\nCSeq: %u %s\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           start, branch, number, method, strlen(body), body);
}

static void add(Steps *s, StepKind kind, char *text)
{
    Octets *bytes = g_byte_array_new();
    octets_put(bytes, text, strlen(text));
    g_free(text);
    step(s, kind, bytes);
}

static void request(Steps *s, StepKind kind, const char *method, const char *branch, guint number)
{
    g_autofree char *start = g_strdup_printf("%s " URI " SIP/2.0", method);
    add(s, kind, message(start, branch, number, method, ""));
}

static void response(Steps *s, StepKind kind, guint code, const char *method, const char *branch,
                     guint number)
{
    g_autofree char *start = g_strdup_printf("SIP/2.0 %u Reason", code);
    add(s, kind, message(start, branch, number, method, ""));
}

// The text of the result without the sizes of messages, which are of no interest here.
static char *result_of(Steps *s, gsize segment)
{
    g_autoptr(Converse) c = steps_play(s, segment);
    g_auto(GStrv) lines = g_strsplit(converse_result(c), "\n", -1);
    GString *out = g_string_new(NULL);
    for (guint i = 0; lines[i] && *lines[i]; i++)
        g_string_append_printf(out, "%.*s\n", (int)(strrchr(lines[i], ' ') - lines[i]), lines[i]);
    return g_string_free(out, FALSE);
}

static void check(Steps *s, const char *expected)
{
    static const gsize segments[] = {1460, 1, 2, 7, 64};
    for (guint i = 0; i < (s->udp ? 1 : G_N_ELEMENTS(segments)); i++) {
        g_autofree char *result = result_of(s, segments[i]);
        ck_assert_msg(strcmp(result, expected) == 0, "%zu bytes a segment:\n%s", segments[i],
                      result);
    }
}

// ---- transactions -------------------------------------------------------------------------------

START_TEST(a_call)
{
    for (guint udp = 0; udp < 2; udp++) {
        g_autoptr(Steps) s = udp ? steps_udp(40001) : steps_new(40001);
        request(s, SAY_UP, "INVITE", "a", 1);
        response(s, SAY_DOWN, 100, "INVITE", "a", 1);
        response(s, SAY_DOWN, 180, "INVITE", "a", 1);
        response(s, SAY_DOWN, 200, "INVITE", "a", 1);
        request(s, SAY_UP, "ACK", "b", 1);
        request(s, SAY_DOWN, "BYE", "c", 7); // the one who was called hangs up
        response(s, SAY_UP, 200, "BYE", "c", 7);
        check(s, "CALL 1 sip INVITE\nRET 1 sip 200\nMSG > sip ACK\nCALL 2 sip BYE\n"
                 "RET 2 sip 200\n");
    }
}
END_TEST

START_TEST(out_of_order)
{
    g_autoptr(Steps) s = steps_udp(5060);
    request(s, SAY_UP, "OPTIONS", "a", 1);
    request(s, SAY_UP, "MESSAGE", "b", 2);
    request(s, SAY_UP, "REGISTER", "c", 3);
    response(s, SAY_DOWN, 404, "MESSAGE", "b", 2);
    response(s, SAY_DOWN, 401, "REGISTER", "c", 3);
    response(s, SAY_DOWN, 200, "OPTIONS", "a", 1);
    check(s, "CALL 1 sip OPTIONS\nCALL 2 sip MESSAGE\nCALL 3 sip REGISTER\nRET 2 sip 404\n"
             "RET 3 sip 401\nRET 1 sip 200\n");
}
END_TEST

// A CANCEL has the branch of what it cancels, and is a transaction of its own.
START_TEST(cancel)
{
    g_autoptr(Steps) s = steps_udp(5060);
    request(s, SAY_UP, "INVITE", "a", 1);
    request(s, SAY_UP, "CANCEL", "a", 1);
    response(s, SAY_DOWN, 200, "CANCEL", "a", 1);
    response(s, SAY_DOWN, 487, "INVITE", "a", 1);
    request(s, SAY_UP, "ACK", "a", 1);
    check(s, "CALL 1 sip INVITE\nCALL 2 sip CANCEL\nRET 2 sip 200\nRET 1 sip 487\n"
             "MSG > sip ACK\n");
}
END_TEST

START_TEST(retransmissions)
{
    g_autoptr(Steps) s = steps_udp(5060);
    request(s, SAY_UP, "INVITE", "a", 1);
    request(s, SAY_UP, "INVITE", "a", 1);
    response(s, SAY_DOWN, 486, "INVITE", "a", 1);
    response(s, SAY_DOWN, 486, "INVITE", "a", 1);
    request(s, SAY_UP, "INVITE", "a", 1); // the answer was lost on its way
    check(s, "CALL 1 sip INVITE\nRET 1 sip 486\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 3);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// However many came after it, up to a limit.
START_TEST(late_retransmissions)
{
    g_autoptr(Steps) s = steps_udp(5060);
    for (guint i = 0; i < 2000; i++) {
        bool again = i >= 1000; // the last 1000 are a repetition of the others
        request(s, SAY_UP, "OPTIONS", "a", again ? i - 1000 : i);
        response(s, SAY_DOWN, 200, "OPTIONS", "a", again ? i - 1000 : i);
    }
    ck_assert_uint_eq(steps_count(s, BB_CALLS), 1000);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS), 1000);
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 2000);
}
END_TEST

// The oldest is forgotten: of 1025 the first is a new one.
START_TEST(limit_of_retransmissions)
{
    g_autoptr(Steps) s = steps_udp(5060);
    for (guint i = 0; i <= 1025; i++) {
        request(s, SAY_UP, "OPTIONS", "a", i % 1025);
        response(s, SAY_DOWN, 200, "OPTIONS", "a", i % 1025);
    }
    ck_assert_uint_eq(steps_count(s, BB_CALLS), 1026);
}
END_TEST

// Where there is no room they are forgotten as well, and counted.
START_TEST(no_room)
{
    g_autofree char *ask = message("OPTIONS " URI " SIP/2.0", "a", 1, "OPTIONS", "");
    g_autofree char *answer = message("SIP/2.0 200 OK", "a", 1, "OPTIONS", "");
    for (guint held = 0; held < 2; held++) {
        g_autoptr(Converse) c = converse_tcp_held(5060, held ? 1024 : 16);
        for (guint i = 0; i < 2; i++) {
            converse_text(c, BB_TO_SERVER, ask);
            converse_text(c, BB_TO_CLIENT, answer);
        }
        (void)converse_result(c);
        ck_assert_uint_eq(converse_loss(c, BB_CALLS), held ? 1 : 2);
        ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), held ? 0 : 2);
    }
}
END_TEST

// The same branch and number in another call, or in another method, is another transaction.
START_TEST(keys)
{
    static const char *const heads[] = {
        "OPTIONS x SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=a\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n",
        "OPTIONS x SIP/2.0\r\nv:SIP/2.0/UDP h ; branch = a\r\ni:1\r\nCSeq:1  OPTIONS\r\n\r\n",
        "SIP/2.0 200 \r\nvia: SIP/2.0/UDP h;branch=a;x, y\r\nCALL-ID: 1\r\nCSEQ: 1 OPTIONS\r\n\r\n",
        ("OPTIONS x SIP/2.0\r\nVia: SIP/2.0/UDP h\r\n ;branch=\r\n\ta;x\r\nCall-ID:\r\n 1\r\n"
         "CSeq: 1\r\n OPTIONS \r\n \r\n\r\n"),
        "OPTIONS x SIP/2.0\nVia: SIP/2.0/UDP\n h;branch=a\nCall-ID: 1\nCSeq:\n 1\n\tOPTIONS\n\n",
        "OPTIONS x SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=b\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n",
        "OPTIONS x SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=a\r\nCall-ID: 2\r\nCSeq: 1 OPTIONS\r\n\r\n",
        "OPTIONS x SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=a\r\nCall-ID: 1\r\nCSeq: 2 OPTIONS\r\n\r\n",
        "OPTIONS x SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=a\r\nCall-ID: 1\r\nCSeq: 1 MESSAGE\r\n\r\n",
    };
    BbSipMessage first, other;
    bb_sip_message(&first, (const guint8 *)heads[0], strlen(heads[0]));
    ck_assert(first.transaction != 0);
    for (guint i = 1; i < G_N_ELEMENTS(heads); i++) {
        g_autofree guint8 *copy = g_memdup2(heads[i], strlen(heads[i]));
        bb_sip_message(&other, copy, strlen(heads[i]));
        ck_assert_msg((first.transaction == other.transaction) == (i < 5), "%u", i);
    }
    bb_sip_message(&other, (const guint8 *)"BYE x SIP/2.0\r\nCSeq: 1 BYE\r\n\r\n", 31);
    ck_assert_uint_eq(other.transaction, 0);
}
END_TEST

START_TEST(lengths)
{
    BbSipMessage m;
    static const struct {
        const char *field;
        bool has;
        guint64 length;
    } cases[] = {
        {"Content-Length: 12", true, 12},  {"l:12", true, 12},
        {"l:\r\n 12", true, 12},           {"X: a\r\n l: 3\r\nl: 7", true, 7},
        {"content-length :  0 ", true, 0}, {"Content-Length: x", false, 0},
        {"Content-Length:", false, 0},     {"Content-Length: 99999999999999999999999", false, 0},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *head = g_strdup_printf("SIP/2.0 200 OK\r\n%s\r\n\r\n", cases[i].field);
        bb_sip_message(&m, (const guint8 *)head, strlen(head));
        ck_assert_uint_eq(m.code, 200);
        ck_assert_msg(m.has_length == cases[i].has, "%s", cases[i].field);
        ck_assert(!m.has_length || m.length == cases[i].length);
    }
}
END_TEST

// ---- bodies, keep-alives ------------------------------------------------------------------------

START_TEST(bodies_and_keep_alives)
{
    g_autofree char *body = g_strnfill(5000, 'x');
    g_autoptr(Steps) s = steps_new(5060);
    add(s, SAY_UP, message("MESSAGE " URI " SIP/2.0", "a", 1, "MESSAGE", body));
    up(s, "0d0a0d0a");
    down(s, "0d0a");
    add(s, SAY_DOWN, message("SIP/2.0 200 OK", "a", 1, "MESSAGE", "SIP/2.0 500 no\r\n\r\n"));
    request(s, SAY_UP, "INFO", "b", 2);
    response(s, SAY_DOWN, 603, "INFO", "b", 2);
    check(s, "CALL 1 sip MESSAGE\nRET 1 sip 200\nCALL 2 sip INFO\nRET 2 sip 603\n");
}
END_TEST

// Before anything else was said.
START_TEST(keep_alive_first)
{
    g_autoptr(Steps) s = steps_new(40001);
    up(s, "0d0a0d0a");
    request(s, SAY_UP, "OPTIONS", "a", 1);
    down(s, "0d0a");
    response(s, SAY_DOWN, 200, "OPTIONS", "a", 1);
    check(s, "CALL 1 sip OPTIONS\nRET 1 sip 200\n");
}
END_TEST

// For longer than an unknown protocol is looked at again: the port tells, and nothing but the port.
START_TEST(keep_alives_for_long)
{
    static const char *const pings[] = {"0d0a0d0a", "00*4", "0001 0000 2112a442 07*12",
                                        "0001 0004 2112a442 07*16"};
    for (guint i = 0; i <= G_N_ELEMENTS(pings); i++) {
        g_autoptr(Steps) s = i ? steps_udp(5060) : steps_new(5060);
        s->midstream = !i;
        for (guint k = 0; k < 12; k++) {
            up(s, pings[i ? i - 1 : 0]);
            down(s, i ? pings[i - 1] : "0d0a");
        }
        request(s, SAY_UP, "REGISTER", "a", 1);
        response(s, SAY_DOWN, 200, "REGISTER", "a", 1);
        check(s, "CALL 1 sip REGISTER\nRET 1 sip 200\n");
    }
}
END_TEST

START_TEST(keep_alives_of_others)
{
    static const char *const texts[] = {"0d0a0d0a", "00*4", "0001 0000 2112a442 07*12", "0a"};
    for (guint i = 0; i < 2 * G_N_ELEMENTS(texts); i++) {
        g_autoptr(Steps) s = i % 2 ? steps_udp(40001) : steps_new(40001);
        for (guint k = 0; k < 3; k++) {
            up(s, texts[i / 2]);
            down(s, texts[i / 2]);
        }
        g_autofree char *result = result_of(s, 1460);
        ck_assert_msg(!strstr(result, "sip") && strstr(result, i % 2 ? "udp" : "tcp"), "%u: %s", i,
                      result);
    }
    g_autoptr(Steps) s = steps_new(5060); // at the port, too, it is something else
    up(s, "0d0a 'hello?' 0d0a");
    down(s, "'what' 0d0a");
    check(s, "CALL 1 tcp -\nRET 1 tcp ok\n");
}
END_TEST

START_TEST(datagrams_between)
{
    g_autoptr(Steps) s = steps_udp(5060);
    request(s, SAY_UP, "REGISTER", "a", 1);
    up(s, "0d0a0d0a");
    up(s, "0001 0000 2112a442 00*12"); // STUN
    up(s, "'jaK' 00");
    response(s, SAY_DOWN, 200, "REGISTER", "a", 1);
    check(s, "CALL 1 sip REGISTER\nRET 1 sip 200\n");
}
END_TEST

START_TEST(long_head)
{
    g_autofree char *x = g_strnfill(20000, 'x');
    g_autofree char *start = g_strdup_printf("INVITE " URI " SIP/2.0\r\nX-Long: %s", x);
    g_autoptr(Steps) s = steps_new(5060);
    add(s, SAY_UP, message(start, "a", 1, "INVITE", ""));
    response(s, SAY_DOWN, 200, "INVITE", "a", 1);
    check(s, "CALL 1 sip INVITE\nRET 1 sip 200\n");
}
END_TEST

// ---- what is missing ----------------------------------------------------------------------------

START_TEST(lost)
{
    g_autoptr(Steps) s = steps_new(5060);
    request(s, SAY_UP, "INVITE", "a", 1);
    request(s, LOSE_UP, "INFO", "b", 2);
    response(s, SAY_DOWN, 200, "INFO", "b", 2);
    request(s, SAY_UP, "INFO", "c", 3);
    response(s, LOSE_DOWN, 200, "INFO", "c", 3);
    response(s, SAY_DOWN, 200, "INVITE", "a", 1);
    check(s, "CALL 1 sip INVITE\nRET - sip 200\nCALL 2 sip INFO\nRET 1 sip 200\n");
}
END_TEST

START_TEST(lost_in_a_body)
{
    g_autofree char *body = g_strnfill(3000, 'x');
    g_autofree char *text = message("MESSAGE " URI " SIP/2.0", "a", 1, "MESSAGE", body);
    g_autoptr(Converse) c = converse_tcp(5060);
    gsize length = strlen(text);
    converse_say(c, BB_TO_SERVER, text, length - 2000);
    converse_lose(c, BB_TO_SERVER, 1000);
    converse_say(c, BB_TO_SERVER, text + length - 1000, 1000);
    g_autofree char *reply = message("SIP/2.0 202 Accepted", "a", 1, "MESSAGE", "");
    converse_text(c, BB_TO_CLIENT, reply);
    g_autofree char *expected = g_strdup_printf("CALL 1 sip MESSAGE %zu\nRET 1 sip 202 %zu\n",
                                                length - 1000, strlen(reply));
    ck_assert_str_eq(converse_result(c), expected);
}
END_TEST

START_TEST(midstream)
{
    g_autoptr(Steps) s = steps_new(5060);
    s->midstream = true;
    response(s, SAY_DOWN, 200, "INVITE", "a", 1);
    request(s, SAY_UP, "BYE", "b", 2);
    response(s, SAY_DOWN, 200, "BYE", "b", 2);
    check(s, "RET - sip 200\nCALL 1 sip BYE\nRET 1 sip 200\n");
}
END_TEST

START_TEST(bytes_that_are_no_message)
{
    g_autoptr(Steps) s = steps_new(5060);
    request(s, SAY_UP, "BYE", "a", 1);
    up(s, "'what is this?' 0d0a0d0a");
    response(s, SAY_DOWN, 200, "BYE", "a", 1);
    request(s, SAY_UP, "BYE", "b", 2);
    response(s, SAY_DOWN, 200, "BYE", "b", 2);
    g_autofree char *result = result_of(s, 1460);
    ck_assert_str_eq(result, "CALL 1 sip BYE\nRET 1 sip 200\nCALL 2 sip BYE\nRET 2 sip 200\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(probe)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {"", BB_MATCH_MORE},
        {"'SIP/2.0 20'", BB_MATCH_MORE},
        {"'SIP/2.0 200 '", BB_MATCH_REPLY},
        {"'SIP/2.0 700 '", BB_MATCH_NO},
        {"'SIP/2.1 200 '", BB_MATCH_NO},
        {"'INVITE'", BB_MATCH_MORE},
        {"'INVITE sip:x'", BB_MATCH_MORE},
        {"'INVITE sip:x SIP/2.0' 0d0a", BB_MATCH_REQUEST},
        {"'INVITE sip:x SIP/2.0' 0a", BB_MATCH_REQUEST},
        {"'INVITE  SIP/2.0' 0d0a", BB_MATCH_NO},
        {"'INVITE sip:x SIP/3.0' 0d0a", BB_MATCH_NO},
        {"'GET / HTTP/1.1' 0d0a", BB_MATCH_NO},
        {"'invite sip:x SIP/2.0' 0d0a", BB_MATCH_NO},
        {"'INVITE sip:' 00 'x SIP/2.0' 0d0a", BB_MATCH_NO},
        {"'ABCDEFGHIJKLMNOPQRSTUVWXYZ'", BB_MATCH_NO},
        {"0d0a0d0a", BB_MATCH_MAYBE},
        {"0d0a 'BY'", BB_MATCH_MORE},
        {"00*4", BB_MATCH_MAYBE},
        {"00*5", BB_MATCH_NO},
        {"0001 0000 2112a442 07*12", BB_MATCH_MAYBE},
        {"0001 0000 2112a442 07*13", BB_MATCH_NO},
        {"0001 0000 2112a441 07*12", BB_MATCH_NO},
        {"0d0a0d0a 'BYE sip:x SIP/2.0' 0d0a", BB_MATCH_REQUEST},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_sip, cases[i].bytes) == cases[i].match, "%s: %d",
                      cases[i].bytes, probe_octets(&bb_decoder_sip, cases[i].bytes));
    check_refusals(&bb_decoder_sip);
}
END_TEST

TEST_MAIN("sip", a_call, out_of_order, cancel, retransmissions, late_retransmissions,
          limit_of_retransmissions, no_room, keys, lengths, bodies_and_keep_alives,
          keep_alive_first, keep_alives_for_long, keep_alives_of_others, datagrams_between,
          long_head, lost, lost_in_a_body, midstream, bytes_that_are_no_message, probe)
