// SPDX-License-Identifier: Apache-2.0
// What TCP tells of the network between two nodes, so that a slow server and a bad network are told
// apart: how long handshakes took, what was sent again or out of order, resets, closed windows.
// It travels in the trace beside the messages.
#pragma once

#include "data/names.h"

// A round trip over many handshakes. count 0: none was seen, the others are 0.
typedef struct BbRoundTrip {
    guint64 count;
    guint64 sum_ns, least_ns, most_ns;
} BbRoundTrip;

// One edge: the connections that client opened to server.
typedef struct BbNetworkEdge {
    guint32 client, server; // names of the nodes
    guint64 connections;    // that were seen, from their begin or not
    guint64 refused;        // a SYN answered by a reset
    guint64 unanswered;     // a SYN that nobody answered
    guint64 resets;         // connections reset later
    guint64 packets;        // TCP packets, both directions
    guint64 retransmitted;  // data sent again
    guint64 reordered;      // packets that came late, as the observer saw them (RFC 4737)
    guint64 zero_windows;   // times a receiver said that it cannot take more (RFC 9293, 3.8.6)
    BbRoundTrip to_server;  // from the observer to the server and back: SYN to SYN and ACK
    BbRoundTrip to_client;  // from the observer to the client and back: SYN and ACK to ACK
} BbNetworkEdge;

// Connections that its client asked for in vain.
static inline guint64 bb_network_unopened(const BbNetworkEdge *edge)
{
    return edge->refused + edge->unanswered;
}

// Data sent again, where that is trouble: from 1 % of the packets on; else 0.
static inline guint64 bb_network_sent_again(const BbNetworkEdge *edge)
{
    bool often = edge->packets > 0 && edge->retransmitted >= edge->packets / 100.0;
    return often ? edge->retransmitted : 0;
}

typedef struct BbNetwork BbNetwork;

BbNetwork *bb_network_new(void);
void bb_network_free(BbNetwork *network);

// Adds to the edge of those two nodes. Sums do not overflow, they stop at the largest number.
void bb_network_add(BbNetwork *network, const BbNetworkEdge *edge);

// Adds every edge of other.
void bb_network_merge(BbNetwork *network, const BbNetwork *other);

// What became known between two moments of one run: of each edge, now less then, without edges of
// which nothing did. The least and most of round trips are those of now: of parts of a run that are
// added up, they are right again. NULL stands for no edge. The result is yours.
BbNetwork *bb_network_since(const BbNetwork *now, const BbNetwork *then);

// The edge of those two nodes, NULL if there is none. Lent until the next is added.
const BbNetworkEdge *bb_network_find(const BbNetwork *network, guint32 client, guint32 server);
// In the order of first mention; index < bb_network_count(). Lent likewise.
guint bb_network_count(const BbNetwork *network);
const BbNetworkEdge *bb_network_at(const BbNetwork *network, guint index);

void bb_round_trip_note(BbRoundTrip *trip, gint64 ns);

// The facts of an edge as numbers with names, in the order of a .bbt; its two nodes are no numbers.
#define BB_NETWORK_FIELDS 16u
const char *bb_network_field_name(guint field);
guint64 bb_network_field(const BbNetworkEdge *edge, guint field);
void bb_network_set_field(BbNetworkEdge *edge, guint field, guint64 value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNetwork, bb_network_free)
