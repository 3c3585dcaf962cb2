// SPDX-License-Identifier: Apache-2.0
// In: keys of three numbers. Out: a count for each.
#include "data/tally.h"

#include "data/mix.h"

void bb_tally_init(BbTally *tally)
{
    *tally = (BbTally){.mask = 255, .seed = bb_mix_seed(), .round = 1};
    tally->entries = g_new0(BbTallyEntry, tally->mask + 1);
}

void bb_tally_clear(BbTally *tally)
{
    g_clear_pointer(&tally->entries, g_free);
}

void bb_tally_reset(BbTally *tally)
{
    tally->used = 0;
    if (++tally->round != 0)
        return;
    for (gsize i = 0; i <= tally->mask; i++) // once in 2^32 times
        tally->entries[i].round = 0;
    tally->round = 1;
}

void bb_tally_grow(BbTally *tally)
{
    BbTally larger = {
        .mask = 2 * tally->mask + 1, .used = tally->used, .seed = tally->seed, .round = 1};
    larger.entries = g_new0(BbTallyEntry, larger.mask + 1);
    for (gsize i = 0; i <= tally->mask; i++) {
        if (tally->entries[i].round != tally->round)
            continue;
        BbTallyEntry *slot = bb_tally_slot(&larger, tally->entries[i].key);
        *slot = tally->entries[i];
        slot->round = 1;
    }
    g_free(tally->entries);
    *tally = larger;
}

BbTallyEntry *bb_tally_entries(const BbTally *tally, gsize *count)
{
    BbTallyEntry *entries = g_new(BbTallyEntry, tally->used);
    *count = 0;
    for (gsize i = 0; i <= tally->mask; i++)
        if (tally->entries[i].round == tally->round)
            entries[(*count)++] = tally->entries[i];
    return entries;
}
