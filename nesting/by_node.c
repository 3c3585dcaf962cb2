// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: their indices, those of one node together.
#include "nesting/by_node.h"

static guint32 end_of(const BbCall *call, bool callee)
{
    return callee ? call->callee : call->caller;
}

// start[n + 2] holds the size of n: summed up, start[n + 1] is where n begins, and once n is filled
// in it is where n ends.
BbByNode bb_by_node(const BbCall *calls, guint32 n_calls, guint32 names, bool callee,
                    const guint32 *order)
{
    guint32 *start = g_new0(guint32, (gsize)names + 2);
    guint32 *list = g_new(guint32, (gsize)n_calls + 1);
    for (guint32 i = 0; i < n_calls; i++)
        start[(gsize)end_of(&calls[i], callee) + 2]++;
    for (gsize name = 2; name < (gsize)names + 2; name++)
        start[name] += start[name - 1];
    for (guint32 i = 0; i < n_calls; i++) {
        guint32 index = order ? order[i] : i;
        list[start[(gsize)end_of(&calls[index], callee) + 1]++] = index;
    }
    return (BbByNode){start, list};
}

void bb_by_node_clear(BbByNode *by_node)
{
    g_clear_pointer(&by_node->start, g_free);
    g_clear_pointer(&by_node->list, g_free);
}
