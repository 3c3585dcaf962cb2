// SPDX-License-Identifier: Apache-2.0
// The trees that calls and their parents form, whoever chose the parents.
#pragma once

#include "data/path.h"

typedef struct BbTrees {
    guint32 *start, *kids; // kids[start[i] .. start[i + 1]): the calls whose parent is call i, by
                           // shape, and by time among equal shapes
    guint16 *level;        // of calls: 1 for roots
    guint32 *shape;        // of calls: equal for equal subtrees; meaningless without return
    guint64 *self_ns;      // of calls: time in which the callee waited for none of its calls
} BbTrees;

// Grows the trees of paths->parent. Parents that would make a tree deeper than BB_PATHS_DEPTH_MAX
// are taken out there. labels: operation labels are part of a shape. last_byte: a call lasts until
// the last byte of its return.
BbTrees *bb_trees_new(BbPaths *paths, bool labels, bool last_byte);
void bb_trees_free(BbTrees *trees);

// Writes paths->order and paths->instances; each instance has pattern BB_PATTERN_NONE.
void bb_trees_list(const BbTrees *trees, BbPaths *paths);

// When the callee was done with the call, on its clock.
static inline gint64 bb_trees_end(const BbCall *call, bool last_byte)
{
    return last_byte && call->return_end_ns != BB_TIME_NONE ? call->return_end_ns
                                                            : call->replied_ns;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTrees, bb_trees_free)
