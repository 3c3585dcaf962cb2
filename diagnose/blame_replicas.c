// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: the own work of each replica, by operation.
#include "diagnose/blame_replicas.h"

#include "data/tally.h"
#include "diagnose/blame_hints.h"

struct BbBlameReplicas {
    GArray *rows;  // of BbBlameRow
    BbTally index; // (replica, op) -> row + 1
    guint limit;
};

BbBlameReplicas *bb_blame_replicas_new(guint limit)
{
    BbBlameReplicas *replicas = g_new(BbBlameReplicas, 1);
    replicas->rows = bb_blame_rows_new();
    replicas->limit = limit;
    bb_tally_init(&replicas->index);
    return replicas;
}

void bb_blame_replicas_free(BbBlameReplicas *replicas)
{
    if (!replicas)
        return;
    g_clear_pointer(&replicas->rows, g_array_unref);
    bb_tally_clear(&replicas->index);
    g_free(replicas);
}

// NULL where there is no room for a new one.
static BbBlameRow *row_of(BbBlameReplicas *replicas, guint32 role, guint32 node, guint32 op)
{
    BbTallyKey key = {node, op, 0};
    if (replicas->rows->len >= replicas->limit && bb_tally_get(&replicas->index, key) == 0)
        return NULL;
    guint64 *number = bb_tally_at(&replicas->index, key);
    if (*number == 0) {
        BbBlameRow row = {.node = role, .op = op, .n_callers = 1, .self = bb_stats_new()};
        row.callers = g_memdup2(&node, sizeof node);
        g_array_append_val(replicas->rows, row);
        *number = replicas->rows->len;
    }
    return &g_array_index(replicas->rows, BbBlameRow, *number - 1);
}

void bb_blame_replicas_add(BbBlameReplicas *replicas, const BbPaths *paths, guint32 call,
                           guint32 op)
{
    guint32 node = paths->calls[call].callee, role = bb_paths_node(paths, node);
    if (!bb_call_is_returned(&paths->calls[call]) || !bb_paths_is_role(paths, role))
        return;
    BbBlameRow *row = row_of(replicas, role, node, op);
    if (row)
        bb_stats_push(row->self, (gint64)MIN(paths->self_ns[call], (guint64)G_MAXINT64));
}

GArray *bb_blame_replicas_take(BbBlameReplicas *replicas)
{
    return g_steal_pointer(&replicas->rows);
}
