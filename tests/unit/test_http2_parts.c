// SPDX-License-Identifier: Apache-2.0
// HTTP/2: frames, probes, header blocks against libnghttp2's deflater, gRPC messages and codes.
#include "capture/protocols/http2_frame.h"
#include "capture/protocols/http2_grpc.h"
#include "capture/protocols/http2_hpack.h"
#include "tests/unit/http2_talk.h"

#include <nghttp2/nghttp2.h>

// ---- frames -----------------------------------------------------------------------------------

static BbHttp2Frame frame_of(guint32 length, guint8 type, guint8 flags, guint32 stream)
{
    return (BbHttp2Frame){.length = length, .type = type, .flags = flags, .stream = stream};
}

START_TEST(heads)
{
    BbHttp2Frame f = bb_http2_frame((const guint8 *)"\x01\x02\x03\x04\x05\x86\x07\x08\x09");
    ck_assert_uint_eq(f.length, 0x010203);
    ck_assert_uint_eq(f.type, 4);
    ck_assert_uint_eq(f.flags, 5);
    ck_assert_uint_eq(f.stream, 0x06070809);
    ck_assert(f.reserved);
    ck_assert(!bb_http2_frame((const guint8 *)"\0\0\0\0\0\x7f\xff\xff\xff").reserved);
}
END_TEST

START_TEST(what_types_ask_for)
{
    static const struct {
        guint32 length;
        guint8 type, flags;
        guint32 stream;
        bool valid;
    } cases[] = {
        {0, BB_HTTP2_DATA, 0, 1, true},
        {0, BB_HTTP2_DATA, 0, 0, false},
        {0, BB_HTTP2_DATA, BB_HTTP2_PADDED, 1, false},
        {1, BB_HTTP2_DATA, BB_HTTP2_PADDED, 1, true},
        {0, BB_HTTP2_HEADERS, 0, 1, true},
        {5, BB_HTTP2_HEADERS, 0, 0, false},
        {4, BB_HTTP2_HEADERS, BB_HTTP2_HAS_PRIORITY, 1, false},
        {5, BB_HTTP2_HEADERS, BB_HTTP2_HAS_PRIORITY, 1, true},
        {5, BB_HTTP2_HEADERS, BB_HTTP2_HAS_PRIORITY | BB_HTTP2_PADDED, 1, false},
        {5, BB_HTTP2_PRIORITY, 0, 1, true},
        {4, BB_HTTP2_PRIORITY, 0, 1, false},
        {4, BB_HTTP2_RST_STREAM, 0, 1, true},
        {5, BB_HTTP2_RST_STREAM, 0, 1, false},
        {4, BB_HTTP2_RST_STREAM, 0, 0, false},
        {12, BB_HTTP2_SETTINGS, 0, 0, true},
        {11, BB_HTTP2_SETTINGS, 0, 0, false},
        {6, BB_HTTP2_SETTINGS, 0, 1, false},
        {6, BB_HTTP2_SETTINGS, BB_HTTP2_ACK, 0, false},
        {3, BB_HTTP2_PUSH_PROMISE, 0, 1, false},
        {4, BB_HTTP2_PUSH_PROMISE, 0, 1, true},
        {8, BB_HTTP2_PING, 0, 0, true},
        {8, BB_HTTP2_PING, 0, 3, false},
        {7, BB_HTTP2_PING, 0, 0, false},
        {7, BB_HTTP2_GOAWAY, 0, 0, false},
        {9, BB_HTTP2_GOAWAY, 0, 0, true},
        {4, BB_HTTP2_WINDOW_UPDATE, 0, 9, true},
        {3, BB_HTTP2_WINDOW_UPDATE, 0, 0, false},
        {9, BB_HTTP2_CONTINUATION, 0, 0, false},
        {9, BB_HTTP2_CONTINUATION, 0, 1, true},
        {9, 0x77, 0xff, 0, true},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbHttp2Frame f = frame_of(cases[i].length, cases[i].type, cases[i].flags, cases[i].stream);
        ck_assert_msg(bb_http2_frame_valid(&f) == cases[i].valid, "case %u", i);
    }
}
END_TEST

