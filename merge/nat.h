// SPDX-License-Identifier: Apache-2.0
// Connections that a NAT or a load balancer has given other addresses and ports, recognised by what
// it has left alone: TCP's sequence numbers. One that ends connections and begins others, or
// writes new sequence numbers, is not found.
//
// Two connections are one where, in both directions, at least half of the places in them where
// messages begin are the same numbers, the times of these are apart by one and the same within the
// window (whatever the clocks say; over a long time, and what they may drift by), and it cannot
// well be an accident: initial sequence numbers are random (RFC 6528), so that two directions of
// unrelated connections fit with probability
//     2 * (n1 / a1 / 2^32) * (n2 / a2 / 2^32)
// with n the messages and a the share of places that agree, and of all the pairs that there are
// fewer than BB_NAT_ACCIDENTS may be expected to fit so well. Where numbers do not look random
// (below 1 MiB, as where a tool counts from 0; above 32 bits; common to more than BB_NAT_ALIKE
// connections) they prove nothing.
//
// What was nearer to which end is known without right clocks: what A sends passes the sighting at
// A's side early, the first that it receives thereafter late. Each of the places that has such an
// answer, the same on both sides, tells it for its own time, unless less than clocks drift by
// until the answer. Names are those of the sighting nearest to the named end.
//
// Memory: at most connections_max connections (480 bytes each, and as much again while it is
// solved) of which BB_NAT_PLACES places in each direction are kept, those with the lowest hashes,
// so the same ones for all observers. Beyond it connections are sampled by the hashes of the MiB of
// numbers that their calls are in: both sightings of one stay, or none.
#pragma once

#include "data/message.h"

#define BB_NAT_CONNECTIONS 262144u
#define BB_NAT_PLACES 4u
#define BB_NAT_ALIKE 8u
#define BB_NAT_ACCIDENTS 1e-3
#define BB_NAT_DRIFT 500e-6 // of two clocks: as fast as they are set without steps
#define BB_NAT_OBSERVERS 4u // of a connection that are remembered

typedef struct BbNat BbNat;

BbNat *bb_nat_new(BbNames *names, guint connections_max); // lent; connections_max > 0
void bb_nat_free(BbNat *nat);

// Takes a sighting, in any order. Without connection and offset it says nothing.
void bb_nat_add(BbNat *nat, const BbMessage *message);

// Ends the adding, finds what is one.
void bb_nat_solve(BbNat *nat, gint64 window_ns);

// What was translated, by nodes: connections between near[0] and near[1] are the same as such
// between far[0] and far[1]. near is nearer to the end 0, which is the one that calls where that is
// known.
typedef struct BbNatEdge {
    guint32 near[2], far[2];             // names
    guint32 near_observer, far_observer; // names: one that saw each
    guint64 connections;
    guint64 apart;    // of these: seen on both sides by one observer, so that they stay two
    double accidents; // how many such pairs are to be expected by accident: of the least sure one
    bool noise;       // what is nearer to whom could be told by chance as well
} BbNatEdge;

// Most connections first, then by texts. The array of BbNatEdge is yours.
GArray *bb_nat_edges(const BbNat *nat);

// After solve: makes a sighting of a connection that is one with another speak of the one, with one
// conn for all and the names of both ends. Returns whether it is one. Not for connections which one
// observer saw on both sides: it would have its messages twice.
bool bb_nat_apply(const BbNat *nat, BbMessage *message);

guint bb_nat_joined(const BbNat *nat);      // connections that apply changes
guint64 bb_nat_forgotten(const BbNat *nat); // connections that the sample has dropped

// The same as counters of a trace: names, and a sentence for people, NULL if it is none of these.
#define BB_NAT_JOINED "merge_nat_joined"
#define BB_NAT_FORGOTTEN "merge_nat_forgotten"
#define BB_NAT_NOISE "merge_nat_noise"
const char *bb_nat_meaning(const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNat, bb_nat_free)
