// SPDX-License-Identifier: Apache-2.0
// TLS with keys: what is inside is decoded as what it is, with holes, new keys, alerts; where it
// cannot be decrypted there are turns.
#include "capture/loss.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tls_seal.h"

#define PORT 40001                                           // no usual port: the content must do
#define GET "GET /a HTTP/1.1\r\nHost: b\r\n\r\n"             // 28 bytes
#define OK_X "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" // 39
#define GET_CALL(n) "CALL " n " http GET /a 28\nRET " n " http 200 39\n"
#define TLS_CALL "CALL 1 tls www.example.com %u\nRET 1 tls ok %u\n"

// A connection of a client and a server that know the secrets, as one sees it who has their log.
typedef struct Talk {
    Scratch *scratch;
    const char *path;
    BbTlsKeylog *keylog;
    Converse *c;
    Sealer client, server;
    guint hello, answer; // bytes
    bool mute;           // what is said is not seen
} Talk;

static void talk_clear(Talk *t)
{
    converse_free(t->c);
    bb_tls_keylog_free(t->keylog);
    scratch_free(t->scratch);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Talk, talk_clear)

static void say(Talk *t, BbDirection direction, Octets *bytes)
{
    if (t->mute)
        converse_lose(t->c, direction, bytes->len);
    else
        converse_say(t->c, direction, bytes->data, bytes->len);
    g_byte_array_unref(bytes);
}

static void ask(Talk *t, const char *text)
{
    say(t, BB_TO_SERVER, seal_text(&t->client, text));
}

static void answer(Talk *t, const char *text)
{
    say(t, BB_TO_CLIENT, seal_text(&t->server, text));
}

static void exchange(Talk *t)
{
    ask(t, GET);
    answer(t, OK_X);
}

static void say_hellos(Talk *t, guint16 suite, const char *extensions)
{
    Octets *hello = client_hello("www.example.com");
    Octets *reply = record(HANDSHAKE, server_hello_message(suite, extensions));
    t->hello = hello->len;
    t->answer = reply->len;
    say(t, BB_TO_SERVER, hello);
    say(t, BB_TO_CLIENT, reply);
}

static Talk talk(char *log, guint16 port)
{
    Talk t = {.scratch = scratch_new()};
    t.path = scratch_file(t.scratch, "log", log, strlen(log));
    g_free(log);
    t.keylog = bb_tls_keylog_open(t.path, NULL);
    t.c = converse_tcp_keylog(port, t.keylog);
    return t;
}

static void shake_1_2(Talk *t, guint16 suite, bool encrypt_then_mac)
{
    t->client = sealer_1_2(suite, BB_TO_SERVER, encrypt_then_mac);
    t->server = sealer_1_2(suite, BB_TO_CLIENT, encrypt_then_mac);
    say_hellos(t, suite, encrypt_then_mac ? "0016 0000" : "");
    say(t, BB_TO_CLIENT, record(HANDSHAKE, handshake(14, zeros(0))));
    say(t, BB_TO_SERVER, join(record(HANDSHAKE, handshake(16, zeros(66))), change_cipher()));
    say(t, BB_TO_SERVER, seal(&t->client, HANDSHAKE, handshake(20, zeros(12))));
    say(t, BB_TO_CLIENT,
        join(change_cipher(), seal(&t->server, HANDSHAKE, handshake(20, zeros(12)))));
}

static void shake_1_3(Talk *t, guint16 suite)
{
    t->client = sealer_1_3(suite, BB_TO_SERVER);
    t->server = sealer_1_3(suite, BB_TO_CLIENT);
    say_hellos(t, suite, "002b 0002 0304");
    say(t, BB_TO_CLIENT, join(change_cipher(), data(900))); // with other keys
    say(t, BB_TO_CLIENT, data(FINISHED));
    say(t, BB_TO_SERVER, join(change_cipher(), data(FINISHED)));
    for (guint i = 0; i < 2; i++) // tickets
        say(t, BB_TO_CLIENT, seal(&t->server, HANDSHAKE, handshake(4, zeros(200))));
}

static Talk talk_1_2(guint16 suite)
{
    Talk t = talk(keylog_1_2(), PORT);
    shake_1_2(&t, suite, false);
    return t;
}

