// SPDX-License-Identifier: Apache-2.0
// Messages put by in a temporary file and read again, in the same order, each with the number of
// the input it came from. The files have no name as soon as they can be read: nothing of them stays
// behind. Inside of merge/ only.
#pragma once

#include "data/message.h"

typedef struct BbSpill BbSpill;

// Makes the files in TMPDIR. names is lent.
BbSpill *bb_spill_new(BbNames *names, GError **error);
void bb_spill_free(BbSpill *spill);

// Keys of text traces that a .bbt has no place for (extra) are left out.
bool bb_spill_push(BbSpill *spill, const BbMessage *message, guint input, GError **error);

// Ends the writing, begins the reading.
bool bb_spill_turn(BbSpill *spill, GError **error);

// The next message, lent until the next call; NULL at the end, or after a failure (error set).
const BbMessage *bb_spill_next(BbSpill *spill, guint *input, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSpill, bb_spill_free)
