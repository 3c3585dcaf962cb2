// SPDX-License-Identifier: Apache-2.0
// In: pieces of messages. Out: their sums.
#include "capture/protocols/gather.h"

#include <string.h>

static BbGathered *find(BbGather *gather, guint64 key)
{
    for (guint i = 0; i < gather->used; i++)
        if (gather->slot[i].key == key)
            return &gather->slot[i];
    return NULL;
}

static void forget(BbGather *gather, BbGathered *gathered)
{
    gsize index = (gsize)(gathered - gather->slot);
    gather->used--;
    memmove(gathered, gathered + 1, (gather->used - index) * sizeof *gathered);
}

void bb_gather_add(BbGather *gather, BbDialog *dialog, guint64 key, const BbPart *piece)
{
    BbGathered *gathered = find(gather, key);
    if (gathered) {
        bb_part_join(&gathered->part, piece);
        return;
    }
    if (gather->used == BB_GATHER_SLOTS) {
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
        forget(gather, &gather->slot[0]);
    }
    gather->slot[gather->used++] = (BbGathered){.key = key, .part = *piece};
}

BbPart bb_gather_take(BbGather *gather, guint64 key, const BbPart *piece)
{
    BbGathered *gathered = find(gather, key);
    if (!gathered)
        return *piece;
    BbPart whole = gathered->part;
    bb_part_join(&whole, piece);
    forget(gather, gathered);
    return whole;
}

bool bb_gather_pop(BbGather *gather, BbGathered *out)
{
    if (!gather->used)
        return false;
    *out = gather->slot[0];
    forget(gather, &gather->slot[0]);
    return true;
}
