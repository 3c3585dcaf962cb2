// SPDX-License-Identifier: Apache-2.0
// In: words and numbers of the formats. Out: the fields of a span.
#include "merge/span.h"

#include <string.h>

BbSpan bb_span_empty(void)
{
    return (BbSpan){.start_ns = BB_TIME_NONE, .end_ns = BB_TIME_NONE};
}

BbSpanKind bb_span_kind_parse(const char *text)
{
    static const struct {
        const char *name;
        BbSpanKind kind;
    } kinds[] = {
        {"internal", BB_SPAN_INTERNAL}, {"client", BB_SPAN_CLIENT},     {"server", BB_SPAN_SERVER},
        {"producer", BB_SPAN_PRODUCER}, {"consumer", BB_SPAN_CONSUMER},
    };
    if (!text)
        return BB_SPAN_UNSET;
    if (g_str_has_prefix(text, "SPAN_KIND_"))
        text += strlen("SPAN_KIND_");
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_ascii_strcasecmp(text, kinds[i].name) == 0)
            return kinds[i].kind;
    return BB_SPAN_UNSET;
}

// ---- ids --------------------------------------------------------------------------------------

#define SHORT_DIGITS ((gsize)2 * BB_SPAN_ID_LENGTH)
#define LONG_DIGITS ((gsize)2 * BB_SPAN_TRACE_LENGTH)

static bool is_hex(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF") == strlen(text);
}

static BbId parse_hex(BbNames *names, const char *text)
{
    text += strspn(text, "0");
    gsize length = strlen(text);
    gsize digits = length <= SHORT_DIGITS ? SHORT_DIGITS : LONG_DIGITS;
    char padded[LONG_DIGITS + 1];
    if (length == 0)
        return (BbId){.form = BB_ID_ABSENT};
    memset(padded, '0', digits - length);
    for (gsize i = 0; i < length; i++)
        padded[digits - length + i] = g_ascii_tolower(text[i]);
    padded[digits] = '\0';
    return bb_id_parse(names, padded);
}

BbId bb_span_id_parse(BbNames *names, const char *text)
{
    gsize length = text ? strlen(text) : 0;
    if (length == 0 || length > BB_SPAN_ID_TEXT_MAX || strcmp(text, "-") == 0)
        return (BbId){.form = BB_ID_ABSENT};
    if (length <= LONG_DIGITS && is_hex(text))
        return parse_hex(names, text);
    return bb_id_parse(names, text);
}

BbId bb_span_id_parse_bytes(BbNames *names, const char *text, gsize length)
{
    g_assert(length == BB_SPAN_ID_LENGTH || length == BB_SPAN_TRACE_LENGTH);
    guint8 bytes[24]; // what 4 * ceil(16 / 3) digits make
    char hex[LONG_DIGITS + 1];
    gint state = 0;
    guint save = 0;
    if (!text || strlen(text) != 4 * ((length + 2) / 3))
        return bb_span_id_parse(names, text);
    gsize got = g_base64_decode_step(text, strlen(text), bytes, &state, &save);
    if (got != length)
        return bb_span_id_parse(names, text);
    for (gsize i = 0; i < length; i++)
        g_snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    return parse_hex(names, hex);
}

// ---- the rest ---------------------------------------------------------------------------------

gint64 bb_span_time(gint64 value, gint64 unit_ns)
{
    const gint64 most = G_GINT64_CONSTANT(9214646400000000000); // 2262-01-01
    return value > 0 && value < most / unit_ns ? value * unit_ns : BB_TIME_NONE;
}

guint32 bb_span_name(BbNames *names, const char *text)
{
    gsize length = text ? strlen(text) : 0;
    if (length == 0)
        return BB_NAME_NONE;
    if (length > BB_SPAN_NAME_MAX) {
        length = BB_SPAN_NAME_MAX;
        while (length > 0 && ((guint8)text[length] & 0xc0) == 0x80) // within a character
            length--;
    }
    return bb_names_intern_len(names, text, length);
}
