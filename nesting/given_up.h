// SPDX-License-Identifier: Apache-2.0
// Calls that their caller gave up: they took so long that it went on without them, and so they
// outlast the call that they were made for. Else calls do that which nobody waits for: many of
// their kind outlast their parents, whatever they take.
#pragma once

#include "nesting/site.h"

#define BB_GIVEN_UP_TIMES 2.0  // as long as is usual, and more
#define BB_GIVEN_UP_NESTED 0.5 // share of a kind that returns before its parents do, and more

// [type]: how long a child must last to be one that was given up, if it outlasts its parent.
// G_MAXDOUBLE: none was. nested: [child], whether it is known to return before its parent does.
// NULL where that is so of all. The caller frees.
double *bb_given_up_least(const BbSite *site, const bool *nested);
