// SPDX-License-Identifier: Apache-2.0
// Parents without children that should have two. Where nodes make two calls or none, and many are
// open at once, a guess leaves such parents empty, and others have three; one call alone suits none
// of those, so a search that moves one at a time leaves them as they are.
#pragma once

#include "nesting/scores.h"

typedef struct BbFill BbFill;

// site and scores, which are of it, are lent and must outlive the value. The site's candidates stay
// as they are.
BbFill *bb_fill_new(BbSite *site, BbScores *scores);
void bb_fill_free(BbFill *fill);

// Gives each parent without children the two that it may have which make the whole likeliest,
// whosever they are, if it is likelier then. Looks at few children only, those that their own
// parents lose least by: cost is that of the lists of candidates, and of 276 trials at most for
// each parent without children. Order plays no part. The scores know of the changes. Returns by how
// much the log likelihood grew, order apart.
double bb_fill_empty(BbFill *fill);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFill, bb_fill_free)
