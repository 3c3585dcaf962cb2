// SPDX-License-Identifier: Apache-2.0
// Kinds of calls of which many have no candidates, being nested in no call to their node: such as
// are made late (they outlast their parent, or are made after its return, be it long after), and
// such as the node makes by itself. Known of kinds, before any assignment. nested: of each child,
// whether it has candidates. Cost: bounded by a sample of pairs.
#pragma once

#include "nesting/gap.h"
#include "nesting/site.h"

#include <stdbool.h>

// How long after the arrival of a call to the node, or its return, calls of this type may be made,
// in quanta, if many of them that are nested in none follow calls to the node all the same; 0: they
// do not.
gint64 bb_unnested_reach(const BbSite *site, const BbGapScale *scale, guint type,
                         const bool *nested);

// Whether the node makes calls of this type, which are not late, by itself, and nearly none for
// calls to it: those that are nested are so by chance.
bool bb_unnested_is_own(const BbSite *site, const BbGapScale *scale, guint type,
                        const bool *nested);
