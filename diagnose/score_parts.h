// SPDX-License-Identifier: Apache-2.0
// What the parts of a score are computed from, and by which file. Within the stage.
#pragma once

#include "diagnose/score.h"

typedef struct BbTrial {
    const BbNames *names;
    BbForestOptions options;
    const BbLinks *links; // settled
    const BbForest *found, *real;
} BbTrial;

// Instances, patterns and their confidences.
void bb_score_patterns(BbScore *score, const BbTrial *trial);

// Adds a comparison; nothing where real is 0.
void bb_deviation_add(BbDeviation *deviation, double found, double real);