START_TEST(error_names)
{
    ck_assert_str_eq(bb_http2_error_name(0), "NO_ERROR");
    ck_assert_str_eq(bb_http2_error_name(8), "CANCEL");
    ck_assert_str_eq(bb_http2_error_name(13), "HTTP_1_1_REQUIRED");
    ck_assert_str_eq(bb_http2_error_name(14), "error");
    ck_assert_str_eq(bb_http2_error_name(G_MAXUINT32), "error");
}
END_TEST

// ---- probes -----------------------------------------------------------------------------------

static BbMatch probe(const void *data, gsize length)
{
    g_autofree guint8 *exact = g_memdup2(data, length);
    return bb_decoder_http2.probe(length ? exact : (const guint8 *)"", length);
}

static BbMatch probe_hex(const char *hex)
{
    guint8 bytes[200];
    return probe(bytes, talk_hex(hex, strlen(hex), bytes));
}

START_TEST(probe_of_the_preface)
{
    for (gsize i = 0; i < BB_HTTP2_PREFACE_LENGTH; i++)
        ck_assert_int_eq(probe(BB_HTTP2_PREFACE, i), BB_MATCH_MORE);
    ck_assert_int_eq(probe(BB_HTTP2_PREFACE, BB_HTTP2_PREFACE_LENGTH), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 24), BB_MATCH_NO);
    ck_assert_int_eq(probe("PUT / HTTP/1.1\r\n", 16), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_of_frames)
{
    static const struct {
        const char *hex;
        BbMatch match;
    } cases[] = {
        {"00", BB_MATCH_MORE},
        {"0000060400000000", BB_MATCH_MORE},
        {"000006040000000000"
         "000300000064",
         BB_MATCH_REPLY}, // a server's SETTINGS
        {"000006040000000000"
         "000200000000",
         BB_MATCH_REQUEST}, // only clients speak of pushes
        {"000006040000000000"
         "000200000002",
         BB_MATCH_NO},
        {"000006040000000000"
         "000000000002",
         BB_MATCH_NO},
        {"000006040000000000"
         "000500000002",
         BB_MATCH_NO},
        {"000000040100000000", BB_MATCH_LIKELY}, // ACK: anybody's
        {"000003010500000001"
         "828684",
         BB_MATCH_REQUEST},
        {"000003010500000001"
         "8286",
         BB_MATCH_LIKELY}, // the rest will tell
        {"000001010400000001"
         "88"
         "000000000100000001",
         BB_MATCH_REPLY},
        {"000005010400000003"
         "3fe11f88bf",
         BB_MATCH_REPLY}, // after a size update
        {"000001010400000001"
         "be",
         BB_MATCH_LIKELY},
        {"000006012c00000001"
         "003f",
         BB_MATCH_LIKELY}, // the priority is not there yet
        {"000002010c00000001"
         "0388",
         BB_MATCH_NO}, // more padding than payload
        {"000001010400000002"
         "88",
         BB_MATCH_NO}, // even stream
        {"000001010400000000"
         "88",
         BB_MATCH_NO}, // no stream
        {"000001014400000001"
         "88",
         BB_MATCH_NO}, // no such flag
        {"000001010480000001"
         "88",
         BB_MATCH_NO}, // reserved bit
        {"000001010401000001"
         "88",
         BB_MATCH_LIKELY}, // so many streams few have
        {"000001010401000001"
         "88"
         "000000000101000001",
         BB_MATCH_REPLY},
        {"000001010401000001"
         "88"
         "0000",
         BB_MATCH_NO},
        {"000000000101000001", BB_MATCH_NO},
        {"004001000000000001"
         "88",
         BB_MATCH_NO}, // longer than usual
        {"0000010b0000000001"
         "88",
         BB_MATCH_NO},                       // no such type
        {"000000010400000001", BB_MATCH_NO}, // no fields
        {"000000000000000001", BB_MATCH_NO}, // no data, and no end
        {"000000000100000001", BB_MATCH_LIKELY},
        {"000004080000000000"
         "00000000",
         BB_MATCH_NO}, // no increment
        {"000004080000000000"
         "00000001",
         BB_MATCH_LIKELY},
        {"000004080000000000"
         "0000000142",
         BB_MATCH_NO}, // garbage behind
        {"0000000800030000"
         "757365720070",
         BB_MATCH_NO},                             // PostgreSQL's startup
        {"0000002c0012000300000001", BB_MATCH_NO}, // Kafka's ApiVersions
        {"00000000000000000000000000", BB_MATCH_NO},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_hex(cases[i].hex) == cases[i].match, "%s: %d", cases[i].hex,
                      probe_hex(cases[i].hex));
}
END_TEST

