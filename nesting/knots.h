// SPDX-License-Identifier: Apache-2.0
// Which nodes can be part of a circle of calls: A calls B, B calls A, or A calls itself.
#pragma once

#include "data/call.h"

// Returns an array of bool, one a name below n_names: the node stands on a circle of the graph of
// who calls whom, or between two circles. Calls without return do not count. The caller frees.
bool *bb_knots_find(const BbCall *calls, guint32 n_calls, guint32 n_names);
