// SPDX-License-Identifier: Apache-2.0
// What the parts of a score of chains are computed from, and by which file. Within the stage.
#pragma once

#include "diagnose/chain_score.h"
#include "diagnose/strands.h"

typedef struct BbChainTrial {
    const BbNames *names;
    const BbEffects *effects; // settled
    const BbPatterns *patterns;
    bool has_causes;
    BbStrands *strands; // all chains of messages and patterns, counted
} BbChainTrial;

// Fills in pairs and the errors of delays, and the fidelity of pairs.
void bb_chain_score_pairs(BbChainScore *score, const BbChainTrial *trial);

// Counts something that was found, and is, so often.
void bb_fidelity_add(BbFidelity *fidelity, guint64 true_roots, guint64 found, guint64 real);
