// SPDX-License-Identifier: Apache-2.0
// Which bytes of TCP streams decoders will pass over (the rest of a large body): told by those who
// decode, asked by the thread that reads, without locks. It forgets what shares a place with
// something newer, and what is old may be wrong by chance: bytes that are not copied for its sake
// are missing bytes of known number, with which no pair goes wrong. Inside of capture/ only.
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

// count bytes from sequence number seq on, sent by that end, are passed over.
void bb_skips_tell(BbSkips *skips, const BbEndpoints *endpoints, guint sender, guint32 seq,
                   guint64 count);
// Whether all the payload of a TCP packet is. A SYN says that all is new.
bool bb_skips_cover(BbSkips *skips, const BbPacket *packet);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSkips, bb_skips_free)
