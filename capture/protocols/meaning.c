// SPDX-License-Identifier: Apache-2.0
// In: what a message means, its beginning and its end. Out: calls, returns, free messages.
#include "capture/protocols/meaning.h"

void bb_meaning_begin(BbMeaning *meaning, BbDialog *dialog, const BbPart *part)
{
    if (meaning->means == BB_MEANS_CALL)
        meaning->call =
            bb_dialog_open_by(dialog, part, meaning->op, meaning->key, meaning->tag, meaning->use);
}

static void answer(const BbMeaning *meaning, BbDialog *dialog, const BbPart *part)
{
    const BbOpenCall *open = bb_dialog_find(dialog, part, meaning->key);
    bb_dialog_return(dialog, open ? open->call : 0, part, meaning->status);
}

void bb_meaning_end(BbMeaning *meaning, BbDialog *dialog, const BbPart *part)
{
    BbMeaning done = *meaning;
    *meaning = (BbMeaning){0};
    if (!part->begun)
        return;
    switch (done.means) {
    case BB_MEANS_CALL:
        bb_dialog_sent(dialog, done.call, part);
        break;
    case BB_MEANS_RETURN:
        answer(&done, dialog, part);
        break;
    case BB_MEANS_FREE:
        bb_dialog_message(dialog, part, done.op, done.status);
        break;
    case BB_MEANS_NOTHING:
        break;
    }
}
