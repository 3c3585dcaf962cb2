// SPDX-License-Identifier: Apache-2.0
// HTTP/2 connections joined in the middle, with bytes missing, or beyond a limit: streams still
// pair by their number, and what cannot be known is said to be so.
#include "capture/loss.h"
#include "capture/protocols/http2_stream.h"
#include "tests/unit/http2_talk.h"

#define GET_A "#82 #86 :path=/a"
#define OK "#88"
#define RPC "#83 #86 +:path=/shop.Cart/Get +content-type=application/grpc"

// Most claims hold for whole frames in a packet.
static void check_whole(const Talk *t, const char *expected)
{
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_str_eq(converse_result(c), expected);
}

// ---- joined in the middle -----------------------------------------------------------------------

// Indices 62 and up stand for what was said before.
START_TEST(joined)
{
    g_autoptr(Talk) t = talk_new();
    t->midstream = true;
    UP(t);
    talk_headers(t, 101, END_BOTH, "#82 #86 #be");
    talk_headers(t, 103, END_BOTH, "#82 #86 +:path=/new");
    talk_headers(t, 105, END_BOTH, "#82 #86 #be");
    talk_headers(t, 107, END_BOTH, "#82 #86 #bf"); // was 62 before
    talk_headers(t, 109, END_BOTH, "#c0 #86 :path=/x");
    DOWN(t);
    talk_headers(t, 105, END_BOTH, "#88 #c5");
    talk_headers(t, 101, END_HEADERS, "#c1 #c5"); // a status that is not in the static table
    talk_data(t, 101, END_STREAM, "text");
    talk_headers(t, 103, END_BOTH, "#8d");
    talk_headers(t, 99, END_BOTH, OK); // its request came before
    talk_check(t, "CALL 1 http2 GET ? 12\n"
                  "CALL 2 http2 GET /new 23\n"
                  "CALL 3 http2 GET /new 12\n"
                  "CALL 4 http2 GET ? 12\n"
                  "CALL 5 http2 ? /x 21\n"
                  "RET 3 http2 200 11\n"
                  "RET 1 http2 - 24\n"
                  "RET 2 http2 404 10\n"
                  "RET - http2 200 10\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

// gRPC is told by its messages; an outcome that cannot be read is not told to be good.
START_TEST(joined_grpc)
{
    g_autoptr(Talk) t = talk_new();
    t->midstream = true;
    UP(t);
    talk_headers(t, 5, END_HEADERS, "#83 #86 #c0 #c1");
    talk_message(t, 5, END_STREAM, 20);
    talk_headers(t, 7, END_HEADERS, "#83 #86 #c0 #c1");
    talk_data(t, 7, END_STREAM, "no message of gRPC");
    DOWN(t);
    talk_headers(t, 5, END_HEADERS, "#88 #bf");
    talk_message(t, 5, 0, 3);
    talk_headers(t, 5, END_BOTH, "#be");
    talk_headers(t, 7, END_BOTH, "#88 #bf");
    UP(t);
    talk_headers(t, 9, END_HEADERS, RPC);
    talk_message(t, 9, END_STREAM, 1);
    DOWN(t);
    talk_headers(t, 9, END_HEADERS, "#88 #bf");
    talk_headers(t, 9, END_BOTH, "+grpc-status=5");
    talk_headers(t, 3, END_HEADERS, "#88 #c1"); // whatever it answers may be gRPC
    talk_headers(t, 3, END_BOTH, "#c2");
    talk_check(t, "CALL 1 grpc POST ? 47\n"
                  "CALL 2 http2 POST ? 40\n"
                  "RET 1 grpc - 38\n"
                  "RET 2 http2 200 11\n"
                  "CALL 3 grpc POST /shop.Cart/Get 79\n"
                  "RET 3 grpc NOT_FOUND 35\n"
                  "RET - http2 - 21\n");
}
END_TEST

// Inside of a frame; the other side is found later.
START_TEST(joined_inside_a_frame)
{
    g_autoptr(Talk) t = talk_new();
    g_autofree char *text = g_strnfill(3000, 'x');
    t->midstream = true;
    DOWN(t);
    talk_text(t, text);
    talk_text(t, text);
    UP(t);
    talk_headers(t, 21, END_BOTH, "#82 #86 #be");
    DOWN(t);
    talk_text(t, text);
    talk_headers(t, 21, END_HEADERS, OK); // in the middle of a packet, another frame follows
    talk_data(t, 21, END_STREAM, "x");
    UP(t);
    talk_headers(t, 23, END_BOTH, "#82 #86 #be");
    DOWN(t);
    talk_headers(t, 23, END_BOTH, OK);
    for (gsize segment = 100; segment < 5000; segment += 700) {
        g_autoptr(Converse) c = talk_play(t, segment);
        ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 2 http2 200 10\n"));
        ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 0);
    }
}
END_TEST

// Trailers and data of streams that began before are nothing.
START_TEST(joined_at_the_end_of_streams)
{
    g_autoptr(Talk) t = talk_new();
    t->midstream = true;
    t->port = 50051;
    DOWN(t);
    talk_message(t, 5, 0, 20);
    talk_headers(t, 5, END_BOTH, "grpc-status=0");
    UP(t);
    talk_data(t, 7, END_STREAM, "x");
    talk_headers(t, 9, END_BOTH, "x=y");
    talk_headers(t, 11, END_BOTH, GET_A);
    talk_check(t, "CALL 1 http2 GET /a 21\n");
}
END_TEST

// A usual port decides where no header block is.
START_TEST(joined_in_data)
{
    g_autoptr(Talk) t = talk_new();
    t->midstream = true;
    t->port = 50051;
    DOWN(t);
    talk_message(t, 5, 0, 20);
    UP(t);
    talk_code(t, BB_HTTP2_WINDOW_UPDATE, 0, 25);
    talk_headers(t, 7, END_BOTH, "#83 #86 #be");
    DOWN(t);
    talk_headers(t, 7, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 POST ? 12\nRET 1 http2 200 10\n");
}
END_TEST

// Numbers run to 2^31 - 1: a busy connection is at 20 millions within hours.
START_TEST(joined_late)
{
    g_autoptr(Talk) t = talk_new();
    t->midstream = true;
    UP(t);
    talk_headers(t, 20000001, END_HEADERS, "#83 :path=/a");
    talk_data(t, 20000001, END_STREAM, "x");
    DOWN(t);
    talk_headers(t, 20000001, END_HEADERS, OK);
    talk_data(t, 20000001, END_STREAM, "y");
    check_whole(t, "CALL 1 http2 POST /a 30\nRET 1 http2 200 20\n");
}
END_TEST

// One head of so high a stream leaves it to the port; data of unknown streams are no sign at all.
START_TEST(probes_of_high_streams)
{
    g_autoptr(Talk) t = talk_new();
    UP(t);
    talk_headers(t, 20000001, END_BOTH, GET_A);
    TalkStep *said = &g_array_index(t->steps, TalkStep, 0);
    gsize request = said->bytes->len;
    ck_assert_int_eq(bb_http2_probe(said->bytes->data, request), BB_MATCH_LIKELY);
    talk_data(t, 20000001, 0, "x");
    ck_assert_int_eq(bb_http2_probe(said->bytes->data, said->bytes->len), BB_MATCH_REQUEST);
    gsize data = said->bytes->len - request;
    ck_assert_int_eq(bb_http2_probe(said->bytes->data + request, data), BB_MATCH_NO);
}
END_TEST

// ---- gaps ---------------------------------------------------------------------------------------

static void talk_pair(Talk *t, guint32 stream, bool lost)
{
    talk_by(t, BB_TO_SERVER, lost);
    talk_headers(t, stream, END_HEADERS, "#83 :path=/a");
    talk_data(t, stream, END_STREAM, "x");
    talk_by(t, BB_TO_CLIENT, lost);
    talk_headers(t, stream, END_HEADERS, OK);
    talk_data(t, stream, END_STREAM, "y");
}

// Stream numbers go on by thousands while nothing is seen: what comes then is read all the same.
START_TEST(long_gap)
{
    const guint seen = 20, missing = 20000;
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    for (guint i = 0; i < 2 * seen + missing; i++)
        talk_pair(t, 2 * i + 1, i >= seen && i < seen + missing);
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 2 * seen);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), 2 * seen);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// Random bytes behind a gap are no frames, whatever stream they name.
START_TEST(no_frames_among_random_bytes)
{
    g_autoptr(Talk) t = talk_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    talk_begin(t);
    talk_pair(t, 1, false);
    talk_pair(t, 3, true);
    UP(t);
    for (guint i = 0; i < 1000000; i++) { // and many zeros among them
        guint32 random = g_rand_int(rand);
        talk_put(t, &(guint8){random & 0x300 ? (guint8)random : 0}, 1);
    }
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 1);
}
END_TEST

