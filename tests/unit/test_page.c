// SPDX-License-Identifier: Apache-2.0
// The page of a report: names from the network stay text.
#include "tests/unit/test.h"
#include "viz/page.h"

#include <stdlib.h>
#include <string.h>

// What a page of these has, from its title on; free() it. Not inlined: see view_text.h.
static G_NO_INLINE char *page_text(const char *title, const char *table, const char *svg)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    BbPage *page = bb_page_new(out, title);
    bb_page_heading(page, "A & B");
    bb_page_sentence(page, "Said.");
    bb_page_table(page, table);
    bb_page_picture(page, svg);
    bb_page_free(page);
    fclose(out);
    return text;
}

START_TEST(parts)
{
    char *text = page_text("a trace", "x  y\n", "<?xml version=\"1.0\"?>\n<svg>drawn</svg>\n");
    ck_assert(g_str_has_prefix(text, "<!DOCTYPE html>\n"));
    ck_assert_str_eq(strstr(text, "<title>"),
                     "<title>a trace</title>\n</head>\n<body>\n<h1>a trace</h1>\n"
                     "<h2>A &amp; B</h2>\n<p>Said.</p>\n<pre>x  y\n</pre>\n"
                     "<div class=\"picture\">\n<svg>drawn</svg>\n</div>\n</body>\n</html>\n");
    free(text);
}
END_TEST

START_TEST(names_are_text)
{
    char *text = page_text("</title><script>\x1b\xff", "<script>'\"</pre>", "");
    ck_assert_ptr_null(strstr(text, "<script"));
    ck_assert_ptr_nonnull(strstr(text, "<title>&lt;/title&gt;&lt;script&gt;%1B%FF</title>"));
    ck_assert_ptr_nonnull(strstr(text, "<pre>&lt;script&gt;&apos;&quot;&lt;/pre&gt;</pre>"));
    ck_assert_ptr_nonnull(strstr(text, "<div class=\"picture\">\n</div>"));
    free(text);
}
END_TEST

// Nothing may be loaded or run.
START_TEST(policy)
{
    char *text = page_text("t", "", "");
    ck_assert_ptr_nonnull(strstr(text, "Content-Security-Policy\" content=\"default-src 'none';"));
    ck_assert_ptr_null(strstr(text, "http:"));
    ck_assert_ptr_null(strstr(text, "https:"));
    free(text);
}
END_TEST

TEST_MAIN("page", parts, names_are_text, policy)
