// SPDX-License-Identifier: Apache-2.0
// JSON-RPC: texts in a stream and behind headers, ids of every kind, batches, errors, loss.
#include "capture/loss.h"
#include "capture/protocols/jsonrpc_scan.h"
#include "tests/unit/octets.h"
#include "tests/unit/script.h"

#define SCRIPT(...) SCRIPT_AT(40001, __VA_ARGS__)

#define V "{\"jsonrpc\":\"2.0\","
#define ASK(id, method) V "\"id\":" id ",\"method\":\"" method "\"}" // 34 and more bytes
#define ANSWER(id) V "\"id\":" id ",\"result\":{\"id\":9,\"x\":[{}]}}\n"

START_TEST(calls)
{
    check(SCRIPT(">" ASK("1", "user.get") "\n", "<" ANSWER("1"), ">" ASK("2", "a") ASK("3", "b"),
                 "<" ANSWER("3") ANSWER("2")),
          "CALL 1 jsonrpc user.get 44\nRET 1 jsonrpc ok 51\nCALL 2 jsonrpc a 37\n"
          "CALL 3 jsonrpc b 37\nRET 3 jsonrpc ok 51\nRET 2 jsonrpc ok 51\n");
}
END_TEST

START_TEST(ids_of_every_kind)
{
    check(SCRIPT(">" ASK("\"1\"", "a") ASK("1", "b") ASK("-1.5e3", "c"), "<" ANSWER("1"),
                 "<" ANSWER("-1.5e3"), "<" ANSWER("\"1\"")),
          "CALL 1 jsonrpc a 39\nCALL 2 jsonrpc b 37\nCALL 3 jsonrpc c 42\nRET 2 jsonrpc ok 51\n"
          "RET 3 jsonrpc ok 56\nRET 1 jsonrpc ok 53\n");
}
END_TEST

START_TEST(notifications)
{
    check(SCRIPT(">" ASK("1", "a"), "<" ANSWER("1"), ">" V "\"method\":\"log.x\"}",
                 ">" V "\"method\":\"y\",\"id\":null}", "<" V "\"method\":\"event/1234\"}"),
          "CALL 1 jsonrpc a 37\nRET 1 jsonrpc ok 51\nMSG > jsonrpc log.x 34\n"
          "MSG > jsonrpc y 40\nMSG < jsonrpc event/* 39\n");
}
END_TEST

START_TEST(both_ways)
{
    check(SCRIPT(">" ASK("1", "up"), "<" ASK("1", "down"), ">" ANSWER("1"), "<" ANSWER("1")),
          "CALL 1 jsonrpc up 38\nCALL 2 jsonrpc down 40\nRET 2 jsonrpc ok 51\n"
          "RET 1 jsonrpc ok 51\n");
}
END_TEST

START_TEST(errors)
{
    check(SCRIPT(">" ASK("1", "a"),
                 "<" V "\"error\":{\"message\":\"code\",\"code\":-32601,\"data\":{\"code\":5}},"
                 "\"id\":1}",
                 ">" ASK("2", "a"), "<" V "\"error\":{\"code\":\"x\"},\"id\":2}",
                 "<" V "\"error\":{\"code\":-32700},\"id\":null}"),
          "CALL 1 jsonrpc a 37\nRET 1 jsonrpc -32601 83\nCALL 2 jsonrpc a 37\n"
          "RET 2 jsonrpc error 45\nRET - jsonrpc -32700 51\n");
}
END_TEST

START_TEST(batches)
{
    check(SCRIPT(">[" ASK("1", "a") ", " ASK("2", "b") "]", "<[" ANSWER("2") "," ANSWER("1") "]",
                 ">" ASK("3", "c")),
          "CALL 1 jsonrpc a 37\nCALL 2 jsonrpc b 37\nRET 2 jsonrpc ok 51\nRET 1 jsonrpc ok 51\n"
          "CALL 3 jsonrpc c 37\n");
}
END_TEST

// Language Server Protocol: its headers belong to the message.
START_TEST(behind_headers)
{
    check(SCRIPT(">Content-Length: 36\r\n\r\n" ASK("1", "a"),
                 "<Content-Length: 50\r\nContent-Type: x; charset=utf-8\r\n\r\n" ANSWER("1"),
                 ">Content-Length: 36\r\n\r\n" ASK("2", "a") "Content-Length: 36\r\n\r\n" ASK("3",
                                                                                              "b")),
          "CALL 1 jsonrpc a 59\nRET 1 jsonrpc ok 105\nCALL 2 jsonrpc a 59\n"
          "CALL 3 jsonrpc b 59\n");
}
END_TEST

