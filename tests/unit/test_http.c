// SPDX-License-Identifier: Apache-2.0
// HTTP/1: where messages begin and end, which response belongs to which request, what happens to
// both where bytes are missing or wrong.
#include "capture/loss.h"
#include "capture/protocols/http_line.h"
#include "tests/unit/script.h"

#define SCRIPT(...)              \
    &(const Script)              \
    {                            \
        .steps = { __VA_ARGS__ } \
    }
#define MIDSTREAM(...)                            \
    &(const Script)                               \
    {                                             \
        .steps = {__VA_ARGS__}, .midstream = true \
    }

#define GET "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"                 // 28 bytes
#define GET2 "GET /b HTTP/1.1\r\n\r\n"                           // 19
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"   // 43
#define NOT_FOUND "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n" // 38

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
          "CALL 1 http POST /a 42\n");
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

// ---- probing ------------------------------------------------------------------------------------

static BbMatch probe(const char *text, gsize length)
{
    g_autofree guint8 *exact = g_memdup2(text, length);
    return bb_decoder_http.probe(length ? exact : (const guint8 *)"", length);
}

// Every beginning of a message is undecided until the last byte that matters.
static void check_probe(const char *text, BbMatch expected)
{
    gsize length = strlen(text);
    for (gsize i = 0; i < length; i++)
        ck_assert_msg(probe(text, i) == BB_MATCH_MORE, "%zu of %s", i, text);
    ck_assert_int_eq(probe(text, length), expected);
}

