// SPDX-License-Identifier: Apache-2.0
// The beginning of what was compressed: literals, copies, cut and damaged input, little room.
#include "capture/protocols/unpack.h"
#include "tests/unit/octets.h"

#include <zlib.h>
#include <zstd.h>

typedef gsize (*Unpack)(guint8 *out, gsize room, const guint8 *data, gsize length);

static void expect(Unpack unpack, const char *packed, const char *text)
{
    g_autoptr(Octets) bytes = octets(packed);
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    guint8 room[512];
    gsize used = unpack(room, sizeof room, copy, bytes->len);
    ck_assert_msg(used == strlen(text) && memcmp(room, text, used) == 0, "%s: %.*s", packed,
                  (int)used, room);
    for (gsize less = 0; less < used; less++) // exactly as much as there is room for
        ck_assert_uint_eq(unpack(room, less, copy, bytes->len), less);
    for (gsize cut = 0; cut < bytes->len; cut++) { // the same beginning
        g_autofree guint8 *part = g_memdup2(bytes->data, cut);
        gsize had = unpack(room, sizeof room, part, cut);
        ck_assert(had <= used && memcmp(room, text, had) == 0);
    }
}

START_TEST(lz4)
{
    expect(bb_unpack_lz4, "", "");
    expect(bb_unpack_lz4, "50 'hello'", "hello");
    expect(bb_unpack_lz4, "32 'abc' 0300 20 'xy'", "abcabcabcxy"); // 6 bytes from 3 before
    expect(bb_unpack_lz4, "10 'a' 0100 00", "aaaaa");
    expect(bb_unpack_lz4, "f0 05 'twenty letters in it'", "twenty letters in it");
    expect(bb_unpack_lz4, "1f 'a' 0100 00 00", "aaaaaaaaaaaaaaaaaaaa"); // 15 + 0 + 4
    expect(bb_unpack_lz4, "30 'abc' 0400", "abc");                      // from before the start
    expect(bb_unpack_lz4, "30 'abc' 0000", "abc");
}
END_TEST

START_TEST(snappy)
{
    expect(bb_unpack_snappy, "", "");
    expect(bb_unpack_snappy, "05 10 'hello'", "hello");
    expect(bb_unpack_snappy, "0b 08 'abc' 09 03 04 'xy'", "abcabcabcxy"); // 6 bytes, short offset
    expect(bb_unpack_snappy, "09 08 'abc' 16 0300", "abcabcabc");         // 6 of a longer offset
    expect(bb_unpack_snappy, "09 08 'abc' 17 03000000", "abcabcabc");
    expect(bb_unpack_snappy, "14 f0 13 'twenty letters in it'", "twenty letters in it");
    expect(bb_unpack_snappy, "14 f4 1300 'twenty letters in it'", "twenty letters in it");
    expect(bb_unpack_snappy, "8001 08 'abc'", "abc"); // length of two bytes
    expect(bb_unpack_snappy, "09 08 'abc' 16 0400", "abc");
}
END_TEST

START_TEST(zlib)
{
    static const char text[] = "one two one two one two one two";
    guint8 packed[256], room[256];
    uLongf length = sizeof packed;
    ck_assert_int_eq(compress(packed, &length, (const Bytef *)text, strlen(text)), Z_OK);
    ck_assert_uint_eq(bb_unpack_zlib(room, sizeof room, packed, length), strlen(text));
    ck_assert_mem_eq(room, text, strlen(text));
    ck_assert_uint_eq(bb_unpack_zlib(room, 7, packed, length), 7);
    ck_assert_mem_eq(room, text, 7);
    ck_assert_uint_lt(bb_unpack_zlib(room, sizeof room, packed, length / 2), strlen(text));
    ck_assert_uint_eq(bb_unpack_zlib(room, sizeof room, (const guint8 *)"no zlib", 7), 0);
    ck_assert_uint_eq(bb_unpack_zlib(room, sizeof room, packed, 0), 0);
}
END_TEST

START_TEST(zstd)
{
    static const char text[] = "one two one two one two one two";
    guint8 packed[256], room[256];
    gsize length = ZSTD_compress(packed, sizeof packed, text, strlen(text), 3);
    ck_assert_uint_eq(bb_unpack_zstd(room, sizeof room, packed, length), strlen(text));
    ck_assert_mem_eq(room, text, strlen(text));
    ck_assert_uint_eq(bb_unpack_zstd(room, 7, packed, length), 7);
    ck_assert_mem_eq(room, text, 7);
    ck_assert_uint_eq(bb_unpack_zstd(room, sizeof room, packed, length / 2), 0); // half a block
    ck_assert_uint_eq(bb_unpack_zstd(room, sizeof room, (const guint8 *)"no zstd", 7), 0);
    ck_assert_uint_eq(bb_unpack_zstd(room, sizeof room, packed, 0), 0);
}
END_TEST

// A frame (RFC 8878, 3.1.1) of a wide window is not believed, whatever is in it.
START_TEST(zstd_windows)
{
    static const struct {
        const char *window;
        gsize used;
    } cases[] = {{"58", 5}, {"60", 0}, {"f8", 0}}; // 2 MiB, 4 MiB, 2 TiB
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint8 room[16];
        g_autofree char *frame = g_strdup_printf("28b52ffd 00 %s 290000 'hello'", cases[i].window);
        g_autoptr(Octets) bytes = octets(frame);
        ck_assert_uint_eq(bb_unpack_zstd(room, sizeof room, bytes->data, bytes->len),
                          cases[i].used);
    }
}
END_TEST

START_TEST(random_bytes)
{
    static const Unpack all[] = {bb_unpack_lz4, bb_unpack_snappy, bb_unpack_zlib, bb_unpack_zstd};
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    for (guint i = 0; i < 20000; i++) {
        gsize length = (gsize)g_rand_int_range(rand, 0, 60);
        gsize size = (gsize)g_rand_int_range(rand, 1, 100);
        g_autofree guint8 *bytes = g_malloc(length + 1), *room = g_malloc(size);
        for (gsize k = 0; k < length; k++)
            bytes[k] = (guint8)g_rand_int(rand);
        ck_assert_uint_le(all[i % G_N_ELEMENTS(all)](room, size, bytes, length), size);
    }
}
END_TEST

TEST_MAIN("unpack", lz4, snappy, zlib, zstd, zstd_windows, random_bytes)
