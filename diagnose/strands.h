// SPDX-License-Identifier: Apache-2.0
// Chains of edges from a root to a message (vertices of the paper's figure 6), each with a number,
// so that inferred and true ones can be compared.
#pragma once

#include "data/tally.h"

#define BB_STRAND_NONE G_MAXUINT32

typedef struct BbEdgeChain {
    guint32 up; // the chain without its last edge; BB_STRAND_NONE where that is the only one
    guint32 sender, receiver;        // of the last edge
    guint32 hops;                    // edges
    guint64 found, real;             // messages with such a chain
    guint64 found_paths, real_paths; // of them those that end here: they caused nothing
} BbEdgeChain;

// Memory: 48 bytes a chain, and a slot of 24 to 96.
typedef struct BbStrands {
    BbTally numbers;
    GArray *strands; // of BbEdgeChain; a chain stands behind what it is longer than
} BbStrands;

void bb_strands_init(BbStrands *strands);
void bb_strands_clear(BbStrands *strands);

// The chain that is one edge longer than up.
guint32 bb_strands_find(BbStrands *strands, guint32 up, guint32 sender, guint32 receiver);

static inline BbEdgeChain *bb_strand_at(const BbStrands *strands, guint32 index)
{
    return &g_array_index(strands->strands, BbEdgeChain, index);
}
