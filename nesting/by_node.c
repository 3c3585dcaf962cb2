// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: their indices, those of one node together.
#include "nesting/by_node.h"

static guint32 end_of(const BbCall *call, bool callee)
{
    return callee ? call->callee : call->caller;
}

BbGroups bb_by_node(const BbCall *calls, guint32 n_calls, guint32 names, bool callee,
                    const guint32 *order)
{
    BbGroups groups = bb_groups_begin(names);
    for (guint32 i = 0; i < n_calls; i++)
        bb_groups_count(&groups, end_of(&calls[i], callee), 1);
    bb_groups_open(&groups);
    for (guint32 i = 0; i < n_calls; i++) {
        guint32 index = order ? order[i] : i;
        bb_groups_put(&groups, end_of(&calls[index], callee), index);
    }
    return groups;
}
