// SPDX-License-Identifier: Apache-2.0
// The shapes of trees of calls, interned: two subtrees are of equal shape exactly when they have
// the same number.
#pragma once

#include "data/roles.h"

#define BB_SHAPES_MAX (1u << 20)

typedef struct BbShapes BbShapes;

BbShapes *bb_shapes_new(void);
void bb_shapes_free(BbShapes *shapes);

// From now on the role of a node stands for it, so that trees that differ only in replicas are of
// one shape. Lent.
void bb_shapes_use_roles(BbShapes *shapes, BbRoles *roles);

// Forgets all shapes where there are BB_SHAPES_MAX or more, some 60 bytes each. No number is given
// twice, so shapes known before get new ones, and equal numbers still mean equal subtrees.
void bb_shapes_forget(BbShapes *shapes);

// What stands behind the subtrees of a call without return.
#define BB_SHAPES_NO_RETURN G_MAXUINT32

// The number of a tree with node and op at its root over the subtrees of shapes kids[], in
// ascending order. Numbers count up from 0 in order of first use.
guint32 bb_shapes_intern(BbShapes *shapes, guint32 node, guint32 op, const guint32 *kids,
                         guint32 n_kids);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbShapes, bb_shapes_free)
