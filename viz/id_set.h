// SPDX-License-Identifier: Apache-2.0
// A set of ids. Ids that count up, as a capture gives them, take next to nothing: runs of them are
// held as ranges (at most BB_ID_SET_RANGES), 64 neighbours as one entry of 24 bytes. Any other id
// is an entry of its own.
#pragma once

#include "data/message.h"

#define BB_ID_SET_RANGES 256u

typedef struct BbIdSet BbIdSet;

BbIdSet *bb_id_set_new(void);
void bb_id_set_free(BbIdSet *set);

// Returns whether id was new.
bool bb_id_set_add(BbIdSet *set, BbId id);
bool bb_id_set_has(const BbIdSet *set, BbId id);

gsize bb_id_set_entries(const BbIdSet *set); // ranges not counted

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbIdSet, bb_id_set_free)