START_TEST(gap_inside_data)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 +:path=/a");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, "#88 +server=x");
    talk_head(t, 5000, BB_HTTP2_DATA, 0, 1);
    g_autofree char *text = g_strnfill(1000, 'x');
    talk_text(t, text);
    DOWN_LOST(t);
    talk_text(t, text);
    talk_text(t, text);
    DOWN(t);
    talk_text(t, text);
    talk_text(t, text);
    talk_data(t, 1, END_STREAM, "");
    UP(t);
    talk_headers(t, 3, END_BOTH, "#82 #be");
    DOWN(t);
    talk_headers(t, 3, END_BOTH, "#88 #be");
    talk_check(t, "CALL 1 http2 GET /a 20\n"
                  "RET 1 http2 200 3038\n"
                  "CALL 2 http2 GET /a 11\n"
                  "RET 2 http2 200 11\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(lost_request)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 +:path=/a");
    UP_LOST(t);
    talk_headers(t, 3, END_BOTH, "#82 +:path=/b");
    UP(t);
    talk_headers(t, 5, END_BOTH, "#82 #be"); // /b, which nobody saw
    talk_headers(t, 7, END_BOTH, "#82 +:path=/c");
    talk_headers(t, 9, END_BOTH, "#82 #be");
    DOWN(t);
    for (guint32 stream = 9; stream < 10; stream -= 2)
        talk_headers(t, stream, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 20\n"
                  "CALL 2 http2 GET ? 11\n"
                  "CALL 3 http2 GET /c 20\n"
                  "CALL 4 http2 GET /c 11\n"
                  "RET 4 http2 200 10\n"
                  "RET 3 http2 200 10\n"
                  "RET 2 http2 200 10\n"
                  "RET - http2 200 10\n"
                  "RET 1 http2 200 10\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// So many frames in a row are believed, whatever comes behind them in their packet.
START_TEST(many_frames_and_something_else)
{
    g_autoptr(Talk) t = talk_new();
    g_autofree char *noise = g_strnfill(60, '\xff');
    talk_begin(t);
    UP_LOST(t);
    talk_headers(t, 1, END_BOTH, "#82 +:path=/a");
    UP(t);
    for (guint32 id = 3; id < 3 + 40; id += 2)
        talk_headers(t, id, END_BOTH, "#82 +:path=/b");
    talk_text(t, noise);
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 20);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(lost_response)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 +:path=/a");
    talk_headers(t, 3, END_BOTH, "#82 #be");
    DOWN_LOST(t);
    talk_headers(t, 1, END_BOTH, OK);
    DOWN(t);
    talk_headers(t, 3, END_BOTH, ":status=404");
    UP(t);
    talk_headers(t, 5, END_BOTH, "#82 #be"); // requests are known as before
    DOWN(t);
    talk_headers(t, 5, END_BOTH, OK);
    talk_check(t, "CALL 1 http2 GET /a 20\n"
                  "CALL 2 http2 GET /a 11\n"
                  "RET 2 http2 404 22\n"
                  "CALL 3 http2 GET /a 11\n"
                  "RET 3 http2 200 10\n");
}
END_TEST