static Talk talk_1_3(guint16 suite)
{
    Talk t = talk(keylog_1_3(suite), PORT);
    shake_1_3(&t, suite);
    return t;
}

// What follows the handshake's call.
static void check_rest(Talk *t, const char *expected)
{
    g_autofree char *first = g_strdup_printf(TLS_CALL, t->hello, t->answer);
    g_autofree char *all = g_strconcat(first, expected, NULL);
    ck_assert_str_eq(converse_result(t->c), all);
}

// ---- what is inside -----------------------------------------------------------------------------

START_TEST(http_in_1_2)
{
    static const guint16 suites[] = {0x009c, 0xc030, 0xcca8, 0xc09d, 0xc0a0, 0x002f, 0xc028};
    static const gsize segments[] = {1460, 1, 7, 64};
    for (guint i = 0; i < G_N_ELEMENTS(suites); i++)
        for (guint k = 0; k < G_N_ELEMENTS(segments); k++) {
            g_auto(Talk) t = talk(keylog_1_2(), PORT);
            converse_segment_size(t.c, segments[k]);
            shake_1_2(&t, suites[i], i % 2);
            exchange(&t);
            exchange(&t);
            check_rest(&t, GET_CALL("2") GET_CALL("3"));
            ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 0);
        }
}
END_TEST

START_TEST(http_in_1_3)
{
    static const guint16 suites[] = {0x1301, 0x1302, 0x1303, 0x1304, 0x1305};
    static const gsize segments[] = {1460, 1, 7, 64};
    for (guint i = 0; i < G_N_ELEMENTS(suites); i++)
        for (guint k = 0; k < G_N_ELEMENTS(segments); k++) {
            g_auto(Talk) t = talk(keylog_1_3(suites[i]), PORT);
            converse_segment_size(t.c, segments[k]);
            shake_1_3(&t, suites[i]);
            exchange(&t);
            exchange(&t);
            check_rest(&t, GET_CALL("2") GET_CALL("3"));
        }
}
END_TEST

// Messages in many records, several in one; the first packet's stamp is the message's.
START_TEST(records_and_messages)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    ask(&t, "GET /a HT");
    ask(&t, "TP/1.1\r\nHost: b\r\n\r\nGET /b HTTP/1.1\r\n");
    ask(&t, "\r\n");
    answer(&t, OK_X "HTTP/1.1 404 No\r\n");
    answer(&t, "Content-Length: 0\r\n\r\n");
    check_rest(&t, "CALL 2 http GET /a 28\nCALL 3 http GET /b 19\nRET 2 http 200 39\n"
                   "RET 3 http 404 38\n");
    gint64 asked = converse_first_ms(t.c, 2);
    ck_assert_int_eq(converse_last_ms(t.c, 2), asked + 1);
    ck_assert_int_eq(converse_first_ms(t.c, 3), asked + 1);
    ck_assert_int_eq(converse_last_ms(t.c, 3), asked + 2);
    ck_assert_int_eq(converse_first_ms(t.c, 5), asked + 3);
    ck_assert_int_eq(converse_last_ms(t.c, 5), asked + 4);
}
END_TEST

// A record in several packets: a message's first byte has the stamp of its own packet.
START_TEST(stamps_inside_of_a_record)
{
    g_autofree char *body = g_strnfill(3000, 'x');
    g_autofree char *text = g_strconcat("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n", body,
                                        "HTTP/1.1 204 No\r\n\r\n", NULL);
    g_auto(Talk) t = talk_1_3(0x1303);
    ask(&t, GET GET);
    answer(&t, text);
    check_rest(&t, "CALL 2 http GET /a 28\nCALL 3 http GET /a 28\nRET 2 http 200 3041\n"
                   "RET 3 http 204 19\n");
    ck_assert_int_eq(converse_first_ms(t.c, 5), converse_first_ms(t.c, 4) + 2);
}
END_TEST

START_TEST(key_update)
{
    g_auto(Talk) t = talk_1_3(0x1302);
    exchange(&t);
    say(&t, BB_TO_SERVER, seal(&t.client, HANDSHAKE, handshake(24, octets("01"))));
    seal_update(&t.client);
    ask(&t, GET);
    say(&t, BB_TO_CLIENT, seal(&t.server, HANDSHAKE, handshake(24, octets("00"))));
    seal_update(&t.server);
    answer(&t, OK_X);
    exchange(&t);
    check_rest(&t, GET_CALL("2") GET_CALL("3") GET_CALL("4"));
}
END_TEST

