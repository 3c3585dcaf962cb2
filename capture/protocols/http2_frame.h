// SPDX-License-Identifier: Apache-2.0
// Frames of HTTP/2 (RFC 9113, sections 4 and 6): their heads, and whether bytes can be frames at
// all. Nothing is kept of them.
#pragma once

#include "capture/decoder.h"

#define BB_HTTP2_HEAD 9u
#define BB_HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" // section 3.4
#define BB_HTTP2_PREFACE_LENGTH 24u
#define BB_HTTP2_FRAME_USUAL 16384u         // SETTINGS_MAX_FRAME_SIZE unless it was raised
#define BB_HTTP2_FRAME_MAX ((1u << 24) - 1) // and what the field can hold
#define BB_HTTP2_STREAM_MAX 0x7fffffffu
#define BB_HTTP2_STREAM_LIKELY (1u << 24) // few connections live long enough for larger numbers

typedef enum {
    BB_HTTP2_DATA,
    BB_HTTP2_HEADERS,
    BB_HTTP2_PRIORITY,
    BB_HTTP2_RST_STREAM,
    BB_HTTP2_SETTINGS,
    BB_HTTP2_PUSH_PROMISE,
    BB_HTTP2_PING,
    BB_HTTP2_GOAWAY,
    BB_HTTP2_WINDOW_UPDATE,
    BB_HTTP2_CONTINUATION,
    BB_HTTP2_TYPES, // others are extensions, to be ignored (section 4.1)
} BbHttp2Type;

// Flags; the same bit is ACK in SETTINGS and PING.
#define BB_HTTP2_END_STREAM 0x01u
#define BB_HTTP2_ACK 0x01u
#define BB_HTTP2_END_HEADERS 0x04u
#define BB_HTTP2_PADDED 0x08u
#define BB_HTTP2_HAS_PRIORITY 0x20u

typedef struct BbHttp2Frame {
    guint32 length; // of the payload
    guint32 stream;
    guint8 type, flags;
    bool reserved; // the bit before the stream is set
} BbHttp2Frame;

// head: BB_HTTP2_HEAD bytes.
BbHttp2Frame bb_http2_frame(const guint8 *head);

// Whether length and stream are what section 6 asks of the type.
bool bb_http2_frame_valid(const BbHttp2Frame *frame);

// The first bytes of the payload, which stand before data or header block: pad length, priority,
// promised stream.
guint bb_http2_frame_prefix(const BbHttp2Frame *frame);

// Frames one after another, from bytes that may be something else.
typedef struct BbHttp2Chain {
    guint heads;     // whole heads that can be
    bool broken;     // the next one cannot
    bool exact;      // the last frame ends where the bytes end
    gsize beyond;    // bytes more that the last frame needs, or its head; 0 if exact
    guint32 highest; // stream
    BbMatch sender;  // REQUEST or REPLY where a header block tells who sends it, else NO
    bool settings;   // SETTINGS without ACK is among them
    bool pushes;     // and says whether pushes are taken, as clients do
} BbHttp2Chain;

// Walks frames that any sender would send: usual lengths, no flags or types that nobody defined; no
// further than most_heads of them.
BbHttp2Chain bb_http2_chain(const guint8 *data, gsize length, guint most_heads);

// Whether the connection begins here, or frames do (joined in the middle).
BbMatch bb_http2_probe(const guint8 *data, gsize length);

// Section 7: "REFUSED_STREAM"; "error" for codes that nobody defined.
const char *bb_http2_error_name(guint32 code);
