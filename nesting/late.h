// SPDX-License-Identifier: Apache-2.0
// Which kinds of calls a node makes late: they outlast their parent, or are made after its return
// (write-behind), be it long after. Known of kinds, before any assignment.
#pragma once

#include "nesting/gap.h"
#include "nesting/site.h"

// How long after the arrival of a call to the node, or its return, calls of this type may be made,
// in quanta, if many of them that have no candidates (nested: of each child, whether it has some)
// follow calls to the node all the same; 0: they do not. Cost: bounded by a sample of pairs.
gint64 bb_late_reach(const BbSite *site, const BbGapScale *scale, guint type, const bool *nested);
