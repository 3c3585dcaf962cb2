// SPDX-License-Identifier: Apache-2.0
// In: bytes of RESP2 or RESP3 (the Redis serialization protocol). Out: its items, one by one.
#include "capture/protocols/resp.h"

#include "capture/cursor.h"

enum { AT_ITEM, AT_STRING_END, IN_LINE };

#define STREAMED G_MAXUINT32 // elements left: until the end is announced
#define LONG_LINE 256u       // a line longer than this is not waited for
#define LENGTH_DIGITS 10u

// ---- nesting ----------------------------------------------------------------------------------

static void end_value(BbResp *resp)
{
    while (resp->depth > 0) {
        guint top = resp->depth - 1u;
        if (resp->left[top] == STREAMED || --resp->left[top] > 0)
            return;
        resp->depth--;
        if (resp->kind[top] == '|')
            return; // attributes are no value: the one they belong to follows
    }
    resp->done = true;
}

static bool begin_aggregate(BbResp *resp, char kind, guint32 elements)
{
    if (elements == 0) {
        if (kind != '|')
            end_value(resp);
        return true;
    }
    if (resp->depth == BB_RESP_DEPTH)
        return false;
    resp->kind[resp->depth] = (guint8)kind;
    resp->left[resp->depth++] = elements;
    return true;
}

static bool end_streamed(BbResp *resp, char kind)
{
    if (resp->depth == 0 || resp->left[resp->depth - 1u] != STREAMED)
        return false;
    if ((resp->kind[resp->depth - 1u] == '$') != (kind == ';'))
        return false;
    resp->depth--;
    end_value(resp);
    return true;
}

// Whether an item of this type may stand here: a streamed string has chunks, nothing else has.
static bool is_expected(const BbResp *resp, char type)
{
    bool in_chunks = resp->depth > 0 && resp->kind[resp->depth - 1u] == '$';
    if (in_chunks != (type == ';'))
        return false;
    return type != '>' || resp->depth == 0;
}

// ---- lines ------------------------------------------------------------------------------------

static bool take_crlf(BbCursor *c)
{
    const guint8 *end = bb_cursor_take(c, 2);
    return end && end[0] == '\r' && end[1] == '\n';
}

// A length: digits, -1 (RESP2's null) or ? (streamed); the latter two give -1.
// Returns false when it is none; c is broken when its end is not there yet.
static bool take_length(BbCursor *c, gint64 *number, bool *streamed)
{
    guint digits = 0;
    gint64 value = 0;
    guint8 byte = bb_cursor_u8(c);
    bool sign = byte == '-';
    *streamed = byte == '?';
    if (sign || *streamed)
        byte = bb_cursor_u8(c);
    for (; g_ascii_isdigit(byte) && digits < LENGTH_DIGITS; digits++) {
        value = value * 10 + (byte - '0');
        byte = bb_cursor_u8(c);
    }
    if (!bb_cursor_ok(c))
        return true;
    if (byte != '\r' || (digits == 0) != *streamed || (sign && (value != 1 || digits != 1)))
        return false;
    *number = sign || *streamed ? -1 : value;
    byte = bb_cursor_u8(c);
    return !bb_cursor_ok(c) || byte == '\n';
}

static gssize take_text(BbResp *resp, BbCursor *c, BbRespItem *item)
{
    const guint8 *end = memchr(c->at, '\n', MIN(c->left, LONG_LINE));
    item->text = c->at;
    if (!end && c->left < LONG_LINE)
        return 0;
    if (!end) {
        item->length = LONG_LINE - 1;
        resp->stage = IN_LINE;
    } else if (end == c->at || end[-1] != '\r') {
        return BB_RESP_BAD;
    } else {
        item->length = (gsize)(end - c->at) - 1;
        end_value(resp);
    }
    return (gssize)(end ? item->length + 2 : item->length);
}

static gssize take_line_rest(BbResp *resp, const guint8 *data, gsize length)
{
    const guint8 *end = memchr(data, '\n', length);
    if (!end)
        return (gssize)length;
    resp->stage = AT_ITEM;
    end_value(resp);
    return end - data + 1;
}

// ---- items with a length ----------------------------------------------------------------------

