// SPDX-License-Identifier: Apache-2.0
// Redis: every type of value, commands of every kind, what nobody asked for, what is wrong.
// (What is missing: test_redis_loss.c.)
#include "capture/decoder.h"
#include "capture/loss.h"
#include "tests/unit/redis_talk.h"

// ---- requests -----------------------------------------------------------------------------------

START_TEST(commands_in_order)
{
    check(SCRIPT(">" SET, "<" OK, ">" GET, "<$5\r\nv\r\nv!\r\n"),
          "CALL 1 redis SET 31\nRET 1 redis ok 5\nCALL 2 redis GET 22\nRET 2 redis ok 11\n");
}
END_TEST

START_TEST(pipelined)
{
    const Script *script = SCRIPT(">" PING SET GET, "<" PONG OK "$-1\r\n");
    check(script, "CALL 1 redis PING 14\nCALL 2 redis SET 31\nCALL 3 redis GET 22\n"
                  "RET 1 redis ok 7\nRET 2 redis ok 5\nRET 3 redis ok 5\n");
    g_autoptr(Converse) c = play(script, 1460);
    (void)converse_result(c);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 0);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

START_TEST(inline_commands)
{
    check(ON_PORT(">PING\r\n", "<" PONG, ">\r\nget  key \r\n", "<$1\r\na\r\n", ">config GET x\n",
                  "<*0\r\n"),
          "CALL 1 redis PING 6\nRET 1 redis ok 7\nCALL 2 redis GET 11\nRET 2 redis ok 7\n"
          "CALL 3 redis CONFIG GET 13\nRET 3 redis ok 4\n");
}
END_TEST

// Without the port an inline command could be anything's.
START_TEST(inline_needs_the_port)
{
    check(SCRIPT(">QUIT\r\n", "<" OK), "CALL 1 tcp - 6\nRET 1 tcp ok 5\n");
}
END_TEST

START_TEST(labels)
{
    check(SCRIPT(">*2\r\n$6\r\nclient\r\n$2\r\nid\r\n", "<:7\r\n",
                 ">*4\r\n$6\r\nXGROUP\r\n$6\r\nCREATE\r\n$1\r\ns\r\n$1\r\ng\r\n", "<" OK,
                 ">*2\r\n$6\r\nOBJECT\r\n$3\r\n<x>\r\n", "<-ERR x\r\n", // no word
                 ">*1\r\n$7\r\nCOMMAND\r\n", "<*0\r\n", ">*2\r\n$9\r\njson.get_\r\n$1\r\nk\r\n",
                 "<_\r\n", ">*2\r\n$4\r\nMGET\r\n$4\r\nkeys\r\n", "<*1\r\n$-1\r\n"),
          "CALL 1 redis CLIENT ID 24\nRET 1 redis ok 4\n"
          "CALL 2 redis XGROUP CREATE 42\nRET 2 redis ok 5\n"
          "CALL 3 redis OBJECT 25\nRET 3 redis -ERR 8\n"
          "CALL 4 redis COMMAND 17\nRET 4 redis ok 4\n"
          "CALL 5 redis JSON.GET_ 26\nRET 5 redis ok 3\n"
          "CALL 6 redis MGET 24\nRET 6 redis ok 9\n");
}
END_TEST

// More different words than the cache of labels holds, twice.
START_TEST(many_words)
{
    static const char *const words[] = {"GET",  "SET",  "DEL",  "INCR", "DECR", "TTL",  "TYPE",
                                        "LLEN", "LPOP", "RPOP", "HGET", "HSET", "SADD", "ZADD",
                                        "XLEN", "PTTL", "HLEN", "SPOP", "ECHO", "AUTH"};
    g_autoptr(Converse) c = converse_tcp(40001);
    g_autoptr(GString) expected = g_string_new(NULL);
    for (guint i = 0; i < 2 * G_N_ELEMENTS(words); i++) {
        const char *word = words[i % G_N_ELEMENTS(words)];
        g_autofree char *command = g_strdup_printf("*1\r\n$%zu\r\n%s\r\n", strlen(word), word);
        converse_text(c, BB_TO_SERVER, command);
        converse_text(c, BB_TO_CLIENT, OK);
        g_string_append_printf(expected, "CALL %u redis %s %zu\nRET %u redis ok 5\n", i + 1, word,
                               strlen(command), i + 1);
    }
    ck_assert_str_eq(converse_result(c), expected->str);
}
END_TEST

