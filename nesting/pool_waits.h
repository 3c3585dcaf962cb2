// SPDX-License-Identifier: Apache-2.0
// For how long calls waited for a pool (pool.h), by an assignment and its model.
#pragma once

#include "data/path.h"
#include "nesting/model.h"

// Of the site's children, by their calls. A pool is told where at least a
// third of the calls that it let begin waited, as far as the model knows: else its callers make
// calls one after the other, and it is none.
void bb_pool_waits_note(const BbSite *site, const BbModel *model, BbPoolWait *waits);
