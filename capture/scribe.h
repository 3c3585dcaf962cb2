// SPDX-License-Identifier: Apache-2.0
// Plays the tapes of several threads in one order, that of the packets, into a context: what was
// found there gets the ids and names it has in the trace, the same whichever thread found it, and
// whenever.
#pragma once

#include "capture/context.h"
#include "capture/kept.h"
#include "capture/tape.h"

#define BB_SCRIBE_TAPES 64u

typedef struct BbScribe BbScribe;

// Everything is lent. out: without tape. names: of each shard; files: of the files that frames are
// of (BbPlace). Their texts are read in this thread while others go on (data/names.h).
BbScribe *bb_scribe_new(BbContext *out, BbKept *kept, const BbNames *files,
                        const BbNames *const *names, guint shards);
void bb_scribe_free(BbScribe *scribe);

typedef struct BbScribeRound {
    bool last;
    guint mark;  // of the round
    BbLoss loss; // where there is one: what all have counted up to it
} BbScribeRound;

// Takes one round from each tape (at most BB_SCRIBE_TAPES), waiting for it, and plays it. Goes on
// taking, and plays nothing more, once *stop (atomic) is set.
BbScribeRound bb_scribe_play(BbScribe *scribe, BbTape *const *tapes, guint n_tapes,
                             const gint *stop);
