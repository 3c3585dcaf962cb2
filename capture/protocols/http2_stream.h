// SPDX-License-Identifier: Apache-2.0
// The streams of an HTTP/2 connection (RFC 9113, section 5): each is a call, whose request and
// response are put together from frames here; a pushed response is a free message.
//
// Limit: BB_HTTP2_STREAMS streams under way; beyond it the oldest is written as far as it was seen,
// counted as BB_PENDING_LIMIT. Its call stays open, and a response that begins later finds it.
#pragma once

#include "capture/decoder.h"
#include "capture/protocols/http2_grpc.h"
#include "capture/protocols/http2_hpack.h"

#define BB_HTTP2_STREAMS 1024u
#define BB_HTTP2_CANCELLED \
    16u // after a loss: whose frames on the way are told from those of lost requests

typedef struct BbHttp2Stream {
    BbPart part[2]; // request, response
    BbGrpcFraming framing[2];
    guint64 call; // 0: an orphan response, or a pushed one
    guint32 id;
    guint32 op;       // of a pushed response
    guint16 code;     // :status, 0 if it is not known
    gint grpc_status; // or BB_HTTP2_NO_GRPC_STATUS
    bool pushed, grpc;
    bool untyped; // the request's content-type is not known, so it may be gRPC
    bool untold;  // and so may be its outcome: what ended the response cannot be read
    bool final;   // the header section of the final response was seen
    bool torn;    // a gap came since: its end may have been there
} BbHttp2Stream;

typedef struct BbHttp2Streams {
    BbHttp2Stream *stream; // n of them with rising ids; room for capacity
    guint n, capacity;
    guint32 last_request; // highest id of a request
    bool complete;        // all requests were seen, and none is forgotten
    guint32 cancelled[BB_HTTP2_CANCELLED];
    guint n_cancelled;
} BbHttp2Streams;

// One event: a frame, or a header block of several, that part holds.
typedef struct BbHttp2Event {
    BbDialog *dialog;
    BbDirection direction;
    guint32 id;
    bool end_stream;
    const BbPart *part;
} BbHttp2Event;

// The stream under way; NULL if there is none. Lent until the next event.
BbHttp2Stream *bb_http2_streams_find(BbHttp2Streams *streams, guint32 id);

void bb_http2_streams_headers(BbHttp2Streams *streams, const BbHttp2Event *event,
                              const BbHttp2Fields *fields);
void bb_http2_streams_data(BbHttp2Streams *streams, const BbHttp2Event *event);
void bb_http2_streams_promise(BbHttp2Streams *streams, const BbHttp2Event *event,
                              const BbHttp2Fields *fields);
void bb_http2_streams_reset(BbHttp2Streams *streams, const BbHttp2Event *event, guint32 code);
// Of the server: event->id is the last stream it has looked at.
void bb_http2_streams_goaway(BbHttp2Streams *streams, const BbHttp2Event *event, guint32 code);

// The stream's calls are gRPC, as its data shows.
void bb_http2_stream_is_grpc(BbHttp2Stream *stream, BbDialog *dialog);

// Frames of direction are missing. Responses that were under way at the gap before this one, and
// have not gone on since, are written as far as they were seen.
void bb_http2_streams_gap(BbHttp2Streams *streams, BbDialog *dialog, BbDirection direction);

// Writes what is under way as far as it was seen, and gives the memory back.
void bb_http2_streams_finish(BbHttp2Streams *streams, BbDialog *dialog);
gsize bb_http2_streams_held(const BbHttp2Streams *streams);
