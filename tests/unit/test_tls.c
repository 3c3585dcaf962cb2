// SPDX-License-Identifier: Apache-2.0
// TLS without keys: handshakes, turns, what is hidden in TLS 1.3, alerts, joined in the middle,
// holes, what is no TLS.
#include "capture/decoder.h"
#include "capture/loss.h"
#include "tests/unit/tls_talk.h"

#define PORT 443

static Steps *on_port(guint16 port)
{
    return steps_new(port);
}

static void check_text(const Steps *s, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void check_text(const Steps *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *expected = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    steps_check(s, expected);
}

#define HELLO_SIZE size_of(client_hello("www.example.com"))
#define ANSWER_1_2 size_of(server_hello(SUITE_1_2))
#define ANSWER_1_3 size_of(server_hello(SUITE_1_3))

// ---- handshakes ---------------------------------------------------------------------------------

START_TEST(handshake_and_turns_1_2)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_2(s, "www.example.com");
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(200));
    step(s, SAY_DOWN, data(3000));
    step(s, SAY_UP, join(data(50), data(50)));
    step(s, SAY_DOWN, data(10));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n"
               "CALL 2 tls - 105\nRET 2 tls ok 3210\nCALL 3 tls - 110\nRET 3 tls ok 15\n",
               HELLO_SIZE, ANSWER_1_2);
}
END_TEST

START_TEST(handshake_and_turns_1_3)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(250)); // tickets
    step(s, SAY_DOWN, data(250));
    step(s, SAY_DOWN, data(400));
    step(s, SAY_UP, data(60));
    step(s, SAY_DOWN, data(250)); // and this is none
    step(s, SAY_UP, data(19));    // close_notify
    step(s, SAY_DOWN, data(19));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n"
               "CALL 2 tls - 105\nRET 2 tls ok 405\nCALL 3 tls - 65\nRET 3 tls ok 255\n",
               HELLO_SIZE, ANSWER_1_3);
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

// The suite tells the length of a Finished: with SHA-384 it is longer.
START_TEST(finished_by_suite)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello(NULL));
    step(s, SAY_DOWN, join(server_hello(SHA384_SUITE), data(600)));
    step(s, SAY_UP, join(data(700), data(300))); // certificate, signature
    step(s, SAY_UP, join(data(69), data(90)));
    step(s, SAY_DOWN, data(30));
    check_text(s, "CALL 1 tls - %u\nRET 1 tls ok %u\nCALL 2 tls - 95\nRET 2 tls ok 35\n",
               size_of(client_hello(NULL)), ANSWER_1_3);
}
END_TEST

// All of the client's handshake in one record.
START_TEST(finished_with_certificate)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("a.example.com"));
    step(s, SAY_DOWN, join(server_hello(SUITE_1_3), data(600)));
    step(s, SAY_UP, data(1100));
    step(s, SAY_UP, data(90));
    step(s, SAY_DOWN, data(30));
    check_text(s,
               "CALL 1 tls a.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 95\nRET 2 tls ok 35\n",
               size_of(client_hello("a.example.com")), ANSWER_1_3);
}
END_TEST

// The answer is one record that looks like a ticket: there is nothing else to answer.
START_TEST(answer_like_a_ticket)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(250));
    step(s, SAY_UP, data(101));
    step(s, SAY_DOWN, data(300));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 105\n"
               "RET 2 tls ok 255\nCALL 3 tls - 106\nRET 3 tls ok 305\n",
               HELLO_SIZE, ANSWER_1_3);
}
END_TEST

// Tickets that come before the client asks.
START_TEST(tickets_first)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_DOWN, join(data(250), data(250)));
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(20));
    check_text(
        s, "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 105\nRET 2 tls ok 25\n",
        HELLO_SIZE, ANSWER_1_3);
}
END_TEST

