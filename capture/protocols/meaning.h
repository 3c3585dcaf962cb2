// SPDX-License-Identifier: Apache-2.0
// What a message that arrives in pieces means to the dialog, from its first bytes on: a decoder
// finds it out at the beginning, and it is carried out then and when the message is over.
#pragma once

#include "capture/dialog.h"

typedef enum { BB_MEANS_NOTHING, BB_MEANS_CALL, BB_MEANS_RETURN, BB_MEANS_FREE } BbMeans;

// Zeroed: nothing.
typedef struct BbMeaning {
    BbMeans means;
    BbKeyUse use;
    guint32 op;     // of calls and free messages
    guint32 status; // of returns; of free messages BB_NAME_NONE or that they tell of an error
    guint32 tag;
    guint64 key;  // of the call, or of the call that this answers
    guint64 call; // the call that was opened
} BbMeaning;

// part: the first bytes at least. A call is opened at once, since its answer may be seen before
// its end.
void bb_meaning_begin(BbMeaning *meaning, BbDialog *dialog, const BbPart *part);
// The message is over, as far as it was seen. It is nothing afterwards.
void bb_meaning_end(BbMeaning *meaning, BbDialog *dialog, const BbPart *part);
