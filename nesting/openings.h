// SPDX-License-Identifier: Apache-2.0
// The calls that wait for something, by (caller, callee, id): an open-addressing table whose size
// follows the calls under way, not those of the trace.
#pragma once

#include "data/call.h"

#define BB_OPENING_NONE G_MAXUINT32

typedef struct BbOpeningKey {
    BbId id;
    guint32 caller, callee;
} BbOpeningKey;

// Ways in which a message is sighted: a call or a return; at its sender, its receiver, or both.
#define BB_OPENING_WAYS 6

// A slot is free when it holds neither calls nor a return.
typedef struct BbOpening {
    BbOpeningKey key;
    guint32 first, last;              // chain of calls in order of time
    guint32 lacking[BB_OPENING_WAYS]; // no call of the chain before it waits for such a sighting;
                                      // BB_OPENING_NONE: no call at all does
    guint32 answered;                 // calls of the chain with a return; the caller counts
    guint32 early;                    // a return that came before its call; an index of the
                                      // owner's
    guint32 early_call;               // the call that came next after it
} BbOpening;

typedef struct BbOpenings {
    BbOpening *slots;
    gsize mask, used;
    guint64 seed; // of the hash: whoever wrote the trace chose the ids
} BbOpenings;

void bb_openings_init(BbOpenings *openings);
void bb_openings_clear(BbOpenings *openings);

// The entry of key, NULL when there is none. Entries are good until the next add or drop.
BbOpening *bb_openings_find(const BbOpenings *openings, const BbOpeningKey *key);

// As find, but makes an empty entry, which the caller must fill.
BbOpening *bb_openings_add(BbOpenings *openings, const BbOpeningKey *key);

// Removes entry if it is empty.
void bb_openings_drop_empty(BbOpenings *openings, BbOpening *entry);

static inline bool bb_opening_is_empty(const BbOpening *entry)
{
    return entry->first == BB_OPENING_NONE && entry->early == BB_OPENING_NONE;
}
