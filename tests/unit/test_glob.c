// SPDX-License-Identifier: Apache-2.0
// Patterns with * and ?.
#include "data/glob.h"

#include "tests/unit/test.h"

static const char *const matches[][2] = {
    {"?\xb6?", "?\xb6?"},
    {"", ""},
    {"*", ""},
    {"*", "abc"},
    {"abc", "abc"},
    {"a*", "a"},
    {"a*c", "abbbc"},
    {"*b*", "abc"},
    {"?", "\xc3\xa9"},
    {"a?c", "abc"},
    {"**", ""},
    {"GET /*", "GET /"},
    {"*ab", "aab"},
    {"*a*b*c", "xaxbxbc"},
    {"?", "\xe2"},
    {"??", "\xff\xfe"},
    {"*?", "\xe2\x82\xac"},
    {"\\*", "\\x"},
    {"a*b*b", "abbb"},
    {"[a]", "[a]"},
};

static const char *const misses[][2] = {
    {"", "a"},     {"a", ""},      {"?", ""},       {"?", "ab"},        {"abc", "ab"},
    {"ab", "abc"}, {"a*c", "acb"}, {"*ab", "aba"},  {"??", "\xc3\xa9"}, {"A", "a"},
    {"*a?", "a"},  {"[a]", "a"},   {"a*b*b", "ab"},
};

START_TEST(tables)
{
    for (gsize i = 0; i < G_N_ELEMENTS(matches); i++)
        ck_assert_msg(bb_glob_match(matches[i][0], matches[i][1]), "%s %s", matches[i][0],
                      matches[i][1]);
    for (gsize i = 0; i < G_N_ELEMENTS(misses); i++)
        ck_assert_msg(!bb_glob_match(misses[i][0], misses[i][1]), "%s %s", misses[i][0],
                      misses[i][1]);
}
END_TEST

// Nothing but stars and one letter: no more steps than the product of the lengths.
START_TEST(many_stars_take_no_time)
{
    g_autofree char *text = g_strnfill(10000, 'a');
    g_autoptr(GString) pattern = g_string_new(NULL);
    for (guint i = 0; i < 1000; i++)
        g_string_append(pattern, "a*");
    g_string_append_c(pattern, 'b');
    ck_assert(!bb_glob_match(pattern->str, text));
    g_string_truncate(pattern, pattern->len - 1);
    ck_assert(bb_glob_match(pattern->str, text));
}
END_TEST

TEST_MAIN("glob", tables, many_stars_take_no_time)