static gssize take_string(BbResp *resp, BbCursor *c, gsize peek, BbRespItem *item)
{
    gsize size = (gsize)item->number;
    if (c->left < MIN(size, peek))
        return 0;
    item->text = c->at;
    item->length = MIN(size, c->left);
    item->skip = size - item->length;
    bb_cursor_skip(c, item->length);
    if (c->left < 2) {
        resp->stage = AT_STRING_END;
        return 1;
    }
    if (!take_crlf(c))
        return BB_RESP_BAD;
    if (item->type != ';')
        end_value(resp);
    return 1;
}

static gssize take_bulk(BbResp *resp, BbCursor *c, gsize peek, BbRespItem *item, bool streamed)
{
    if (item->number > BB_RESP_MAX_BULK)
        return BB_RESP_BAD;
    if (streamed)
        return item->type == '$' && begin_aggregate(resp, '$', STREAMED) ? 1 : BB_RESP_BAD;
    if (item->type == ';' && item->number <= 0)
        return item->number == 0 && end_streamed(resp, ';') ? 1 : BB_RESP_BAD;
    if (item->number < 0) {
        end_value(resp);
        return item->type == '$' ? 1 : BB_RESP_BAD;
    }
    return take_string(resp, c, peek, item);
}

static gssize take_aggregate(BbResp *resp, BbRespItem *item, bool streamed)
{
    bool pairs = item->type == '%' || item->type == '|';
    if (item->number > BB_RESP_MAX_COUNT)
        return BB_RESP_BAD;
    if (streamed) {
        bool can = item->type == '*' || item->type == '%' || item->type == '~';
        return can && begin_aggregate(resp, item->type, STREAMED) ? 1 : BB_RESP_BAD;
    }
    if (item->number < 0) {
        end_value(resp);
        return item->type == '*' ? 1 : BB_RESP_BAD;
    }
    guint32 elements = (guint32)item->number << (pairs ? 1 : 0);
    return begin_aggregate(resp, item->type, elements) ? 1 : BB_RESP_BAD;
}

static gssize take_sized(BbResp *resp, BbCursor *c, gsize peek, BbRespItem *item, bool aggregate)
{
    gsize before = c->left;
    bool streamed = false;
    if (!take_length(c, &item->number, &streamed))
        return BB_RESP_BAD;
    if (!bb_cursor_ok(c))
        return 0;
    gssize verdict =
        aggregate ? take_aggregate(resp, item, streamed) : take_bulk(resp, c, peek, item, streamed);
    return verdict <= 0 ? verdict : (gssize)(before - c->left);
}

static gssize take_item(BbResp *resp, BbCursor *c, gsize peek, BbRespItem *item)
{
    item->type = (char)bb_cursor_u8(c);
    item->depth = resp->depth;
    if (!is_expected(resp, item->type))
        return BB_RESP_BAD;
    switch (item->type) {
    case '+':
    case '-':
    case ':':
    case ',':
    case '(':
    case '_':
    case '#':
        return take_text(resp, c, item);
    case '*':
    case '%':
    case '~':
    case '>':
    case '|':
        return take_sized(resp, c, peek, item, true);
    case '$':
    case '!':
    case '=':
    case ';':
        return take_sized(resp, c, peek, item, false);
    case '.':
        if (c->left < 2)
            return 0;
        return take_crlf(c) && end_streamed(resp, '.') ? 2 : BB_RESP_BAD;
    default:
        return BB_RESP_BAD;
    }
}

static gssize take_string_end(BbResp *resp, const guint8 *data, gsize length)
{
    if (length < 2)
        return 0;
    if (data[0] != '\r' || data[1] != '\n')
        return BB_RESP_BAD;
    resp->stage = AT_ITEM;
    bool is_chunk = resp->depth > 0 && resp->kind[resp->depth - 1u] == '$';
    if (!is_chunk)
        end_value(resp);
    return 2;
}

gssize bb_resp_next(BbResp *resp, const guint8 *data, gsize length, gsize peek, BbRespItem *item)
{
    *item = (BbRespItem){0};
    if (length == 0)
        return 0;
    if (resp->stage == AT_STRING_END)
        return take_string_end(resp, data, length);
    if (resp->stage == IN_LINE)
        return take_line_rest(resp, data, length);
    BbCursor c = bb_cursor(data, length);
    gssize taken = take_item(resp, &c, peek, item);
    return taken <= 0 ? taken : taken + 1;
}
