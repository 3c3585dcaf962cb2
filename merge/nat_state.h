// SPDX-License-Identifier: Apache-2.0
// What the parts of the NAT finder share. Inside of it only.
#pragma once

#include "merge/nat.h"

// Where a message began, and the first one from the other end that came after it.
typedef struct BbNatPlace {
    guint64 position, answer; // the latter BB_OFFSET_NONE until one came
    gint64 time_ns, answer_ns;
} BbNatPlace;

typedef struct BbNatConnection BbNatConnection;

// The same connection, nearer to one end.
typedef struct BbNatStep {
    const BbNatConnection *next; // NULL: there is none
    bool turned;                 // its ends are the other way round
} BbNatStep;

struct BbNatConnection {
    char *text;
    guint32 end[2];                     // nodes; the text of end[0] is the lesser
    guint32 observer[BB_NAT_OBSERVERS]; // names; places are what the first one saw
    guint64 lowest;                     // rank of all blocks of what is no return, so far
    guint64 messages[2];                // that the first observer saw since then, from each end
    guint32 calls[2];
    guint8 n[2];
    bool many;                           // more observers than are remembered
    bool no_proof;                       // positions do not look like sequence numbers
    BbNatPlace places[2][BB_NAT_PLACES]; // messages from each end, by rank_of
    BbNatStep step[2];                   // towards each end
};

// Two connections that are one. The ends of b are turned so as to be those of a.
typedef struct BbNatPair {
    BbNatConnection *a, *b;
    bool turned;
    bool apart;       // one observer saw both
    double accidents; // expected among all pairs
    guint n[2];       // places in common, of messages from each end of a
    guint nearer[2];  // answers that tell that a is nearer to this end of its own
    double lead_ns;   // sum over answers of how much a is nearer to end 0
} BbNatPair;

struct BbNat {
    BbNames *names;
    guint connections_max;
    GHashTable *connections; // text -> BbNatConnection
    guint64 limit;           // connections have a block of lower rank; only ever falls
    guint64 forgotten;
    GArray *pairs; // of BbNatPair; after solve
    GArray *edges; // of BbNatEdge; after solve
    guint joined;
};

// ---- nat_pairs.c

// All pairs of connections that are one, each once, in a fixed order. The array of BbNatPair is
// yours.
GArray *bb_nat_pairs_find(const BbNat *nat, gint64 window_ns);

// ---- nat_edges.c

// Sums pairs up by nodes, says of each which side it is nearer to, and links their connections.
void bb_nat_edges_make(BbNat *nat);
