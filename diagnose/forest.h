// SPDX-License-Identifier: Apache-2.0
// The trees that the calls of a trace form with one of their two parents, and the shape of each.
// Only calls whose truth is told stand in them: so both forests are of the same calls.
#pragma once

#include "data/groups.h"
#include "diagnose/links.h"

// Numbers of shapes, equal for equal ones, in all forests that were grown with one value.
typedef struct BbKinds BbKinds;

BbKinds *bb_kinds_new(void);
void bb_kinds_free(BbKinds *kinds);

typedef enum { BB_FOREST_FOUND, BB_FOREST_REAL } BbForestSide;

typedef struct BbForestOptions {
    bool labels;    // operation labels are part of a shape
    bool last_byte; // a call lasts until the last byte of its return
} BbForestOptions;

// Memory: 36 bytes a call.
typedef struct BbForest {
    guint32 n;        // of links
    guint32 n_order;  // of calls in trees
    guint32 *order;   // those calls, each before its parent
    guint32 *parent;  // of links; BB_CALL_NO_PARENT for roots
    BbGroups kids;    // of links, by time
    guint32 *size;    // of links: calls in the tree below, with itself; 0 for those left out
    guint32 *kind;    // of links: number of the shape of the tree below
    guint64 *self_ns; // of links: time in which the callee waited for none of its calls
} BbForest;

BbForest *bb_forest_new(const BbLinks *links, BbForestSide side, BbKinds *kinds,
                        const BbForestOptions *options);
void bb_forest_free(BbForest *forest);

// Writes 0 .. n-1 into order so that each comes before its parent, but for those on circles: they
// come last. Returns the number of those that do not.
guint32 bb_forest_order(const guint32 *parent, guint32 n, guint32 *order);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbKinds, bb_kinds_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbForest, bb_forest_free)
