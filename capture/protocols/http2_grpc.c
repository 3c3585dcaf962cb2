// SPDX-License-Identifier: Apache-2.0
// In: DATA of gRPC calls, the text of grpc-status. Out: how many messages there are, names of
// codes.
#include "capture/protocols/http2_grpc.h"

#include "capture/cursor.h"

#define UNKNOWN 2u

static void take_prefix_byte(BbGrpcFraming *framing, guint8 byte)
{
    if (framing->prefix == 0) {
        framing->lost = byte > 1;
        framing->length = 0;
    } else {
        framing->length = framing->length << 8 | byte;
    }
    framing->prefix++;
}

guint bb_grpc_take(BbGrpcFraming *framing, const guint8 *data, gsize length)
{
    guint further = 0;
    BbCursor c = bb_cursor(data, length);
    while (c.left && !framing->lost) {
        if (framing->left) {
            guint32 count = (guint32)MIN(framing->left, c.left);
            bb_cursor_skip(&c, count);
            framing->left -= count;
            continue;
        }
        take_prefix_byte(framing, bb_cursor_u8(&c));
        if (framing->prefix < BB_GRPC_PREFIX)
            continue;
        framing->left = framing->length;
        framing->prefix = 0;
        further += framing->begun;
        framing->begun = true;
    }
    return further;
}

void bb_grpc_pass(BbGrpcFraming *framing, guint32 count)
{
    framing->left -= MIN(count, framing->left);
}

bool bb_grpc_is_message(const guint8 *data, guint32 length)
{
    BbCursor c = bb_cursor(data, BB_GRPC_PREFIX);
    guint8 compressed = bb_cursor_u8(&c);
    return compressed <= 1 && length >= BB_GRPC_PREFIX &&
           bb_cursor_be32(&c) == length - BB_GRPC_PREFIX;
}

guint bb_grpc_status_read(const guint8 *text, gsize length)
{
    guint value = 0;
    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isdigit(text[i]) || i == 2)
            return UNKNOWN;
        value = value * 10 + text[i] - '0';
    }
    return length ? value : UNKNOWN;
}

const char *bb_grpc_status_name(guint status)
{
    static const char names[][20] = {
        "ok",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    return names[status < G_N_ELEMENTS(names) ? status : UNKNOWN];
}
