// SPDX-License-Identifier: Apache-2.0
// Quiet commands of memcached: whether one is answered shows only when a later answer comes. Until
// then they wait, at most BB_MEMCACHED_QUIET_MAX of them, oldest first.
#pragma once

#include "capture/dialog.h"

#define BB_MEMCACHED_QUIET_MAX 512u // fewer than the calls that a dialog holds open

typedef struct BbMemcachedQuiet {
    guint64 call;
    BbPart request;
    guint32 token; // the decoder's own, as is kind
    guint8 kind;
} BbMemcachedQuiet;

typedef struct BbMemcachedQuiets {
    GArray *array; // of BbMemcachedQuiet; NULL until there is one
} BbMemcachedQuiets;

guint bb_memcached_quiets_count(const BbMemcachedQuiets *quiets);
const BbMemcachedQuiet *bb_memcached_quiets_oldest(const BbMemcachedQuiets *quiets);
// Beyond the limit the oldest is taken for not answered.
void bb_memcached_quiets_add(BbMemcachedQuiets *quiets, BbDialog *dialog,
                             const BbMemcachedQuiet *quiet);
// Which of them is call; their number if none.
guint bb_memcached_quiets_find(const BbMemcachedQuiets *quiets, guint64 call);
// The oldest ones are not answered any more: they are written as one-way, and forgotten.
void bb_memcached_quiets_end(BbMemcachedQuiets *quiets, BbDialog *dialog, guint count);
// The oldest one is answered: its call is written, and it is forgotten. Returns the call.
guint64 bb_memcached_quiets_answer(BbMemcachedQuiets *quiets, BbDialog *dialog);
