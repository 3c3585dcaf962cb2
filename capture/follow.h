// SPDX-License-Identifier: Apache-2.0
// What belongs to the entrances of a system: the set of hosts that are followed, and which packets
// are theirs. It begins with the entrances, and grows by whom followed hosts call, hop by hop, with
// the first packet of a connection and so ahead of whatever the called host does for it.
//
// Of a connection from a client to a server a packet is kept, in both directions, where
//  - the server is an entrance: its host and, where one was given, its port;
//  - or the client is followed;
//  - or the server is followed and no entrance: calls of others, too, or what it does for them
//    would look as if nobody had asked for it.
// A host that a followed one calls is followed itself, from a packet of the caller's own on: its
// SYN or data. Datagrams may go to a network's broadcast address, or to nobody: whom they call is
// followed from the first packet that it sends, whatever that is. So what others send to followed
// hosts makes nobody followed, and of a direction that is not seen nobody is either. Not followed
// is a host
//  - at the last hop, where the calls to it are kept and nothing else of it;
//  - where it is shared by all: a name server (port 53, 853), a clock (123), a collector of logs
//    (514), or what the options name; the calls to it are kept;
//  - of multicast and of 255.255.255.255, which are no hosts;
//  - beyond BB_FOLLOW_NODES.
//
// Who is the client: a handshake says it (RFC 9293, section 3.5). Else the end that is known for a
// server by an earlier handshake or decision; else the ports: system ports (below 1024) before
// registered ones, and these before those that clients get (from 32768 on; RFC 6335, section 6,
// and what Linux does); else, for TCP, the lower port, and for UDP whoever is heard second. A
// packet of TCP without handshake and data decides nothing. Addresses alone count, not the VLAN
// and the overlay network that they are in.
//
// Memory: about 250 bytes for each host that is followed and each server that is known.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"

#define BB_FOLLOW_NODES 4096u    // followed at most; calls to others are counted (BB_FOLLOW_LIMIT)
#define BB_FOLLOW_SERVERS 65536u // known; the one longest unheard of goes (BB_FOLLOW_FORGOTTEN)
#define BB_FOLLOW_HOPS 8u        // if nobody says otherwise
#define BB_FOLLOW_HOPS_MOST 64u

typedef struct BbFollowEnd {
    BbAddress address;
    guint16 port;     // 0: any
    bool any_address; // the port alone counts; never of an entrance
} BbFollowEnd;

typedef struct BbFollowOptions {
    const BbFollowEnd *entrances; // one or more; lent while bb_follow_new runs, as is shared
    guint n_entrances;
    const BbFollowEnd *shared; // never followed
    guint n_shared;
    guint hops; // calls in a row that are kept, from the entrances on; 1: what entrances call
} BbFollowOptions;

// A host that is followed.
typedef struct BbFollowNode {
    BbAddress address;
    guint hop;        // 0: an entrance; may become less later
    guint16 port;     // of an entrance: that alone, 0: any; of others: at which it was called first
    BbAddress caller; // not of entrances
    gint64 since_ns;  // likewise
    bool met;         // of an entrance: it was called, or calls (where no port was given)
} BbFollowNode;

typedef struct BbFollow BbFollow;

// loss is lent.
BbFollow *bb_follow_new(const BbFollowOptions *options, BbLoss *loss);
void bb_follow_free(BbFollow *follow);

// Whether packet is kept; else it is counted (BB_NOT_FOLLOWED). The set may grow by it.
bool bb_follow_take(BbFollow *follow, const BbPacket *packet);

// The set, in the order in which it grew; it never shrinks. An entrance of several ports is there
// several times. Lent until the next packet.
guint bb_follow_count(const BbFollow *follow);
const BbFollowNode *bb_follow_at(const BbFollow *follow, guint index);

// How many entrances no packet was of: nobody called them, or they are called otherwise on the
// wire.
guint bb_follow_unmet(const BbFollow *follow);

// Addresses of the set, and of those that datagrams went to and that join when they send. Never
// shrinks; lent until the next packet.
guint bb_follow_address_count(const BbFollow *follow);
const BbAddress *bb_follow_addresses(const BbFollow *follow);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFollow, bb_follow_free)