// The tail of a response, with its end: it is written as far as it was seen, gRPC's without an
// outcome.
START_TEST(lost_tails)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 :path=/a");
    talk_headers(t, 3, END_HEADERS, "#83 :path=/b content-type=application/grpc");
    talk_message(t, 3, END_STREAM, 1);
    talk_headers(t, 5, END_HEADERS, "#83 :path=/c");
    UP_LOST(t);
    talk_data(t, 5, END_STREAM, "body");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_data(t, 1, 0, "abc");
    talk_headers(t, 3, END_HEADERS, OK);
    DOWN_LOST(t);
    talk_data(t, 1, END_STREAM, "def");
    talk_headers(t, 3, END_BOTH, "grpc-status=0");
    DOWN(t);
    talk_headers(t, 5, END_HEADERS, OK);
    talk_data(t, 5, END_STREAM, "x");
    talk_check(t, "CALL 1 http2 GET /a 20\n"
                  "CALL 2 grpc POST /b 66\n"
                  "CALL 3 http2 POST /c 20\n"
                  "RET 1 http2 200 22\n"
                  "RET 2 grpc - 10\n"
                  "RET 3 http2 200 20\n");
}
END_TEST

// The start of a response: it is none whose time could be told.
START_TEST(lost_heads)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 :path=/a");
    talk_headers(t, 3, END_HEADERS, "#83 :path=/b content-type=application/grpc");
    talk_message(t, 3, END_STREAM, 1);
    DOWN_LOST(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_headers(t, 3, END_HEADERS, OK);
    DOWN(t);
    talk_data(t, 1, 0, "abc");
    talk_data(t, 1, END_STREAM, "abc");
    talk_headers(t, 3, END_BOTH, "grpc-status=0");
    talk_check(t, "CALL 1 http2 GET /a 20\nCALL 2 grpc POST /b 66\n");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 2);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// In a header block: the call is there, its label is not.