// 1.0 has all members at all times, and nothing that names it: both sides must look so, from their
// first segments on.
START_TEST(version_1)
{
    const Script *script = SCRIPT(">{\"id\":1,\"method\":\"sub\",\"params\":[]}\n",
                                  "<{\"id\":1,\"result\":true,\"error\":null}\n",
                                  "<{\"id\":null,\"method\":\"notify\",\"params\":[1]}\n",
                                  ">{\"id\":2,\"method\":\"x\",\"params\":[]}\n",
                                  "<{\"id\":2,\"result\":null,\"error\":[20,\"no\",null]}\n");
    for (gsize segment = 64; segment <= 1460; segment += 1396) {
        g_autoptr(Converse) c = play(script, segment);
        ck_assert_str_eq(converse_result(c),
                         "CALL 1 jsonrpc sub 35\nRET 1 jsonrpc ok 35\nMSG < jsonrpc notify 42\n"
                         "CALL 2 jsonrpc x 33\nRET 2 jsonrpc error 45\n");
    }
}
END_TEST

// Braces and quotes in strings, and members of the same names further inside.
START_TEST(inside_of_values)
{
    check(SCRIPT(">" V "\"params\":{\"method\":\"no\",\"id\":5,\"s\":\"}\\\"{\\\\\"},"
                 "\"id\" : 7 , \"method\"\t:\"yes\"}",
                 "<" V "\"result\":{\"error\":{\"code\":1}},\"id\":7}"),
          "CALL 1 jsonrpc yes 89\nRET 1 jsonrpc ok 54\n");
}
END_TEST

START_TEST(long_messages_are_not_kept)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":\"x' *150000 '\"}'");
    down(s, "'{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1,1' *150000 ']}'");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 jsonrpc m 150049\nRET 1 jsonrpc ok 150038\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// Zeros behind messages, or separators before them, also where several come in one packet.
START_TEST(separators)
{
    static const char a[] = "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}'",
                      b[] = "'{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"b\"}'",
                      x[] = "'{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}'",
                      y[] = "'{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}'";
    for (guint i = 0; i < 3; i++) {
        const char *before = i ? "1e" : "", *after = i == 2 ? "0a" : i ? "" : "00";
        g_autofree char *up_text =
            g_strdup_printf("%s %s %s %s %s %s", before, a, after, before, b, after);
        g_autofree char *down_text =
            g_strdup_printf("%s %s %s %s %s %s", before, x, after, before, y, after);
        g_autoptr(Steps) s = steps_new(40001);
        up(s, up_text);
        down(s, down_text);
        steps_check(s, "CALL 1 jsonrpc a 37\nCALL 2 jsonrpc b 37\nRET 1 jsonrpc ok 35\n"
                       "RET 2 jsonrpc ok 35\n");
    }
}
END_TEST

// What is nested deeper than its kind is remembered.
START_TEST(deep_values)
{
    g_autoptr(Steps) s = steps_new(40001);
    up(s, "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}'");
    down(s,
         "'{\"jsonrpc\":\"2.0\",\"result\":[' *100 '{\"]}\\\"\":1.5e+3,\"id\":2}' ',[]' ']' *100 "
         "',\"id\":1}'");
    up(s, "'{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"b\"}'");
    down(s, "'{\"jsonrpc\":\"2.0\",\"error\":{\"data\":[' *70 ']' *70 ',\"code\":-5},\"id\":2}'");
    steps_check(s, "CALL 1 jsonrpc a 37\nRET 1 jsonrpc ok 259\nCALL 2 jsonrpc b 37\n"
                   "RET 2 jsonrpc -5 192\n");
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

START_TEST(lost_request_and_reply)
{
    check(SCRIPT(">" ASK("1", "a"), "<" ANSWER("1"), ")" ASK("2", "b"), "<" ANSWER("2"),
                 ">" ASK("3", "c"), "(" ANSWER("3"), ">" ASK("4", "d"), "<" ANSWER("4")),
          "CALL 1 jsonrpc a 37\nRET 1 jsonrpc ok 51\nRET - jsonrpc ok 51\nCALL 2 jsonrpc c 37\n"
          "CALL 3 jsonrpc d 37\nRET 3 jsonrpc ok 51\n");
}
END_TEST

// Clients that give every request the same id: a lost reply must not shift the others.
START_TEST(one_id_for_all)
{
    check(SCRIPT(">" ASK("1", "a"), "(" ANSWER("1"), ">" ASK("1", "b"), "<" ANSWER("1")),
          "CALL 1 jsonrpc a 37\nCALL 2 jsonrpc b 37\nRET 2 jsonrpc ok 51\n");
}
END_TEST

START_TEST(lost_middle)
{
    const Script *script = SCRIPT(">" ASK("1", "a"), "<" V "\"id\":1,\"result\":[1,2,", "(3,4]}\n",
                                  "<" ANSWER("7"), ">" V "\"id\":2,\"method\":\"b\",\"params\":[",
                                  ")1,2]}\n", ">" ASK("3", "c"), "<" ANSWER("3"));
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 jsonrpc a 37\nRET 1 jsonrpc ok 38\nRET - jsonrpc ok 51\n"
                     "CALL 2 jsonrpc b 47\nCALL 3 jsonrpc c 37\nRET 3 jsonrpc ok 51\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 2);
}
END_TEST

// A packet that begins with an inner value of what was lost is no message.
START_TEST(inner_values_are_no_messages)
{
    g_autoptr(Converse) c = play(SCRIPT(">" ASK("1", "a"), ")" V "\"params\":[",
                                        ">{\"id\":5,\"method\":\"inner\"},1]}\n", ">" ASK("2", "b"),
                                        "<" ANSWER("1") ANSWER("2")),
                                 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 jsonrpc a 37\nCALL 2 jsonrpc b 37\n"
                                         "RET 1 jsonrpc ok 51\nRET 2 jsonrpc ok 51\n");
}
END_TEST

// ---- what is no JSON-RPC ------------------------------------------------------------------------

START_TEST(damage)
{
    static const char *const texts[] = {
        "garbage", "{]", "{\"a\":\x01}", "}", "[[", "{1:2}", "Content-Length: 5\r\n\r\n[C"};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *text = g_strconcat(">", texts[i], NULL);
        g_autoptr(Converse) c = play(SCRIPT(">" ASK("1", "a"), text, ">" ASK("2", "b")), 1460);
        ck_assert_str_eq(converse_result(c), "CALL 1 jsonrpc a 37\nCALL 2 jsonrpc b 37\n");
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    }
}
END_TEST

