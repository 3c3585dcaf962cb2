// SPDX-License-Identifier: Apache-2.0
// Calls that waited for a pool of connections that was used up: such a call is made at once when
// another one to the same callee returns, whoever made that. So it follows a return of a call that
// is not its parent's, by a gap that is always alike; when its parent wanted to make it is not
// known, only that it was before (bb_model_freed_log).
//
// A pool shows in the times alone: so many calls to a callee as there ever are, again and again,
// but never more; and when one returns the next one follows much sooner than the one after it
// returns.
#pragma once

#include "nesting/moments.h"

// Finds what let each child begin: site->freed, of which nothing is known yet, limit and n_pools.
// moments: the site's. Cost: linear in children, n log n for n parents.
void bb_pool_find(BbSite *site, BbMoments *moments, const BbGapScale *scale);