// Each ticket is a packet of its own, and the client does not wait for the second one.
START_TEST(call_between_tickets)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_DOWN, data(250));
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(250));
    step(s, SAY_DOWN, data(400));
    step(s, SAY_UP, data(60));
    step(s, SAY_DOWN, data(250)); // and this is none
    step(s, SAY_UP, data(19));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n"
               "CALL 2 tls - 105\nRET 2 tls ok 405\nCALL 3 tls - 65\nRET 3 tls ok 255\n",
               HELLO_SIZE, ANSWER_1_3);
}
END_TEST

// The second one waited for the acknowledgement of the first (Nagle), and so goes with the answer:
// that begins there.
START_TEST(ticket_with_answer)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(250));
    step(s, SAY_DOWN, join(data(250), data(131)));
    g_autoptr(Converse) c = steps_play(s, 1460);
    const char *answer = strstr(converse_result(c), "RET 2");
    ck_assert_pstr_eq(answer, "RET 2 tls ok 391\n");
}
END_TEST

// The answer has the length of the ticket that came before.
START_TEST(answer_of_a_tickets_length)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_DOWN, data(250));
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(250));
    check_text(
        s, "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 105\nRET 2 tls ok 255\n",
        HELLO_SIZE, ANSWER_1_3);
}
END_TEST

START_TEST(names)
{
    static const struct {
        const char *name, *label;
    } cases[] = {
        {"WWW.Example.COM", "www.example.com"}, {"web17.example.com", "*.example.com"},
        {"x_y.example.com", "x_y.example.com"}, {"a b.example.com", "-"},
        {"\xc3\xa4.example.com", "-"},          {"", "-"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Steps) s = on_port(40001);
        step(s, SAY_UP, client_hello(cases[i].name));
        step(s, SAY_DOWN, server_hello(SUITE_1_2));
        check_text(s, "CALL 1 tls %s %u\nRET 1 tls ok %u\n", cases[i].label,
                   size_of(client_hello(cases[i].name)), ANSWER_1_2);
    }
}
END_TEST

// One call, whatever the server makes of the first hello.
START_TEST(retry)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, join(retry_request(), change_cipher()));
    step(s, SAY_UP, join(change_cipher(), client_hello("www.example.com")));
    step(s, SAY_DOWN, join(server_hello(SUITE_1_3), data(500)));
    step(s, SAY_UP, join(data(FINISHED), data(80)));
    step(s, SAY_DOWN, data(30));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 85\nRET 2 tls ok 35\n",
               HELLO_SIZE, ANSWER_1_3);
}
END_TEST

// A hello in two records: its name stands in the first.
START_TEST(hello_in_parts)
{
    g_autoptr(Steps) s = on_port(40001);
    g_autoptr(Octets) message = client_hello_message("www.example.com", "0015 0080 00*128");
    Octets *first = g_byte_array_new(), *second = g_byte_array_new();
    octets_put(first, message->data, 100);
    octets_put(second, message->data + 100, message->len - 100);
    step(s, SAY_UP, record(HANDSHAKE, first));
    step(s, SAY_UP, record(HANDSHAKE, second));
    step(s, SAY_DOWN, server_hello(SUITE_1_2));
    check_text(s, "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n", message->len + 10,
               ANSWER_1_2);
}
END_TEST

// RFC 5246, appendix E.2.
START_TEST(hello_of_ssl_2)
{
    g_autoptr(Steps) s = on_port(40001);
    up(s, "802e 01 0301 0015 0000 0010 010080 00000a 000009 000064 000062 000003 000006"
          "5a*16");
    step(s, SAY_DOWN, server_hello(SUITE_1_2));
    check_text(s, "CALL 1 tls - 48\nRET 1 tls ok %u\n", ANSWER_1_2);
}
END_TEST

// ---- refusals and alerts ------------------------------------------------------------------------

START_TEST(refused)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, alert(FATAL, HANDSHAKE_FAILURE));
    check_text(s, "CALL 1 tls www.example.com %u\nRET 1 tls handshake_failure 7\n", HELLO_SIZE);
}
END_TEST

