// SPDX-License-Identifier: Apache-2.0
// The two ends of a connection or of a UDP conversation, and how a trace calls them.
#pragma once

#include "capture/nodes.h"
#include "capture/packet.h"

typedef struct BbEndpoints {
    BbAddress address[2];
    guint16 port[2];
    guint32 vlan, vni; // that both are in (capture/packet.h), where these tell hosts apart
    bool has_vni;
    guint8 transport; // BbTransport; 0: not told, no process is looked for
} BbEndpoints;

// Those that a packet shows, from who sends it.
BbEndpoints bb_endpoints_on_wire(const BbPacket *packet);
// The same; of one that went through a NAT with what is hidden behind.
BbEndpoints bb_endpoints_of(const BbPacket *packet);

// The node of an end: its process, of this host; or its name, and its network where that tells
// hosts apart (10.0.0.1@vlan12).
guint32 bb_endpoints_node(const BbEndpoints *endpoints, BbNodes *nodes, BbNames *names, guint end,
                          bool is_server);

// The node of an end as far as it has been named; NONE where it has not.
guint32 bb_endpoints_find(const BbEndpoints *endpoints, const BbNodes *nodes, const BbNames *names,
                          guint end, bool is_server);

// The connection is over: what was decided about its ends may be forgotten.
void bb_endpoints_end(const BbEndpoints *endpoints, BbNodes *nodes);

// The text of the connection, the same for every observer, whoever it takes for the client.
char *bb_endpoints_conn(const BbEndpoints *endpoints);
