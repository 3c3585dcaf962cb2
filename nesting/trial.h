// SPDX-License-Identifier: Apache-2.0
// A list of children that a parent would have: what a search tries.
#pragma once

#include "nesting/model.h"

typedef struct BbTrial {
    guint32 at[BB_MODEL_NEAR + 2]; // in order
    guint32 n;
} BbTrial;

static inline void bb_trial_copy(BbTrial *trial, const BbTrial *of)
{
    trial->n = of->n;
    for (guint32 k = 0; k < of->n; k++)
        trial->at[k] = of->at[k];
}

// Puts x where it belongs.
void bb_trial_insert(BbTrial *trial, guint32 x);

// A parent's children but for x, which is one of them; with x, which is none.
void bb_trial_without(BbTrial *trial, const BbKids *kids, guint32 x);
void bb_trial_with(BbTrial *trial, const BbKids *kids, guint32 x);

// to's children take the place of those of x's parent from x on, and the other way round; to's
// begin at place y. a is what x's parent would have, b what `to` would. False where that may not
// be, or would be more than BB_MODEL_NEAR for one of them.
bool bb_trial_tails(BbTrial *a, BbTrial *b, const BbSite *site, guint32 x, guint32 to, guint32 y);

// Likewise x's parent and `to` exchange what they called on two connections: that of x, and that of
// y or, BB_SITE_NONE, nothing.
bool bb_trial_runs(BbTrial *a, BbTrial *b, const BbSite *site, guint32 x, guint32 to, guint32 y);
