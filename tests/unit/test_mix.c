// SPDX-License-Identifier: Apache-2.0
// The hash of bytes is that of their words, the last one filled up with zeros, and reads no byte
// beyond them; that of a connection is the same for both directions.
#include "data/mix.h"
#include "tests/unit/test.h"

#define LONGEST 80u

// The slow twin: word by word, byte by byte.
static guint64 mix_slowly(guint64 hash, const guint8 *bytes, gsize size)
{
    for (gsize at = 0; at < size; at += 8) {
        guint64 word = 0;
        for (gsize i = at; i < MIN(at + 8, size); i++)
            word |= (guint64)bytes[i] << 8 * (i - at);
        hash = bb_mix(hash, word);
    }
    return hash;
}

START_TEST(every_length)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("mix"));
    for (guint round = 0; round < 50; round++) {
        for (gsize size = 0; size <= LONGEST; size++) {
            guint64 seed = (guint64)g_rand_int(random) << 32 | g_rand_int(random);
            g_autofree guint8 *bytes = g_malloc(MAX(size, 1)); // so that a sanitizer sees its end
            for (gsize i = 0; i < size; i++)
                bytes[i] = (guint8)g_rand_int(random);
            ck_assert_uint_eq(bb_mix_bytes(seed, bytes, size), mix_slowly(seed, bytes, size));
        }
    }
}
END_TEST

START_TEST(both_directions)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("mix"));
    for (guint round = 0; round < 1000; round++) {
        BbAddress one, other;
        for (guint i = 0; i < sizeof one.bytes; i++) {
            one.bytes[i] = (guint8)g_rand_int(random);
            other.bytes[i] = (guint8)g_rand_int(random);
        }
        guint16 one_port = (guint16)g_rand_int(random), other_port = one_port ^ 1;
        guint64 ends = bb_mix_ends(round, &one, one_port, &other, other_port);
        ck_assert_uint_eq(ends, bb_mix_ends(round, &other, other_port, &one, one_port));
        ck_assert_uint_ne(ends, bb_mix_ends(round, &one, other_port, &other, one_port));
        ck_assert_uint_ne(ends, bb_mix_ends(round + 1, &one, one_port, &other, other_port));
    }
}
END_TEST

// Of a product of 64 bits alone the top bit of a word would change the same bits for every seed,
// and the next word could change them back: words that fall together for whatever seed.
START_TEST(no_change_undoes_another)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("mix"));
    for (guint bit = 0; bit < 64; bit++) {
        GHashTable *seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        for (guint round = 0; round < 64; round++) {
            guint64 seed = (guint64)g_rand_int(random) << 32 | g_rand_int(random);
            guint64 change = bb_mix(seed, 0) ^ bb_mix(seed, (guint64)1 << bit);
            ck_assert_uint_ne(change, 0);
            g_hash_table_add(seen, g_memdup2(&change, sizeof change));
        }
        ck_assert_uint_ge(g_hash_table_size(seen), 48); // few seeds share one
        g_hash_table_unref(seen);
    }
}
END_TEST

TEST_MAIN("mix", no_change_undoes_another, every_length, both_directions)