START_TEST(gap_in_a_header_block)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_head(t, 40, BB_HTTP2_HEADERS, END_BOTH, 1);
    talk_text(t, "\x82\x86");
    UP_LOST(t);
    talk_text(t, "0123456789");
    UP(t);
    talk_text(t, "0123456789012345678901234567");
    talk_headers(t, 3, END_STREAM, "#82");
    UP_LOST(t);
    talk_frame(t, BB_HTTP2_CONTINUATION, 0, 3, "\x86\x86", 2);
    UP(t);
    talk_frame(t, BB_HTTP2_CONTINUATION, END_HEADERS, 3, "\x84", 1);
    talk_headers(t, 5, END_BOTH, GET_A);
    DOWN(t);
    talk_headers(t, 3, END_BOTH, OK);
    talk_headers(t, 1, END_BOTH, OK);
    talk_headers(t, 5, END_BOTH, OK);
    check_whole(t, "CALL 1 http2 GET ? 11\n"
                   "CALL 2 http2 GET ? 10\n"
                   "CALL 3 http2 GET /a 21\n"
                   "RET 2 http2 200 10\n"
                   "RET 1 http2 200 10\n"
                   "RET 3 http2 200 10\n");
}
END_TEST

// A block that is not gone on with: what comes is not taken for a part of it.
START_TEST(block_without_its_end)
{
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_STREAM, "#82");
    talk_headers(t, 3, END_BOTH, GET_A);
    talk_cut(t);
    talk_headers(t, 5, END_BOTH, GET_A);
    check_whole(t, "CALL 1 http2 GET ? 10\n"
                   "CALL 2 http2 GET /a 21\n"
                   "CALL 3 http2 GET /a 21\n");
}
END_TEST

// Bytes of a stream that runs without a pause: the next frame is found inside of a packet.
START_TEST(found_again_inside_a_packet)
{
    g_autoptr(Talk) t = talk_new();
    g_autofree char *text = g_strnfill(1200, 'x');
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, GET_A);
    talk_headers(t, 3, END_BOTH, GET_A);
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    talk_headers(t, 3, END_HEADERS, OK);
    for (guint i = 0; i < 10; i++)
        talk_data(t, 1, 0, text);
    DOWN_LOST(t);
    talk_data(t, 1, 0, text);
    talk_data(t, 3, 0, text);
    talk_head(t, 1200, BB_HTTP2_DATA, 0, 1);
    DOWN(t);
    talk_text(t, text);
    for (guint i = 0; i < 3; i++)
        talk_data(t, 3, 0, text);
    talk_data(t, 1, END_STREAM, text);
    talk_data(t, 3, END_STREAM, text);
    for (gsize segment = 50; segment < 10000; segment = segment * 3 / 2) {
        g_autoptr(Converse) c = talk_play(t, segment);
        ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 1 http2 200 13309\n"));
        ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 2 http2 200 4846\n"));
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    }
}
END_TEST

// A random part of a random connection is lost: no response is another's.
START_TEST(random_losses)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("random_losses"));
    for (guint round = 0; round < 300; round++) {
        g_autoptr(Talk) t = talk_new();
        talk_begin(t);
        for (guint32 stream = 1; stream < 52; stream += 2) {
            // The code of each response is told by its stream.
            g_autofree char *path = g_strdup_printf("#82 +:path=/%c", (char)('a' + stream / 2));
            g_autofree char *code = g_strdup_printf(":status=%u", 200 + stream / 2);
            talk_by(t, BB_TO_SERVER, g_rand_int_range(rand, 0, 8) == 0);
            talk_headers(t, stream, END_BOTH, path);
            talk_by(t, BB_TO_CLIENT, g_rand_int_range(rand, 0, 8) == 0);
            talk_headers(t, stream, END_HEADERS, code);
            if (g_rand_boolean(rand))
                talk_by(t, BB_TO_CLIENT, g_rand_int_range(rand, 0, 8) == 0);
            talk_data(t, stream, END_STREAM, "some data");
        }
        g_autoptr(Converse) c = talk_play(t, (gsize)g_rand_int_range(rand, 5, 50));
        g_auto(GStrv) lines = g_strsplit(converse_result(c), "\n", -1);
        GHashTable *path_of = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
        for (guint i = 0; lines[i]; i++) {
            g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
            if (g_strcmp0(words[0], "CALL") == 0)
                g_hash_table_insert(path_of, GINT_TO_POINTER(atoi(words[1])), g_strdup(words[4]));
            const char *path = g_strcmp0(words[0], "RET") == 0
                                   ? g_hash_table_lookup(path_of, GINT_TO_POINTER(atoi(words[1])))
                                   : NULL;
            if (path && path[0] == '/')
                ck_assert_msg(atoi(words[3]) - 200 == path[1] - 'a', "round %u:\n%s", round,
                              converse_result(c));
        }
        g_hash_table_unref(path_of);
    }
}
END_TEST