START_TEST(probe_refuses_random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20150514);
    guint8 bytes[64];
    for (guint i = 0; i < 300000; i++) {
        for (guint k = 0; k < sizeof bytes; k++)
            bytes[k] = (guint8)g_rand_int_range(rand, 0, 256);
        bytes[0] = i % 3 ? 0 : bytes[0];
        ck_assert_int_eq(probe(bytes, sizeof bytes), BB_MATCH_NO);
    }
}
END_TEST

// ---- header blocks ----------------------------------------------------------------------------

static const BbHttp2Fields *read_words(BbHttp2Hpack *hpack, const char *words)
{
    g_autoptr(GByteArray) block = talk_block(words);
    bb_http2_hpack_begin(hpack);
    for (guint i = 0; i < block->len; i++)
        bb_http2_hpack_feed(hpack, block->data + i, 1);
    return bb_http2_hpack_end(hpack);
}

static void check_target(const BbHttp2Fields *fields, const char *target, bool unknown)
{
    ck_assert_uint_eq(fields->target_length, strlen(target));
    ck_assert_mem_eq(fields->target, target, strlen(target));
    ck_assert_int_eq(fields->unknown, unknown);
}

START_TEST(fields)
{
    BbHttp2Hpack *hpack = bb_http2_hpack_new(true);
    const BbHttp2Fields *f = read_words(hpack, "#83 :authority=h :path=/a?b=c");
    check_target(f, "/a", false);
    ck_assert_mem_eq(f->method, "POST", 4);
    ck_assert(f->has_path && !f->has_type);
    f = read_words(hpack, "#88 content-type=application/grpc+proto");
    ck_assert_uint_eq(f->code, 200);
    ck_assert(f->has_type && f->is_grpc);
    ck_assert_int_eq(f->grpc_status, BB_HTTP2_NO_GRPC_STATUS);
    f = read_words(hpack, "grpc-status=7 content-type=application/grpcx");
    ck_assert_int_eq(f->grpc_status, 7);
    ck_assert_uint_eq(f->code, 0);
    f = read_words(hpack, ":status=99 :method=x-an-extension-method-of-many-bytes");
    ck_assert_uint_eq(f->code + f->method_length, 0);
    ck_assert_uint_eq(read_words(hpack, ":status=2000")->code, 0);
    ck_assert_uint_eq(read_words(hpack, ":status=2x0")->code, 0);
    ck_assert(!read_words(hpack, "from=x")->unknown);
    bb_http2_hpack_free(hpack);
}
END_TEST

START_TEST(long_targets)
{
    g_autoptr(GString) path = g_string_new("/a/");
    while (path->len < 2000)
        g_string_append(path, "0123456789");
    g_string_append(path, "/end");
    g_autoptr(GByteArray) block = g_byte_array_new();
    guint rest = (guint)path->len - 127;
    guint8 head[] = {0x04, 0x7f, (guint8)(0x80 | (rest & 0x7f)), (guint8)(rest >> 7)};
    g_byte_array_append(block, head, sizeof head);
    g_byte_array_append(block, (const guint8 *)path->str, (guint)path->len);
    BbHttp2Hpack *hpack = bb_http2_hpack_new(true);
    bb_http2_hpack_begin(hpack);
    bb_http2_hpack_feed(hpack, block->data, block->len);
    check_target(bb_http2_hpack_end(hpack), "/a/*", false);
    bb_http2_hpack_free(hpack);
}
END_TEST

