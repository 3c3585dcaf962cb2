// SPDX-License-Identifier: Apache-2.0
// In: names as they came from the network. Out: text that can be shown, cut or wrapped.
#include "viz/label.h"

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

void bb_label_append(GString *out, const char *text, const char *empty)
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

static guint columns(gunichar c)
{
    if (g_unichar_iszerowidth(c))
        return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

guint bb_label_width(const char *text)
{
    guint width = 0;
    for (; *text; text = g_utf8_next_char(text))
        width += columns(g_utf8_get_char(text));
    return width;
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

void bb_label_elide(GString *label, guint width)
{
    if (bb_label_width(label->str) <= width)
        return;
    guint kept = width - 3;
    gsize head = head_bytes(label->str, kept - kept / 2);
    gsize tail = tail_start(label->str, kept / 2);
    g_string_erase(label, (gssize)head, (gssize)(tail - head));
    g_string_insert(label, (gssize)head, "...");
}

// The best place to break text near width columns: after a blank, before '/', '?', '&', else there.
static gsize break_bytes(const char *text, guint width)
{
    gsize most = head_bytes(text, width);
    for (gsize at = most; at > most * 2 / 3; at--)
        if (text[at - 1] == ' ' || (text[at] && strchr("/?&=.,;:-_", text[at])))
            return at;
    return most;
}

void bb_label_wrap(GString *label, guint width, guint lines)
{
    bb_label_elide(label, width * lines * 3 / 4);
    gsize at = 0;
    for (guint line = 1; line < lines && bb_label_width(label->str + at) > width; line++) {
        at += break_bytes(label->str + at, width);
        g_string_insert_c(label, (gssize)at, '\n');
        at++;
    }
}
