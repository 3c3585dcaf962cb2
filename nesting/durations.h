// SPDX-License-Identifier: Apache-2.0
// How long each call that a node makes lasts, among all of its type. What one request asks for in
// one place it often asks for in the next: where much is asked, all of its calls take long, and so
// does what the node does with the answers (copula.h).
#pragma once

#include "nesting/gap.h"
#include "nesting/site.h"

// Fills `lasts` of the children.
void bb_durations_rank(BbSite *site, const BbGapScale *scale);