START_TEST(empty_arrays_are_ignored)
{
    check(SCRIPT(">" PING, "<" PONG, ">*0\r\n*-1\r\n" PING, "<" PONG),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\nCALL 2 redis PING 14\nRET 2 redis ok 7\n");
}
END_TEST

// ---- replies ------------------------------------------------------------------------------------

// One reply of every type: each must end where the next begins.
START_TEST(every_type_of_reply)
{
    static const char *const replies[] = {
        "+\r\n",
        "+QUEUED\r\n",
        ":-12\r\n",
        ":+3\r\n",
        "$0\r\n\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "*2\r\n*1\r\n:1\r\n*2\r\n$1\r\na\r\n*0\r\n",
        "_\r\n",
        "#t\r\n",
        ",1.5e3\r\n",
        ",inf\r\n",
        "(3492890328409238509324850943850943825024385\r\n",
        "=15\r\ntxt:Some string\r\n",
        "%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n",
        "~3\r\n:1\r\n:2\r\n~1\r\n_\r\n",
        "|1\r\n+ttl\r\n:3600\r\n*2\r\n|1\r\n$1\r\na\r\n%0\r\n:1\r\n:2\r\n",
        "|0\r\n:1\r\n",
        "*?\r\n:1\r\n*1\r\n:2\r\n.\r\n",
        "%?\r\n+a\r\n:1\r\n.\r\n",
        "~?\r\n.\r\n",
        "$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n",
        "*2\r\n$?\r\n;0\r\n:5\r\n",
        "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n", // LRANGE may say so too
        "*1\r\n-ERR inside of EXEC is no error\r\n",
    };
    for (gsize step = 1; step <= 1460; step = step == 1 ? 3 : step * 22) {
        g_autoptr(Converse) c = converse_tcp(40001);
        g_autoptr(GString) expected = g_string_new(NULL);
        converse_segment_size(c, step);
        for (guint i = 0; i < G_N_ELEMENTS(replies); i++) {
            converse_text(c, BB_TO_SERVER, GET);
            g_string_append_printf(expected, "CALL %u redis GET 22\nRET %u redis ok %zu\n", i + 1,
                                   i + 1, strlen(replies[i]));
            converse_text(c, BB_TO_CLIENT, replies[i]);
        }
        ck_assert_str_eq(converse_result(c), expected->str);
    }
}
END_TEST

START_TEST(errors)
{
    check(
        SCRIPT(">" GET GET GET GET GET GET,
               "<-WRONGTYPE Operation against a key\r\n-MOVED 3999 127.0.0.1:6381\r\n"
               "!21\r\nSYNTAX invalid syntax\r\n-my own text\r\n-NOAUTH\r\n|1\r\n+a\r\n+b\r\n-ERR "
               "x\r\n"),
        "CALL 1 redis GET 22\nCALL 2 redis GET 22\nCALL 3 redis GET 22\nCALL 4 redis GET 22\n"
        "CALL 5 redis GET 22\nCALL 6 redis GET 22\n"
        "RET 1 redis -WRONGTYPE 36\nRET 2 redis -MOVED 28\nRET 3 redis -SYNTAX 28\n"
        "RET 4 redis error 14\nRET 5 redis -NOAUTH 9\nRET 6 redis -ERR 20\n");
}
END_TEST

// Redis Cluster: the status says where to ask; the client asks there, on another connection.
START_TEST(cluster_redirects)
{
    check(SCRIPT(">" GET GET "*1\r\n$6\r\nASKING\r\n" GET,
                 "<-MOVED 3999 127.0.0.1:6381\r\n-ASK 3999 127.0.0.1:6381\r\n+OK\r\n"
                 "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"),
          "CALL 1 redis GET 22\nCALL 2 redis GET 22\nCALL 3 redis ASKING 16\n"
          "CALL 4 redis GET 22\n"
          "RET 1 redis -MOVED 28\nRET 2 redis -ASK 26\nRET 3 redis ok 5\n"
          "RET 4 redis -TRYAGAIN 58\n");
}
END_TEST

// A line that is longer than a line is waited for.
START_TEST(long_lines)
{
    g_autofree char *text = g_strnfill(3000, 'x');
    g_autofree char *reply = g_strdup_printf("<-ERR %s\r\n*2\r\n+%s\r\n:1\r\n", text, text);
    check(SCRIPT(">" GET GET, reply), "CALL 1 redis GET 22\nCALL 2 redis GET 22\n"
                                      "RET 1 redis -ERR 3007\nRET 2 redis ok 3011\n");
}
END_TEST

START_TEST(depth)
{
    g_autoptr(GString) deep = g_string_new("<");
    for (guint i = 0; i < 32; i++)
        g_string_append(deep, "*1\r\n");
    g_string_append(deep, ":1\r\n");
    check(SCRIPT(">" GET, deep->str), "CALL 1 redis GET 22\nRET 1 redis ok 132\n");
    g_string_insert(deep, 1, "*1\r\n"); // one too many
    g_autoptr(Converse) c = play(SCRIPT(">" GET, deep->str, ">" PING, "<" PONG), 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis GET 22\nRET 1 redis ok 136\n"
                                         "CALL 2 redis PING 14\nRET 2 redis ok 7\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// ---- sizes --------------------------------------------------------------------------------------

// 3 MB go by and are not held: a direction's buffer is far smaller.
START_TEST(big_values_are_skipped)
{
    g_autofree char *value = g_strnfill(3000000, 'v');
    g_autofree char *set =
        g_strdup_printf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3000000\r\n%s\r\n", value);
    g_autofree char *reply = g_strdup_printf("*2\r\n:1\r\n$3000000\r\n%s\r\n", value);
    g_autoptr(Converse) c = converse_tcp(40001);
    converse_text(c, BB_TO_SERVER, set);
    converse_text(c, BB_TO_CLIENT, OK);
    converse_text(c, BB_TO_SERVER, GET);
    converse_text(c, BB_TO_CLIENT, reply);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis SET 3000032\nRET 1 redis ok 5\n"
                                         "CALL 2 redis GET 22\nRET 2 redis ok 3000020\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
    ck_assert_int_eq(converse_first_ms(c, 0), 0);
    ck_assert_int_eq(converse_last_ms(c, 0), 3000032 / 1460);
}
END_TEST

START_TEST(gap_in_a_value_does_no_harm)
{
    check(SCRIPT(">*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$300\r\n0123456789", ")0123456789",
                 ">012345678901234567890123456789012345678901234567890123456789012345678901234567"
                 "8901234567890123456789012345678901234567890123456789012345678901234567890123456"
                 "7890123456789012345678901234567890123456789012345678901234567890123456789012345"
                 "67890123456789012345678901234567890123456789\r\n",
                 "<" OK, ">" PING, "<" PONG),
          "CALL 1 redis SET 318\nRET 1 redis ok 5\nCALL 2 redis PING 14\nRET 2 redis ok 7\n");
}
END_TEST

// Lengths that cannot be: no memory, no harm, and the next good command is found.
START_TEST(impossible_lengths)
{
    static const char *const bad[] = {
        ">*2\r\n$3\r\nGET\r\n$9999999999\r\n",
        ">*2\r\n$3\r\nGET\r\n$-1\r\n",
        ">*99999999999\r\n",
        ">*3\r\n$3\r\nGET\r\n:1\r\n",
        ">*1\r\n$4\r\nPINGxx",
        ">*1\r\n$+4\r\nPING\r\n",
        ">*?\r\n$4\r\nPING\r\n",
        ">\x01\x02\r\n",
        ">*-2\r\n",
        ">*1\r\n*1\r\n$4\r\nPING\r\n",
        ">*1\n$4\nPING\n",
        ">*\r\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(Converse) c = play(
            SCRIPT(">" PING, "<" PONG, bad[i], "<-ERR Protocol error\r\n", ">" SET, "<" OK), 1460);
        const char *result = converse_result(c);
        ck_assert_msg(g_str_has_prefix(result, "CALL 1 redis PING 14\nRET 1 redis ok 7\n"), "%s",
                      result);
        ck_assert_msg(strstr(result, "redis SET 31\n") != NULL, "%s\n%s", bad[i], result);
        ck_assert_msg(g_str_has_suffix(result, "redis ok 5\n"), "%s\n%s", bad[i], result);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    }
}
END_TEST

START_TEST(impossible_replies)
{
    static const char *const bad[] = {
        "<$9999999999\r\n",
        "<$-2\r\n",
        "<*-5\r\n",
        "<%-1\r\n",
        "<!-1\r\n",
        "<$x\r\n",
        "<$1\r\nab\r\n",
        "<*3000000000\r\n",
        "<.\r\n",
        "<;3\r\nabc\r\n",
        "<*1\r\n>1\r\n:1\r\n",
        "<>?\r\n",
        "<|?\r\n",
        "<=?\r\n",
        "<*?\r\n;0\r\n",
        "<$?\r\n.\r\n",
        "<$?\r\n:1\r\n",
        "<+a\n",
        "<hello\r\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(Converse) c =
            play(SCRIPT(">" PING, "<" PONG, ">" GET, bad[i], ">" SET, "<" OK), 1460);
        const char *result = converse_result(c);
        ck_assert_msg(g_str_has_suffix(result, "CALL 3 redis SET 31\nRET 3 redis ok 5\n"),
                      "%s:\n%s", bad[i], result);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    }
}
END_TEST

// ---- who is not answered ------------------------------------------------------------------------

START_TEST(client_reply)
{
    check(SCRIPT(">" PING "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n" PING SET
                 "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$4\r\nSKIP\r\n"
                 "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n"
                 "*3\r\n$6\r\nclient\r\n$5\r\nreply\r\n$4\r\nskip\r\n" GET PING,
                 "<" PONG OK PONG),
          "CALL 1 redis PING 14\nMSG > redis CLIENT REPLY 36\nMSG > redis PING 14\n"
          "MSG > redis SET 31\nMSG > redis CLIENT REPLY 37\nCALL 2 redis CLIENT REPLY 35\n"
          "MSG > redis CLIENT REPLY 37\nMSG > redis GET 22\nCALL 3 redis PING 14\n"
          "RET 1 redis ok 7\nRET 2 redis ok 5\nRET 3 redis ok 7\n");
}
END_TEST

START_TEST(reset_ends_silence)
{
    check(ON_PORT(">CLIENT REPLY OFF\r\n", ">PING\r\n", ">RESET\r\n", "<+RESET\r\n", ">PING\r\n",
                  "<" PONG),
          "MSG > redis CLIENT REPLY 18\nMSG > redis PING 6\nCALL 1 redis RESET 7\n"
          "RET 1 redis ok 8\nCALL 2 redis PING 6\nRET 2 redis ok 7\n");
}
END_TEST

// ---- what nobody asked for ----------------------------------------------------------------------

#define CONFIRM TOPIC2("9\r\nsubscribe", ":1") // 30 bytes

START_TEST(pubsub_resp2)
{
    check(SCRIPT(">*4\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
                 "*2\r\n$10\r\nPSUBSCRIBE\r\n$1\r\n*\r\n",
                 "<" CONFIRM CONFIRM MESSAGE CONFIRM, "<" TOPIC2("10\r\npsubscribe", ":1"),
                 "<" MESSAGE, ">" PING, "<" MESSAGE "*2\r\n$4\r\npong\r\n$0\r\n\r\n"),
          "CALL 1 redis SUBSCRIBE 40\nCALL 2 redis PSUBSCRIBE 28\n"
          "RET 1 redis ok 30\nMSG < redis SUBSCRIBE 30\nMSG < redis MESSAGE 31\n"
          "MSG < redis SUBSCRIBE 30\nRET 2 redis ok 32\nMSG < redis MESSAGE 31\n"
          "CALL 3 redis PING 14\nMSG < redis MESSAGE 31\nRET 3 redis ok 20\n");
}
END_TEST

// UNSUBSCRIBE of everything is confirmed as often as there are channels.
START_TEST(unsubscribe_all)
{
    check(SCRIPT(">*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n$1\r\nb\r\n", "<" CONFIRM CONFIRM,
                 ">*1\r\n$11\r\nUNSUBSCRIBE\r\n",
                 "<" TOPIC2("11\r\nunsubscribe", ":1") TOPIC2("11\r\nunsubscribe", ":0"), ">" GET,
                 "<" MESSAGE, ">*1\r\n$11\r\nUNSUBSCRIBE\r\n",
                 "<*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n"),
          "CALL 1 redis SUBSCRIBE 33\nRET 1 redis ok 30\nMSG < redis SUBSCRIBE 30\n"
          "CALL 2 redis UNSUBSCRIBE 22\nRET 2 redis ok 33\nMSG < redis UNSUBSCRIBE 33\n"
          "CALL 3 redis GET 22\nRET 3 redis ok 31\n"
          "CALL 4 redis UNSUBSCRIBE 22\nRET 4 redis ok 31\n");
}
END_TEST

#define UNSUBSCRIBE "*1\r\n$11\r\nUNSUBSCRIBE\r\n"          // 22 bytes
#define NOBODY "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n"  // 31
#define NULL_PUSH ">3\r\n$11\r\nunsubscribe\r\n_\r\n:2\r\n" // 29
#define LEFT(count) TOPIC2("11\r\nunsubscribe", ":" #count) // 33

// Each has its own confirmations: of no channel there is one, and the number of those left falls.
START_TEST(unsubscribed_in_a_pipeline)
{
    check(SCRIPT(">" PING, "<" PONG, ">" UNSUBSCRIBE UNSUBSCRIBE PING, "<" NOBODY NOBODY PONG,
                 ">" GET, "<" OK),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
          "CALL 2 redis UNSUBSCRIBE 22\nCALL 3 redis UNSUBSCRIBE 22\nCALL 4 redis PING 14\n"
          "RET 2 redis ok 31\nRET 3 redis ok 31\nRET 4 redis ok 7\n"
          "CALL 5 redis GET 22\nRET 5 redis ok 5\n");
    check(SCRIPT(">" PING, "<" PONG, ">" UNSUBSCRIBE UNSUBSCRIBE PING, "<" LEFT(1) LEFT(0),
                 "<" NOBODY PONG),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
          "CALL 2 redis UNSUBSCRIBE 22\nCALL 3 redis UNSUBSCRIBE 22\nCALL 4 redis PING 14\n"
          "RET 2 redis ok 33\nMSG < redis UNSUBSCRIBE 33\nRET 3 redis ok 31\nRET 4 redis ok 7\n");
    // Two patterns are left.
    check(SCRIPT(">" PING, "<" PONG, ">" UNSUBSCRIBE UNSUBSCRIBE PING, "<" LEFT(3) LEFT(2),
                 "<" NULL_PUSH PONG),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
          "CALL 2 redis UNSUBSCRIBE 22\nCALL 3 redis UNSUBSCRIBE 22\nCALL 4 redis PING 14\n"
          "RET 2 redis ok 33\nMSG < redis UNSUBSCRIBE 33\nRET 3 redis ok 29\nRET 4 redis ok 7\n");
    check(SCRIPT(">" PING, "<" PONG, ">" UNSUBSCRIBE "*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\na\r\n" PING,
                 "<" LEFT(3) LEFT(2) LEFT(2) PONG),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
          "CALL 2 redis UNSUBSCRIBE 22\nCALL 3 redis UNSUBSCRIBE 29\nCALL 4 redis PING 14\n"
          "RET 2 redis ok 33\nMSG < redis UNSUBSCRIBE 33\nRET 3 redis ok 33\nRET 4 redis ok 7\n");
}
END_TEST

START_TEST(pushes_resp3)
{
    check(
        SCRIPT(
            ">*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n", "<%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n",
            ">*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n", ">" GET,
            "<>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n",
            "<>3\r\n+subscribe\r\n+a\r\n:1\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n$-1\r\n",
            ">" GET, "<" MESSAGE),
        "CALL 1 redis HELLO 22\nRET 1 redis ok 27\nCALL 2 redis SUBSCRIBE 26\n"
        "CALL 3 redis GET 22\nMSG < redis INVALIDATE 32\nRET 2 redis ok 24\n"
        "MSG < redis MESSAGE 31\nRET 3 redis ok 5\nCALL 4 redis GET 22\nRET 4 redis ok 31\n");
}
END_TEST

START_TEST(subscribe_refused)
{
    check(SCRIPT(">*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n", "<-NOPERM no\r\n", ">" PING,
                 "<" PONG),
          "CALL 1 redis SUBSCRIBE 33\nRET 1 redis -NOPERM 12\nCALL 2 redis PING 14\n"
          "RET 2 redis ok 7\n");
}
END_TEST

START_TEST(transaction)
{
    check(SCRIPT(">*1\r\n$5\r\nMULTI\r\n" SET GET "*1\r\n$4\r\nEXEC\r\n",
                 "<" OK "+QUEUED\r\n+QUEUED\r\n*2\r\n" OK "$1\r\nv\r\n"),
          "CALL 1 redis MULTI 15\nCALL 2 redis SET 31\nCALL 3 redis GET 22\nCALL 4 redis EXEC 14\n"
          "RET 1 redis ok 5\nRET 2 redis ok 9\nRET 3 redis ok 9\nRET 4 redis ok 16\n");
}
END_TEST

START_TEST(monitor)
{
    check(SCRIPT(">*1\r\n$7\r\nMONITOR\r\n",
                 "<" OK "+1339518083.107412 [0 127.0.0.1:60866] \"keys\" \"*\"\r\n",
                 "<+1339518087.877697 [0 127.0.0.1:60866] \"dbsize\"\r\n", ">" PING, "<" PONG),
          "CALL 1 redis MONITOR 17\nRET 1 redis ok 5\nMSG < redis MONITOR 51\n"
          "MSG < redis MONITOR 49\nCALL 2 redis PING 14\nRET 2 redis ok 7\n");
}
END_TEST

// ---- replication --------------------------------------------------------------------------------

#define PSYNC "*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n"   // 30
#define ACK "*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$1\r\n0\r\n" // 34
#define MARK "0123456789abcdefghijABCDEFGHIJ9876543210"

START_TEST(replication)
{
    check(
        SCRIPT(">*2\r\n$8\r\nREPLCONF\r\n$4\r\ncapa\r\n", "<" OK, ">" PSYNC,
               "<\n+FULLRESYNC 8de1787ba490483314a4d30f1c628bc5025eb761 0\r\n",
               "<\n\n$6\r\nRE\r\n$4", "<" SET, ">" ACK),
        "CALL 1 redis REPLCONF CAPA 28\nRET 1 redis ok 5\nCALL 2 redis PSYNC 30\n"
        "RET 2 redis ok 56\nMSG < redis RDB 10\nMSG < redis SET 31\nMSG > redis REPLCONF ACK 34\n");
}
END_TEST

START_TEST(diskless_replication)
{
    check(SCRIPT(">" PSYNC, "<+FULLRESYNC x 0\r\n", "<$EOF:" MARK "\r\nREDIS*1\r\n0123" MARK SET,
                 ">" ACK, "<" SET),
          "CALL 1 redis PSYNC 30\nRET 1 redis ok 17\nMSG < redis RDB 100\nMSG < redis SET 31\n"
          "MSG > redis REPLCONF ACK 34\nMSG < redis SET 31\n");
}
END_TEST

START_TEST(old_sync_and_refused)
{
    check(SCRIPT(">*1\r\n$4\r\nSYNC\r\n", "<$4\r\nabcd", "<" SET),
          "CALL 1 redis SYNC 14\nRET 1 redis ok 8\nMSG < redis SET 31\n");
    check(SCRIPT(">" PSYNC, "<-NOMASTERLINK Can't SYNC\r\n", ">" GET, "<$1\r\na\r\n"),
          "CALL 1 redis PSYNC 30\nRET 1 redis -NOMASTERLINK 26\nCALL 2 redis GET 22\n"
          "RET 2 redis ok 7\n");
    check(SCRIPT(">" PSYNC, "<+FULLRESYNC x 0\r\n", "<$0\r\n" SET, "<$x\r\n", "<" SET),
          "CALL 1 redis PSYNC 30\nRET 1 redis ok 17\nMSG < redis RDB 4\nMSG < redis SET 31\n"
          "MSG < redis SET 31\n");
}
END_TEST

#define SELECT "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"            // 23
#define UPPER_SET "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n" // 27

// Joined in the middle: the master writes, the replica says once a second how far it is.
START_TEST(replication_joined)
{
    check(MIDSTREAM("<" SELECT, "<" UPPER_SET, ">" ACK, "<" SET "*1\r\n$4\r\nping\r\n", ">" ACK),
          "MSG < redis SELECT 23\nMSG < redis SET 27\nMSG > redis REPLCONF ACK 34\n"
          "MSG < redis SET 31\nMSG < redis PING 14\nMSG > redis REPLCONF ACK 34\n");
    check(MIDSTREAM(">" ACK, "<" SET SELECT, "<" PING, ">" ACK),
          "MSG > redis REPLCONF ACK 34\nMSG < redis SET 31\nMSG < redis SELECT 23\n"
          "MSG < redis PING 14\nMSG > redis REPLCONF ACK 34\n");
    // At another port whoever speaks first is the client, so that the replica has to.
    Script script = *MIDSTREAM(">" ACK, "<" SET, ">" ACK);
    script.port = 40001;
    check(&script,
          "MSG > redis REPLCONF ACK 34\nMSG < redis SET 31\nMSG > redis REPLCONF ACK 34\n");
}
END_TEST

// A reply that begins with the name of a command is one all the same: the port says who serves.
START_TEST(reply_like_a_command)
{
    check(MIDSTREAM("<*4\r\n$4\r\ntype\r\n$4\r\nuser\r\n$2\r\nid\r\n$1\r\n7\r\n", ">" GET,
                    "<$1\r\nv\r\n"),
          "RET - redis ok 39\nCALL 1 redis GET 22\nRET 1 redis ok 7\n");
    check(SCRIPT(">" GET, "<*2\r\n$3\r\nSET\r\n$1\r\nk\r\n"), // of HGETALL
          "CALL 1 redis GET 22\nRET 1 redis ok 20\n");
    check(SCRIPT(">" PING, "<" PONG, ")" GET, "<*2\r\n$3\r\nSET\r\n$1\r\nk\r\n"),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\nRET - redis ok 20\n");
}
END_TEST

// A server that has no room says so before anybody asks.
START_TEST(errors_unasked)
{
    check(ON_PORT("<-ERR max number of clients reached\r\n", "y"), "MSG < redis - 36\n");
    check(ON_PORT("<-DENIED Redis is running in protected mode\r\n", "y"), "MSG < redis - 44\n");
    check(SCRIPT(">" PING, "<" PONG, ")" GET, "<-ERR wrong\r\n"),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\nRET - redis -ERR 12\n");
}
END_TEST

// ---- probing ------------------------------------------------------------------------------------

static BbMatch probe(const char *text)
{
    g_autofree guint8 *copy = g_memdup2(text, strlen(text)); // so that reads past it are caught
    return bb_decoder_redis.probe(copy ? copy : (const guint8 *)"", strlen(text));
}

static void check_probe(const char *const *texts, BbMatch expected)
{
    for (; *texts; texts++)
        ck_assert_msg(probe(*texts) == expected, "%s: %d", *texts, (int)probe(*texts));
}

START_TEST(probes)
{
    check_probe((const char *const[]){PING, GET, SET, "*1\r\n$4\r\nPING",
                                      "*2\r\n$9\r\nsubscribe\r\n", NULL},
                BB_MATCH_REQUEST);
    check_probe((const char *const[]){"+PONG\r\n", "-NOAUTH Authentication required.\r\n",
                                      "-MOVED 1 a:1\r\n", "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n",
                                      "*2\r\n:1\r\n:2\r\n", "*9\r\n*2\r\n$1\r\na\r\n", NULL},
                BB_MATCH_REPLY);
    check_probe((const char *const[]){"+OK\r\n", "-ERR no\r\n", ":1\r\n", "$3\r\nabc\r\n",
                                      "$-1\r\n", "*0\r\n", "*2\r\n:1\r\n", "*1\r\n$3\r\nkey\r\n",
                                      "PING\r\n", "get key", "PING\n", "_\r\n", "#t\r\n", ">2\r\n$",
                                      NULL},
                BB_MATCH_MAYBE);
    check_probe((const char *const[]){"", "*", "*1", "*1\r", "*1\r\n", "*1\r\n$4\r\nPI", "PI",
                                      "set", "+O", "$12", "-ERR x", "*1\r\n$100\r\nxxx", NULL},
                BB_MATCH_MORE);
    check_probe((const char *const[]){"GETS key\r\n", "EHLO a\r\n", "SET\x01x\r\n",
                                      "HTTP/1.1 200\r\n", "*x", "*1048577\r\n", "*1\r\n\x04\r\n",
                                      "*1\r\n$x", "$1x\r\n", "+a\x02\r\n", "\x16\x03\x01", "@\r\n",
                                      ".\r\n", ";1\r\na\r\n", "+a\n", ":x\r\n", "PINGx", NULL},
                BB_MATCH_NO);
}
END_TEST

START_TEST(random_bytes_are_not_redis)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(6379);
    for (guint i = 0; i < 200000; i++) {
        guint8 bytes[64];
        gsize length = 16 + (gsize)g_rand_int_range(rand, 0, 48);
        for (gsize k = 0; k < length; k++)
            bytes[k] = (guint8)g_rand_int(rand);

        ck_assert_int_eq(bb_decoder_redis.probe(bytes, length), BB_MATCH_NO);
    }
}
END_TEST

// Every prefix of a command answers MORE until it is certain, and never NO.
START_TEST(prefixes)
{
    for (gsize length = 0; length < strlen(SET); length++) {
        g_autofree char *part = g_strndup(SET, length);
        ck_assert_int_eq(probe(part), length < 11 ? BB_MATCH_MORE : BB_MATCH_REQUEST);
    }
}
END_TEST

TEST_MAIN("redis", commands_in_order, pipelined, inline_commands, inline_needs_the_port, labels,
          many_words, empty_arrays_are_ignored, every_type_of_reply, errors, cluster_redirects,
          long_lines, depth, big_values_are_skipped, gap_in_a_value_does_no_harm,
          impossible_lengths, impossible_replies, client_reply, reset_ends_silence, pubsub_resp2,
          unsubscribe_all, unsubscribed_in_a_pipeline, pushes_resp3, subscribe_refused, transaction,
          monitor, replication, diskless_replication, old_sync_and_refused, replication_joined,
          reply_like_a_command, errors_unasked, probes, random_bytes_are_not_redis, prefixes)
