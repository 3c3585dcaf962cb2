// SPDX-License-Identifier: Apache-2.0
// Parents without children that should have two. Where nodes make two calls or none, and many are
// open at once, a guess leaves such parents empty, and others have three; one call alone suits none
// of those, so a search that moves one at a time leaves them as they are.
#pragma once

#include "nesting/scores.h"

// Gives each parent without children the two that it may have which make the whole likeliest,
// whosever they are, if it is likelier then. Looks at few children only, those that their own
// parents lose least by: cost is that of the lists of candidates. Order plays no part. scores are
// of that site, and know of the changes. Returns by how much the log likelihood grew, order apart.
double bb_fill_empty(BbSite *site, BbScores *scores);