// ---- limits -------------------------------------------------------------------------------------

// The oldest stream is given up, yet its response finds its call as long as that is open.
START_TEST(many_streams)
{
    g_autoptr(Talk) t = talk_new();
    const guint n = BB_HTTP2_STREAMS + 10;
    talk_begin(t);
    UP(t);
    for (guint i = 0; i < n; i++)
        talk_headers(t, 2 * i + 1, END_BOTH, GET_A);
    DOWN(t);
    for (guint i = 0; i < n; i++)
        talk_headers(t, 2 * i + 1, END_BOTH, OK);
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), n);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), n);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 0);
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 11); // streams
}
END_TEST

// Frames of a header block without end: nothing grows.
START_TEST(endless_header_block)
{
    g_autoptr(Talk) t = talk_new();
    t->max_held = 20000;
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_STREAM, "#82 :path=/a");
    for (guint i = 0; i < 3000; i++)
        talk_frame(t, BB_HTTP2_CONTINUATION, 0, 1, "\0\1x\5value\0\1y\5value", 18);
    talk_frame(t, BB_HTTP2_CONTINUATION, END_HEADERS, 1, "", 0);
    DOWN(t);
    talk_headers(t, 1, END_BOTH, OK);
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 http2 GET /a 81029\nRET 1 http2 200 10\n");
    ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), 0);
}
END_TEST

// The largest frame there can be, and header blocks larger than any buffer.
START_TEST(large_frames)
{
    g_autofree char *text = g_strnfill(1 << 20, 'x');
    g_autoptr(Talk) t = talk_new();
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_HEADERS, GET_A);
    talk_head(t, BB_HTTP2_FRAME_MAX, BB_HTTP2_DATA, END_STREAM, 1);
    for (guint i = 0; i < 15; i++)
        talk_text(t, text);
    talk_put(t, text, (1 << 20) - 1);
    talk_head(t, 6 + 200000, BB_HTTP2_HEADERS, END_BOTH, 3);
    talk_put(t, "\x82\x84\0\0\x7f\xc1", 6); // a name of 64 + 127 bytes
    talk_put(t, text, 200000);
    talk_headers(t, 5, END_BOTH, GET_A);
    DOWN(t);
    talk_headers(t, 3, END_BOTH, OK);
    talk_headers(t, 1, END_BOTH, OK);
    g_autoptr(Converse) c = talk_play(t, 65000);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 1 http2 GET /a 16777245\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 3 http2 GET /a 21\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 1 http2 200 10\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), " 200015\n"));
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

// At the memory limit the tables go: names are not known any more, streams pair.
START_TEST(tables_let_go)
{
    g_autoptr(Talk) t = talk_new();
    t->max_held = 1000;
    talk_begin(t);
    UP(t);
    talk_headers(t, 1, END_BOTH, "#82 +:path=/a");
    DOWN(t);
    talk_headers(t, 1, END_HEADERS, OK);
    UP(t);
    talk_headers(t, 3, END_BOTH, "#82 #be");
    DOWN(t);
    talk_data(t, 1, END_STREAM, "x");
    talk_headers(t, 3, END_BOTH, "#8d");
    g_autoptr(Converse) c = talk_play(t, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "CALL 2 http2 GET ? 11\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 1 http2 200 10\n"));
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 2 http2 404 10\n"));
    ck_assert_uint_ge(converse_loss(c, BB_TCP_BUFFER_LIMIT), 1);
}
END_TEST

TEST_MAIN("http2_loss", joined, joined_grpc, joined_inside_a_frame, joined_at_the_end_of_streams,
          joined_in_data, joined_late, probes_of_high_streams, long_gap,
          no_frames_among_random_bytes, gap_inside_data, lost_request,
          many_frames_and_something_else, lost_response, lost_tails, lost_heads,
          gap_in_a_header_block, block_without_its_end, found_again_inside_a_packet, random_losses,
          many_streams, endless_header_block, large_frames, tables_let_go)
