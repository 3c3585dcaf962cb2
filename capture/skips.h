// SPDX-License-Identifier: Apache-2.0
// Which bytes of TCP streams decoders will pass over (the rest of a large body): told by those who
// decode, asked by the thread that reads; nobody waits for the other. Told may be later than asked,
// by as much as decoding is behind reading, so it says which packet it is by: what is of a
// connection before that with the same ends is no more. Only bytes whose end is known are told: a
// decoder that would change its mind on the rest of a stream has none. Inside of capture/ only.
#pragma once

#include "capture/endpoints.h"
#include "capture/packet.h"

// Less is not worth telling.
#define BB_SKIPS_LEAST (16u * 1024u)
#define BB_SKIPS_MOST (64u * 1024u * 1024u) // of more, only this is told
// What is kept of a packet that is passed over: its bytes make its stamp count.
#define BB_SKIPS_KEPT 8u

typedef struct BbSkips BbSkips;

BbSkips *bb_skips_new(void);
void bb_skips_free(BbSkips *skips);

// Bytes that a decoder passes over, from seq on. count 0: none, whatever was told before.
typedef struct BbSkipped {
    guint32 seq;
    guint64 count;
    guint64 packet; // number of the packet that is being decoded
} BbSkipped;

// Of any thread: sent by that end.
void bb_skips_tell(BbSkips *skips, const BbEndpoints *endpoints, guint sender,
                   const BbSkipped *skipped);

// The rest is for the thread that reads. Whether all the payload of a TCP packet is passed over.
bool bb_skips_cover(BbSkips *skips, const BbPacket *packet);
// A packet with SYN: all is new between its ends, whatever earlier packets still lead to. To be
// called for each, also while nobody asks.
void bb_skips_begin(BbSkips *skips, const BbPacket *packet);
// What packets up to that number lead to is no more: nobody has asked for a while.
void bb_skips_forget(BbSkips *skips, guint64 packet);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSkips, bb_skips_free)