START_TEST(probe_accepts)
{
    check_probe("GET / HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("GET / HTTP/1.0\n", BB_MATCH_REQUEST);
    check_probe("\r\nHEAD /x?y HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("OPTIONS * HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("CONNECT a:1 HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("ABCDEFGHIJABCDEFGHIJABCDEFGHI-12 / HTTP/1.1\r\n", BB_MATCH_REQUEST);
    check_probe("HTTP/1.1 200 ", BB_MATCH_REPLY);
    check_probe("HTTP/1.0 404\n", BB_MATCH_REPLY);
    check_probe("HTTP/1.0 404\r", BB_MATCH_REPLY);
}
END_TEST

START_TEST(probe_refuses)
{
    static const char *const texts[] = {
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "INVITE sip:bob@example.com SIP/2.0\r\n",
        "OPTIONS rtsp://example.com/media RTSP/1.0\r\n",
        "REQMOD icap://example.com/x ICAP/1.0\r\n",
        "SIP/2.0 200 OK\r\n",
        "RTSP/1.0 200 OK\r\n",
        "HTTP/2.0 200 OK\r\n",
        "HTTP/1.1 2000\r\n",
        "HTTP/1.1 099 X\r\n",
        "HTTP/1.1  200 OK\r\n",
        "HTTP/1.x 200 OK\r\n",
        "ICY 200 OK\r\n",
        "GET /\r\n",
        "GET key\r\n",
        "GET / HTTP/1.1 x\r\n",
        "GET / HTTP/1.\r\n",
        "GET / http/1.1\r\n",
        "get / HTTP/1.1\r\n",
        "GET\t/ HTTP/1.1\r\n",
        "GET /\x01 ",
        "GET /\x7f ",
        " GET / HTTP/1.1\r\n",
        "HTTP/1.1\r\n",
        "EHLO example.com\r\n",
        "220 mail.example.com ESMTP\r\n",
        "+OK\r\n",
        "*1\r\n$4\r\nPING\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\x16\x03\x01\x02",
        "1GET / HTTP/1.1\r\n",
        "ABCDEFGHIJABCDEFGHIJABCDEFGHI-123 / HTTP/1.1\r\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        ck_assert_msg(probe(texts[i], strlen(texts[i])) == BB_MATCH_NO, "%s", texts[i]);
}
END_TEST

START_TEST(probe_is_bounded)
{
    g_autofree char *path = g_strnfill(BB_HTTP_START_MAX, 'p');
    memcpy(path, "GET /", 5);
    ck_assert_int_eq(probe(path, BB_HTTP_START_MAX - 1), BB_MATCH_MORE);
    ck_assert_int_eq(probe(path, BB_HTTP_START_MAX), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_refuses_random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20030610);
    for (guint i = 0; i < 100000; i++) {
        char bytes[64];
        for (guint k = 0; k < sizeof bytes; k++)
            bytes[k] = (char)g_rand_int_range(rand, 0, 256);
        ck_assert_int_eq(probe(bytes, sizeof bytes), BB_MATCH_NO);
    }
}
END_TEST

// ---- lines --------------------------------------------------------------------------------------

static BbHttpFraming framing_of(const char *line)
{
    BbHttpFraming framing = {0};
    g_autofree guint8 *exact = g_memdup2(line, strlen(line));
    bb_http_field_line(&framing, exact, strlen(line));
    return framing;
}

START_TEST(fields)
{
    ck_assert_uint_eq(framing_of("Content-Length: 42 ").length, 42);
    ck_assert_uint_eq(framing_of("CONTENT-LENGTH:042").length, 42);
    ck_assert(!framing_of("Content-Length: ").has_length);
    ck_assert(!framing_of("Content-Lengths: 4").has_length);
    ck_assert(!framing_of("Content-Length").has_length);
    ck_assert(!framing_of("Content-Length 4").has_length);
    ck_assert_uint_eq(framing_of("Content-Length: 4611686018427387904").length, BB_HTTP_BODY_MAX);
    ck_assert(framing_of("Content-Length: 4611686018427387905").bad_length);
    ck_assert(framing_of("Content-Length: 1,2").bad_length);
    ck_assert(!framing_of("Content-Length: 2, 2,").bad_length);
    ck_assert_int_eq(framing_of("Transfer-Encoding: chunked;q=1").coding, BB_HTTP_CHUNKED);
    ck_assert_int_eq(framing_of("Transfer-Encoding: chunked, gzip").coding, BB_HTTP_OTHER_CODING);
    ck_assert_int_eq(framing_of("Transfer-Encoding: chunkedx").coding, BB_HTTP_OTHER_CODING);
    ck_assert_int_eq(framing_of("Transfer-Encoding: ,").coding, BB_HTTP_PLAIN);
    ck_assert_int_eq(framing_of("upgrade: WebSocket").upgrade, BB_HTTP_UPGRADE_WEBSOCKET);
    ck_assert_int_eq(framing_of("Upgrade: TLS/1.0 , h2c").upgrade, BB_HTTP_UPGRADE_H2C);
    ck_assert_int_eq(framing_of("Upgrade: h2c,websocket").upgrade, BB_HTTP_UPGRADE_H2C);
    ck_assert_int_eq(framing_of("Upgrade: websocket/13").upgrade, BB_HTTP_UPGRADE_WEBSOCKET);
    ck_assert_int_eq(framing_of("Upgrade: h2").upgrade, BB_HTTP_UPGRADE);
    ck_assert_int_eq(framing_of("Upgrade: h2cx").upgrade, BB_HTTP_UPGRADE);
    ck_assert_int_eq(framing_of("Upgrade: ,").upgrade, BB_HTTP_NO_UPGRADE);
    ck_assert(framing_of("Expect: 100-continue").expect);
    ck_assert(!framing_of("Expect: 200-ok").expect);
    ck_assert(!framing_of("").has_length);
}
END_TEST

START_TEST(chunk_lines)
{
    static const struct {
        const char *line;
        guint64 size;
    } good[] = {{"0", 0},
                {"a", 10},
                {"FF;x=\"y\"", 255},
                {"10 ", 16},
                {"000000000000000000001", 1},
                {"4000000000000000", BB_HTTP_BODY_MAX}};
    static const char *const bad[] = {"",
                                      ";x",
                                      "x",
                                      "0x10",
                                      "-1",
                                      "+1",
                                      "1x",
                                      "4000000000000001",
                                      "10000000000000000",
                                      "fffffffffffffffffffff"};
    guint64 size;
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        ck_assert(bb_http_chunk_line((const guint8 *)good[i].line, strlen(good[i].line), &size));
        ck_assert_uint_eq(size, good[i].size);
    }
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
        ck_assert_msg(!bb_http_chunk_line((const guint8 *)bad[i], strlen(bad[i]), &size), "%s",
                      bad[i]);
}
END_TEST

TEST_MAIN("http", request_and_response, times_are_of_first_and_last_byte, pipelining,
          content_length_of_requests, folded_fields, bare_line_feeds, chunked,
          responses_without_body, interim_responses, until_close, expect_continue, expect_refused,
          answered_before_the_body, connect_is_a_tunnel, http_in_a_tunnel, connect_refused,
          tunnel_before_the_response, upgrade, forms_of_targets, labels_are_not_mixed_up,
          lost_response, lost_request, lost_response_of_a_pipeline, lost_request_of_a_pipeline,
          loss_in_bodies_does_no_harm, loss_over_the_end_of_a_body, loss_in_header_sections,
          loss_in_start_lines, loss_between_chunks, found_again_inside_a_segment, joined_in_a_body,
          joined_at_a_response, orphan_without_body, cut_off, bad_content_length,
          bad_content_length_of_a_response, largest_content_length, bad_chunks,
          reply_that_is_not_http, request_that_is_not_http, reply_longer_than_announced,
          garbage_between_requests, large_header_sections, endless_request_line,
          random_conversations, damaged_conversations, probe_accepts, probe_refuses,
          probe_is_bounded, probe_refuses_random_bytes, fields, chunk_lines)
