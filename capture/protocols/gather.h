// SPDX-License-Identifier: Apache-2.0
// Messages that come in several pieces, several of them at a time: the fragments of a request, the
// entries that a search finds whose request was not seen. Each is put together under a key. Replies
// to calls that are open are kept with those (bb_dialog_answering).
#pragma once

#include "capture/dialog.h"

#define BB_GATHER_SLOTS 16u // messages under way; beyond it the oldest is left (BB_PENDING_LIMIT)

typedef struct BbGathered {
    guint64 key; // 0: none
    BbPart part;
} BbGathered;

// In a decoder's state: zeroed, it is empty. Oldest first.
typedef struct BbGather {
    BbGathered slot[BB_GATHER_SLOTS];
    guint used;
} BbGather;

// Adds a piece to what there is of its message. key is not 0.
void bb_gather_add(BbGather *gather, BbDialog *dialog, guint64 key, const BbPart *piece);
// The message of which piece is the last: with all that there was of it, which is forgotten.
BbPart bb_gather_take(BbGather *gather, guint64 key, const BbPart *piece);
// What there is of the oldest one, which is forgotten; false if there is none.
bool bb_gather_pop(BbGather *gather, BbGathered *out);
