// SPDX-License-Identifier: Apache-2.0
// In: encrypted messages. Out: calls by turns, free messages.
#include "capture/protocols/hidden.h"

void bb_hidden_take(guint64 *call, BbDialog *dialog, const BbPart *part)
{
    bool waiting = *call && bb_dialog_get(dialog, *call);
    guint32 label = bb_dialog_label(dialog, "?", 1);
    if (part->direction == BB_TO_SERVER && !waiting) {
        *call = bb_dialog_call(dialog, part, label, BB_HIDDEN_KEY, 0);
    } else if (part->direction == BB_TO_CLIENT && waiting) {
        bb_dialog_return(dialog, *call, part, BB_NAME_NONE);
        *call = 0;
    } else {
        bb_dialog_message(dialog, part, label, BB_NAME_NONE);
    }
}

void bb_hidden_gap(guint64 *call, BbDialog *dialog, BbDirection direction)
{
    if (direction == BB_TO_CLIENT && *call)
        bb_dialog_give_up(dialog, *call);
}
