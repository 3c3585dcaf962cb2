// SPDX-License-Identifier: Apache-2.0
// Counts by a key of three numbers: histograms of many triples with few filled bins each, without
// an allocation per triple.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbTallyKey {
    guint32 a, b, c;
} BbTallyKey;

typedef struct BbTallyEntry {
    BbTallyKey key;
    guint32 round; // in use when equal to the table's
    guint64 count;
} BbTallyEntry;

typedef struct BbTally {
    BbTallyEntry *entries; // open addressing, linear probing
    gsize mask, used;
    guint64 seed; // of the hash: keys come from traces that anyone may have written
    guint32 round;
} BbTally;

void bb_tally_init(BbTally *tally);
void bb_tally_clear(BbTally *tally);

// Forgets every count, keeps the memory; costs nothing.
void bb_tally_reset(BbTally *tally);

// Doubles the room; bb_tally_at does it where needed.
void bb_tally_grow(BbTally *tally);

// Copies of all entries, in no order; *count says how many. The caller frees.
BbTallyEntry *bb_tally_entries(const BbTally *tally, gsize *count);

// The rest is inline: it runs for every candidate of every call.

static inline bool bb_tally_key_equal(BbTallyKey x, BbTallyKey y)
{
    return x.a == y.a && x.b == y.b && x.c == y.c;
}

static inline gsize bb_tally_hash(const BbTally *tally, BbTallyKey key)
{
    guint64 mixed =
        (tally->seed ^ (((guint64)key.a << 32) | key.b)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    mixed ^= (mixed >> 32) + key.c;
    mixed *= G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    return (gsize)(mixed ^ (mixed >> 32));
}

// The entry of key, or the free one where it belongs.
static inline BbTallyEntry *bb_tally_slot(const BbTally *tally, BbTallyKey key)
{
    gsize at = bb_tally_hash(tally, key) & tally->mask;
    while (tally->entries[at].round == tally->round &&
           !bb_tally_key_equal(tally->entries[at].key, key))
        at = (at + 1) & tally->mask;
    return &tally->entries[at];
}

// The count of key, made as 0 when new; good until the next new key.
static inline guint64 *bb_tally_at(BbTally *tally, BbTallyKey key)
{
    BbTallyEntry *slot = bb_tally_slot(tally, key);
    if (slot->round == tally->round)
        return &slot->count;
    if (2 * tally->used > tally->mask) {
        bb_tally_grow(tally);
        slot = bb_tally_slot(tally, key);
    }
    tally->used++;
    *slot = (BbTallyEntry){.key = key, .round = tally->round};
    return &slot->count;
}

// The count of key, 0 when there is none.
static inline guint64 bb_tally_get(const BbTally *tally, BbTallyKey key)
{
    const BbTallyEntry *slot = bb_tally_slot(tally, key);
    return slot->round == tally->round ? slot->count : 0;
}
