// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be frames of HTTP/2 (RFC 9113). Out: their heads, whether they can be, and who
// sends them.
#include "capture/protocols/http2_frame.h"

#include "capture/cursor.h"

#define WINDOW_LIMIT 0x7fffffffu

BbHttp2Frame bb_http2_frame(const guint8 *head)
{
    BbCursor c = bb_cursor(head, BB_HTTP2_HEAD);
    guint32 high = bb_cursor_be16(&c);
    BbHttp2Frame frame = {.length = high << 8 | bb_cursor_u8(&c)};
    frame.type = bb_cursor_u8(&c);
    frame.flags = bb_cursor_u8(&c);
    guint32 stream = bb_cursor_be32(&c);
    frame.stream = stream & BB_HTTP2_STREAM_MAX;
    frame.reserved = stream != frame.stream;
    return frame;
}

guint bb_http2_frame_prefix(const BbHttp2Frame *frame)
{
    guint padded = frame->flags & BB_HTTP2_PADDED ? 1 : 0;
    switch (frame->type) {
    case BB_HTTP2_DATA:
        return padded;
    case BB_HTTP2_HEADERS:
        return padded + (frame->flags & BB_HTTP2_HAS_PRIORITY ? 5 : 0);
    case BB_HTTP2_PUSH_PROMISE:
        return padded + 4;
    default:
        return 0;
    }
}

bool bb_http2_frame_valid(const BbHttp2Frame *frame)
{
    guint32 length = frame->length, stream = frame->stream;
    switch (frame->type) {
    case BB_HTTP2_DATA:
    case BB_HTTP2_HEADERS:
    case BB_HTTP2_PUSH_PROMISE:
        return stream != 0 && length >= bb_http2_frame_prefix(frame);
    case BB_HTTP2_PRIORITY:
        return stream != 0 && length == 5;
    case BB_HTTP2_RST_STREAM:
        return stream != 0 && length == 4;
    case BB_HTTP2_SETTINGS:
        return stream == 0 && length % 6 == 0 && !(frame->flags & BB_HTTP2_ACK && length);
    case BB_HTTP2_PING:
        return stream == 0 && length == 8;
    case BB_HTTP2_GOAWAY:
        return stream == 0 && length >= 8;
    case BB_HTTP2_WINDOW_UPDATE:
        return length == 4;
    case BB_HTTP2_CONTINUATION:
        return stream != 0;
    default:
        return true;
    }
}

// ---- frames among other bytes -----------------------------------------------------------------

// What a sender that follows the RFC sends: undefined flags are not set. Even streams are those of
// pushed responses, which are rare enough to do without.
static bool is_likely(const BbHttp2Frame *frame)
{
    static const guint8 flags[BB_HTTP2_TYPES] = {
        [BB_HTTP2_DATA] = BB_HTTP2_END_STREAM | BB_HTTP2_PADDED,
        [BB_HTTP2_HEADERS] =
            BB_HTTP2_END_STREAM | BB_HTTP2_END_HEADERS | BB_HTTP2_PADDED | BB_HTTP2_HAS_PRIORITY,
        [BB_HTTP2_SETTINGS] = BB_HTTP2_ACK,
        [BB_HTTP2_PUSH_PROMISE] = BB_HTTP2_END_HEADERS | BB_HTTP2_PADDED,
        [BB_HTTP2_PING] = BB_HTTP2_ACK,
        [BB_HTTP2_CONTINUATION] = BB_HTTP2_END_HEADERS,
    };
    if (frame->type >= BB_HTTP2_TYPES || frame->flags & ~flags[frame->type] || frame->reserved)
        return false;
    bool nothing = frame->length == 0 &&
                   (frame->type == BB_HTTP2_HEADERS ||
                    (frame->type == BB_HTTP2_DATA && !(frame->flags & BB_HTTP2_END_STREAM)));
    bool stream = frame->stream == 0 || frame->stream % 2;
    return !nothing && stream && frame->length <= BB_HTTP2_FRAME_USUAL &&
           bb_http2_frame_valid(frame);
}

// Section 6.5.2. A client says whether it takes pushes, a server need not.
static bool settings_likely(BbHttp2Chain *chain, BbCursor c)
{
    chain->settings = true;
    while (c.left >= 6) {
        guint16 id = bb_cursor_be16(&c);
        guint32 value = bb_cursor_be32(&c);
        bool odd = (id == 2 && value > 1) || (id == 4 && value > WINDOW_LIMIT) ||
                   (id == 5 && (value < BB_HTTP2_FRAME_USUAL || value > BB_HTTP2_FRAME_MAX));
        if (id == 0 || odd)
            return false;
        chain->pushes |= id == 2;
    }
    return true;
}

