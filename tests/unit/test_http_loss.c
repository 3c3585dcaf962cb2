// SPDX-License-Identifier: Apache-2.0
// HTTP/1 where bytes are missing or wrong: what is found again, and what is not told.
#include "capture/loss.h"
#include "tests/unit/http_talk.h"

// ---- loss -------------------------------------------------------------------------------------

static void check_loss(const Script *script, int kind, guint64 expected)
{
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_uint_eq(converse_loss(c, kind), expected);
}

START_TEST(lost_response)
{
    const Script *script = SCRIPT(">" GET, "(" OK, ">" GET2, "<" NOT_FOUND, ">" GET, "<" OK);
    check(script, "CALL 1 http GET /a 28\n"
                  "CALL 2 http GET /b 19\n"
                  "RET 2 http 404 38\n"
                  "CALL 3 http GET /a 28\n"
                  "RET 3 http 200 43\n");
    check_loss(script, BB_DECODER_LOST, 1);
    check_loss(script, BB_CALLS_UNRETURNED, 1);
}
END_TEST

START_TEST(lost_request)
{
    const Script *script = SCRIPT(">" GET, "<" OK, ")" GET2, "<" NOT_FOUND, ">" GET, "<" OK);
    check(script, "CALL 1 http GET /a 28\n"
                  "RET 1 http 200 43\n"
                  "RET - http 404 38\n"
                  "CALL 2 http GET /a 28\n"
                  "RET 2 http 200 43\n");
    check_loss(script, BB_RETURNS_ORPHANED, 1);
}
END_TEST

