// SPDX-License-Identifier: Apache-2.0
// In: bytes of a stream whose place is lost. Out: where a packet begins with a message.
#include "capture/protocols/lost.h"

gssize bb_lost_find(bool *lost, BbDialog *dialog, const BbView *view,
                    BbMatch (*probe)(const guint8 *data, gsize length), BbMatch least)
{
    gsize at = 0;
    for (; at < view->length; at = bb_view_next_packet(view, at)) {
        BbMatch match = probe(view->data + at, view->length - at);
        if (match == BB_MATCH_MORE && !view->closed)
            break;
        *lost = match < least;
        if (!*lost) {
            bb_dialog_resynced(dialog);
            break;
        }
    }
    bb_dialog_unread(dialog, view->direction, at);
    return (gssize)at;
}

gssize bb_lost_here(bool *lost, BbDialog *dialog, const BbView *view)
{
    gsize next = bb_view_next_packet(view, 0);
    *lost = true;
    bb_dialog_unread(dialog, view->direction, next);
    return (gssize)next;
}
