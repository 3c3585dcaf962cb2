// SPDX-License-Identifier: Apache-2.0
// Calls grouped by the node that makes them, or that gets them.
#pragma once

#include "data/call.h"

typedef struct BbByNode {
    guint32 *start; // [name]: its calls are list[start[name] .. start[name + 1])
    guint32 *list;  // indices of calls
} BbByNode;

// names: all are below it. Within each group the calls stand as in order, n_calls indices; NULL: as
// they are. The caller's to clear. Cost: linear.
BbByNode bb_by_node(const BbCall *calls, guint32 n_calls, guint32 names, bool callee,
                    const guint32 *order);
void bb_by_node_clear(BbByNode *by_node);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbByNode, bb_by_node_clear)

static inline guint32 bb_by_node_size(const BbByNode *by_node, guint32 name)
{
    return by_node->start[name + 1] - by_node->start[name];
}
