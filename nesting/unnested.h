// SPDX-License-Identifier: Apache-2.0
// Kinds of calls of which many have no candidates, being nested in no call to their node: such as
// are made late (they outlast their parent, or are made after its return, be it long after), and
// such as the node makes by itself. Known of kinds, before any assignment.
#pragma once

#include "nesting/gap.h"
#include "nesting/site.h"

#include <stdbool.h>

typedef struct BbUnnested {
    // Many of its calls that are nested in none follow calls to the node all the same: so long
    // after their arrival, or their return, such are made, in quanta. 0: they do not.
    gint64 reach;
    // Not late, and made by the node itself, nearly none for calls to it: those that are nested are
    // so by chance.
    bool is_own;
} BbUnnested;

// Tells of each type of children ([type]) but those to be left out. nested: of each child, whether
// it has candidates. Cost: for each type of which many are nested in none, bounded by samples of
// pairs, and some visits of all children.
void bb_unnested_find(const BbSite *site, const BbGapScale *scale, const bool *nested,
                      const bool *left_out, BbUnnested *found);
