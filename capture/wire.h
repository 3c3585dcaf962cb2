// SPDX-License-Identifier: Apache-2.0
// What TCP tells of the network under one connection: how long the handshake took, resets, closed
// windows. What was sent again or out of order, reassembly knows (capture/tcp.h).
#pragma once

#include "capture/packet.h"
#include "data/network.h"

typedef struct BbWire {
    gint64 syn_ns, answer_ns; // of the handshake's first two packets
    guint32 to_server_ns, to_client_ns;
    guint32 packets;
    guint32 repeated_syns, zero_windows;
    guint32 told_syns; // so many of repeated_syns the edge has by now, beside
    bool told : 1, told_to_server : 1, told_to_client : 1;
    bool has_syn : 1, has_answer : 1, has_to_server : 1, has_to_client : 1;
    bool refused : 1; // the SYN was answered by a reset
    bool window_shut[2];
} BbWire;

// Takes a packet that side (0 or 1) sent. client: the side that calls, as far as it is known.
void bb_wire_push(BbWire *wire, guint side, guint client, const BbPacket *packet);

// Adds what was seen to an edge whose nodes are set: what it has not by bb_wire_tell.
void bb_wire_report(BbWire *wire, bool reset, BbNetworkEdge *edge);
// The same while the connection goes on, as often as one likes. How it ended is told at the end.
void bb_wire_tell(BbWire *wire, BbNetworkEdge *edge);
