// SPDX-License-Identifier: Apache-2.0
// Joins: a node that is called several times for one request may do its work for the last of them
// only, when all that it waits for is there. Which place a call has among the calls of its tree to
// the same node then says more of what it does than who made it.
#pragma once

#include "data/path.h"

// The place of each call, from the parents found so far: 0 where the node is no join; else 1 for
// the last of its tree to return, 2 for the last but one, 3 for earlier ones, 4 for a call that is
// alone. NULL when there is no join. *ready_ns: when the call of its tree to the same node that
// was answered before it was; G_MININT64 where there is none, and at nodes that do not wait: where
// not nearly all that such trees make is made by the last, when the others were answered. The
// caller frees both.
guint8 *bb_joins_find(const BbPaths *paths, gint64 **ready_ns);
