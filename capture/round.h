// SPDX-License-Identifier: Apache-2.0
// Packets on their way from the thread that reads to those that decode: all get the same rounds,
// and each takes the packets of its shards. Inside of capture/ only.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"
#include "capture/shed.h"

#include <string.h>

#define BB_ROUND_PACKETS 8192u
#define BB_ROUND_BYTES (2048u * 1024u) // of their payloads
#define BB_ROUND_SHEDDINGS 4u
#define BB_ROUNDS 4u // in all: one being filled, the others being read or waiting for it

typedef struct BbRound {
    guint count;
    gint readers; // atomic: threads that have not read it yet
    bool last;
    guint mark;  // behind the last packet (capture/shards.h); 0: none
    BbLoss loss; // where there is one: what was counted before its packets went here
    // What is left out from before its packets on, one after the other, and at which number the
    // flows of it end: the first in shard 0, then in the others; then those of the second.
    BbShedding sheddings[BB_ROUND_SHEDDINGS];
    guint n_sheddings;
    guint64 number;
    guint64 trimmed_packets, trimmed_bytes; // of its packets
    gsize used;                             // of bytes
    guint8 *large; // payload of one packet that needs more, alone in its round
    BbPacket packets[BB_ROUND_PACKETS];
    guint8 shard[BB_ROUND_PACKETS];    // of each packet
    guint32 trimmed[BB_ROUND_PACKETS]; // bytes of it that are not here, as decoders pass them over
    guint8 bytes[BB_ROUND_BYTES];
} BbRound;

static inline void bb_round_clear(BbRound *round)
{
    round->count = 0;
    round->used = 0;
    round->last = false;
    round->mark = 0;
    round->n_sheddings = 0;
    round->trimmed_packets = round->trimmed_bytes = 0;
    g_clear_pointer(&round->large, g_free);
}

// Whether packet is to be in a round of its own, or in the next one.
static inline bool bb_round_is_full(const BbRound *round, const BbPacket *packet)
{
    return round->count == BB_ROUND_PACKETS || round->large ||
           (round->count && round->used + packet->captured > BB_ROUND_BYTES);
}

static inline void bb_round_add(BbRound *round, const BbPacket *packet, guint shard,
                                guint32 trimmed)
{
    BbPacket *copy = &round->packets[round->count];
    *copy = *packet;
    round->trimmed[round->count] = trimmed;
    round->trimmed_packets += trimmed > 0;
    round->trimmed_bytes += trimmed;
    round->shard[round->count++] = (guint8)shard;
    if (!packet->captured)
        return;
    guint8 *bytes = &round->bytes[round->used];
    if (packet->captured > BB_ROUND_BYTES)
        bytes = round->large = g_malloc(packet->captured);
    else
        round->used += packet->captured;
    memcpy(bytes, packet->payload, packet->captured);
    copy->payload = bytes;
}
