// SPDX-License-Identifier: Apache-2.0
// Counts path instances by pattern, with the statistics of each vertex (paper, section 5.1, step
// 5).
#pragma once

#include "nesting/trees.h"

// Fills paths->patterns from the listed instances, and says in each instance which one it is of.
void bb_census_take(BbPaths *paths, const BbTrees *trees, const BbNames *names, bool labels,
                    bool last_byte);