START_TEST(warned)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, join(alert(WARNING, UNRECOGNIZED_NAME), server_hello(SUITE_1_2)));
    check_text(s, "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n", HELLO_SIZE, ANSWER_1_2);
}
END_TEST

START_TEST(closed_at_once)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, alert(WARNING, CLOSE_NOTIFY));
    check_text(s, "CALL 1 tls www.example.com %u\nRET 1 tls close_notify 7\n", HELLO_SIZE);
}
END_TEST

START_TEST(alert_of_a_number_without_name)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, alert(FATAL, 200));
    check_text(s, "CALL 1 tls www.example.com %u\nRET 1 tls unknown 7\n", HELLO_SIZE);
}
END_TEST

// The client does not like the certificate.
START_TEST(alert_of_the_client)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, server_hello(SUITE_1_2));
    step(s, SAY_UP, alert(FATAL, UNKNOWN_CA));
    check_text(s, "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nMSG > tls alert unknown_ca 7\n",
               HELLO_SIZE, ANSWER_1_2);
}
END_TEST

// ---- what goes one way --------------------------------------------------------------------------

START_TEST(server_speaks_first)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_2(s, "www.example.com");
    step(s, SAY_DOWN, data(70));
    step(s, SAY_UP, data(10));
    step(s, SAY_DOWN, data(20));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nMSG < tls - 75\nCALL 2 tls - 15\n"
               "RET 2 tls ok 25\n",
               HELLO_SIZE, ANSWER_1_2);
}
END_TEST

// What the client says before it closes is no call; where the server closes it is one that failed.
START_TEST(last_words)
{
    enum { NOTIFIES, CLOSES, IS_CLOSED };
    for (guint way = NOTIFIES; way <= IS_CLOSED; way++) {
        g_autoptr(Steps) s = on_port(40001);
        shake_hands_1_2(s, "www.example.com");
        step(s, SAY_UP, data(10));
        step(s, SAY_DOWN, data(20));
        step(s, SAY_UP, data(30));
        if (way == NOTIFIES)
            step(s, SAY_UP, record(ALERT, zeros(26)));
        step(s, way == CLOSES ? END_UP : END_DOWN, zeros(0));
        check_text(s,
                   "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 15\n"
                   "RET 2 tls ok 25\n%s 35\n",
                   HELLO_SIZE, ANSWER_1_2, way == IS_CLOSED ? "CALL 3 tls -" : "MSG > tls -");
    }
}
END_TEST

// Who gives a call up says so when it closes, which is no part of the call.
START_TEST(answered_too_late)
{
    g_autoptr(Steps) s = on_port(40001);
    shake_hands_1_3(s, "www.example.com");
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(400));
    step(s, SAY_UP, data(60));
    step(s, SAY_UP, data(19)); // close_notify
    step(s, END_UP, zeros(0));
    step(s, SAY_DOWN, data(300));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n"
               "CALL 2 tls - 105\nRET 2 tls ok 405\nCALL 3 tls - 65\nRET 3 tls ok 305\n",
               HELLO_SIZE, ANSWER_1_3);
}
END_TEST

static void say(Converse *c, BbDirection direction, Octets *bytes)
{
    converse_say(c, direction, bytes->data, bytes->len);
    g_byte_array_unref(bytes);
}

// Long after its answer the server pushes: free messages, each burst one.
START_TEST(pushes)
{
    g_autoptr(Converse) c = converse_tcp_midstream(PORT);
    say(c, BB_TO_SERVER, data(10));
    say(c, BB_TO_CLIENT, data(20));
    converse_wait(c, 900);
    say(c, BB_TO_CLIENT, data(20)); // still the answer
    converse_wait(c, 1000);
    say(c, BB_TO_CLIENT, data(30));
    say(c, BB_TO_CLIENT, data(30));
    converse_wait(c, 100);
    say(c, BB_TO_CLIENT, data(40));
    say(c, BB_TO_SERVER, data(11));
    say(c, BB_TO_CLIENT, data(21));
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 tls - 15\nRET 1 tls ok 50\nMSG < tls - 70\nMSG < tls - 45\n"
                     "CALL 2 tls - 16\nRET 2 tls ok 26\n");
}
END_TEST

