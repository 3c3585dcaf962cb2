// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of an AJP13 packet. Out: its kind; method and path of requests, the status of
// replies.
#include "capture/protocols/ajp_message.h"

#include "capture/cursor.h"

#define STORED_METHOD 0xffu
#define NO_STRING 0xffffu
#define CODED_NAME 0xa0u // high byte of the number that stands for a field's name
#define LEAST_FORWARD 20u

enum { MAGIC_TO_SERVER = 0x1234, MAGIC_TO_CLIENT = 0x4142 };
enum { // attributes of requests
    REQUEST_ATTRIBUTE = 10,
    SSL_KEY_SIZE,
    SECRET,
    METHOD_ATTRIBUTE,
    ATTRIBUTES_END = 0xff,
};

static const char *const methods[] = {
    NULL,         "OPTIONS",     "GET",
    "HEAD",       "POST",        "PUT",
    "DELETE",     "TRACE",       "PROPFIND",
    "PROPPATCH",  "MKCOL",       "COPY",
    "MOVE",       "LOCK",        "UNLOCK",
    "ACL",        "REPORT",      "VERSION-CONTROL",
    "CHECKIN",    "CHECKOUT",    "UNCHECKOUT",
    "SEARCH",     "MKWORKSPACE", "UPDATE",
    "LABEL",      "MERGE",       "BASELINE-CONTROL",
    "MKACTIVITY",
};

// A string: its length, its bytes, NUL.
static const guint8 *read_string(BbCursor *c, gsize *length)
{
    guint16 size = bb_cursor_be16(c);
    *length = 0;
    if (size == NO_STRING)
        return NULL;
    const guint8 *text = bb_cursor_take(c, size);
    c->broken |= bb_cursor_u8(c) != 0;
    if (!bb_cursor_ok(c))
        return NULL;
    *length = size;
    return text;
}

static void skip_string(BbCursor *c)
{
    gsize length;
    (void)read_string(c, &length);
}

static bool is_method(guint8 number)
{
    return (number > 0 && number < G_N_ELEMENTS(methods)) || number == STORED_METHOD;
}

// ---- packets ------------------------------------------------------------------------------------

static bool is_of_server(guint8 code)
{
    return code == BB_AJP_FORWARD || code == BB_AJP_SHUTDOWN || code == BB_AJP_PING ||
           code == BB_AJP_CPING;
}

static bool is_of_client(guint8 code)
{
    return (code >= BB_AJP_SEND_BODY && code <= BB_AJP_GET_BODY) || code == BB_AJP_CPONG;
}

// HTTP's version is the first string of a request.
static BbMatch match_version(BbCursor c)
{
    static const guint8 version[] = "\0\10HTTP/";
    gsize there = MIN(c.left, sizeof version - 1);
    if (!bb_cursor_ok(&c) || memcmp(c.at, version, there) != 0)
        return BB_MATCH_NO;
    return there < sizeof version - 1 ? BB_MATCH_MORE : BB_MATCH_REQUEST;
}

// A packet with a piece of a body begins with that one's length; the last one is empty. That length
// may look like the code of a request and its method.
static BbAjpVerdict read_request(BbAjpMessage *message, bool asked, BbCursor *c, gsize size)
{
    message->code = BB_AJP_DATA;
    if (size == 0)
        return asked ? BB_AJP_READ : BB_AJP_BAD;
    guint8 first = bb_cursor_u8(c);
    if (!bb_cursor_ok(c))
        return BB_AJP_SHORT;
    guint8 second = size > 1 ? bb_cursor_u8(c) : 0;
    if (!bb_cursor_ok(c))
        return BB_AJP_SHORT;
    gsize body = (gsize)(first << 8 | second);
    bool forward = first == BB_AJP_FORWARD && size >= LEAST_FORWARD && is_method(second);
    if (asked && size >= 2 && body <= size - 2 && body + 3 >= size) {
        BbMatch match = forward ? match_version(*c) : BB_MATCH_NO;
        if (match == BB_MATCH_NO)
            return BB_AJP_READ;
        if (match == BB_MATCH_MORE)
            return BB_AJP_SHORT;
    }
    message->code = (BbAjpCode)first;
    bool good = is_of_server(first) && (first == BB_AJP_FORWARD ? forward : size == 1);
    return good ? BB_AJP_READ : BB_AJP_BAD;
}

static BbAjpVerdict read_reply(BbAjpMessage *message, BbCursor *c, gsize size)
{
    guint8 code = bb_cursor_u8(c);
    message->code = (BbAjpCode)code;
    if (size == 0 || (bb_cursor_ok(c) && !is_of_client(code)))
        return BB_AJP_BAD;
    if (code == BB_AJP_SEND_HEADERS)
        message->status = bb_cursor_be16(c);
    if (!bb_cursor_ok(c))
        return size < 3 && code == BB_AJP_SEND_HEADERS ? BB_AJP_BAD : BB_AJP_SHORT;
    bool good =
        (code != BB_AJP_SEND_HEADERS || (message->status >= 100 && message->status < 1000)) &&
        (code != BB_AJP_CPONG || size == 1) && (code != BB_AJP_END_RESPONSE || size <= 2) &&
        (code != BB_AJP_GET_BODY || size == 3);
    return good ? BB_AJP_READ : BB_AJP_BAD;
}