// A record of the server that holds messages of the handshake.
static void say_messages(Talk *t, Octets *text)
{
    say(t, BB_TO_CLIENT, seal(&t->server, HANDSHAKE, text));
}

START_TEST(key_update_among_messages)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    say_messages(&t, join(handshake(4, zeros(200)), handshake(24, octets("00")))); // and a ticket
    seal_update(&t.server);
    exchange(&t);
    say_messages(&t, handshake(4, octets("18 00 00 01"))); // what is none
    say_messages(&t, octets("04 0000c8 00*100"));          // the parts of a ticket
    say_messages(&t, octets("18 00*99 04 00"));            // and the next one's head
    say_messages(&t, octets("0004 aa*4 18 000001 00"));
    seal_update(&t.server);
    exchange(&t);
    check_rest(&t, GET_CALL("2") GET_CALL("3"));
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 0);
}
END_TEST

// Where records are missing, a part is none of what was under way before them, and a record of
// nothing but a KeyUpdate is one whatever is thought to be under way.
START_TEST(key_update_after_a_loss)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    say_messages(&t, octets("04 0000c8 00*100"));
    t.mute = true;
    say_messages(&t, octets("00*100"));
    t.mute = false;
    say_messages(&t, octets("07 ffffff 00*90"));
    say_messages(&t, handshake(24, octets("01")));
    seal_update(&t.server);
    exchange(&t);
    check_rest(&t, GET_CALL("2"));
}
END_TEST

START_TEST(alerts)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    exchange(&t);
    say(&t, BB_TO_CLIENT, seal(&t.server, ALERT, octets("0250"))); // internal_error
    say(&t, BB_TO_SERVER, seal(&t.client, ALERT, octets("0100")));
    check_rest(&t, GET_CALL("2") "MSG < tls alert internal_error 24\n");
}
END_TEST

// A body that lasts until the end: close_notify is it.
START_TEST(close_notify)
{
    g_auto(Talk) t = talk_1_2(0xc02f);
    ask(&t, GET);
    answer(&t, "HTTP/1.1 200 OK\r\n\r\nabc");
    say(&t, BB_TO_CLIENT, seal(&t.server, ALERT, octets("0100")));
    say(&t, BB_TO_SERVER, seal(&t.client, ALERT, octets("0100")));
    check_rest(&t, "CALL 2 http GET /a 28\nRET 2 http 200 22\n");
}
END_TEST

START_TEST(padded)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    Octets *text = octets("'"
                          "GET /a HTTP/1.1"
                          "' 0d0a0d0a");
    say(&t, BB_TO_SERVER, seal_padded(&t.client, DATA, text, 300));
    answer(&t, OK_X);
    check_rest(&t, "CALL 2 http GET /a 19\nRET 2 http 200 39\n");
}
END_TEST

// What is inside is no known protocol: turns of what it says.
START_TEST(unknown_inside)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    ask(&t, "\x01\x02\x03");
    answer(&t, "\x04\x05");
    check_rest(&t, "CALL 2 tcp - 3\nRET 2 tcp ok 2\n");
}
END_TEST

// ---- holes --------------------------------------------------------------------------------------

START_TEST(lost_exchanges)
{
    for (guint new = 0; new < 2; new ++) {
        g_auto(Talk) t = new ? talk_1_3(0x1301) : talk_1_2(0x002f);
        exchange(&t);
        t.mute = true;
        exchange(&t);
        exchange(&t);
        t.mute = false;
        exchange(&t);
        exchange(&t);
        const char *result = converse_result(t.c);
        ck_assert_msg(g_str_has_suffix(result, GET_CALL("4")), "%s", result);
        ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 0);
    }
}
END_TEST

START_TEST(lost_reply)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    ask(&t, GET);
    t.mute = true;
    answer(&t, OK_X);
    t.mute = false;
    exchange(&t);
    exchange(&t);
    check_rest(&t, "CALL 2 http GET /a 28\n" GET_CALL("3") GET_CALL("4"));
}
END_TEST

