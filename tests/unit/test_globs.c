// SPDX-License-Identifier: Apache-2.0
// Lists of patterns: what they match, and which are none.
#include "data/globs.h"

#include "tests/unit/test.h"

static void expect(const char *list, const char *text, bool matches)
{
    g_autoptr(BbGlobs) globs = bb_globs_new(list);
    ck_assert_ptr_nonnull(globs);
    ck_assert_msg(bb_globs_match(globs, text) == matches, "%s %s", list, text);
}

START_TEST(any_of_them_matches)
{
    expect("a", "a", true);
    expect("a", "b", false);
    expect("a,b", "a", true);
    expect("a,b", "b", true);
    expect("a,b", "a,b", false);
    expect("a?b", "a,b", true); // a comma is a letter
    expect("C*,web?", "C1", true);
    expect("C*,web?", "web1", true);
    expect("C*,web?", "web", false);
    expect("*", "", true);
    expect(" a", "a", false); // names may have spaces
}
END_TEST

START_TEST(patterns_as_given)
{
    g_autoptr(BbGlobs) globs = bb_globs_new("b*,a,b*");
    const char *const *patterns = bb_globs_patterns(globs);
    ck_assert_str_eq(patterns[0], "b*");
    ck_assert_str_eq(patterns[1], "a");
    ck_assert_str_eq(patterns[2], "b*");
    ck_assert_ptr_null(patterns[3]);
}
END_TEST

START_TEST(none_is_empty)
{
    const char *const lists[] = {"", ",", "a,", ",a", "a,,b"};
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
        ck_assert_msg(!bb_globs_new(lists[i]), "%s", lists[i]);
}
END_TEST

TEST_MAIN("globs", any_of_them_matches, patterns_as_given, none_is_empty)
