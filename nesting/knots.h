// SPDX-License-Identifier: Apache-2.0
// Which nodes can be part of a circle of calls: A calls B, B calls A, or A calls itself.
#pragma once

#include "data/tally.h"

// edges: who calls whom, a and b of the key. Returns an array of bool, one a name below n_names:
// the node stands on a circle of their graph, or between two circles. The caller frees.
bool *bb_knots_find(const BbTallyEntry *edges, gsize n_edges, guint32 n_names);