START_TEST(lost_response_of_a_pipeline)
{
    // The first response is lost: the second must not answer the first request.
    const Script *script = SCRIPT(">" GET GET2, "(" OK, "<" NOT_FOUND, ">" GET, "<" OK);
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_ptr_null(strstr(converse_result(c), "RET 1"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 3 http GET /a 28\nRET 3 http 200 43\n"));
}
END_TEST

START_TEST(lost_request_of_a_pipeline)
{
    // Nobody can tell whose the responses are: no pair is better than a wrong one.
    const Script *script = SCRIPT(">" GET, ")" GET, ">" GET2, "<" OK OK NOT_FOUND, ">" GET, "<" OK);
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 1 http 200 43\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 3 http GET /a 28\nRET 3 http 200 43\n"));
    ck_assert_ptr_null(strstr(converse_result(c), "RET 2"));
}
END_TEST

START_TEST(loss_in_bodies_does_no_harm)
{
    const Script *script = SCRIPT(
        ">POST /a HTTP/1.1\r\nContent-Length: 30\r\n\r\n0123456789", ")0123456789", ">0123456789",
        "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1e\r\n0123456789", "(0123456789",
        "<0123456789\r\n0\r\n\r\n", ">" GET, "<" OK);
    check(script, "CALL 1 http POST /a 60\n"
                  "RET 1 http 200 78\n"
                  "CALL 2 http GET /a 28\n"
                  "RET 2 http 200 43\n");
    check_loss(script, BB_DECODER_LOST, 0);
    check(SCRIPT(">" GET, "<HTTP/1.0 200 OK\r\n\r\nabc", "(abcdef", "<abc"),
          "CALL 1 http GET /a 28\nRET 1 http 200 25\n");
}
END_TEST

// The end of a body and the beginning of the next response are lost.
START_TEST(loss_over_the_end_of_a_body)
{
    const Script *script =
        SCRIPT(">" GET, "<HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789", ">" GET2,
               "(0123456789HTTP/1.1 200 OK\r\nContent-Le", "<ngth: 5\r\n\r\nhello", ">" GET,
               "<" NOT_FOUND);
    check(script, "CALL 1 http GET /a 28\n"
                  "RET 1 http 200 49\n"
                  "CALL 2 http GET /b 19\n"
                  "CALL 3 http GET /a 28\n"
                  "RET 3 http 404 38\n");
    check_loss(script, BB_DECODER_LOST, 1);
}
END_TEST

START_TEST(loss_in_header_sections)
{
    check(SCRIPT(">GET /a HTTP/1.1\r\nHo", ")st: x\r\n", ">\r\n", "<HTTP/1.1 200 OK\r\nCont",
                 "(ent-Length: 5\r\n", "<\r\nhello", ">" GET2, "<" NOT_FOUND),
          "CALL 1 http GET /a 19\n"
          "RET 1 http 200 21\n"
          "CALL 2 http GET /b 19\n"
          "RET 2 http 404 38\n");
}
END_TEST

START_TEST(loss_in_start_lines)
{
    check(SCRIPT(">" GET2, "<" OK, ">GET /ab", ")c HTTP/1.1\r\n\r\n", "<HTTP/1.1 404 N",
                 "(o\r\nContent-Length: 0\r\n\r\n", ">" GET, "<" OK),
          "CALL 1 http GET /b 19\n"
          "RET 1 http 200 43\n"
          "CALL 2 http GET * 7\n"
          "RET 2 http 404 14\n"
          "CALL 3 http GET /a 28\n"
          "RET 3 http 200 43\n");
    // Too little was seen to know the message.
    check(SCRIPT(">" GET2, "<" OK, ">GE", ")T / HTTP/1.1\r\n\r\n", "<HTTP/1.1 20",
                 "(0 OK\r\nContent-Length: 0\r\n\r\n", ">" GET, "<" OK),
          "CALL 1 http GET /b 19\n"
          "RET 1 http 200 43\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n");
}
END_TEST

START_TEST(loss_between_chunks)
{
    check(SCRIPT(">" GET, "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                 "(3\r\nabc\r\n", "<3\r\nHTTP\r\n0\r\n\r\n", ">" GET2, "<" NOT_FOUND),
          "CALL 1 http GET /a 28\n"
          "RET 1 http 200 55\n"
          "CALL 2 http GET /b 19\n"
          "RET 2 http 404 38\n");
}
END_TEST

// A start line inside a segment is found after a line end.
START_TEST(found_again_inside_a_segment)
{
    const Script *script =
        SCRIPT(">" GET, "<" OK, ")POST /lost HTTP/1.1\r\n", ">Content-Length: 4\r\n\r\nab\n" GET2,
               "<" NOT_FOUND NOT_FOUND, ">" GET, "<" OK);
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 2 http GET /b "));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 3 http GET /a 28\nRET 3 http 200 43\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// ---- joined in the middle, cut off --------------------------------------------------------------

START_TEST(joined_in_a_body)
{
    check(MIDSTREAM(">" GET2, "<" OK, ">" GET, "<" NOT_FOUND), "CALL 1 http GET /b 19\n"
                                                               "RET 1 http 200 43\n"
                                                               "CALL 2 http GET /a 28\n"
                                                               "RET 2 http 404 38\n");
    g_autoptr(Converse) c =
        play(MIDSTREAM("<\x02rest of a body", ">" GET, "<" OK, ">" GET2, "<" NOT_FOUND), 1460);
    ck_assert_str_eq(converse_result(c), "MSG < tcp - 15\n"
                                         "CALL 1 http GET /a 28\n"
                                         "RET 1 http 200 43\n"
                                         "CALL 2 http GET /b 19\n"
                                         "RET 2 http 404 38\n");
}
END_TEST

START_TEST(joined_at_a_response)
{
    check(MIDSTREAM("<" OK, ">" GET, "<" NOT_FOUND), "RET - http 200 43\n"
                                                     "CALL 1 http GET /a 28\n"
                                                     "RET 1 http 404 38\n");
}
END_TEST

// A response whose request was not seen may be one to HEAD: no body follows then.
START_TEST(orphan_without_body)
{
    check(MIDSTREAM("<HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", ">" GET, "<" OK),
          "RET - http 200 40\n"
          "CALL 1 http GET /a 28\n"
          "RET 1 http 200 43\n");
    check(MIDSTREAM("<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ">" GET, "<" OK),
          "RET - http 200 47\n"
          "CALL 1 http GET /a 28\n"
          "RET 1 http 200 43\n");
    check(MIDSTREAM("<HTTP/1.1 200 OK\r\n\r\nHTML", ">" GET, "<<p>", "y", "x"),
          "RET - http 200 26\n"
          "CALL 1 http GET /a 28\n");
}
END_TEST

START_TEST(cut_off)
{
    check(SCRIPT(">POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", "x", "y"),
          "CALL 1 http POST /a 42\nMSG > http POST /a 0\n"); // who closes over it
    check(SCRIPT(">POST /a HTTP/1.1\r\nContent-Len", "y", "x"), "CALL 1 http POST /a 29\n");
    check(SCRIPT(">" GET, "<HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "y", "x"),
          "CALL 1 http GET /a 28\nRET 1 http 200 41\n");
    check(SCRIPT(">" GET, "<HTTP/1.1 200 OK\r\nX: y"),
          "CALL 1 http GET /a 28\nRET 1 http 200 21\n");
    check(SCRIPT(">" GET, "<HTTP/1.1 100 OK\r\nX: y"), "CALL 1 http GET /a 28\n");
    check(SCRIPT(">" GET, "<HTTP/1.1 503 "), "CALL 1 http GET /a 28\nRET 1 http 503 13\n");
    check(SCRIPT(">" GET, "<HTTP/1.1 50"), "CALL 1 http GET /a 28\n");
    check(SCRIPT(">" GET2, "<" OK, ">HEAD /a"), "CALL 1 http GET /b 19\n"
                                                "RET 1 http 200 43\n"
                                                "CALL 2 http HEAD * 7\n");
}
END_TEST

// A snap length that ends within request lines leaves a call for each.
START_TEST(cut_request_lines)
{
    const Script *script =
        SCRIPT(">" GET, "<" OK, ">GET /long/na", ")me HTTP/1.1\r\n\r\n", "<" OK, ">POST /long/na",
               ")me HTTP/1.1\r\n\r\n", "<" OK, ">GET /b HTT", ")P/1.1\r\n\r\n", "<" OK,
               ">GETTING /a", ") on\r\n\r\n", ">" GET, "<" OK);
    g_autoptr(Converse) c = play(script, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 2 http GET * 12\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 3 http POST * 13\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 4 http GET * 10\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 5 http GET /a 28\n"));
}
END_TEST

START_TEST(cut_first_request_line)
{
    check(SCRIPT(">GET /long/na", ")me HTTP/1.1\r\n\r\n", "<" OK),
          "CALL 1 http GET * 12\nRET 1 http 200 43\n");
    check(SCRIPT(">GETTING /a", ") on\r\n\r\n", "<" OK), "CALL 1 tcp - 10\nRET 1 http 200 43\n");
}
END_TEST

// ---- malformed input ----------------------------------------------------------------------------

START_TEST(bad_content_length)
{
    static const char *const values[] = {
        "4, 5", "four", "-4", "4 4", "0x4", "4;", "4611686018427387905", "99999999999999999999999",
        ","};
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        g_autofree char *request =
            g_strdup_printf(">POST /a HTTP/1.1\r\nContent-Length: %s\r\n\r\nabcd\r\n", values[i]);
        g_autofree char *expected = g_strdup_printf("CALL 1 http POST /a %zu\n"
                                                    "RET 1 http 404 38\n"
                                                    "CALL 2 http GET /a 28\n"
                                                    "RET 2 http 200 43\n",
                                                    strlen(request) - 1);
        Script script = {.steps = {request, "<" NOT_FOUND, ">" GET, "<" OK}};
        check(&script, expected);
        check_loss(&script, BB_DECODER_LOST, 1);
    }
}
END_TEST

START_TEST(bad_content_length_of_a_response)
{
    check(SCRIPT(">" GET,
                 "<HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nab\r\n",
                 ">" GET2, "<" NOT_FOUND),
          "CALL 1 http GET /a 28\n"
          "RET 1 http 200 61\n"
          "CALL 2 http GET /b 19\n"
          "RET 2 http 404 38\n");
}
END_TEST

START_TEST(largest_content_length)
{
    check(SCRIPT(">POST /a HTTP/1.1\r\nContent-Length: 4611686018427387904\r\n\r\n" GET),
          "CALL 1 http POST /a 85\n");
}
END_TEST

START_TEST(bad_chunks)
{
    static const char *const bodies[] = {"x\r\n", "-1\r\nab\r\n",         "3\r\nabcd\r\n",
                                         "g",     "4000000000000001\r\n", "fffffffffffffffff\r\n",
                                         "\r\n",  "3x\r\nabc\r\n"};
    for (guint i = 0; i < G_N_ELEMENTS(bodies); i++) {
        g_autofree char *reply =
            g_strdup_printf("<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s", bodies[i]);
        guint taken = g_str_has_prefix(bodies[i], "3\r\n") ? 6 : 0;
        g_autofree char *expected = g_strdup_printf("CALL 1 http GET /a 28\n"
                                                    "RET 1 http 200 %u\n"
                                                    "CALL 2 http GET /b 19\n"
                                                    "RET 2 http 404 38\n",
                                                    47 + taken);
        Script script = {.steps = {">" GET, reply, ">" GET2, "<" NOT_FOUND}};
        check(&script, expected);
        check_loss(&script, BB_DECODER_LOST, 1);
    }
}
END_TEST

// HTTP/0.9 or another protocol: turn-taking. The next certain request begins anew, and its response
// must not answer the first one.
START_TEST(reply_that_is_not_http)
{
    g_autoptr(Converse) c =
        play(SCRIPT(">" GET, "<<html>old</html>\n", ">" GET2, "<" NOT_FOUND), 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http GET /a 28\n"
                                         "MSG < tcp - 17\n"
                                         "CALL 2 http GET /b 19\n"
                                         "RET 2 http 404 38\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
    check(SCRIPT(">" GET, "<ICY 200 OK\r\n\r\n\x01\x02"), "CALL 1 http GET /a 28\n"
                                                          "MSG < tcp - 16\n");
}
END_TEST

START_TEST(request_that_is_not_http)
{
    g_autoptr(Converse) c =
        play(MIDSTREAM("<" OK, ">\x01hello", "<\x02you", ">" GET, "<" OK), 1460);
    ck_assert_str_eq(converse_result(c), "RET - http 200 43\n"
                                         "CALL 1 tcp - 6\n"
                                         "RET 1 tcp ok 4\n"
                                         "CALL 2 http GET /a 28\n"
                                         "RET 2 http 200 43\n");
}
END_TEST

// More body than was announced: the next response is found all the same.
START_TEST(reply_longer_than_announced)
{
    check(SCRIPT(">" GET, "<" OK "more text\r\n", ">" GET2, "<" NOT_FOUND),
          "CALL 1 http GET /a 28\n"
          "RET 1 http 200 43\n"
          "CALL 2 http GET /b 19\n"
          "RET 2 http 404 38\n");
}
END_TEST

START_TEST(garbage_between_requests)
{
    const Script *script =
        SCRIPT(">" GET, "<" OK, ">\x01\x02garbage\r\nand more\r\n" GET2, "<" NOT_FOUND);
    check(script, "CALL 1 http GET /a 28\n"
                  "RET 1 http 200 43\n"
                  "CALL 2 http GET /b 19\n"
                  "RET 2 http 404 38\n");
    check_loss(script, BB_DECODER_LOST, 1);
}
END_TEST

// ---- the response to an upgrade is missing ------------------------------------------------------

#define CHAT "GET /chat HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" // 63
#define CHANGED "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
#define CONNECT "CONNECT db:80 HTTP/1.1\r\n\r\n" // 26
#define REDIS "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"

// What the client says in place of HTTP tells that there was one.
START_TEST(lost_upgrades)
{
    check(SCRIPT(">" CHAT, "(" CHANGED,
                 ">\x81\x85"
                 "abcdhello",
                 "<\x81\5world",
                 ">\x81\x81"
                 "abcdh"),
          "CALL 1 http GET /chat 63\n"
          "MSG > websocket text 11\n"
          "MSG < websocket text 7\n"
          "MSG > websocket text 7\n");
    const Script *tunnel =
        SCRIPT(">" CONNECT, "(HTTP/1.1 200 OK\r\n\r\n", ">" REDIS, "<$1\r\nb\r\n", ">" REDIS);
    check(tunnel, "CALL 1 http CONNECT db:80 26\n"
                  "CALL 2 redis GET 20\n"
                  "RET 2 redis ok 7\n"
                  "CALL 3 redis GET 20\n");
    g_autoptr(Converse) c = play(tunnel, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 2);
}
END_TEST

// The rest of the head is missing: what it tells begins behind.
START_TEST(cut_upgrades)
{
    check(SCRIPT(">" CHAT, "<HTTP/1.1 101 Switching", "( Protocols\r\n\r\n", "<\x81\5world",
                 ">\x81\x85"
                 "abcdhello"),
          "CALL 1 http GET /chat 63\n"
          "RET 1 http 101 22\n"
          "MSG < websocket text 7\n"
          "MSG > websocket text 11\n");
    check(SCRIPT(">" CONNECT, "<HTTP/1.1 200 OK\r\nX: ", "(y\r\n\r\n", ">" REDIS, "<$1\r\nb\r\n"),
          "CALL 1 http CONNECT db:80 26\n"
          "RET 1 http 200 20\n"
          "CALL 2 redis GET 20\n"
          "RET 2 redis ok 7\n");
}
END_TEST

START_TEST(lost_upgrade_to_http2)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    static const char request[] = "\0\0\5\1\5\0\0\0\3\x82\x84\x86\x41\0";
    static const char reply[] = "\0\0\1\1\5\0\0\0\3\x88";
    for (gsize segment = 1; segment < 40; segment++) {
        g_autoptr(Converse) c = converse_tcp(80);
        converse_segment_size(c, segment);
        converse_text(c, BB_TO_SERVER, "GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n");
        converse_lose(c, BB_TO_CLIENT, 70);
        converse_say(c, BB_TO_SERVER, preface, sizeof preface - 1);
        converse_say(c, BB_TO_SERVER, request, sizeof request - 1);
        converse_say(c, BB_TO_CLIENT, reply, sizeof reply - 1);
        ck_assert_str_eq(converse_result(c), "CALL 1 http GET /a 33\n"
                                             "CALL 2 http2 GET / 14\n"
                                             "RET 2 http2 200 10\n");
    }
}
END_TEST

// It was refused.
START_TEST(lost_refusals)
{
    check(SCRIPT(">" CHAT, "(" NOT_FOUND, ">" GET, "<" OK, ">" GET2, "<" NOT_FOUND),
          "CALL 1 http GET /chat 63\n"
          "CALL 2 http GET /a 28\n"
          "RET 2 http 200 43\n"
          "CALL 3 http GET /b 19\n"
          "RET 3 http 404 38\n");
}
END_TEST

// ---- limits -------------------------------------------------------------------------------------

START_TEST(large_header_sections)
{
    // Lines without interest pass unbuffered, so a section may be of any size.
    g_autoptr(GString) request = g_string_new(">GET /a HTTP/1.1\r\n");
    for (guint i = 0; i < 100; i++) {
        g_autofree char *value = g_strnfill(4000, 'v');
        g_string_append_printf(request, "X-Field: %s\r\n", value);
    }
    g_string_append(request, "\r\n");
    g_autofree char *expected =
        g_strdup_printf("CALL 1 http GET /a %zu\nRET 1 http 200 43\n", request->len - 1);
    Script script = {.steps = {request->str, "<" OK}};
    g_autoptr(Converse) c = play(&script, 1460);
    ck_assert_str_eq(converse_result(c), expected);
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

START_TEST(endless_request_line)
{
    g_autofree char *path = g_strnfill(70000, 'p');
    g_autofree char *request = g_strconcat(">GET /", path, " HTTP/1.1\r\n\r\n", NULL);
    Script script = {.steps = {">" GET, "<" OK, request, ">" GET2, "<" NOT_FOUND}};
    g_autoptr(Converse) c = play(&script, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 1);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 2 http GET * "));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "http GET /b 19\n"));
}
END_TEST

TEST_MAIN("http_loss", lost_response, lost_request, lost_response_of_a_pipeline,
          lost_request_of_a_pipeline, loss_in_bodies_does_no_harm, loss_over_the_end_of_a_body,
          loss_in_header_sections, loss_in_start_lines, loss_between_chunks,
          found_again_inside_a_segment, joined_in_a_body, joined_at_a_response, orphan_without_body,
          cut_off, cut_request_lines, cut_first_request_line, bad_content_length,
          bad_content_length_of_a_response, largest_content_length, bad_chunks,
          reply_that_is_not_http, request_that_is_not_http, reply_longer_than_announced,
          garbage_between_requests, lost_upgrades, cut_upgrades, lost_upgrade_to_http2,
          lost_refusals, large_header_sections, endless_request_line)
