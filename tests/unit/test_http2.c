// SPDX-License-Identifier: Apache-2.0
// HTTP/2: which frames are which call, what ends it and with which status; upgrades; gRPC.
#include "capture/loss.h"
#include "tests/unit/http2_talk.h"

// Fields of the static table (RFC 7541, appendix A), and the first pairs of most tests.
#define GET_A "#82 #86 :path=/a"
#define OK "#88"

// ---- plain calls ------------------------------------------------------------------------------

START_TEST(request_and_response)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_frame(t, BB_HTTP2_SETTINGS, BB_HTTP2_ACK, 0, "", 0);
    talk_headers(t, 1, END_BOTH, "#82 :path=/cart/17?x=1 #86");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_data(t, 1, END_STREAM, "hello");
    UP(t);
    talk_headers(t, 3, END_HEADERS, "#83 :path=/b");
    talk_data(t, 3, 0, "abc");
    talk_data(t, 3, END_STREAM, "");
    DOWN(t);
    talk_headers(t, 3, END_BOTH, ":status=404");
    talk_check(t, "CALL 1 http2 GET /cart/* 31\n"
                  "RET 1 http2 200 24\n"
                  "CALL 2 http2 POST /b 41\n"
                  "RET 2 http2 404 22\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}
END_TEST

// Time of the first byte of HEADERS, end at END_STREAM.
START_TEST(times)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t); // packets 0 and 1
    UP(t);
    talk_headers(t, 1, END_HEADERS, "#83 #84");
    talk_cut(t);
    talk_data(t, 1, 0, "a");
    talk_cut(t);
    talk_data(t, 1, END_STREAM, "b");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_cut(t);
    talk_data(t, 1, 0, "c");
    talk_cut(t);
    talk_headers(t, 1, END_BOTH, "x=y");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http2 POST / 31\nRET 1 http2 200 34\n");
    ck_assert_int_eq(converse_first_ms(c, 0), 2);
    ck_assert_int_eq(converse_last_ms(c, 0), 4);
    ck_assert_int_eq(converse_first_ms(c, 1), 5);
    ck_assert_int_eq(converse_last_ms(c, 1), 7);
}
END_TEST

// Responses in any order, their frames mixed.
START_TEST(streams_are_mixed)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_HEADERS, "#83 :path=/a");
    talk_cut(t);
    talk_headers(t, 3, END_HEADERS, "#83 :path=/b");
    talk_data(t, 1, 0, "11");
    talk_data(t, 3, END_STREAM, "333");
    talk_cut(t);
    talk_headers(t, 5, END_BOTH, "#82 :path=/c");
    talk_data(t, 1, END_STREAM, "1");
    DOWN(t);
    talk_headers(t, 5, END_HEADERS, OK);
    talk_cut(t);
    talk_headers(t, 3, END_HEADERS, ":status=500");
    talk_data(t, 5, 0, "55");
    talk_cut(t);
    talk_headers(t, 1, END_BOTH, "#8b");
    talk_data(t, 3, END_STREAM, "3");
    talk_data(t, 5, END_STREAM, "5");
    talk_check(t, "CALL 1 http2 POST /a 41\n"
                  "CALL 2 http2 POST /b 32\n"
                  "CALL 3 http2 GET /c 20\n"
                  "RET 3 http2 200 31\n"
                  "RET 2 http2 500 32\n"
                  "RET 1 http2 304 10\n");
}
END_TEST

