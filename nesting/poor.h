// SPDX-License-Identifier: Apache-2.0
// Slots of few samples of one node share what they know (slot.h): those of the same order, and
// those of ends. So does one without samples, where a tenth of all are in such slots: a few are
// what wrong guesses leave.
#pragma once

#include "nesting/slot.h"

typedef struct BbPoor {
    const BbGapScale *scale; // lent
    guint nc;                // types of children
    bool is_join;
    BbSlot *unseen[BB_SLOT_ORDERS];   // what one without samples knows; NULL: nothing is shared
    BbSlot *pool[BB_SLOT_ORDERS + 1]; // that they share from; last that of ends. NULL until wanted
} BbPoor;

BbPoor *bb_poor_new(guint nc, bool is_join, const BbGapScale *scale);
void bb_poor_free(BbPoor *poor);

// Fits the poor among fitted slots again. slots[0 .. n): order by order in turn; NULL where never
// seen, as of ends[0 .. n_ends).
void bb_poor_share(BbPoor *poor, BbSlot **slots, guint n, BbSlot **ends, guint n_ends);
