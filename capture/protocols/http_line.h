// SPDX-License-Identifier: Apache-2.0
// The lines of HTTP/1 messages (RFC 9112): start lines, the fields that decide where a message
// ends, chunk sizes. Lines come without their line end; nothing is kept of them.
#pragma once

#include "capture/decoder.h"

#define BB_HTTP_METHOD_MAX 28u  // bytes a method may have
#define BB_HTTP_START_MAX 8192u // bytes of a start line after which it is decided what they are
#define BB_HTTP_BODY_MAX (G_GUINT64_CONSTANT(1) << 62) // longer bodies are not believed

typedef struct BbHttpRequestLine {
    const guint8 *method, *target;
    gsize method_length, target_length; // the target may be empty (broken clients)
} BbHttpRequestLine;

// Section 3: METHOD SP target SP HTTP/1.x. The method is in upper case; a target with blanks in it
// is taken whole, since the version at the end leaves no doubt.
bool bb_http_request_line(const guint8 *line, gsize length, BbHttpRequestLine *request);

// Section 4: HTTP/1.x SP code. Returns 100 to 999, 0 when it is no status line.
guint bb_http_status_line(const guint8 *line, gsize length);

// Whether a request (reply) begins at data: REQUEST (REPLY), NO, or MORE while that is open. A line
// that is longer than BB_HTTP_START_MAX is a request if that much of it begins one.
BbMatch bb_http_match_request(const guint8 *data, gsize length);
BbMatch bb_http_match_reply(const guint8 *data, gsize length);

// Whether what there is of a line, which has no end, leaves no doubt that it is a request: a common
// method, a path or an address of HTTP, and behind a blank nothing but the version.
bool bb_http_begins_request(const guint8 *line, gsize length);

typedef enum { BB_HTTP_PLAIN, BB_HTTP_CHUNKED, BB_HTTP_OTHER_CODING } BbHttpCoding;

// RFC 9110, section 7.8.
typedef enum {
    BB_HTTP_NO_UPGRADE,
    BB_HTTP_UPGRADE, // to what has to be found out
    BB_HTTP_UPGRADE_H2C,
    BB_HTTP_UPGRADE_WEBSOCKET,
} BbHttpUpgrade;

// What a header section says about the body. Zero it, then feed the section's lines.
typedef struct BbHttpFraming {
    guint64 length; // Content-Length
    bool has_length;
    bool bad_length; // no number, too large, or two that differ (section 6.3)
    bool expect;     // Expect: 100-continue
    guint8 coding;   // BbHttpCoding: the last one of Transfer-Encoding
    guint8 field;    // field of the line before, for folded lines; 0 = of no interest
    guint8 upgrade;  // BbHttpUpgrade: the first of Upgrade that is known
} BbHttpFraming;

// Whether a line that begins with this byte can change the framing. All others need not be fed, but
// end a field that could be folded: set framing.field = 0.
static inline bool bb_http_field_matters(guint8 first)
{
    switch (first) {
    case 'c':
    case 'C':
    case 't':
    case 'T':
    case 'u':
    case 'U':
    case 'e':
    case 'E':
    case ' ':
    case '\t':
        return true;
    default:
        return false;
    }
}

void bb_http_field_line(BbHttpFraming *framing, const guint8 *line, gsize length);

// Section 7.1: hex digits, then perhaps extensions. False when it is no chunk size.
bool bb_http_chunk_line(const guint8 *line, gsize length, guint64 *size);