START_TEST(broken_blocks)
{
    static const char *const words[] = {
        "#82 #ff8080808008", // an index too large
        "#82 #be",           // of an entry that there is not
        "#82 #0005",         // cut off
        "#3fe1ffff7f",       // a table of many MiB
        "#80",               // index 0
        "#82 #00833fffff",   // Huffman code that ends in nothing
    };
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        BbHttp2Hpack *hpack = bb_http2_hpack_new(true);
        ck_assert_msg(read_words(hpack, words[i])->unknown, "%s", words[i]);
        check_target(read_words(hpack, "#82 +:path=/next"), "/next", false);
        check_target(read_words(hpack, "#82 #be"), "/next", false);
        check_target(read_words(hpack, "#82 #bf"), "", true);
        bb_http2_hpack_free(hpack);
    }
}
END_TEST

// One block of 1 MB: references to a long entry. Nothing is kept of them.
START_TEST(blocks_without_end)
{
    BbHttp2Hpack *hpack = bb_http2_hpack_new(true);
    g_autofree char *word = g_strnfill(100, 'x');
    g_autofree char *entry = g_strdup_printf("+x=%s", word);
    (void)read_words(hpack, entry);
    gsize before = bb_http2_hpack_held(hpack);
    bb_http2_hpack_begin(hpack);
    guint8 references[1024];
    memset(references, 0xbe, sizeof references);
    for (guint i = 0; i < 1024; i++)
        bb_http2_hpack_feed(hpack, references, sizeof references);
    ck_assert_uint_le(bb_http2_hpack_held(hpack), before);
    (void)bb_http2_hpack_end(hpack);
    bb_http2_hpack_free(hpack);
}
END_TEST

START_TEST(tables_are_bounded)
{
    BbHttp2Hpack *hpack = bb_http2_hpack_new(true);
    (void)read_words(hpack, "#3fe1ff03"); // 65,536
    for (guint i = 0; i < 10000; i++) {
        g_autofree char *entry = g_strdup_printf("+name=%u-and-some-more", i);
        ck_assert(!read_words(hpack, entry)->unknown);
    }
    ck_assert_uint_gt(bb_http2_hpack_held(hpack), 65536);
    ck_assert_uint_lt(bb_http2_hpack_held(hpack), 5 * 65536);
    bb_http2_hpack_lose(hpack);
    ck_assert_uint_lt(bb_http2_hpack_held(hpack), 2048);
    bb_http2_hpack_free(hpack);
}
END_TEST

// Fields out of few values, so that the table is used much. The deflater puts no :path into it.
static gssize deflate(nghttp2_hd_deflater *deflater, GRand *rand, char *path, guint8 *out,
                      gsize room)
{
    char filler[40];
    g_snprintf(path, 64, "/%s/%d", g_rand_boolean(rand) ? "items" : "carts",
               g_rand_int_range(rand, 0, 30));
    g_snprintf(filler, sizeof filler, "%d", g_rand_int_range(rand, 0, 60));
    nghttp2_nv list[] = {
        {(guint8 *)":method", (guint8 *)"GET", 7, 3, NGHTTP2_NV_FLAG_NONE},
        {(guint8 *)":authority", (guint8 *)path, 10, strlen(path), NGHTTP2_NV_FLAG_NONE},
        {(guint8 *)"x-request", (guint8 *)filler, 9, strlen(filler), NGHTTP2_NV_FLAG_NONE},
    };
    return nghttp2_hd_deflate_hd(deflater, out, room, list, G_N_ELEMENTS(list));
}

