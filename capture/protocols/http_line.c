// SPDX-License-Identifier: Apache-2.0
// In: single lines of HTTP/1 messages, as bytes from outside.
// Out: method and target, status code, body framing, chunk sizes; or that they are none of these.
#include "capture/protocols/http_line.h"

#include "capture/cursor.h"

#define VERSION_LENGTH 8u // "HTTP/1.1"

enum { FIELD_NONE, FIELD_LENGTH, FIELD_CODING, FIELD_UPGRADE, FIELD_EXPECT };

static bool is_blank(guint8 c)
{
    return c == ' ' || c == '\t';
}

static bool is_version(const guint8 *text)
{
    return memcmp(text, "HTTP/1.", VERSION_LENGTH - 1) == 0 &&
           g_ascii_isdigit(text[VERSION_LENGTH - 1]);
}

// RFC 9110, section 9.1 allows any token. Registered methods are upper case with hyphens, and upper
// case is what tells a request from prose.
static gsize method_length(const guint8 *data, gsize length)
{
    gsize n = 0;
    gsize most = MIN(length, BB_HTTP_METHOD_MAX + 1);
    while (n < most && (g_ascii_isupper(data[n]) ||
                        (n > 0 && (data[n] == '-' || data[n] == '_' || g_ascii_isdigit(data[n])))))
        n++;
    return n;
}

bool bb_http_request_line(const guint8 *line, gsize length, BbHttpRequestLine *request)
{
    gsize method = method_length(line, length);
    if (method == 0 || method > BB_HTTP_METHOD_MAX || method == length || line[method] != ' ')
        return false;
    while (length > 0 && is_blank(line[length - 1]))
        length--;
    if (length < method + 1 + VERSION_LENGTH)
        return false;
    gsize end = length - VERSION_LENGTH;
    if (line[end - 1] != ' ' || !is_version(line + end))
        return false;
    gsize start = method + 1;
    while (start < end && line[start] == ' ')
        start++;
    while (end > start && line[end - 1] == ' ')
        end--;
    *request = (BbHttpRequestLine){line, line + start, method, end - start};
    return true;
}

BbMatch bb_http_match_reply(const guint8 *data, gsize length)
{
    static const char pattern[] = "HTTP/1.d ddd";
    gsize most = MIN(length, sizeof pattern - 1);
    for (gsize i = 0; i < most; i++)
        if (pattern[i] == 'd' ? !g_ascii_isdigit(data[i]) : data[i] != (guint8)pattern[i])
            return BB_MATCH_NO;
    if (length > 9 && data[9] == '0')
        return BB_MATCH_NO;
    if (length < sizeof pattern)
        return BB_MATCH_MORE;
    guint8 after = data[sizeof pattern - 1];
    return after == ' ' || after == '\r' || after == '\n' ? BB_MATCH_REPLY : BB_MATCH_NO;
}

guint bb_http_status_line(const guint8 *line, gsize length)
{
    BbMatch match = bb_http_match_reply(line, length);
    if (match != BB_MATCH_REPLY && !(match == BB_MATCH_MORE && length == 12))
        return 0;
    return (line[9] - '0') * 100u + (line[10] - '0') * 10u + (line[11] - '0');
}

static bool has_control(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (data[i] < 0x20 || data[i] == 0x7f)
            return true;
    return false;
}

// What is behind the target, as far as it is there: a version, and the line's end.
static bool may_be_version(const guint8 *text, gsize length)
{
    if (length < VERSION_LENGTH)
        return memcmp(text, "HTTP/1.", length) == 0;
    bool ends =
        length == VERSION_LENGTH || (length == VERSION_LENGTH + 1 && text[VERSION_LENGTH] == '\r');
    return is_version(text) && ends;
}

bool bb_http_begins_request(const guint8 *line, gsize length)
{
    static const char *const methods[] = {"GET ",    "POST ",  "HEAD ",   "PUT ",
                                          "DELETE ", "PATCH ", "OPTIONS "};
    gsize method = method_length(line, length);
    if (method == length)
        return false;
    const guint8 *target = line + method + 1;
    gsize left = length - method - 1;
    bool common = false;
    for (gsize i = 0; i < G_N_ELEMENTS(methods) && !common; i++)
        common = bb_bytes_begin(line, length, methods[i]);
    bool addressed = bb_bytes_begin(target, left, "/") || bb_bytes_begin(target, left, "http://");
    const guint8 *blank = left ? memchr(target, ' ', left) : NULL;
    gsize end = blank ? (gsize)(blank - line) : length;
    return common && addressed && !has_control(line, end) &&
           (!blank || may_be_version(blank + 1, length - end - 1));
}

