// SPDX-License-Identifier: Apache-2.0
// IP fragments put together again (RFC 791, RFC 8200 section 4.5; overlaps refused as RFC 5722
// demands, for IPv4 too). Memory is bounded: the oldest packet in work goes first, counted.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"
#include "data/address.h"

// By the time of the capture: how long a packet waits for its fragments, and how long one that is
// complete or refused is remembered, so that repetitions of its fragments begin no new packet.
#define BB_FRAGMENT_TIMEOUT_NS (30 * G_GINT64_CONSTANT(1000000000))
#define BB_FRAGMENT_SETTLED_NS G_GINT64_CONSTANT(1000000000)

#define BB_FRAGMENT_PACKETS 4096 // packets in work at most, and as many remembered

typedef struct BbFragments BbFragments;

typedef struct BbFragment {
    BbAddress source, target;
    // Of the packet that the layers found so far. Tenants may have the same addresses.
    guint32 vlan, vni;
    bool has_vni;
    guint32 id;
    guint8 protocol; // next header; IPv6 believes that of offset 0 (RFC 8200 section 4.5)
    guint32 offset;  // bytes
    bool more;       // more fragments follow
    const guint8 *data;
    guint32 captured, length; // a fragment cut by the snap length makes a packet cut there
    gint64 time_ns;
    gint64 last_ns; // of a whole packet: of the last of its fragments that came
    BbPlace place;
} BbFragment;

// loss is lent and must outlive the result. Packets in work hold at most max_bytes, what it takes
// to manage them included; the oldest go first (BB_FRAGMENT_LOST).
BbFragments *bb_fragments_new(BbLoss *loss, gsize max_bytes);
void bb_fragments_free(BbFragments *fragments);

// Takes a fragment, which may lie in the packet lent last. Returns true when it completes a packet:
// *whole is then that packet as one fragment, with protocol, time and place of the fragment at 0
// and the data lent until the next call. A repetition of a fragment, byte by byte the same, is
// ignored; a packet whose fragments contradict each other is given up (BB_FRAGMENT_BAD).
bool bb_fragments_push(BbFragments *fragments, const BbFragment *fragment, BbFragment *whole);

// The capture is over: packets still in work are counted as lost.
void bb_fragments_finish(BbFragments *fragments);

// Bytes that packets in work hold, as max_bytes counts them.
gsize bb_fragments_bytes(const BbFragments *fragments);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFragments, bb_fragments_free)
