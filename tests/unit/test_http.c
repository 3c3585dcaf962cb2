// SPDX-License-Identifier: Apache-2.0
// HTTP/1: where messages begin and end, which response belongs to which request.
#include "tests/unit/http_talk.h"

// ---- lengths ----------------------------------------------------------------------------------

START_TEST(request_and_response)
{
    const Script *script = SCRIPT(">" GET, "<" OK, ">" GET2, "<" NOT_FOUND);
    check(script, "CALL 1 http GET /a 28\n"
                  "RET 1 http 200 43\n"
                  "CALL 2 http GET /b 19\n"
                  "RET 2 http 404 38\n");
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_int_eq(converse_first_ms(c, 3), 3);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(times_are_of_first_and_last_byte)
{
    g_autoptr(Converse) c =
        play(SCRIPT(">GET /a HT", ">TP/1.1\r\nHost", ">: x\r\n", ">\r\n",
                    "<HTTP/1.1 200 OK\r\nContent-Le", "<ngth: 5\r\n\r\nhe", "<ll", "<o", ">" GET),
             1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http GET /a 28\n"
                                         "RET 1 http 200 43\n"
                                         "CALL 2 http GET /a 28\n");
    ck_assert_int_eq(converse_first_ms(c, 0), 0);
    ck_assert_int_eq(converse_last_ms(c, 0), 3);
    ck_assert_int_eq(converse_first_ms(c, 1), 4);
    ck_assert_int_eq(converse_last_ms(c, 1), 7);
}
END_TEST

START_TEST(pipelining)
{
    check(SCRIPT(">" GET GET2 "HEAD /c HTTP/1.1\r\n\r\n",
                 "<" OK NOT_FOUND "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", ">" GET, "<" OK),
          "CALL 1 http GET /a 28\n"
          "CALL 2 http GET /b 19\n"
          "CALL 3 http HEAD /c 20\n"
          "RET 1 http 200 43\n"
          "RET 2 http 404 38\n"
          "RET 3 http 200 39\n"
          "CALL 4 http GET /a 28\n"
          "RET 4 http 200 43\n");
}
END_TEST

START_TEST(content_length_of_requests)
{
    check(SCRIPT(">POST /a HTTP/1.1\r\ncontent-length:4\r\n\r\nab", ">cd", "<" OK,
                 ">POST /b HTTP/1.1\r\nContent-Length : 2 , 2\r\nContent-Length: 2\r\n\r\nab",
                 "<" NOT_FOUND, ">" GET, "<" OK),
          "CALL 1 http POST /a 42\n"
          "RET 1 http 200 43\n"
          "CALL 2 http POST /b 65\n"
          "RET 2 http 404 38\n"
          "CALL 3 http GET /a 28\n"
          "RET 3 http 200 43\n");
}
END_TEST

START_TEST(folded_fields)
{
    check(SCRIPT(">POST /a HTTP/1.1\r\nContent-Length:\r\n 3\r\nX: a\r\n b\r\n\tc\r\n\r\nabc" GET2,
                 "<" OK OK),
          "CALL 1 http POST /a 58\n"
          "CALL 2 http GET /b 19\n"
          "RET 1 http 200 43\n"
          "RET 2 http 200 43\n");
}
END_TEST

START_TEST(bare_line_feeds)
{
    check(SCRIPT(">\r\n\n\r\nGET /a HTTP/1.1\nHost: x\n\n\r\n" GET2,
                 "<HTTP/1.0 200 OK\nContent-Length: 2\n\nok" OK),
          "CALL 1 http GET /a 25\n"
          "CALL 2 http GET /b 19\n"
          "RET 1 http 200 37\n"
          "RET 2 http 200 43\n");
}
END_TEST

START_TEST(chunked)
{
    check(
        SCRIPT(
            ">POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            "5\r\nhello\r\n00a ;x=y\r\n0123456789\r\n0\r\n\r\n" GET2,
            "<HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: gzip,\r\n Chunked\r\nContent-Length: 3\r\n\r\n"
            "1\nx\n0;e\r\nTrailer: yes\r\nContent-Length: 7\r\n\r\n" OK),
        "CALL 1 http POST /a 85\n"
        "CALL 2 http GET /b 19\n"
        "RET 1 http 200 118\n"
        "RET 2 http 200 43\n");
}
END_TEST

START_TEST(responses_without_body)
{
    check(SCRIPT(">" GET2 GET2 "HEAD / HTTP/1.1\r\n\r\n" GET2,
                 "<HTTP/1.1 204 No\r\nContent-Length: 7\r\n\r\n"
                 "HTTP/1.1 304\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "HTTP/1.1 200 OK\r\n\r\n" OK),
          "CALL 1 http GET /b 19\n"
          "CALL 2 http GET /b 19\n"
          "CALL 3 http HEAD / 19\n"
          "CALL 4 http GET /b 19\n"
          "RET 1 http 204 38\n"
          "RET 2 http 304 44\n"
          "RET 3 http 200 19\n"
          "RET 4 http 200 43\n");
}
END_TEST

START_TEST(interim_responses)
{
    const Script *script =
        SCRIPT(">" GET, "<HTTP/1.1 103 Early\r\nLink: y\r\n\r\nHTTP/1.1 102 P\r\n\r\n", "<" OK,
               ">" GET2, "<" NOT_FOUND);
    check(script, "CALL 1 http GET /a 28\n"
                  "RET 1 http 200 43\n"
                  "CALL 2 http GET /b 19\n"
                  "RET 2 http 404 38\n");
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_int_eq(converse_first_ms(c, 1), 2);
}
END_TEST

START_TEST(until_close)
{
    check(SCRIPT(">" GET, "<HTTP/1.0 200 OK\r\nServer: x\r\n\r\nsome",
                 "<more\r\nHTTP/1.1 200 OK\r\n", "y", "x"),
          "CALL 1 http GET /a 28\nRET 1 http 200 57\n");
    check(SCRIPT(">" GET, "<HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nsome"),
          "CALL 1 http GET /a 28\nRET 1 http 200 48\n");
    check(SCRIPT(">" GET,
                 "<HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n"
                 "Content-Length: 2\r\n\r\nab",
                 ">" GET2, "<" NOT_FOUND),
          "CALL 1 http GET /a 28\n"
          "RET 1 http 200 69\n"
          "CALL 2 http GET /b 19\n"
          "RET 2 http 404 38\n");
}
END_TEST

// ---- Expect, CONNECT, Upgrade -----------------------------------------------------------------

START_TEST(expect_continue)
{
    check(SCRIPT(">PUT /a HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n",
                 "<HTTP/1.1 100 Continue\r\n\r\n", ">abc", "<" OK, ">" GET, "<" OK),
          "CALL 1 http PUT /a 63\n"
          "RET 1 http 200 43\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n");
}
END_TEST

// RFC 9110, section 10.1.1: refused, and the body never comes; or it comes all the same.
START_TEST(expect_refused)
{
    check(SCRIPT(">PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n",
                 "<" NOT_FOUND, ">" GET, "<" OK),
          "CALL 1 http PUT /a 61\n"
          "RET 1 http 404 38\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n");
    check(SCRIPT(">PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
                 "<" NOT_FOUND, ">abcde", ">" GET, "<" OK),
          "CALL 1 http PUT /a 60\n"
          "RET 1 http 404 38\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n");
}
END_TEST

START_TEST(answered_before_the_body)
{
    g_autoptr(Converse) c = play(SCRIPT(">POST /a HTTP/1.1\r\nContent-Length: 6\r\n\r\nab",
                                        "<" NOT_FOUND, ">cd", ">ef", ">" GET, "<" OK),
                                 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http POST /a 41\n"
                                         "RET 1 http 404 38\n"
                                         "CALL 2 http GET /a 28\n"
                                         "RET 2 http 200 43\n");
}
END_TEST

START_TEST(connect_is_a_tunnel)
{
    check(SCRIPT(">CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
                 "<HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", ">\x01hello", "<\x02you",
                 ">\x01more", "<\x02yes"),
          "CALL 1 http CONNECT shop.example:443 46\n"
          "RET 1 http 200 38\n"
          "CALL 2 tcp - 6\n"
          "RET 2 tcp ok 4\n"
          "CALL 3 tcp - 5\n"
          "RET 3 tcp ok 4\n");
}
END_TEST

START_TEST(http_in_a_tunnel)
{
    check(SCRIPT(">CONNECT shop.example:80 HTTP/1.1\r\n\r\n", "<HTTP/1.0 200 OK\r\n\r\n", ">" GET,
                 "<" OK, ">" GET2, "<" NOT_FOUND),
          "CALL 1 http CONNECT shop.example:80 36\n"
          "RET 1 http 200 19\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n"
          "CALL 3 http GET /b 19\n"
          "RET 3 http 404 38\n");
}
END_TEST

START_TEST(connect_refused)
{
    check(SCRIPT(">CONNECT shop.example:80 HTTP/1.1\r\n\r\n",
                 "<HTTP/1.1 407 Auth\r\nContent-Length: 2\r\n\r\nno", ">" GET, "<" OK),
          "CALL 1 http CONNECT shop.example:80 36\n"
          "RET 1 http 407 42\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n");
}
END_TEST

// Bytes of the tunnel that overtake the response are not taken for HTTP.
START_TEST(tunnel_before_the_response)
{
    check(SCRIPT(">CONNECT shop.example:80 HTTP/1.1\r\n\r\n\x01\x02hello\n",
                 "<HTTP/1.0 200 OK\r\n\r\n", "<\x02you\n"),
          "CALL 1 http CONNECT shop.example:80 36\n"
          "CALL 2 tcp - 8\n"
          "RET 1 http 200 19\n"
          "RET 2 tcp ok 5\n");
}
END_TEST

START_TEST(upgrade)
{
    check(SCRIPT(">GET /chat HTTP/1.1\r\nUpgrade: raw\r\nConnection: upgrade\r\n\r\n",
                 "<HTTP/1.1 101 Switching\r\nUpgrade: raw\r\n\r\n\x02hi", ">\x01one", "<\x02two"),
          "CALL 1 http GET /chat 57\n"
          "RET 1 http 101 40\n"
          "MSG < tcp - 3\n"
          "CALL 2 tcp - 4\n"
          "RET 2 tcp ok 4\n");
    check(SCRIPT(">GET /chat HTTP/1.1\r\nUpgrade: h2c\r\n\r\n", "<" OK, ">" GET, "<" OK),
          "CALL 1 http GET /chat 36\n"
          "RET 1 http 200 43\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n");
}
END_TEST

START_TEST(forms_of_targets)
{
    check(SCRIPT(">OPTIONS * HTTP/1.1\r\n\r\n", "<" NOT_FOUND,
                 ">GET http://shop.example/cart/17?x HTTP/1.1\r\n\r\n", "<" OK,
                 ">VERSION-CONTROL /x HTTP/1.1\r\n\r\n", "<" OK, ">GET HTTP/1.1\r\n\r\n", "<" OK,
                 ">GET /a b HTTP/1.1\r\n\r\n", "<" OK),
          "CALL 1 http OPTIONS * 22\n"
          "RET 1 http 404 38\n"
          "CALL 2 http GET /cart/* 46\n"
          "RET 2 http 200 43\n"
          "CALL 3 http VERSION-CONTROL /x 31\n"
          "RET 3 http 200 43\n"
          "CALL 4 http GET 16\n"
          "RET 4 http 200 43\n"
          "CALL 5 http GET /* 21\n"
          "RET 5 http 200 43\n");
}
END_TEST

// What was read before the protocol was known may have been a HEAD, or not.
START_TEST(response_to_an_unread_request)
{
    const Script *head = SCRIPT(">hello it\r\n", "<HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n",
                                ">" GET, "<" OK, ">" GET2, "<" NOT_FOUND);
    const Script *other = SCRIPT(">hello it\r\n", "<" OK, ">" GET, "<" OK, ">" GET2, "<" NOT_FOUND);
    g_autoptr(Converse) without = play(head, 1460);
    ck_assert_str_eq(converse_result(without), "CALL 1 http - 10\nRET 1 http 200 41\n"
                                               "CALL 2 http GET /a 28\nRET 2 http 200 43\n"
                                               "CALL 3 http GET /b 19\nRET 3 http 404 38\n");
    g_autoptr(Converse) with = play(other, 1460);
    ck_assert_str_eq(converse_result(with), "CALL 1 http - 10\nRET 1 http 200 43\n"
                                            "CALL 2 http GET /a 28\nRET 2 http 200 43\n"
                                            "CALL 3 http GET /b 19\nRET 3 http 404 38\n");
}
END_TEST

// The first request line may be as long as any: its first 8 KiB do.
// A server says that it has waited for too long, or that it has no room, and closes.
START_TEST(errors_unasked)
{
#define TIMEOUT "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n" // 51 bytes
    check(SCRIPT("<" TIMEOUT, "y"), "MSG < http - 51\n");
    check(SCRIPT("<HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", "y"), "MSG < http - 38\n");
    check(SCRIPT(">" GET, "<" OK, "<" TIMEOUT, "y"),
          "CALL 1 http GET /a 28\nRET 1 http 200 43\nMSG < http - 51\n");
    check(SCRIPT(">" GET, "<" TIMEOUT, "y"), "CALL 1 http GET /a 28\nRET 1 http 408 51\n");
    check(SCRIPT(">" GET, "<" OK, "<" NOT_FOUND), // one that says so by nothing
          "CALL 1 http GET /a 28\nRET 1 http 200 43\nRET - http 404 38\n");
    check(SCRIPT(">" GET, "<" OK, ")" GET, "<" TIMEOUT),
          "CALL 1 http GET /a 28\nRET 1 http 200 43\nRET - http 408 51\n");
    check(MIDSTREAM("<" TIMEOUT), "RET - http 408 51\n");
}
END_TEST

START_TEST(long_first_lines)
{
    static const gsize lengths[] = {3900, 4096, 4500, 7000, 8192, 9000, 60000};
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree char *query = g_strnfill(lengths[i] - strlen("HEAD /a? HTTP/1.1\r\n"), 'q');
        g_autofree char *request = g_strconcat(">HEAD /a?", query, " HTTP/1.1\r\n\r\n", NULL);
        g_autofree char *expected = g_strdup_printf("CALL 1 http HEAD /a %zu\nRET 1 http 200 41\n"
                                                    "CALL 2 http GET /b 19\nRET 2 http 404 38\n",
                                                    lengths[i] + 2);
        Script script = {.steps = {request, "<HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n",
                                   ">" GET2, "<" NOT_FOUND},
                         .port = 9999};
        check(&script, expected);
    }
}
END_TEST

// The label is remembered by method and path: a query is none of it.
START_TEST(labels_are_not_mixed_up)
{
    check(SCRIPT(">GET /a?1 HTTP/1.1\r\n\r\n", "<" OK, ">GET /a?22 HTTP/1.1\r\n\r\n", "<" OK,
                 ">GET /ab HTTP/1.1\r\n\r\n", "<" OK, ">PUT /ab HTTP/1.1\r\n\r\n", "<" NOT_FOUND),
          "CALL 1 http GET /a 21\n"
          "RET 1 http 200 43\n"
          "CALL 2 http GET /a 22\n"
          "RET 2 http 200 43\n"
          "CALL 3 http GET /ab 20\n"
          "RET 3 http 200 43\n"
          "CALL 4 http PUT /ab 20\n"
          "RET 4 http 404 38\n");
}
END_TEST

// ---- random conversations -----------------------------------------------------------------------

static void append_chunks(GString *text, GRand *rand)
{
    for (gint n = g_rand_int_range(rand, 0, 4); n > 0; n--) {
        gsize size = (gsize)g_rand_int_range(rand, 1, 40);
        g_autofree char *data = g_strnfill(size, "\r\nH"[g_rand_int_range(rand, 0, 3)]);
        g_string_append_printf(text, "%zx\r\n%s\r\n", size, data);
    }
    g_string_append(text, "0\r\n\r\n");
}

// Header fields that end the section, and a body; of a kind that does not need the connection's
// end.
static void append_framed(GString *text, GRand *rand, bool head)
{
    gsize size = (gsize)g_rand_int_range(rand, 0, 60);
    g_autofree char *data = g_strnfill(size, 'G');
    if (g_rand_boolean(rand))
        g_string_append(text, "Cookie: a=b\r\nX-Long-Field: value\r\n more of it\r\n");
    if (head || g_rand_boolean(rand))
        g_string_append_printf(text, "Content-Length: %zu\r\n\r\n%s", size, head ? "" : data);
    else {
        g_string_append(text, "Transfer-Encoding: chunked\r\n\r\n");
        append_chunks(text, rand);
    }
}

static void say_randomly(Converse *c, GRand *rand, BbDirection direction, const GString *text)
{
    for (gsize at = 0; at < text->len;) {
        gsize most = (gsize)g_rand_int_range(rand, 1, 50);
        gsize length = MIN(most, text->len - at);
        converse_say(c, direction, text->str + at, length);
        at += length;
    }
}

// Requests and responses of all kinds in segments of any size: each is found whole.
START_TEST(random_conversations)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(9112);
    for (guint round = 0; round < 300; round++) {
        g_autoptr(Converse) c = converse_tcp(80);
        g_autoptr(GString) expected = g_string_new(NULL);
        for (guint call = 1; call <= 8; call++) {
            bool head = g_rand_int_range(rand, 0, 4) == 0;
            g_autoptr(GString) request = g_string_new(NULL);
            g_string_printf(request, "%s /%u HTTP/1.1\r\n", head ? "HEAD" : "PUT", call);
            append_framed(request, rand, false);
            g_autoptr(GString) reply = g_string_new(NULL);
            g_string_printf(reply, "HTTP/1.%u %u\r\n", call % 2, 200 + call * 40);
            append_framed(reply, rand, head);
            say_randomly(c, rand, BB_TO_SERVER, request);
            say_randomly(c, rand, BB_TO_CLIENT, reply);
            g_string_append_printf(expected, "CALL %u http %s /* %zu\nRET %u http %u %zu\n", call,
                                   head ? "HEAD" : "PUT", request->len, call, 200 + call * 40,
                                   reply->len);
        }
        ck_assert_msg(strcmp(converse_result(c), expected->str) == 0, "round %u:\n%s", round,
                      converse_result(c));
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
    }
}
END_TEST

