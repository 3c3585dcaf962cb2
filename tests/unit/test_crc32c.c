// SPDX-License-Identifier: Apache-2.0
// CRC-32C: the vectors of RFC 3720, the definition bit by bit, both implementations alike.
#include "data/crc32c.h"
#include "tests/unit/test.h"

#include <string.h>

static guint32 crc_by_definition(guint32 crc, const guint8 *bytes, gsize size)
{
    crc = ~crc;
    for (gsize i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static void check_both(const guint8 *bytes, gsize size, guint32 expected)
{
    ck_assert_uint_eq(bb_crc32c(0, bytes, size), expected);
    ck_assert_uint_eq(bb_crc32c_table(0, bytes, size), expected);
}

START_TEST(rfc_3720_vectors)
{
    guint8 bytes[32] = {0};
    check_both(bytes, sizeof bytes, 0x8a9136aau);
    memset(bytes, 0xff, sizeof bytes);
    check_both(bytes, sizeof bytes, 0x62a8ab43u);
    for (guint8 i = 0; i < sizeof bytes; i++)
        bytes[i] = i;
    check_both(bytes, sizeof bytes, 0x46dd794eu);
    for (guint8 i = 0; i < sizeof bytes; i++)
        bytes[i] = (guint8)(31 - i);
    check_both(bytes, sizeof bytes, 0x113fdb5cu);
    check_both((const guint8 *)"123456789", 9, 0xe3069283u);
    check_both(bytes, 0, 0);
}
END_TEST

START_TEST(same_as_definition)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(3720);
    guint8 bytes[300];
    for (gsize i = 0; i < sizeof bytes; i++)
        bytes[i] = (guint8)g_rand_int(rand);
    for (gsize start = 0; start < 9; start++) {
        for (gsize size = 0; start + size <= sizeof bytes; size++)
            check_both(bytes + start, size, crc_by_definition(0, bytes + start, size));
    }
}
END_TEST

START_TEST(continues)
{
    const char *text = "a text that comes in two parts, of any size";
    gsize size = strlen(text);
    guint32 whole = bb_crc32c(0, text, size);
    for (gsize cut = 0; cut <= size; cut++) {
        guint32 first = bb_crc32c(0, text, cut);
        ck_assert_uint_eq(bb_crc32c(first, text + cut, size - cut), whole);
        ck_assert_uint_eq(bb_crc32c_table(first, text + cut, size - cut), whole);
    }
}
END_TEST

TEST_MAIN("crc32c", rfc_3720_vectors, same_as_definition, continues)