// Frames of connections, priorities and types that nobody knows are no part of any call.
START_TEST(other_frames)
{
    static const guint8 priority[] = {0, 0, 0, 0, 16}, ping[8] = {1};
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_frame(t, BB_HTTP2_PRIORITY, 0, 1, priority, sizeof priority);
    talk_code(t, BB_HTTP2_WINDOW_UPDATE, 0, 1000);
    talk_headers(t, 1, END_HEADERS, GET_A);
    talk_frame(t, BB_HTTP2_PING, 0, 0, ping, sizeof ping);
    talk_frame(t, 0xbe, 0xff, 7, "whatever", 8);
    talk_data(t, 1, END_STREAM, "");
    DOWN(t);
    talk_frame(t, BB_HTTP2_PING, BB_HTTP2_ACK, 0, ping, sizeof ping);
    talk_code(t, BB_HTTP2_WINDOW_UPDATE, 1, 1000);
    talk_frame(t, 0x0a, 0, 0, "\0\0h3", 4); // ALTSVC
    talk_headers(t, 1, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 30\nRET 1 http2 200 10\n");
}
END_TEST

START_TEST(padding_and_priority)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_frame(t, BB_HTTP2_HEADERS, END_HEADERS | BB_HTTP2_PADDED | BB_HTTP2_HAS_PRIORITY, 1,
               "\3\x80\0\0\0\xff\x83\x84\xff\xff\xff", 11);
    talk_frame(t, BB_HTTP2_DATA, END_STREAM | BB_HTTP2_PADDED, 1, "\2ab\0\0", 5);
    DOWN(t);
    talk_frame(t, BB_HTTP2_HEADERS, END_BOTH | BB_HTTP2_PADDED, 1, "\1\x88\xff", 3);
    talk_check(t, "CALL 1 http2 POST / 34\nRET 1 http2 200 12\n");
}
END_TEST

START_TEST(header_blocks_of_many_frames)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_STREAM, "#82");
    talk_frame(t, BB_HTTP2_CONTINUATION, 0, 1, "", 0);
    talk_frame(t, BB_HTTP2_CONTINUATION, 0, 1, "\0\5:pa", 5); // a literal over three frames
    talk_cut(t);
    talk_frame(t, BB_HTTP2_CONTINUATION, 0, 1, "th\4/o", 5);
    talk_frame(t, BB_HTTP2_CONTINUATION, END_HEADERS, 1, "ne", 2);
    DOWN(t);
    talk_headers(t, 1, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /one 58\nRET 1 http2 200 10\n");
}
END_TEST

// The table of each direction; a change of its size.
START_TEST(dynamic_table)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 +:path=/first");
    talk_headers(t, 3, END_BOTH, "#82 #be");
    talk_headers(t, 5, END_BOTH, "#3fe11f #83 +:path=/second"); // 4096
    talk_headers(t, 7, END_BOTH, "#82 #bf");
    talk_headers(t, 9, END_BOTH, "#20 #3f81ff03 #82 +:path=/third"); // 0, then 65,536
    talk_headers(t, 11, END_BOTH, "#82 #be");
    DOWN(t);
    talk_headers(t, 1, END_BOTH, "+:status=299");
    talk_headers(t, 3, END_BOTH, "#be");
    talk_check(t, "CALL 1 http2 GET /first 24\n"
                  "CALL 2 http2 GET /first 11\n"
                  "CALL 3 http2 POST /second 28\n"
                  "CALL 4 http2 GET /first 11\n"
                  "CALL 5 http2 GET /third 29\n"
                  "CALL 6 http2 GET /third 11\n"
                  "RET 1 http2 299 22\n"
                  "RET 2 http2 299 10\n");
}
END_TEST