// Whole records of a body are missing: it is known how much they held.
START_TEST(lost_in_a_body)
{
    static const guint16 suites[] = {0x1301, 0x1305, 0xc02f, 0xcca8, 0xc0a0};
    g_autofree char *part = g_strnfill(1000, 'x');
    for (guint i = 0; i < G_N_ELEMENTS(suites); i++) {
        g_auto(Talk) t = suites[i] >> 8 == 0x13 ? talk_1_3(suites[i]) : talk_1_2(suites[i]);
        ask(&t, GET);
        answer(&t, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
        for (guint k = 0; k < 5; k++) {
            t.mute = k == 1 || k == 2;
            answer(&t, part);
        }
        exchange(&t);
        check_rest(&t, "CALL 2 http GET /a 28\nRET 2 http 200 3041\n" GET_CALL("3"));
    }
}
END_TEST

// A packet in the middle of a record: the rest of it cannot be opened.
START_TEST(hole_in_a_record)
{
    g_autofree char *part = g_strnfill(4000, 'x');
    g_autofree char *text =
        g_strconcat("HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n", part, NULL);
    g_auto(Talk) t = talk_1_3(0x1301);
    ask(&t, GET);
    answer(&t, text);
    g_autoptr(Octets) cut = seal_text(&t.server, part);
    converse_say(t.c, BB_TO_CLIENT, cut->data, 1460);
    converse_lose(t.c, BB_TO_CLIENT, 1460);
    converse_say(t.c, BB_TO_CLIENT, cut->data + 2920, cut->len - 2920);
    exchange(&t);
    check_rest(&t, "CALL 2 http GET /a 28\nRET 2 http 200 4041\n" GET_CALL("3"));
}
END_TEST

START_TEST(too_much_lost)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    exchange(&t);
    t.client.number += 2000; // more than is tried
    converse_lose(t.c, BB_TO_SERVER, 50000);
    for (guint i = 0; i < 6; i++) {
        ask(&t, GET);
        answer(&t, OK_X);
    }
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 1);
    ck_assert(g_str_has_suffix(converse_result(t.c), "tls ok 61\n")); // by turns
}
END_TEST

START_TEST(damaged_record)
{
    g_auto(Talk) t = talk_1_3(0x1301);
    exchange(&t);
    Octets *bad = seal_text(&t.client, GET);
    bad->data[20] ^= 1;
    say(&t, BB_TO_SERVER, bad);
    answer(&t, OK_X);
    exchange(&t);
    exchange(&t);
    // Without anything missing the next number is the only one: all that follows is closed.
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 0);
    ck_assert(
        g_str_has_prefix(strchr(strchr(converse_result(t.c), '\n') + 1, '\n') + 1, GET_CALL("2")));
}
END_TEST

// ---- no keys, or of no use ----------------------------------------------------------------------

START_TEST(unknown_secrets)
{
    g_auto(Talk) t = talk(g_strdup("CLIENT_RANDOM 00 00\n"), PORT);
    shake_1_3(&t, 0x1301);
    exchange(&t);
    exchange(&t);
    check_rest(&t, "CALL 2 tls - 50\nRET 2 tls ok 61\nCALL 3 tls - 50\nRET 3 tls ok 61\n");
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_KEYS_UNKNOWN), 1);
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 0);
}
END_TEST

START_TEST(wrong_secrets)
{
    g_auto(Talk) t = talk(keylog_1_3(0x1301), PORT);
    shake_1_3(&t, 0x1301);
    memset(t.client.key, 1, 16);
    memset(t.server.key, 1, 16);
    for (guint i = 0; i < 70; i++)
        exchange(&t);
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 1);
    ck_assert(g_str_has_suffix(converse_result(t.c), "tls ok 61\n"));
}
END_TEST

// The log is written while the connection goes on.
START_TEST(secrets_that_come_late)
{
    for (guint new = 0; new < 2; new ++) {
        g_auto(Talk) t = talk(g_strdup(""), PORT);
        g_autofree char *log = new ? keylog_1_3(0x1301) : keylog_1_2();
        new ? shake_1_3(&t, 0x1301) : shake_1_2(&t, 0xc02f, false);
        FILE *file = fopen(t.path, "a");
        fputs(log, file);
        fclose(file);
        exchange(&t);
        check_rest(&t, GET_CALL("2"));
        ck_assert_uint_eq(converse_loss(t.c, BB_TLS_KEYS_UNKNOWN), 0);
    }
}
END_TEST

