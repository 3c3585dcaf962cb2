// SPDX-License-Identifier: Apache-2.0
// Header blocks of one direction of an HTTP/2 connection (RFC 7541, through libnghttp2), of which
// the few fields that name a call and its outcome are kept.
//
// Never wrong: where the dynamic table is not known whole (joined in the middle, a block lost), it
// is filled with placeholders. References to them say `unknown`; what was put into the table since
// is known, since indices count from the newest entry.
//
// Limits: the table has what the sender makes it, at most BB_HTTP2_TABLE_MAX, else its blocks are
// unknown. Blocks are read as they come, in whatever number of frames: nothing is kept of them but
// BbHttp2Fields.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_HTTP2_TABLE_MAX 65536u
#define BB_HTTP2_METHOD_MAX 32u
#define BB_HTTP2_TARGET_MAX 1024u // a longer path is cut behind a `/`, and `*` follows
#define BB_HTTP2_NO_GRPC_STATUS (-1)

typedef struct BbHttp2Fields {
    guint16 code;     // :status; 0: there was none
    gint grpc_status; // of trailers, or BB_HTTP2_NO_GRPC_STATUS
    bool has_type;    // content-type was there
    bool is_grpc;     // and it is application/grpc
    bool unknown;     // there are fields that cannot be known
    bool has_path;    // target is :path, else it is :authority (CONNECT)
    guint8 method_length;
    guint16 target_length;
    guint8 method[BB_HTTP2_METHOD_MAX];
    guint8 target[BB_HTTP2_TARGET_MAX];
} BbHttp2Fields;

typedef struct BbHttp2Hpack BbHttp2Hpack;

// whole: the direction is read from its beginning, its table is empty.
BbHttp2Hpack *bb_http2_hpack_new(bool whole);
void bb_http2_hpack_free(BbHttp2Hpack *hpack);

// Something was missed: the table is not known any more.
void bb_http2_hpack_lose(BbHttp2Hpack *hpack);

// A block begins; its bytes; its end. The fields are valid until the next begin.
void bb_http2_hpack_begin(BbHttp2Hpack *hpack);
void bb_http2_hpack_feed(BbHttp2Hpack *hpack, const guint8 *data, gsize length);
const BbHttp2Fields *bb_http2_hpack_end(BbHttp2Hpack *hpack);

// Bytes of memory, about.
gsize bb_http2_hpack_held(const BbHttp2Hpack *hpack);