BbMatch bb_http_match_request(const guint8 *data, gsize length)
{
    gsize method = method_length(data, length);
    if (method > BB_HTTP_METHOD_MAX || (method == 0 && length > 0))
        return BB_MATCH_NO;
    if (method == length)
        return BB_MATCH_MORE;
    if (data[method] != ' ')
        return BB_MATCH_NO;
    gsize most = MIN(length, BB_HTTP_START_MAX);
    const guint8 *newline = memchr(data + method, '\n', most - method);
    if (!newline) {
        if (length >= BB_HTTP_START_MAX)
            return bb_http_begins_request(data, most) ? BB_MATCH_REQUEST : BB_MATCH_NO;
        gsize text = data[most - 1] == '\r' ? most - 1 : most;
        return has_control(data + method, text - method) ? BB_MATCH_NO : BB_MATCH_MORE;
    }
    gsize line = (gsize)(newline - data);
    if (data[line - 1] == '\r')
        line--;
    BbHttpRequestLine request;
    return bb_http_request_line(data, line, &request) ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

static void read_length(BbHttpFraming *framing, const guint8 *text, gsize length)
{
    // A list of equal numbers comes from a proxy that joined repeated fields (RFC 9110, 8.6).
    BbCursor c = bb_cursor(text, length);
    while (c.left > 0 && !framing->bad_length) {
        guint64 value = 0;
        bool any = false;
        for (; c.left > 0 && g_ascii_isdigit(*c.at); any = true) {
            guint digit = bb_cursor_u8(&c) - '0';
            value = value > BB_HTTP_BODY_MAX / 10 ? BB_HTTP_BODY_MAX + 1 : value * 10 + digit;
        }
        while (c.left > 0 && is_blank(*c.at))
            bb_cursor_skip(&c, 1);
        bool ended = c.left == 0 || bb_cursor_u8(&c) == ',';
        bool differs = framing->has_length && framing->length != value;
        if (!any || !ended || differs || value > BB_HTTP_BODY_MAX)
            framing->bad_length = true;
        framing->length = value;
        framing->has_length = true;
        while (c.left > 0 && is_blank(*c.at))
            bb_cursor_skip(&c, 1);
    }
}

// Whether text begins with word, which is of lower case, in whatever case.
static inline bool begins_with(const guint8 *text, const char *word, gsize length)
{
    for (gsize i = 0; i < length; i++) {
        guint8 lower = text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i];
        if (lower != (guint8)word[i])
            return false;
    }
    return true;
}

static bool is_word(const guint8 *text, gsize length, const char *word)
{
    return length == strlen(word) && begins_with(text, word, length);
}

static BbHttpUpgrade upgrade_of(const guint8 *text, gsize length)
{
    if (is_word(text, length, "h2c"))
        return BB_HTTP_UPGRADE_H2C;
    return is_word(text, length, "websocket") ? BB_HTTP_UPGRADE_WEBSOCKET : BB_HTTP_UPGRADE;
}

// A list; a version may follow a name.
static void read_upgrade(BbHttpFraming *framing, const guint8 *text, gsize length)
{
    for (gsize at = 0; at < length;) {
        const guint8 *comma = memchr(text + at, ',', length - at);
        gsize end = comma ? (gsize)(comma - text) : length;
        while (at < end && is_blank(text[at]))
            at++;
        gsize word = at;
        while (word < end && !is_blank(text[word]) && text[word] != '/')
            word++;
        if (word > at && framing->upgrade <= BB_HTTP_UPGRADE)
            framing->upgrade = upgrade_of(text + at, word - at);
        at = end + 1;
    }
}

static void read_coding(BbHttpFraming *framing, const guint8 *text, gsize length)
{
    for (gsize at = 0; at < length;) {
        const guint8 *comma = memchr(text + at, ',', length - at);
        gsize end = comma ? (gsize)(comma - text) : length;
        while (at < end && is_blank(text[at]))
            at++;
        gsize word = at;
        while (word < end && !is_blank(text[word]) && text[word] != ';')
            word++;
        if (is_word(text + at, word - at, "chunked"))
            framing->coding = BB_HTTP_CHUNKED;
        else if (word > at && !is_word(text + at, word - at, "identity"))
            framing->coding = BB_HTTP_OTHER_CODING;
        at = end + 1;
    }
}

static void read_value(BbHttpFraming *framing, const guint8 *text, gsize length)
{
    while (length > 0 && is_blank(*text)) {
        text++;
        length--;
    }
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    switch (framing->field) {
    case FIELD_LENGTH:
        read_length(framing, text, length);
        break;
    case FIELD_CODING:
        read_coding(framing, text, length);
        break;
    case FIELD_UPGRADE:
        read_upgrade(framing, text, length);
        break;
    case FIELD_EXPECT:
        framing->expect |= is_word(text, length, "100-continue");
        break;
    default:
        break;
    }
}

// The field that this line begins, and where its value does.
static guint field_of(const guint8 *line, gsize length, gsize *value)
{
    static const struct {
        const char *name;
        gsize length;
    } names[] = {
        [FIELD_LENGTH] = {"content-length", 14},
        [FIELD_CODING] = {"transfer-encoding", 17},
        [FIELD_UPGRADE] = {"upgrade", 7},
        [FIELD_EXPECT] = {"expect", 6},
    };
    for (guint field = FIELD_LENGTH; field < G_N_ELEMENTS(names); field++) {
        gsize at = names[field].length;
        if (length <= at || (line[0] | 0x20) != (guint8)names[field].name[0] ||
            (line[at] != ':' && !is_blank(line[at])) || !begins_with(line, names[field].name, at))
            continue;
        while (at < length && is_blank(line[at])) // forbidden before the colon, yet seen
            at++;
        *value = at + 1;
        return at < length && line[at] == ':' ? field : FIELD_NONE;
    }
    return FIELD_NONE;
}

void bb_http_field_line(BbHttpFraming *framing, const guint8 *line, gsize length)
{
    if (length > 0 && is_blank(*line)) { // obs-fold, section 5.2
        read_value(framing, line, length);
        return;
    }
    gsize value = 0;
    framing->field = field_of(line, length, &value);
    if (framing->field != FIELD_NONE)
        read_value(framing, line + value, length - value);
}

bool bb_http_chunk_line(const guint8 *line, gsize length, guint64 *size)
{
    BbCursor c = bb_cursor(line, length);
    guint64 value = 0;
    for (; c.left > 0 && g_ascii_isxdigit(*c.at); bb_cursor_skip(&c, 1)) {
        if (value > BB_HTTP_BODY_MAX / 16)
            return false;
        value = value * 16 + (guint)g_ascii_xdigit_value((char)*c.at);
    }
    if (c.left == length || (c.left > 0 && *c.at != ';' && !is_blank(*c.at)))
        return false;
    *size = value;
    return value <= BB_HTTP_BODY_MAX;
}
