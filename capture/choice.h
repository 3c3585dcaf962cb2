// SPDX-License-Identifier: Apache-2.0
// Which decoder a dialog is for: by content, with evidence of both directions, then by port. Inside
// of a dialog, for feed.c.
#pragma once

#include "capture/dialog_state.h"

// The first bytes of what the other side says while this one is undecided.
typedef struct BbAnswer {
    const guint8 *data;
    gsize length;
} BbAnswer;

// What the other side says while this one is undecided, or that no more bytes come.
typedef struct BbHearing {
    bool over;              // no more bytes of this side come before it is decided
    const BbAnswer *answer; // NULL: none
} BbHearing;

void bb_dialog_set_decoder(BbDialog *dialog, const BbDecoder *decoder);

// The first decoder in the table that the bytes of both sides look like. more: whether there is
// none yet, but more of the answer may tell.
const BbDecoder *bb_dialog_find_by_answer(const BbDialog *dialog, const BbAnswer *answer,
                                          bool *more);

// Finds the decoder by the first bytes of side. Returns false when more bytes may decide.
bool bb_dialog_choose_decoder(BbDialog *dialog, guint side, const BbView *view, BbHearing hearing);

// An unknown protocol, or one joined in the middle, is looked at again when a turn begins: what is
// likely at its port must do, as at first. Returns false when more bytes of the turn may decide:
// they are to be kept, and looked at again with those.
bool bb_dialog_probe_turn(BbDialog *dialog, guint side, const BbView *view);

// The decoder was wrong: the bytes it did not take are for another one.
void bb_dialog_give_up_decoder(BbDialog *dialog);