START_TEST(forms_of_labels)
{
    g_autofree char *query = g_strnfill(100, 'q');
    g_autofree char *long_query = g_strdup_printf("#82 :path=/q?%s", query);
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#86 :path=/x/550e8400-e29b-41d4-a716-446655440000 :method=GET");
    talk_headers(t, 3, END_BOTH, ":method=CONNECT :authority=shop.example:443");
    talk_headers(t, 5, END_BOTH,
                 ":method=CONNECT :protocol=websocket #86 :path=/chat :authority=h");
    talk_headers(t, 7, END_BOTH, ":method=OPTIONS :path=*");
    talk_headers(t, 9, END_BOTH, long_query);
    talk_headers(t, 11, END_BOTH, ":method=PUT #86");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http2 GET /x/* 70\n"
                                         "CALL 2 http2 CONNECT shop.example:443 55\n"
                                         "CALL 3 http2 CONNECT /chat 75\n"
                                         "CALL 4 http2 OPTIONS * 35\n"
                                         "CALL 5 http2 GET /q 121\n"
                                         "CALL 6 http2 PUT 23\n");
}
END_TEST

START_TEST(interim_responses)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_HEADERS, GET_A);
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, ":status=100");
    UP(t);
    talk_data(t, 1, END_STREAM, "body");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, ":status=103");
    talk_cut(t);
    talk_headers(t, 1, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 34\nRET 1 http2 200 10\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_int_eq(converse_first_ms(c, 1), 6);
}
END_TEST

// RFC 9113, 8.1: a server may answer before the request is complete, and then asks to stop.
START_TEST(answered_before_the_end)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_HEADERS, GET_A);
    talk_data(t, 1, 0, "abc");
    DOWN(t);
    talk_headers(t, 1, END_BOTH, ":status=413");
    talk_code(t, BB_HTTP2_RST_STREAM, 1, 0);
    UP(t);
    talk_data(t, 1, END_STREAM, "more");
    talk_headers(t, 3, END_BOTH, GET_A);
    DOWN(t);
    talk_headers(t, 3, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 33\n"
                  "RET 1 http2 413 22\n"
                  "CALL 2 http2 GET /a 21\n"
                  "RET 2 http2 200 10\n");
}
END_TEST

START_TEST(pushed_responses)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    DOWN(t);
    talk_frame(t, BB_HTTP2_PUSH_PROMISE, END_HEADERS, 1, "\0\0\0\2\x82\x86\0\5:path\2/s", 16);
    talk_headers(t, 1, END_BOTH, OK);
    talk_headers(t, 2, END_HEADERS, OK);
    talk_data(t, 2, END_STREAM, "css");
    talk_headers(t, 4, END_BOTH, ":status=404"); // of a promise that nobody saw
    talk_frame(t, BB_HTTP2_PUSH_PROMISE, END_HEADERS, 1, "\0\0\0\6\x82\x86\x84", 7); // unfulfilled
    talk_check(t, "CALL 1 http2 GET /a 21\n"
                  "RET 1 http2 200 10\n"
                  "MSG < http2 GET /s 22\n"
                  "MSG < http2 - 22\n");
}
END_TEST

// ---- ends by error ------------------------------------------------------------------------------

START_TEST(reset_by_the_server)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    for (guint32 stream = 1; stream <= 7; stream += 2)
        talk_headers(t, stream, END_BOTH, GET_A);
    DOWN(t);
    talk_code(t, BB_HTTP2_RST_STREAM, 3, 7);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_data(t, 1, 0, "half");
    talk_code(t, BB_HTTP2_RST_STREAM, 1, 2);
    talk_headers(t, 5, END_HEADERS, OK);
    talk_code(t, BB_HTTP2_RST_STREAM, 5, 0);
    talk_code(t, BB_HTTP2_RST_STREAM, 7, 99);
    talk_code(t, BB_HTTP2_RST_STREAM, 7, 99); // of a stream that is over
    talk_check(t, "CALL 1 http2 GET /a 21\n"
                  "CALL 2 http2 GET /a 21\n"
                  "CALL 3 http2 GET /a 21\n"
                  "CALL 4 http2 GET /a 21\n"
                  "RET 2 http2 REFUSED_STREAM 13\n"
                  "RET 1 http2 INTERNAL_ERROR 36\n"
                  "RET 3 http2 200 10\n"
                  "RET 4 http2 error 13\n");
}
END_TEST

// A response on its way when the client cancels is no orphan.
START_TEST(cancelled_by_the_client)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    talk_headers(t, 3, END_HEADERS, GET_A);
    talk_cut(t);
    talk_headers(t, 5, END_BOTH, GET_A);
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_data(t, 1, 0, "half");
    UP(t);
    talk_code(t, BB_HTTP2_RST_STREAM, 1, 8);
    talk_code(t, BB_HTTP2_RST_STREAM, 3, 8);
    DOWN(t);
    talk_data(t, 1, END_STREAM, "rest");
    talk_headers(t, 3, END_BOTH, OK);
    talk_headers(t, 5, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 21\n"
                  "CALL 2 http2 GET /a 21\n"
                  "CALL 3 http2 GET /a 21\n"
                  "RET 1 http2 CANCEL 23\n"
                  "RET 3 http2 200 10\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// However many.
START_TEST(many_are_cancelled)
{
    g_autoptr(Talk) t = talk_new();
    const guint32 last = 99;
    talk_begin(t);
    for (guint32 id = 1; id <= last; id += 2) {
        UP(t);
        talk_headers(t, id, END_BOTH, GET_A);
    }
    for (guint32 id = 1; id <= last; id += 2)
        talk_code(t, BB_HTTP2_RST_STREAM, id, 8);
    DOWN(t);
    for (guint32 id = 1; id <= last; id += 2) {
        talk_headers(t, id, END_HEADERS, OK);
        talk_data(t, id, END_STREAM, "late");
    }
    talk_headers(t, last + 2, END_BOTH, OK); // nobody asked
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), (last + 1) / 2);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), (last + 1) / 2);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
}
END_TEST

// RFC 9113, 6.8: first a warning, then the streams above the last one are refused.
START_TEST(graceful_goaway)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    talk_headers(t, 3, END_BOTH, GET_A);
    talk_frame(t, BB_HTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0",
               8); // the client's says nothing of calls
    DOWN(t);
    talk_frame(t, BB_HTTP2_GOAWAY, 0, 0, "\x7f\xff\xff\xff\0\0\0\0bye", 11);
    talk_cut(t);
    talk_frame(t, BB_HTTP2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8);
    talk_headers(t, 1, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 21\n"
                  "CALL 2 http2 GET /a 21\n"
                  "RET 2 http2 REFUSED_STREAM 17\n"
                  "RET 1 http2 200 10\n");
}
END_TEST

START_TEST(goaway_with_an_error)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    talk_headers(t, 3, END_BOTH, GET_A);
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_frame(t, BB_HTTP2_GOAWAY, 0, 0, "\0\0\0\3\0\0\0\x0bslow down", 17);
    talk_close(t, BB_TO_CLIENT);
    talk_check(t, "CALL 1 http2 GET /a 21\n"
                  "CALL 2 http2 GET /a 21\n"
                  "RET 1 http2 ENHANCE_YOUR_CALM 10\n"
                  "RET 2 http2 ENHANCE_YOUR_CALM 17\n");
}
END_TEST

START_TEST(cut_off)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    talk_headers(t, 3, END_HEADERS, GET_A);
    talk_head(t, 100, BB_HTTP2_DATA, END_STREAM, 3);
    talk_text(t, "abc");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_head(t, 1000, BB_HTTP2_DATA, END_STREAM, 1);
    talk_text(t, "hello");
    talk_check(t, "CALL 1 http2 GET /a 21\n"
                  "CALL 2 http2 GET /a 33\n"
                  "RET 1 http2 200 24\n");
}
END_TEST

// ---- gRPC ---------------------------------------------------------------------------------------

#define RPC "#83 #86 :path=/shop.Cart/Get content-type=application/grpc"
#define REPLY "#88 content-type=application/grpc"

START_TEST(grpc_calls)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    for (guint32 stream = 1; stream <= 9; stream += 2) {
        talk_headers(t, stream, END_HEADERS, RPC);
        talk_message(t, stream, END_STREAM, 3);
    }
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, REPLY);
    talk_message(t, 1, 0, 2);
    talk_headers(t, 1, END_BOTH, "grpc-status=0");
    talk_headers(t, 3, END_BOTH, "#88 content-type=application/grpc grpc-status=14"); // no trailers
    talk_headers(t, 5, END_HEADERS, REPLY);
    talk_headers(t, 5, END_BOTH, "grpc-message=x grpc-status=99");
    talk_headers(t, 7, END_BOTH, ":status=503 content-type=text/plain"); // of a proxy
    talk_headers(t, 9, END_HEADERS, REPLY);
    talk_code(t, BB_HTTP2_RST_STREAM, 9, 8);
    talk_check(t, "CALL 1 grpc POST /shop.Cart/Get 81\n"
                  "CALL 2 grpc POST /shop.Cart/Get 81\n"
                  "CALL 3 grpc POST /shop.Cart/Get 81\n"
                  "CALL 4 grpc POST /shop.Cart/Get 81\n"
                  "CALL 5 grpc POST /shop.Cart/Get 81\n"
                  "RET 1 grpc ok 81\n"
                  "RET 2 grpc UNAVAILABLE 57\n"
                  "RET 3 grpc UNKNOWN 82\n"
                  "RET 4 grpc 503 47\n"
                  "RET 5 grpc CANCEL 54\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_STREAM_MESSAGES), 0);
}
END_TEST

// However they are put into DATA frames, each message but the first of a side is counted.
START_TEST(grpc_streams)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_HEADERS, RPC);
    talk_message(t, 1, 0, 200);
    talk_message(t, 1, 0, 0);
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, REPLY);
    talk_frame(t, BB_HTTP2_DATA, 0, 1, "\0\0\0\0\1x\0\0\0\0\1y\1\0\0", 15); // two, and a part
    talk_cut(t);
    talk_frame(t, BB_HTTP2_DATA, 0, 1, "\0\x03z", 3);
    UP(t);
    talk_message(t, 1, END_STREAM, 7);
    DOWN(t);
    talk_frame(t, BB_HTTP2_DATA, 0, 1, "zz\0\0\0\0\0", 7);
    talk_headers(t, 1, END_BOTH, "grpc-status=0");
    talk_check(t, "CALL 1 grpc POST /shop.Cart/Get 313\n"
                  "RET 1 grpc ok 117\n");
    for (gsize segment = 1; segment < 400; segment *= 3) {
        g_autoptr(Converse) c = talk_play(t, segment);
        ck_assert_uint_eq(converse_loss(c, BB_STREAM_MESSAGES), 2 + 3);
        ck_assert_uint_eq(converse_loss(c, BB_FREES), 0);
    }
}
END_TEST

// Frames of other calls are not counted as messages; grpc-web is HTTP.
START_TEST(not_grpc)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_HEADERS, "#83 :path=/a content-type=application/grpc-web");
    talk_message(t, 1, 0, 1);
    talk_message(t, 1, END_STREAM, 1);
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, "#88 content-type=application/json");
    talk_message(t, 1, END_STREAM, 1);
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http2 POST /a 85\nRET 1 http2 200 56\n");
    ck_assert_uint_eq(converse_loss(c, BB_STREAM_MESSAGES), 0);
}
END_TEST

// ---- upgrades -----------------------------------------------------------------------------------

#define UPGRADE                                                                          \
    "Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: " \
    "\r\n\r\n"
#define SWITCHED "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"

// The request and stream 1 are one call, which was made as HTTP/1.
START_TEST(upgraded)
{
    g_autoptr(Talk) t = talk_new();
    UP(t);
    talk_text(t, "GET /a HTTP/1.1\r\n" UPGRADE);
    DOWN(t);
    talk_text(t, SWITCHED);
    talk_settings(t);
    UP(t);
    talk_text(t, BB_HTTP2_PREFACE);
    talk_settings(t);
    talk_headers(t, 3, END_BOTH, "#82 :path=/b");
    DOWN(t);
    talk_headers(t, 3, END_BOTH, ":status=404");
    talk_headers(t, 1, END_HEADERS, OK);
    talk_data(t, 1, END_STREAM, "hello");
    talk_check(t, "CALL 1 http GET /a 97\n"
                  "CALL 2 http2 GET /b 20\n"
                  "RET 2 http2 404 22\n"
                  "RET 1 http 200 24\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

START_TEST(upgraded_with_a_body)
{
    g_autoptr(Talk) t = talk_new();
    UP(t);
    talk_text(t, "POST /a HTTP/1.1\r\nContent-Length: 5\r\n" UPGRADE "hello");
    DOWN(t);
    talk_text(t, "HTTP/1.1 101 Switching\r\n\r\n"); // without a word to what
    talk_settings(t);
    talk_headers(t, 1, END_BOTH, ":status=201");
    UP(t);
    talk_text(t, BB_HTTP2_PREFACE);
    talk_settings(t);
    talk_check(t, "CALL 1 http POST /a 122\nRET 1 http 201 22\n");
}
END_TEST

START_TEST(upgrade_refused)
{
    g_autoptr(Talk) t = talk_new();
    UP(t);
    talk_text(t, "GET /a HTTP/1.1\r\n" UPGRADE);
    DOWN(t);
    talk_text(t, "HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok");
    UP(t);
    talk_text(t, "GET /b HTTP/1.1\r\n\r\n");
    DOWN(t);
    talk_text(t, "HTTP/1.1 204 No\r\n\r\n");
    talk_check(t, "CALL 1 http GET /a 97\n"
                  "RET 1 http 200 54\n"
                  "CALL 2 http GET /b 19\n"
                  "RET 2 http 204 19\n");
}
END_TEST

// The response that stream 1 owes does not go to another stream.
START_TEST(upgrade_without_its_response)
{
    g_autoptr(Talk) t = talk_new();
    UP(t);
    talk_text(t, "GET /a HTTP/1.1\r\n" UPGRADE);
    DOWN(t);
    talk_text(t, SWITCHED);
    talk_settings(t);
    talk_headers(t, 5, END_BOTH, OK);
    talk_code(t, BB_HTTP2_RST_STREAM, 1, 11);
    talk_check(t, "CALL 1 http GET /a 97\n"
                  "RET - http2 200 10\n"
                  "RET 1 http ENHANCE_YOUR_CALM 13\n");
}
END_TEST

// ---- other protocols ----------------------------------------------------------------------------

START_TEST(server_that_speaks_http1)
{
    g_autoptr(Talk) t = talk_new();
    UP(t);
    talk_text(t, BB_HTTP2_PREFACE);
    talk_settings(t);
    DOWN(t);
    talk_text(t, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_ptr_null(strstr(converse_result(c), "http2"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
}
END_TEST

START_TEST(client_that_speaks_http1)
{
    g_autoptr(Talk) t = talk_new();
    DOWN(t);
    talk_settings(t); // a server with prior knowledge need not wait
    UP(t);
    talk_text(t, "GET /a HTTP/1.1\r\n\r\n");
    UP(t);
    talk_cut(t);
    talk_text(t, "GET /b HTTP/1.1\r\n\r\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_ptr_null(strstr(converse_result(c), "http2"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
}
END_TEST

// Bytes that make no sense after a few frames of a connection joined in the middle.
START_TEST(handed_on)
{
    g_autoptr(Talk) t = talk_new();
    t->midstream = true;
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    talk_cut(t);
    talk_text(t, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), " tcp - 12\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
}
END_TEST

TEST_MAIN("http2", request_and_response, times, streams_are_mixed, other_frames,
          padding_and_priority, header_blocks_of_many_frames, dynamic_table, forms_of_labels,
          interim_responses, answered_before_the_end, pushed_responses, reset_by_the_server,
          cancelled_by_the_client, many_are_cancelled, graceful_goaway, goaway_with_an_error,
          cut_off, grpc_calls, grpc_streams, not_grpc, upgraded, upgraded_with_a_body,
          upgrade_refused, upgrade_without_its_response, server_that_speaks_http1,
          client_that_speaks_http1, handed_on)
