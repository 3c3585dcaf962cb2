// SPDX-License-Identifier: Apache-2.0
// The open calls of a dialog: a queue in the order of their requests, from the middle of which any
// may go, found by handle and by key. Nothing here takes longer with more open calls, but for
// finding a handle (their logarithm), going through those of one key, which has to end early
// (BB_DIALOG_TAGGED), and going through them all. Part of the dialog (capture/dialog.h), which has
// its fields.
//
// Limits: BB_DIALOG_OPEN_CALLS in a dialog. Room for more than a few counts to the bytes that all
// connections hold, and at most 65,536 places are made, whatever goes from the middle: there are
// always a quarter more than calls before there are twice as many.
#pragma once

#include "capture/dialog_state.h"

#define BB_DIALOG_OPEN_CALLS 49152u // three quarters of 65,536
#define BB_DIALOG_FEW_CALLS 4u      // room for more of them counts to the bytes held
#define BB_DIALOG_KEPT_CALLS \
    64u // room for more of them is given back when none is open, and they
        // are found by key in buckets

// Open calls, those that are over left out.
guint bb_unanswered_count(const BbDialog *dialog);

// Adds a copy of entry behind all others; its handle is the highest. The caller sees to the limit.
BbOpenEntry *bb_unanswered_add(BbDialog *dialog, const BbOpenEntry *entry);
// Other entries stay where they are.
void bb_unanswered_remove(BbDialog *dialog, BbOpenEntry *entry);
// Gives the room back. None is open.
void bb_unanswered_free(BbDialog *dialog);

// The open call of this handle, NULL if there is none.
BbOpenEntry *bb_unanswered_find(const BbDialog *dialog, guint64 call);
// The oldest with this handle or a higher one, NULL if there is none.
BbOpenEntry *bb_unanswered_from(const BbDialog *dialog, guint64 call);
// All of them, oldest first. NULL: no more.
BbOpenEntry *bb_unanswered_first(const BbDialog *dialog);
BbOpenEntry *bb_unanswered_next(const BbDialog *dialog, const BbOpenEntry *entry);
// Those of one key, asked in that direction, likewise.
BbOpenEntry *bb_unanswered_first_of(const BbDialog *dialog, BbDirection direction, guint64 key);
BbOpenEntry *bb_unanswered_next_of(const BbDialog *dialog, const BbOpenEntry *entry);

// Bytes they take, as far as these count to the bytes held.
guint32 bb_unanswered_held(const BbDialog *dialog);