// One side only: each burst is a message.
START_TEST(one_way_stream)
{
    g_autoptr(Converse) c = converse_tcp_midstream(PORT);
    say(c, BB_TO_SERVER, data(10));
    say(c, BB_TO_SERVER, data(10));
    converse_wait(c, 100);
    say(c, BB_TO_SERVER, data(1000));
    ck_assert_str_eq(converse_result(c), "MSG > tls - 30\nMSG > tls - 1005\n");
}
END_TEST

// ---- in the middle, with holes ------------------------------------------------------------------

START_TEST(midstream_by_port)
{
    g_autoptr(Steps) s = on_port(PORT);
    s->midstream = true;
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(2000));
    check_text(s, "CALL 1 tls - 105\nRET 1 tls ok 2005\n");
}
END_TEST

START_TEST(midstream_by_both_sides)
{
    g_autoptr(Steps) s = on_port(33333);
    s->midstream = true;
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(500));
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(500));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 tls - 105\nRET 1 tls ok 505\nCALL 2 tls - 105\nRET 2 tls ok 505\n");
}
END_TEST

// A packet in the middle of a long record: nothing is lost but its bytes.
START_TEST(hole_in_a_record)
{
    g_autoptr(Converse) c = converse_tcp_midstream(PORT);
    say(c, BB_TO_SERVER, data(100));
    g_autoptr(Octets) answer = data(4000);
    converse_say(c, BB_TO_CLIENT, answer->data, 1460);
    converse_lose(c, BB_TO_CLIENT, 1460);
    converse_say(c, BB_TO_CLIENT, answer->data + 2920, answer->len - 2920);
    say(c, BB_TO_SERVER, data(60));
    say(c, BB_TO_CLIENT, data(70));
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 tls - 105\nRET 1 tls ok 2545\nCALL 2 tls - 65\nRET 2 tls ok 75\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

// The head of a record is missing: the next one is found behind it. What is left of the answer is
// nobody's.
START_TEST(hole_with_heads)
{
    g_autoptr(Converse) c = converse_tcp_midstream(PORT);
    say(c, BB_TO_SERVER, data(100));
    say(c, BB_TO_CLIENT, data(200));
    say(c, BB_TO_SERVER, data(100));
    converse_lose(c, BB_TO_CLIENT, 700);
    g_autoptr(Octets) rest = join(zeros(333), join(data(50), data(60)));
    converse_say(c, BB_TO_CLIENT, rest->data, rest->len);
    say(c, BB_TO_SERVER, data(60));
    say(c, BB_TO_CLIENT, data(70));
    ck_assert_str_eq(converse_result(c), "CALL 1 tls - 105\nRET 1 tls ok 205\nCALL 2 tls - 105\n"
                                         "RET - tls ok 120\nCALL 3 tls - 65\nRET 3 tls ok 75\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(lost_server_hello)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, LOSE_DOWN, server_hello(SUITE_1_2));
    step(s, SAY_UP, join(change_cipher(), record(HANDSHAKE, zeros(40))));
    step(s, SAY_DOWN, join(change_cipher(), record(HANDSHAKE, zeros(40))));
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(200));
    check_text(s, "CALL 1 tls www.example.com %u\nCALL 2 tls - 105\nRET 2 tls ok 205\n",
               HELLO_SIZE);
}
END_TEST

// Hellos of which the server's is cut off behind so many bytes.
static void say_cut_hellos(Steps *s, const Octets *whole, guint end)
{
    Octets *head = g_byte_array_new(), *tail = g_byte_array_new();
    octets_put(head, whole->data, end);
    octets_put(tail, whole->data + end, whole->len - end);
    step(s, SAY_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, head);
    step(s, LOSE_DOWN, join(tail, data(900)));
}

// The snap length ends within the server's hello, or behind it: a Finished is no call, nor do
// tickets answer it, nor is it one to say goodbye.
START_TEST(cut_handshakes)
{
    Octets *whole = server_hello(SUITE_1_3);
    const guint ends[] = {20, 50, whole->len - 2, whole->len};
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autoptr(Steps) s = on_port(40001);
        say_cut_hellos(s, whole, ends[i]);
        step(s, SAY_UP, join(change_cipher(), data(53)));
        step(s, SAY_UP, data(100));
        step(s, SAY_DOWN, data(250)); // tickets
        step(s, SAY_DOWN, data(250));
        step(s, SAY_DOWN, data(400));
        step(s, SAY_UP, data(19)); // close_notify
        check_text(s,
                   "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n"
                   "CALL 2 tls - 105\nRET 2 tls ok 405\n",
                   HELLO_SIZE, ends[i]);
    }
    g_byte_array_unref(whole);
}
END_TEST

