// SPDX-License-Identifier: Apache-2.0
// Counts by a key of three numbers: histograms of many triples with few filled bins each, without
// an allocation per triple.
#pragma once

#include <glib.h>

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
    guint32 round;
} BbTally;

void bb_tally_init(BbTally *tally);
void bb_tally_clear(BbTally *tally);

// Forgets every count, keeps the memory; costs nothing.
void bb_tally_reset(BbTally *tally);

// The count of key, made as 0 when new; good until the next new key.
guint64 *bb_tally_at(BbTally *tally, BbTallyKey key);

// The count of key, 0 when there is none.
guint64 bb_tally_get(const BbTally *tally, BbTallyKey key);

// Copies of all entries, in no order; *count says how many. The caller frees.
BbTallyEntry *bb_tally_entries(const BbTally *tally, gsize *count);
