// SPDX-License-Identifier: Apache-2.0
// IP fragments put together again (RFC 791, RFC 8200 section 4.5; overlaps refused as RFC 5722
// demands, for IPv4 too). Memory is bounded: the oldest packet in work goes first, counted.
#pragma once

#include "capture/address.h"
#include "capture/loss.h"

#define BB_FRAGMENT_TIMEOUT_NS (30 * G_GINT64_CONSTANT(1000000000)) // by the time of the capture

typedef struct BbFragments BbFragments;

typedef struct BbFragment {
    BbAddress source, target;
    guint32 id;
    guint8 protocol;     // next header
    guint32 offset;      // bytes
    bool more;           // more fragments follow
    const guint8 *data;
    guint32 captured, length; // a fragment cut by the snap length makes a packet cut there
    gint64 time_ns;
} BbFragment;

BbFragments *bb_fragments_new(BbLoss *loss, gsize max_bytes);
void bb_fragments_free(BbFragments *fragments);

// Takes a fragment. Returns true when it completes a packet, whose payload is then in *data (lent
// until the next call), *captured and *length.
bool bb_fragments_push(BbFragments *fragments, const BbFragment *fragment, const guint8 **data,
                       guint32 *captured, guint32 *length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFragments, bb_fragments_free)