// Joined at a random block, with random blocks lost and the table's size changing: what is told is
// true, and what is not known is told to be so.
START_TEST(never_wrong)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("never_wrong"));
    guint known = 0, unknown = 0;
    for (guint round = 0; round < 200; round++) {
        nghttp2_hd_deflater *deflater;
        ck_assert_int_eq(nghttp2_hd_deflate_new(&deflater, 65536), 0);
        guint join = (guint)g_rand_int_range(rand, 0, 40);
        BbHttp2Hpack *hpack = bb_http2_hpack_new(join == 0);
        for (guint i = 0; i < 120; i++) {
            char path[64];
            guint8 block[512];
            if (g_rand_int_range(rand, 0, 40) == 0)
                nghttp2_hd_deflate_change_table_size(deflater,
                                                     (gsize)g_rand_int_range(rand, 0, 3) * 3000);
            gssize size = deflate(deflater, rand, path, block, sizeof block);
            ck_assert_int_gt(size, 0);
            if (i < join)
                continue;
            if (g_rand_int_range(rand, 0, 30) == 0) {
                bb_http2_hpack_lose(hpack);
                continue;
            }
            bb_http2_hpack_begin(hpack);
            bb_http2_hpack_feed(hpack, block, (gsize)size);
            const BbHttp2Fields *f = bb_http2_hpack_end(hpack);
            if (f->target_length)
                check_target(f, path, f->unknown);
            else
                ck_assert_msg(f->unknown, "round %u, block %u", round, i);
            known += f->target_length > 0;
            unknown += f->target_length == 0;
        }
        bb_http2_hpack_free(hpack);
        nghttp2_hd_deflate_del(deflater);
    }
    ck_assert_uint_gt(known, unknown);
    ck_assert_uint_gt(unknown, 0);
}
END_TEST

// ---- gRPC -------------------------------------------------------------------------------------

START_TEST(grpc_messages)
{
    static const guint8 three[] = {0, 0, 0, 0, 2, 'a', 'b', 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'c'};
    for (gsize piece = 1; piece <= sizeof three; piece++) {
        BbGrpcFraming framing = {0};
        guint further = 0;
        for (gsize at = 0; at < sizeof three; at += piece)
            further += bb_grpc_take(&framing, three + at, MIN(piece, sizeof three - at));
        ck_assert_uint_eq(further, 2);
        ck_assert(!framing.lost);
        ck_assert_uint_eq(framing.left, 0);
    }
    BbGrpcFraming framing = {0};
    ck_assert_uint_eq(bb_grpc_take(&framing, three, 6), 0);
    ck_assert_uint_eq(framing.left, 1);
    bb_grpc_pass(&framing, 1);
    ck_assert_uint_eq(bb_grpc_take(&framing, three + 7, 5), 1);
    ck_assert_uint_eq(bb_grpc_take(&framing, (const guint8 *)"\2", 1), 0);
    ck_assert(framing.lost); // no such flag
    ck_assert_uint_eq(bb_grpc_take(&framing, three, sizeof three), 0);
}
END_TEST

START_TEST(grpc_is_message)
{
    ck_assert(bb_grpc_is_message((const guint8 *)"\0\0\0\0\0", 5));
    ck_assert(bb_grpc_is_message((const guint8 *)"\1\0\0\1\0", 261));
    ck_assert(!bb_grpc_is_message((const guint8 *)"\2\0\0\1\0", 261));
    ck_assert(!bb_grpc_is_message((const guint8 *)"\0\0\0\1\0", 260));
    ck_assert(!bb_grpc_is_message((const guint8 *)"\0\xff\xff\xff\xff", 4));
}
END_TEST

START_TEST(grpc_codes)
{
    ck_assert_str_eq(bb_grpc_status_name(0), "ok");
    ck_assert_str_eq(bb_grpc_status_name(14), "UNAVAILABLE");
    ck_assert_str_eq(bb_grpc_status_name(16), "UNAUTHENTICATED");
    ck_assert_str_eq(bb_grpc_status_name(17), "UNKNOWN");
    ck_assert_uint_eq(bb_grpc_status_read((const guint8 *)"14", 2), 14);
    ck_assert_uint_eq(bb_grpc_status_read((const guint8 *)"0", 1), 0);
    ck_assert_uint_eq(bb_grpc_status_read((const guint8 *)"", 0), 2);
    ck_assert_uint_eq(bb_grpc_status_read((const guint8 *)"1x", 2), 2);
    ck_assert_uint_eq(bb_grpc_status_read((const guint8 *)"000", 3), 2);
}
END_TEST

TEST_MAIN("http2_parts", heads, what_types_ask_for, error_names, probe_of_the_preface,
          probe_of_frames, probe_refuses_random_bytes, fields, long_targets, broken_blocks,
          blocks_without_end, tables_are_bounded, never_wrong, grpc_messages, grpc_is_message,
          grpc_codes)
