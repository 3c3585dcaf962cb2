// SPDX-License-Identifier: Apache-2.0
// gRPC over HTTP/2: its messages inside of DATA frames, its status (gRPC over HTTP2, 1.x; codes of
// statuscodes.md).
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_GRPC_PREFIX 5u // compressed flag, length

// One direction of a call. Zero it.
typedef struct BbGrpcFraming {
    guint32 left;   // bytes of the message under way that are still to come
    guint32 length; // of an unfinished prefix
    guint8 prefix;  // bytes of a prefix that were read
    bool begun;     // a message was seen
    bool lost;      // these are no messages, or the place in them is not known
} BbGrpcFraming;

// Takes the next bytes of DATA. Returns how many messages began that are not the first.
guint bb_grpc_take(BbGrpcFraming *framing, const guint8 *data, gsize length);
// The next count bytes, at most framing->left, are not seen.
void bb_grpc_pass(BbGrpcFraming *framing, guint32 count);

// Whether a DATA frame of so many bytes that begins so (BB_GRPC_PREFIX bytes) is one message.
bool bb_grpc_is_message(const guint8 *data, guint32 length);

// The decimal number of grpc-status; what is none is 2, UNKNOWN.
guint bb_grpc_status_read(const guint8 *text, gsize length);
// "ok" for 0, else the code's name.
const char *bb_grpc_status_name(guint status);