// RFC 7541, 6.3: size updates may stand before the first field.
static void skip_size_updates(BbCursor *c)
{
    while (bb_cursor_ok(c) && c->left && (*c->at & 0xe0) == 0x20) {
        bool more = (bb_cursor_u8(c) & 0x1f) == 0x1f;
        while (more && c->left)
            more = bb_cursor_u8(c) & 0x80;
    }
}

// The first field is a pseudo-header (section 8.3), with an index in the static table of RFC 7541:
// 1 to 7 are those of requests, 8 to 14 that of responses.
static BbMatch sender_of_block(BbCursor c)
{
    skip_size_updates(&c);
    guint8 first = bb_cursor_u8(&c);
    guint index = 0;
    if (first & 0x80)
        index = first & 0x7f;
    else if (first & 0x40)
        index = first & 0x3f;
    else
        index = first & 0x0f;
    if (!bb_cursor_ok(&c) || index == 0 || index > 14)
        return BB_MATCH_NO;
    return index < 8 ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

// Section 6.1. payload holds what is there of it.
static bool padding_fits(const BbHttp2Frame *frame, BbCursor payload)
{
    return !(frame->flags & BB_HTTP2_PADDED) || payload.left == 0 ||
           payload.at[0] <= frame->length - bb_http2_frame_prefix(frame);
}

static void note_sender(BbHttp2Chain *chain, const BbHttp2Frame *frame, BbCursor payload)
{
    bb_cursor_skip(&payload, bb_http2_frame_prefix(frame));
    BbMatch sender =
        frame->type == BB_HTTP2_PUSH_PROMISE ? BB_MATCH_REPLY : sender_of_block(payload);
    if (sender != BB_MATCH_NO)
        chain->sender = sender;
}

static bool payload_likely(BbHttp2Chain *chain, const BbHttp2Frame *frame, BbCursor payload)
{
    switch (frame->type) {
    case BB_HTTP2_HEADERS:
    case BB_HTTP2_PUSH_PROMISE:
        note_sender(chain, frame, payload);
        return padding_fits(frame, payload);
    case BB_HTTP2_DATA:
        return padding_fits(frame, payload);
    case BB_HTTP2_SETTINGS:
        return frame->flags & BB_HTTP2_ACK || settings_likely(chain, payload);
    case BB_HTTP2_WINDOW_UPDATE:
        return payload.left < 4 || bb_cursor_be32(&payload) - 1 < WINDOW_LIMIT;
    default:
        return true;
    }
}

BbHttp2Chain bb_http2_chain(const guint8 *data, gsize length, guint most_heads)
{
    BbHttp2Chain chain = {.sender = BB_MATCH_NO};
    BbCursor c = bb_cursor(data, length);
    while (c.left >= BB_HTTP2_HEAD) {
        BbHttp2Frame frame = bb_http2_frame(bb_cursor_take(&c, BB_HTTP2_HEAD));
        gsize there = MIN(frame.length, c.left);
        BbCursor payload = bb_cursor(c.at, there);
        if (!is_likely(&frame) || !payload_likely(&chain, &frame, payload)) {
            chain.broken = true;
            return chain;
        }
        bb_cursor_skip(&c, there);
        chain.beyond = frame.length - there;
        chain.highest = MAX(chain.highest, frame.stream);
        if (++chain.heads == most_heads)
            return chain;
    }
    chain.exact = chain.heads > 0 && c.left == 0 && chain.beyond == 0;
    if (chain.beyond == 0 && !chain.exact) {
        chain.broken = c.left > 0 && c.at[0] != 0; // no usual frame has 64 KiB
        chain.beyond = BB_HTTP2_HEAD - c.left;
    }
    return chain;
}

BbMatch bb_http2_probe(const guint8 *data, gsize length)
{
    gsize most = MIN(length, BB_HTTP2_PREFACE_LENGTH);
    if (memcmp(data, BB_HTTP2_PREFACE, most) == 0)
        return most == BB_HTTP2_PREFACE_LENGTH ? BB_MATCH_REQUEST : BB_MATCH_MORE;
    if (data[0] != 0)
        return BB_MATCH_NO;
    BbHttp2Chain chain = bb_http2_chain(data, length, G_MAXUINT);
    if (chain.broken)
        return BB_MATCH_NO;
    if (chain.heads == 0)
        return BB_MATCH_MORE;
    if (chain.sender == BB_MATCH_NO && chain.settings)
        chain.sender = chain.pushes ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
    bool known = chain.sender != BB_MATCH_NO, high = chain.highest > BB_HTTP2_STREAM_LIKELY;
    if (high && (!known || (chain.heads == 1 && !chain.exact)))
        return BB_MATCH_NO;
    bool certain = known && (chain.heads > 1 || (chain.exact && !high));
    return certain ? chain.sender : BB_MATCH_LIKELY;
}

const char *bb_http2_error_name(guint32 code)
{
    static const char names[][24] = {
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    };
    return code < G_N_ELEMENTS(names) ? names[code] : "error";
}
