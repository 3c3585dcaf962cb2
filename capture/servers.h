// SPDX-License-Identifier: Apache-2.0
// Which ends have answered a SYN, and so are servers (RFC 9293, section 3.5): of a connection of
// theirs that is joined in the middle, no handshake says who calls. Addresses and ports alone
// count, not the VLAN and the overlay network that they are in.
//
// Who reads packets learns. Who decodes them asks, in any thread and some packets later, and is
// told what was known when the packet at hand was read: each packet carries how many there were
// then (BbPacket's servers). So the answer does not depend on threads.
//
// Limit: BB_SERVERS. The one that was learned first is forgotten (BB_SERVERS_FORGOTTEN), and
// learned anew with its next handshake. Memory: some 72 bytes for each, of all of them once there
// is one.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"

#define BB_SERVERS 65536u
#define BB_SERVERS_BEHIND 65536u // packets that are read meanwhile, at most

typedef struct BbServers BbServers;

// loss is lent.
BbServers *bb_servers_new(BbLoss *loss);
void bb_servers_free(BbServers *servers);

// Takes the next packet. Returns how many were learned so far, this one included.
guint64 bb_servers_learn(BbServers *servers, const BbPacket *packet);

// Whether the end was known when `learned` servers had been learned.
bool bb_servers_know(BbServers *servers, const BbAddress *address, guint16 port, guint64 learned);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbServers, bb_servers_free)