// Behind the cipher suite, which tells the length of a Finished: the client's certificate is no
// call.
START_TEST(cut_handshake_with_certificate)
{
    g_autoptr(Steps) s = on_port(40001);
    Octets *whole = server_hello(SHA384_SUITE);
    guint end = whole->len - 2;
    say_cut_hellos(s, whole, end);
    step(s, SAY_UP, join(join(change_cipher(), data(700)), data(300))); // certificate, signature
    step(s, SAY_UP, join(data(69), data(90)));
    step(s, SAY_DOWN, data(30));
    check_text(s,
               "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\nCALL 2 tls - 95\nRET 2 tls ok 35\n",
               HELLO_SIZE, end);
    g_byte_array_unref(whole);
}
END_TEST

START_TEST(lost_client_hello)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, LOSE_UP, client_hello("www.example.com"));
    step(s, SAY_DOWN, server_hello(SUITE_1_2));
    step(s, SAY_UP, change_cipher());
    step(s, SAY_UP, data(100));
    step(s, SAY_DOWN, data(200));
    check_text(s, "RET - tls ok %u\nCALL 1 tls - 105\nRET 1 tls ok 205\n", ANSWER_1_2);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 1);
}
END_TEST

// ---- what is no TLS -----------------------------------------------------------------------------

