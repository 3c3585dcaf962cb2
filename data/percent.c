// SPDX-License-Identifier: Apache-2.0
// In: texts of any bytes. Out: fields without white space, and back.
#include "data/percent.h"

#include <string.h>

static bool is_plain(char c, const char *also)
{
    return c > ' ' && c < 0x7f && c != also[0] && (!also[0] || c != also[1]);
}

static void append_encoded(GString *out, const char *bytes, gsize count)
{
    static const char digits[] = "0123456789ABCDEF";
    for (gsize i = 0; i < count; i++) {
        guint8 byte = (guint8)bytes[i];
        char code[3] = {'%', digits[byte >> 4], digits[byte & 15]};
        g_string_append_len(out, code, sizeof code);
    }
}

// Appends the character at text, encoded where it must be; returns how many bytes it has.
static gsize append_character(GString *out, const char *text)
{
    gunichar c = g_utf8_get_char_validated(text, -1);
    if (c == (gunichar)-1 || c == (gunichar)-2) {
        append_encoded(out, text, 1);
        return 1;
    }
    gsize size = (gsize)g_unichar_to_utf8(c, NULL);
    if (g_unichar_isspace(c) || g_unichar_iscntrl(c))
        append_encoded(out, text, size);
    else
        g_string_append_len(out, text, (gssize)size);
    return size;
}

void bb_percent_append(GString *out, const char *text, const char *also)
{
    while (*text) {
        gsize plain = 0;
        while (is_plain(text[plain], also))
            plain++;
        g_string_append_len(out, text, (gssize)plain);
        text += plain;
        if (!*text)
            return;
        if ((guint8)*text < 0x80) {
            append_encoded(out, text, 1);
            text++;
        } else {
            text += append_character(out, text);
        }
    }
}

const char *bb_percent_decode(char *text)
{
    char *in = strchr(text, '%');
    if (!in)
        return NULL;
    char *out = in;
    while (*in) {
        if (*in != '%') {
            *out++ = *in++;
            continue;
        }
        int high = g_ascii_xdigit_value(in[1]);
        int low = high < 0 ? -1 : g_ascii_xdigit_value(in[2]);
        if (low < 0)
            return "a % is not followed by two hexadecimal digits (a plain % is written %25)";
        if (high == 0 && low == 0)
            return "%00 encodes a NUL byte, which no field can hold";
        *out++ = (char)(high << 4 | low);
        in += 3;
    }
    *out = '\0';
    return NULL;
}
