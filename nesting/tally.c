// SPDX-License-Identifier: Apache-2.0
// In: keys of three numbers. Out: a count for each.
#include "nesting/tally.h"

#include <stdbool.h>

static gsize hash(BbTallyKey key)
{
    guint64 mixed = (((guint64)key.a << 32) | key.b) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    mixed ^= (mixed >> 32) + key.c;
    mixed *= G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    return (gsize)(mixed ^ (mixed >> 32));
}

static bool same(BbTallyKey x, BbTallyKey y)
{
    return x.a == y.a && x.b == y.b && x.c == y.c;
}

static BbTallyEntry *slot_of(const BbTally *tally, BbTallyKey key)
{
    gsize at = hash(key) & tally->mask;
    while (tally->entries[at].round == tally->round && !same(tally->entries[at].key, key))
        at = (at + 1) & tally->mask;
    return &tally->entries[at];
}

void bb_tally_init(BbTally *tally)
{
    *tally = (BbTally){.mask = 255, .round = 1};
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
    for (gsize i = 0; i <= tally->mask; i++)
        tally->entries[i].round = 0;
    tally->round = 1;
}

static void grow(BbTally *tally)
{
    BbTally larger = {.mask = 2 * tally->mask + 1, .used = tally->used, .round = 1};
    larger.entries = g_new0(BbTallyEntry, larger.mask + 1);
    for (gsize i = 0; i <= tally->mask; i++) {
        if (tally->entries[i].round != tally->round)
            continue;
        BbTallyEntry *slot = slot_of(&larger, tally->entries[i].key);
        *slot = tally->entries[i];
        slot->round = 1;
    }
    g_free(tally->entries);
    *tally = larger;
}

guint64 *bb_tally_at(BbTally *tally, BbTallyKey key)
{
    BbTallyEntry *slot = slot_of(tally, key);
    if (slot->round == tally->round)
        return &slot->count;
    if (2 * tally->used > tally->mask) {
        grow(tally);
        slot = slot_of(tally, key);
    }
    tally->used++;
    *slot = (BbTallyEntry){.key = key, .round = tally->round};
    return &slot->count;
}

guint64 bb_tally_get(const BbTally *tally, BbTallyKey key)
{
    const BbTallyEntry *slot = slot_of(tally, key);
    return slot->round == tally->round ? slot->count : 0;
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