// A server that does not speak it answers in its own way.
START_TEST(answered_in_clear)
{
    g_autoptr(Steps) s = on_port(40001);
    step(s, SAY_UP, client_hello("www.example.com"));
    down(s, "'HTTP/1.1 400 Bad Request' 0d0a 'Content-Length: 0' 0d0a0d0a");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(g_str_has_prefix(converse_result(c), "CALL 1 tls www.example.com"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
}
END_TEST

START_TEST(bytes_that_are_no_record)
{
    g_autoptr(Steps) s = on_port(PORT);
    s->midstream = true;
    step(s, SAY_UP, data(10));
    step(s, SAY_DOWN, data(20));
    step(s, SAY_UP, zeros(30));
    step(s, SAY_UP, data(40));
    step(s, SAY_DOWN, data(20));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}
END_TEST

START_TEST(probe)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {"", BB_MATCH_MORE},
        {"16", BB_MATCH_MORE},
        {"16 03", BB_MATCH_MORE},
        {"16 03 01 0031 01 00002d 03", BB_MATCH_MORE},
        {"16 03 01 0031 01 00002d 0303", BB_MATCH_REQUEST},
        {"16 03 01 0031 01 00002c 0303", BB_MATCH_NO},      // shorter than its record
        {"16 03 01 0031 01 000100 0303", BB_MATCH_REQUEST}, // goes on in another one
        {"16 03 01 0031 01 010000 0303", BB_MATCH_NO},
        {"16 03 01 0031 01 00002d 0304", BB_MATCH_NO},
        {"16 03 03 0031 02 00002d 0303", BB_MATCH_REPLY},
        {"16 03 03 0100 02 00002d 0303", BB_MATCH_REPLY}, // with more behind it
        {"16 03 03 0031 02 00002e 0303", BB_MATCH_NO},
        {"16 03 03 0004 0e 000000", BB_MATCH_LIKELY},
        {"16 03 03 0004 0e 000001", BB_MATCH_NO},
        {"16 03 05 0004 0e 000000", BB_MATCH_NO},
        {"17 03 03 0010 00*16", BB_MATCH_LIKELY},
        {"17 03 03 4000 00*16", BB_MATCH_LIKELY},
        {"17 03 03 4801 00*16", BB_MATCH_NO}, // too long
        {"17 03 03 0000", BB_MATCH_NO},
        {"17 03 03 0002 0000 17 03 03 0001", BB_MATCH_LIKELY},
        {"17 03 03 0002 0000 18 04 03 0001", BB_MATCH_NO}, // nothing behind it
        {"15 03 03 0002 02 28", BB_MATCH_LIKELY},
        {"15 03 03 0002 03 28", BB_MATCH_NO},
        {"15 03 03 0002 02 ff", BB_MATCH_NO},
        {"15 03 03 0002 02", BB_MATCH_MORE},
        {"14 03 03 0001 01", BB_MATCH_LIKELY},
        {"14 03 03 0001 02", BB_MATCH_NO},
        {"18 03 03 0001 02", BB_MATCH_NO},
        {"19 03", BB_MATCH_NO},
        {"16 04", BB_MATCH_NO},
        {"80", BB_MATCH_MORE},
        {"802e 01 0301 0015 0000 00", BB_MATCH_MORE},
        {"802e 01 0301 0015 0000 0010", BB_MATCH_REQUEST},
        {"802e 01 0002 0015 0000 0010", BB_MATCH_NO}, // SSL 2 itself is not read
        {"802f 01 0301 0015 0000 0010", BB_MATCH_NO},
        {"802e 04 0301 0015 0000 0010", BB_MATCH_NO},
        {"'GET / HTTP/1.1' 0d0a", BB_MATCH_NO},
        {"0000 0008 04d2 162f", BB_MATCH_NO},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_tls, cases[i].bytes) == cases[i].match, "%s: %d",
                      cases[i].bytes, probe_octets(&bb_decoder_tls, cases[i].bytes));
}
END_TEST

// Random bytes are of no protocol.
START_TEST(random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(446);
    for (guint i = 0; i < 20000; i++) {
        guint8 bytes[64];
        for (gsize k = 0; k < sizeof bytes; k++)
            bytes[k] = (guint8)g_rand_int(rand);
        BbMatch match = bb_decoder_tls.probe(bytes, sizeof bytes);
        ck_assert_msg(match == BB_MATCH_NO, "round %u: %d", i, match);
    }
}
END_TEST

TEST_MAIN("tls", handshake_and_turns_1_2, handshake_and_turns_1_3, finished_by_suite,
          finished_with_certificate, answer_like_a_ticket, tickets_first, call_between_tickets,
          ticket_with_answer, answer_of_a_tickets_length, names, retry, hello_in_parts,
          hello_of_ssl_2, refused, warned, closed_at_once, alert_of_a_number_without_name,
          alert_of_the_client, server_speaks_first, last_words, answered_too_late, pushes,
          one_way_stream, midstream_by_port, midstream_by_both_sides, hole_in_a_record,
          hole_with_heads, lost_server_hello, cut_handshakes, cut_handshake_with_certificate,
          lost_client_hello, answered_in_clear, bytes_that_are_no_record, probe, random_bytes)
