// SPDX-License-Identifier: Apache-2.0
// In: names as they came from the network. Out: text that can be shown, cut or wrapped.
#include "data/caption.h"

#include <stdbool.h>
#include <string.h>

static bool prints(gunichar c)
{
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return false;
    default:
        return true;
    }
}

void bb_caption_append(GString *out, const char *text, const char *empty)
{
    if (*text == '\0')
        text = empty;
    while (*text != '\0') {
        gunichar c = g_utf8_get_char_validated(text, -1);
        bool valid = c != (gunichar)-1 && c != (gunichar)-2;
        gsize bytes = valid ? (gsize)(g_utf8_next_char(text) - text) : 1;
        if (valid && prints(c))
            g_string_append_len(out, text, (gssize)bytes);
        else
            for (gsize i = 0; i < bytes; i++)
                g_string_append_printf(out, "%%%02X", (guchar)text[i]);
        text += bytes;
    }
}

void bb_caption_append_plain(GString *out, const char *text, gsize most)
{
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)strnlen(text, most));
    for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
        gunichar letter = g_utf8_get_char(c);
        g_string_append_unichar(out, prints(letter) ? letter : '?');
    }
}

static guint columns(gunichar c)
{
    if (g_unichar_iszerowidth(c))
        return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

guint bb_caption_width(const char *text)
{
    guint width = 0;
    for (; *text; text = g_utf8_next_char(text))
        width += columns(g_utf8_get_char(text));
    return width;
}

void bb_caption_pad(GString *caption, guint width)
{
    for (guint used = bb_caption_width(caption->str); used < width; used++)
        g_string_append_c(caption, ' ');
}

// Bytes of the longest head of text that is at most width columns.
static gsize head_bytes(const char *text, guint width)
{
    const char *at = text;
    guint used = 0;
    while (*at && used + columns(g_utf8_get_char(at)) <= width) {
        used += columns(g_utf8_get_char(at));
        at = g_utf8_next_char(at);
    }
    return (gsize)(at - text);
}

// Where the longest tail of text begins that is at most width columns.
static gsize tail_start(const char *text, guint width)
{
    const char *at = text + strlen(text);
    for (guint used = 0; at > text;) {
        const char *before = g_utf8_prev_char(at);
        used += columns(g_utf8_get_char(before));
        if (used > width)
            break;
        at = before;
    }
    return (gsize)(at - text);
}

void bb_caption_elide(GString *caption, guint width)
{
    if (bb_caption_width(caption->str) <= width)
        return;
    guint kept = width - 3;
    gsize head = head_bytes(caption->str, kept - kept / 2);
    gsize tail = tail_start(caption->str, kept / 2);
    g_string_erase(caption, (gssize)head, (gssize)(tail - head));
    g_string_insert(caption, (gssize)head, "...");
}

// "..." is one mark.
static bool is_ellipsis(char before, char after)
{
    return before == '.' && after == '.';
}

// Whether a line may end between these two characters: after a blank or a mark, before a separator
// of a path or query.
static bool breaks(char before, char after)
{
    return !is_ellipsis(before, after) &&
           ((before && strchr(" ,;-_.", before)) || (after && strchr("/?&", after)));
}

// Bytes of the next line: up to the last break, unless it is in the first third, else all that fit.
static gsize line_bytes(const char *text, guint width)
{
    gsize most = head_bytes(text, width);
    for (gsize at = most; at > most / 3; at--)
        if (breaks(text[at - 1], text[at]))
            return at;
    gsize dots = 0; // that go to the next line
    while (dots < 2 && most > dots + 1 && is_ellipsis(text[most - dots - 1], text[most - dots]))
        dots++;
    return most - dots;
}

void bb_caption_wrap(GString *caption, guint width, guint lines)
{
    bb_caption_elide(caption, width * lines);
    guint total = bb_caption_width(caption->str);
    guint needed = MAX((total + width - 1) / width, 1);
    guint even = MIN(total / needed + width / 6, width); // lines of about equal length
    gsize at = 0;
    for (guint line = 1; line < lines && bb_caption_width(caption->str + at) > width; line++) {
        at += line_bytes(caption->str + at, even);
        g_string_insert_c(caption, (gssize)at, '\n');
        at++;
    }
}
