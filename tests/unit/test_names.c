// SPDX-License-Identifier: Apache-2.0
// Names: interned once, found again, the empty one is 0.
#include "data/names.h"
#include "tests/unit/test.h"

START_TEST(interned_once)
{
    g_autoptr(BbNames) names = bb_names_new();
    guint32 a = bb_names_intern(names, "auth");
    ck_assert_uint_eq(a, 1);
    ck_assert_uint_eq(bb_names_intern_len(names, "authority", 4), a);
    ck_assert_str_eq(bb_names_text(names, a), "auth");
    ck_assert_uint_eq(bb_names_count(names), 2);
}
END_TEST

START_TEST(empty_is_none)
{
    g_autoptr(BbNames) names = bb_names_new();
    ck_assert_uint_eq(bb_names_intern(names, ""), BB_NAME_NONE);
    ck_assert_uint_eq(bb_names_find(names, "never seen"), BB_NAME_NONE);
    ck_assert_str_eq(bb_names_text(names, BB_NAME_NONE), "");
}
END_TEST

START_TEST(long_texts)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree char *text = g_strnfill(100000, 'x');
    guint32 a = bb_names_intern_len(names, text, 100000);
    ck_assert_uint_eq(bb_names_intern(names, text), a);
}
END_TEST

START_TEST(many_keep_their_place)
{
    g_autoptr(BbNames) names = bb_names_new();
    for (guint32 i = 1; i < 100000; i++) {
        g_autofree char *text = g_strdup_printf("%u", i);
        ck_assert_uint_eq(bb_names_intern(names, text), i);
    }
    for (guint32 i = 1; i < 100000; i++)
        ck_assert_uint_eq(g_ascii_strtoull(bb_names_text(names, i), NULL, 10), i);
}
END_TEST

// Texts of which a hash without seed makes one number: in that of GLib "Ez" is "FY", and so is
// whatever is put together of them. Each would be compared with all before it, which takes longer
// than a test may.
START_TEST(texts_that_would_collide)
{
    enum { PAIRS = 17 };
    g_autoptr(BbNames) names = bb_names_new();
    char text[2 * PAIRS + 1] = "";
    for (guint32 i = 0; i < 1u << PAIRS; i++) {
        for (guint k = 0; k < PAIRS; k++)
            memcpy(text + 2 * k, i >> k & 1 ? "FY" : "Ez", 2);
        ck_assert_uint_eq(bb_names_intern(names, text), i + 1);
    }
    ck_assert_uint_eq(bb_names_count(names), (1u << PAIRS) + 1);
}
END_TEST

TEST_MAIN("names", texts_that_would_collide, interned_once, empty_is_none, long_texts,
          many_keep_their_place)
