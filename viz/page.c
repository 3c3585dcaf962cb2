// SPDX-License-Identifier: Apache-2.0
// In: texts and pictures. Out: one page of HTML.
#include "viz/page.h"

#include "data/caption.h"

#include <string.h>

struct BbPage {
    FILE *out;
};

// Nothing is loaded and nothing runs, whatever a name may hold.
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    "body { margin: 2em; font: 16px/1.45 system-ui, sans-serif; color: #1d1d1f; background: #fff "
    "}\n"
    "h1 { font-size: 1.6em } h2 { font-size: 1.2em; margin-top: 2em }\n"
    "p { max-width: 60em }\n"
    "pre { font: 13px/1.4 ui-monospace, monospace; background: #f6f6f4; padding: 1em; "
    "overflow-x: auto }\n"
    ".picture { overflow-x: auto }\n"
    ".picture svg { max-width: max(100%, 60em); height: auto }\n"
    "</style>\n";

static void put_escaped(BbPage *page, const char *text)
{
    g_autofree char *escaped = g_markup_escape_text(text, -1);
    fputs(escaped, page->out);
}

static void put_element(BbPage *page, const char *name, const char *text)
{
    fprintf(page->out, "<%s>", name);
    put_escaped(page, text);
    fprintf(page->out, "</%s>\n", name);
}

BbPage *bb_page_new(FILE *out, const char *title)
{
    BbPage *page = g_new(BbPage, 1);
    g_autoptr(GString) caption = g_string_new(NULL);
    page->out = out;
    bb_caption_append(caption, title, "?");
    fputs(head, out);
    put_element(page, "title", caption->str);
    fputs("</head>\n<body>\n", out);
    put_element(page, "h1", caption->str);
    return page;
}

void bb_page_free(BbPage *page)
{
    if (!page)
        return;
    fputs("</body>\n</html>\n", page->out);
    g_free(page);
}

void bb_page_heading(BbPage *page, const char *text)
{
    put_element(page, "h2", text);
}

void bb_page_sentence(BbPage *page, const char *text)
{
    put_element(page, "p", text);
}

void bb_page_table(BbPage *page, const char *text)
{
    put_element(page, "pre", text);
}

// What is before the element is for files.
void bb_page_picture(BbPage *page, const char *svg)
{
    const char *element = strstr(svg, "<svg");
    fprintf(page->out, "<div class=\"picture\">\n%s</div>\n", element ? element : "");
}
