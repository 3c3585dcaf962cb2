// SPDX-License-Identifier: Apache-2.0
// RESP, the wire format of Redis, versions 2 and 3: values as they come, item by item. Nothing is
// kept of a value but how much of it is still to come, so its size does not matter.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_RESP_DEPTH 32u                    // nested aggregates; deeper ones are BAD
#define BB_RESP_MAX_COUNT 0x7fffffff         // elements: the server's own limit (INT_MAX)
#define BB_RESP_MAX_BULK (512 * 1024 * 1024) // bytes of a string: proto-max-bulk-len
#define BB_RESP_BAD (-1)

// Where in a value the next byte is. Zeroed, or after bb_resp_reset: before one.
typedef struct BbResp {
    guint32 left[BB_RESP_DEPTH]; // elements to come in each open aggregate
    guint8 kind[BB_RESP_DEPTH];  // its type byte
    guint8 depth;                // open aggregates
    guint8 stage;
    bool done; // the value is complete
} BbResp;

// One line of a value, with its string if it announces one.
typedef struct BbRespItem {
    char type;          // the line's first byte; 0 where the rest of an earlier item was taken
    guint8 depth;       // of aggregates around it
    gint64 number;      // of elements or bytes; -1: null, or not known beforehand (streamed)
    const guint8 *text; // what follows the type, or the first bytes of the string
    gsize length;
    guint64 skip; // bytes of the string beyond data: to be passed over before the next call
} BbRespItem;

// Takes an item off the front of data. Of a string it waits for the first `peek` bytes. Returns the
// bytes taken, 0 when more are needed, BB_RESP_BAD. A complete value sets resp->done; zero resp
// then.
gssize bb_resp_next(BbResp *resp, const guint8 *data, gsize length, gsize peek, BbRespItem *item);

static inline void bb_resp_reset(BbResp *resp)
{
    resp->depth = resp->stage = 0;
    resp->done = false;
}