START_TEST(unknown_suite)
{
    g_auto(Talk) t = talk(keylog_1_2(), PORT);
    t.client = sealer_1_2(0xc02f, BB_TO_SERVER, false);
    t.server = sealer_1_2(0xc02f, BB_TO_CLIENT, false);
    say_hellos(&t, 0x000a, "");
    say(&t, BB_TO_SERVER, change_cipher());
    say(&t, BB_TO_CLIENT, change_cipher());
    exchange(&t);
    check_rest(&t, "CALL 2 tls - 57\nRET 2 tls ok 68\n");
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 1);
}
END_TEST

// 0-RTT: what was said with other keys would be missing inside.
START_TEST(early_data)
{
    g_auto(Talk) t = talk(keylog_1_3(0x1301), PORT);
    t.client = sealer_1_3(0x1301, BB_TO_SERVER);
    t.server = sealer_1_3(0x1301, BB_TO_CLIENT);
    Octets *hello = record(HANDSHAKE, client_hello_message("www.example.com", EARLY_DATA));
    t.hello = hello->len;
    say(&t, BB_TO_SERVER, join(hello, data(100)));
    Octets *reply = server_hello(SUITE_1_3);
    t.answer = reply->len;
    say(&t, BB_TO_CLIENT, join(reply, data(500)));
    say(&t, BB_TO_SERVER, data(FINISHED));
    exchange(&t);
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 1);
    ck_assert(!strstr(converse_result(t.c), "http"));
}
END_TEST

// A handshake under the keys of the one before. What follows has its own, and another suite.
static void shake_again(Talk *t)
{
    static const guint8 client = 0xc2, server = 0x5f;
    Octets *hello = client_hello_message("a.example.com", "");
    Octets *reply = server_hello_message(0x002f, "");
    memset(hello->data + 6, client, 32);
    memset(reply->data + 6, server, 32);
    say(t, BB_TO_SERVER, seal(&t->client, HANDSHAKE, hello));
    say(t, BB_TO_CLIENT, seal(&t->server, HANDSHAKE, join(reply, handshake(14, zeros(0)))));
    say(t, BB_TO_SERVER, seal(&t->client, HANDSHAKE, handshake(16, zeros(66))));
    say(t, BB_TO_SERVER, seal(&t->client, CCS, octets("01")));
    t->client = sealer_1_2_of(0x002f, BB_TO_SERVER, false, client, server);
    say(t, BB_TO_SERVER, seal(&t->client, HANDSHAKE, handshake(20, zeros(12))));
    say(t, BB_TO_CLIENT, seal(&t->server, CCS, octets("01")));
    t->server = sealer_1_2_of(0x002f, BB_TO_CLIENT, false, client, server);
    say(t, BB_TO_CLIENT, seal(&t->server, HANDSHAKE, handshake(20, zeros(12))));
}

START_TEST(renegotiation)
{
    GString *log = g_string_new(NULL);
    put_master(log, 0xc1);
    put_master(log, 0xc2);
    g_auto(Talk) t = talk(g_string_free(log, FALSE), PORT);
    shake_1_2(&t, 0xc02f, false);
    exchange(&t);
    shake_again(&t);
    exchange(&t);
    exchange(&t);
    check_rest(&t, GET_CALL("2") GET_CALL("3") GET_CALL("4"));
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_UNDECRYPTED), 0);
}
END_TEST

START_TEST(renegotiation_without_secrets)
{
    g_auto(Talk) t = talk_1_2(0xc02f);
    exchange(&t);
    shake_again(&t);
    exchange(&t);
    check_rest(&t, GET_CALL("2") "CALL 3 tls - 85\nRET 3 tls ok 85\n");
    ck_assert_uint_eq(converse_loss(t.c, BB_TLS_KEYS_UNKNOWN), 1);
}
END_TEST

TEST_MAIN("tls_inner", http_in_1_2, http_in_1_3, records_and_messages, stamps_inside_of_a_record,
          key_update, key_update_among_messages, key_update_after_a_loss, alerts, close_notify,
          padded, unknown_inside, lost_exchanges, lost_reply, lost_in_a_body, hole_in_a_record,
          too_much_lost, damaged_record, unknown_secrets, wrong_secrets, secrets_that_come_late,
          unknown_suite, early_data, renegotiation, renegotiation_without_secrets)