START_TEST(limits_of_the_scan)
{
    BbJsonrpcScan scan = {0};
    ck_assert_int_eq(bb_jsonrpc_scan(&scan, '{'), BB_SCAN_BEGIN);
    for (const char *at = "\"a\":"; *at; at++)
        ck_assert_int_eq(bb_jsonrpc_scan(&scan, (guint8)*at), BB_SCAN_ON);
    for (guint i = 2; i < BB_JSONRPC_DEPTH + BB_JSONRPC_DEEPER_MAX; i++)
        ck_assert_int_eq(bb_jsonrpc_scan(&scan, '['), BB_SCAN_ON);
    ck_assert_int_eq(bb_jsonrpc_scan(&scan, '['), BB_SCAN_BAD);
    scan = (BbJsonrpcScan){0};
    ck_assert_int_eq(bb_jsonrpc_scan(&scan, 'C'), BB_SCAN_BEGIN);
    guint length = 1;
    while (bb_jsonrpc_scan(&scan, 'x') == BB_SCAN_ON)
        length++;
    ck_assert_uint_eq(length, 512);
    // A long method is cut.
    scan = (BbJsonrpcScan){0};
    BbScanStep step = BB_SCAN_ON;
    g_autofree char *name = g_strnfill(100, 'm');
    g_autofree char *text = g_strconcat("{\"method\":\"", name, "\"}", NULL);
    for (const char *at = text; *at; at++)
        step = bb_jsonrpc_scan(&scan, (guint8)*at);
    ck_assert_int_eq(step, BB_SCAN_END);
    ck_assert_uint_eq(scan.message.method_length, BB_JSONRPC_METHOD_MAX);
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *text;
        BbMatch match;
    } cases[] = {
        {ASK("1", "a"), BB_MATCH_REQUEST},
        {ANSWER("1"), BB_MATCH_REPLY},
        {"[" ASK("1", "a"), BB_MATCH_REQUEST},
        {V "\"method\":\"a\",\"par", BB_MATCH_REQUEST},
        {V "\"id\":1", BB_MATCH_MORE},
        {"Content-Length: 36\r\n\r\n" ASK("1", "a"), BB_MATCH_REQUEST},
        {"Content-Len", BB_MATCH_MORE},
        {"Connect", BB_MATCH_NO},
        {"{\"id\":1,\"method\":\"a\"}", BB_MATCH_LIKELY},
        {"{\"id\":1,\"result\":1}", BB_MATCH_LIKELY},
        {"{\"method\":\"a\"}", BB_MATCH_NO},
        {"{\"seq\":1,\"type\":\"request\"}", BB_MATCH_NO},
        {"{\"jsonrpc\":\"3.0\",\"method\":\"a\"}", BB_MATCH_NO},
        {"{} {", BB_MATCH_NO},
        {"", BB_MATCH_MORE},
        {"\x1e", BB_MATCH_MORE},
        {"\x1e" ASK("1", "a"), BB_MATCH_REQUEST},
        {"\x1eno", BB_MATCH_NO},
        {"\x1e\x1e", BB_MATCH_NO},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(bb_decoder_jsonrpc.probe((const guint8 *)cases[i].text,
                                               strlen(cases[i].text)) == cases[i].match,
                      "%s", cases[i].text);
    check_refusals(&bb_decoder_jsonrpc);
}
END_TEST

TEST_MAIN("jsonrpc", calls, ids_of_every_kind, notifications, both_ways, errors, batches,
          behind_headers, version_1, inside_of_values, long_messages_are_not_kept, separators,
          deep_values, lost_request_and_reply, one_id_for_all, lost_middle,
          inner_values_are_no_messages, damage, limits_of_the_scan, probes)
