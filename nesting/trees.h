// SPDX-License-Identifier: Apache-2.0
// The trees that calls and their parents form, whoever chose the parents.
#pragma once

#include "data/path.h"
#include "nesting/shapes.h"

// Grows the trees of paths->parent: writes paths->level, shape, self_ns, order and instances; each
// instance has pattern BB_PATTERN_NONE. Parents that would make a tree deeper than
// BB_PATHS_DEPTH_MAX are taken out there. shapes numbers the shapes. labels: operation labels are
// part of a shape. last_byte: a call lasts until the last byte of its return.
void bb_trees_grow(BbPaths *paths, BbShapes *shapes, bool labels, bool last_byte);
