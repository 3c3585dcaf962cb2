// SPDX-License-Identifier: Apache-2.0
// Captions: what does not print is percent-encoded; cutting and wrapping keep characters whole.
#include "data/caption.h"
#include "tests/unit/test.h"

#include <string.h>

START_TEST(shown_text)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"GET /cart/*", "GET /cart/*"},
        {"", "?"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"a\nb\tc\x1b[31m\x7f", "a%0Ab%09c%1B[31m%7F"},
        {"\xff\xc3", "%FF%C3"},
        {"\xc2\x9b", "%C2%9B"}, // C1 control: starts an escape in some terminals
        {"\xe2\x80\xae"
         "abc",
         "%E2%80%AEabc"},              // right-to-left override
        {"\xe2\x80\xa8", "%E2%80%A8"}, // line separator
        {"<b>\\N&lt;", "<b>\\N&lt;"},  // escaping is the format's
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        bb_caption_append(text, cases[i].name, "?");
        ck_assert_str_eq(text->str, cases[i].shown);
    }
}
END_TEST

START_TEST(widths)
{
    ck_assert_uint_eq(bb_caption_width(""), 0);
    ck_assert_uint_eq(bb_caption_width("caf\xc3\xa9"), 4);
    ck_assert_uint_eq(bb_caption_width("e\xcc\x81"), 1);                // combining accent
    ck_assert_uint_eq(bb_caption_width("\xe6\x97\xa5\xe6\x9c\xac"), 4); // two wide characters
}
END_TEST

START_TEST(padded)
{
    g_autoptr(GString) text = g_string_new("\xe6\x97\xa5\xc3\xa9");
    bb_caption_pad(text, 5);
    ck_assert_str_eq(text->str, "\xe6\x97\xa5\xc3\xa9  ");
    bb_caption_pad(text, 3);
    ck_assert_uint_eq(bb_caption_width(text->str), 5);
}
END_TEST

static void expect_elided(const char *text, guint width, const char *expected)
{
    g_autoptr(GString) caption = g_string_new(text);
    bb_caption_elide(caption, width);
    ck_assert_str_eq(caption->str, expected);
    ck_assert_uint_le(bb_caption_width(caption->str), width);
}

START_TEST(elided)
{
    expect_elided("0123456789", 10, "0123456789");
    expect_elided("0123456789a", 10, "0123...89a");
    expect_elided("0123456789a", 5, "0...a");
    expect_elided("\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", 7,
                  "\xe6\x97\xa5...\xe6\x9c\xac");
    expect_elided("\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5", 5, "...");
}
END_TEST

static void expect_wrapped(const char *text, const char *expected)
{
    g_autoptr(GString) caption = g_string_new(text);
    bb_caption_wrap(caption, 12, 3);
    ck_assert_str_eq(caption->str, expected);
}

START_TEST(wrapped)
{
    expect_wrapped("", "");
    expect_wrapped("GET /a/b/c/d", "GET /a/b/c/d");
    expect_wrapped("GET /items/rest", "GET \n/items/rest");
    expect_wrapped("abcdefghijklmnop", "abcdefghij\nklmnop");
}
END_TEST

// What stands for the middle of a long name stays in one line.
START_TEST(ellipses_are_whole)
{
    for (guint width = 8; width < 40; width++) {
        for (guint lines = 1; lines < 6; lines++) {
            g_autofree char *text = g_strnfill(300, 'x');
            g_autoptr(GString) caption = g_string_new(text);
            bb_caption_wrap(caption, width, lines);
            ck_assert_msg(strstr(caption->str, "..."), "%u, %u: %s", width, lines, caption->str);
        }
    }
    g_autoptr(GString) dots = g_string_new("....................................");
    bb_caption_wrap(dots, 12, 3);
    ck_assert_uint_eq(dots->len, 38);
}
END_TEST

// Whatever the text: never more lines than asked for, nothing lost that was not elided.
START_TEST(wrapped_any)
{
    for (guint length = 0; length < 60; length++) {
        g_autofree char *text = g_strnfill(length, 'x');
        g_autoptr(GString) caption = g_string_new(text);
        for (guint i = 3; i < length; i += 7)
            caption->str[i] = '/';
        bb_caption_wrap(caption, 12, 3);
        guint lines = 1;
        for (const char *at = caption->str; (at = strchr(at, '\n')); at++)
            lines++;
        ck_assert_uint_le(lines, 3);
        ck_assert_uint_eq(caption->len, MIN(length, 36) + lines - 1);
    }
}
END_TEST

// C0, C1 (U+009B begins a sequence for terminals), bidirectional overrides; bytes that are no
// UTF-8.
START_TEST(plain)
{
    static const struct {
        const char *text;
        gsize most;
        const char *shown;
    } cases[] = {
        {"web1", G_MAXSIZE, "web1"},
        {"a\033[31mb\n", G_MAXSIZE, "a?[31mb?"},
        {"a\302\23331mb", G_MAXSIZE, "a?31mb"},
        {"a\342\200\256b", G_MAXSIZE, "a?b"},
        {"a\377b", G_MAXSIZE, "a\357\277\275b"},
        {"abcdef", 3, "abc"},
        {"ab\303\244", 3, "ab\357\277\275"},
        {"", G_MAXSIZE, ""},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) out = g_string_new(NULL);
        bb_caption_append_plain(out, cases[i].text, cases[i].most);
        ck_assert_str_eq(out->str, cases[i].shown);
    }
}
END_TEST

TEST_MAIN("caption", shown_text, plain, widths, padded, elided, wrapped, ellipses_are_whole,
          wrapped_any)