// Bytes changed at random: whatever comes out, no message is longer than what was said.
START_TEST(damaged_conversations)
{
    static const char *const steps[] = {
        GET GET2,
        OK NOT_FOUND,
        "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n\r\nrest"};
    g_autoptr(GRand) rand = g_rand_new_with_seed(9110);
    for (guint round = 0; round < 2000; round++) {
        g_autoptr(Converse) c = converse_tcp(80);
        converse_segment_size(c, (gsize)g_rand_int_range(rand, 1, 60));
        gsize said = 0;
        for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
            gsize length = strlen(steps[i]);
            g_autofree char *text = g_strdup(steps[i]);
            BbDirection direction = i % 2 ? BB_TO_CLIENT : BB_TO_SERVER;
            if (g_rand_int_range(rand, 0, 3) == 0)
                text[g_rand_int_range(rand, 0, (gint)length)] =
                    (char)g_rand_int_range(rand, 0, 256);
            if (g_rand_int_range(rand, 0, 8) == 0)
                converse_lose(c, direction, (gsize)g_rand_int_range(rand, 1, 40));
            converse_say(c, direction, text, length);
            said += length;
        }
        guint64 heard = 0;
        g_auto(GStrv) lines = g_strsplit(converse_result(c), "\n", -1);
        for (guint i = 0; lines[i] && *lines[i]; i++)
            heard += g_ascii_strtoull(strrchr(lines[i], ' ') + 1, NULL, 10);
        ck_assert_msg(heard > 0 && heard <= said, "round %u:\n%s", round, converse_result(c));
    }
}
END_TEST

TEST_MAIN("http", request_and_response, times_are_of_first_and_last_byte, pipelining,
          content_length_of_requests, folded_fields, bare_line_feeds, chunked,
          responses_without_body, interim_responses, until_close, expect_continue, expect_refused,
          answered_before_the_body, connect_is_a_tunnel, http_in_a_tunnel, connect_refused,
          tunnel_before_the_response, upgrade, forms_of_targets, response_to_an_unread_request,
          errors_unasked, long_first_lines, labels_are_not_mixed_up, random_conversations,
          damaged_conversations)
