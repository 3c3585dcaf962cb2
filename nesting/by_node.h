// SPDX-License-Identifier: Apache-2.0
// Calls grouped by the node that makes them, or that gets them.
#pragma once

#include "data/call.h"
#include "data/groups.h"

// Indices of calls. names: all are below it. Within each group the calls stand as in order, n_calls
// indices; NULL: as they are. The caller's to clear. Cost: linear.
BbGroups bb_by_node(const BbCall *calls, guint32 n_calls, guint32 names, bool callee,
                    const guint32 *order);
