// SPDX-License-Identifier: Apache-2.0
// Conversations as the doctor looks at them: what each of the two sides sent, told apart by
// addresses, ports and transport alone, so that what is odd about one direction shows. The first
// BB_TALKS are watched, later ones are counted only.
#pragma once

#include "capture/doctor/holes.h"
#include "capture/packet.h"

#define BB_TALKS 65536u // about 650 bytes each

// An acknowledgement of bytes that were not seen yet.
typedef struct BbForeseen {
    bool known;
    guint32 ack;
    guint32 interface; // that it came by
    gint64 time_ns;
} BbForeseen;

typedef struct BbTalkSide {
    guint64 packets;
    guint64 acks;      // packets that acknowledge: no RST, and of several SYNs only one
    guint64 tagged;    // packets in a VLAN
    guint64 tunnelled; // packets in a tunnel
    guint32 vlan;      // of the last tagged one
    guint64 checked, unfilled, wrong; // checksums
    guint16 mss;                      // that this side announced; 0: not seen
    BbHoles holes;
    BbForeseen foreseen; // the earliest that the other side sent (capture/doctor/foreseen.c)
} BbTalkSide;

typedef struct BbTalk {
    BbAddress address[2]; // [0]: who sent the first packet seen
    guint16 port[2];
    BbTransport transport;
    guint server;      // side; believed until a handshake tells
    bool server_known; //
    BbTalkSide side[2];
} BbTalk;

typedef struct BbTalks BbTalks;

BbTalks *bb_talks_new(void);
void bb_talks_free(BbTalks *talks);

// The conversation of a packet and the side that sent it; NULL at the limit, counted. What the
// packet says of sequence numbers and packets is taken in.
BbTalk *bb_talks_push(BbTalks *talks, const BbPacket *packet, guint *side);
// The end: holes are settled.
void bb_talks_finish(BbTalks *talks);

// In the order of their first packets.
guint bb_talks_count(const BbTalks *talks);
BbTalk *bb_talks_at(const BbTalks *talks, guint index);
guint64 bb_talks_unwatched(const BbTalks *talks); // packets of later ones

// "10.0.0.1 -> 10.0.0.2:80", yours: from who calls to who is called.
char *bb_talk_edge(const BbTalk *talk);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTalks, bb_talks_free)
