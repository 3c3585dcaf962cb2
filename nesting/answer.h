// SPDX-License-Identifier: Apache-2.0
// What the joint choice says of a site's children: their parents, and how sure each is.
#pragma once

#include "data/path.h"
#include "nesting/learning.h"

// Writes parent, confidence and whole of the site's calls into paths, how long they waited for a
// pool where that is kept (pool_waits.h), and which of its children were given up ([call],
// given_up.h). Sites may be written by several threads at once: they have no call in common.
void bb_answer_publish(BbSite *site, const BbLearned *learned, BbPaths *paths, bool *given_up);

// Where there is nothing to choose: each child has its only candidate, if any.
void bb_answer_only(const BbSite *site, BbPaths *paths, bool *given_up);