BbAjpVerdict bb_ajp_message_read(BbAjpMessage *message, BbDirection direction, bool asked,
                                 const guint8 *data, gsize length)
{
    *message = (BbAjpMessage){0};
    BbCursor c = bb_cursor(data, length);
    guint16 magic = bb_cursor_be16(&c);
    if (bb_cursor_ok(&c) &&
        magic != (direction == BB_TO_SERVER ? MAGIC_TO_SERVER : MAGIC_TO_CLIENT))
        return BB_AJP_BAD;
    gsize size = bb_cursor_be16(&c);
    if (!bb_cursor_ok(&c))
        return BB_AJP_SHORT;
    message->length = BB_AJP_HEAD + size;
    c.left = MIN(c.left, size);
    return direction == BB_TO_SERVER ? read_request(message, asked, &c, size)
                                     : read_reply(message, &c, size);
}

// ---- requests -----------------------------------------------------------------------------------

static void skip_fields(BbCursor *c)
{
    guint16 count = bb_cursor_be16(c);
    for (guint i = 0; i < count && bb_cursor_ok(c); i++) {
        if (c->left && c->at[0] == CODED_NAME)
            bb_cursor_skip(c, 2);
        else
            skip_string(c);
        skip_string(c);
    }
}

// Of a method that has no number, its name is among the attributes.
static void find_method(BbAjpMessage *message, BbCursor *c)
{
    while (bb_cursor_ok(c)) {
        switch (bb_cursor_u8(c)) {
        case METHOD_ATTRIBUTE:
            message->method = read_string(c, &message->method_length);
            return;
        case 0:
        case ATTRIBUTES_END:
            return;
        case SSL_KEY_SIZE:
            bb_cursor_skip(c, 2);
            break;
        case REQUEST_ATTRIBUTE:
            skip_string(c);
            skip_string(c);
            break;
        default:
            skip_string(c);
        }
    }
}

void bb_ajp_forward_read(BbAjpMessage *message, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, MIN(length, message->length));
    bb_cursor_skip(&c, BB_AJP_HEAD + 1);
    guint8 method = bb_cursor_u8(&c);
    if (bb_cursor_ok(&c) && method > 0 && method < G_N_ELEMENTS(methods)) {
        message->method = (const guint8 *)methods[method];
        message->method_length = strlen(methods[method]);
    }
    skip_string(&c); // HTTP's version
    message->uri = read_string(&c, &message->uri_length);
    if (method != STORED_METHOD)
        return;
    skip_string(&c); // address of the client, its name, the server's
    skip_string(&c);
    skip_string(&c);
    bb_cursor_skip(&c, 3); // port, whether it was TLS
    skip_fields(&c);
    find_method(message, &c);
}

// ---- the first packet ---------------------------------------------------------------------------

static BbMatch match_forward(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    bb_cursor_skip(&c, BB_AJP_HEAD + 2);
    return match_version(c);
}

// The status's text is the first string.
static BbMatch match_headers(const BbAjpMessage *message, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, MIN(length, message->length));
    bb_cursor_skip(&c, BB_AJP_HEAD + 3);
    gsize text = bb_cursor_be16(&c);
    if (text + 10 > message->length || message->status >= 600)
        return bb_cursor_ok(&c) || message->status >= 600 ? BB_MATCH_NO : BB_MATCH_MORE;
    return bb_cursor_ok(&c) ? BB_MATCH_REPLY : BB_MATCH_MORE;
}

BbMatch bb_ajp_match(const guint8 *data, gsize length)
{
    BbAjpMessage message;
    BbAjpVerdict asks = bb_ajp_message_read(&message, BB_TO_SERVER, false, data, length);
    if (asks == BB_AJP_SHORT)
        return BB_MATCH_MORE;
    if (asks == BB_AJP_READ)
        return message.code == BB_AJP_FORWARD ? match_forward(data, length) : BB_MATCH_REQUEST;
    BbAjpVerdict answers = bb_ajp_message_read(&message, BB_TO_CLIENT, false, data, length);
    if (answers != BB_AJP_READ)
        return answers == BB_AJP_SHORT ? BB_MATCH_MORE : BB_MATCH_NO;
    switch (message.code) {
    case BB_AJP_SEND_HEADERS:
        return match_headers(&message, data, length);
    case BB_AJP_CPONG:
        return BB_MATCH_REPLY;
    default:
        return BB_MATCH_LIKELY;
    }
}
