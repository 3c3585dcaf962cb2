// SPDX-License-Identifier: Apache-2.0
// A site is learned: a model from one to four beginnings, on all of its calls, or on a sample of
// them where they are many and few are open at once; and the likeliest assignment of all of them.
#pragma once

#include "nesting/onset.h"
#include "nesting/search.h"

// What was learned from one beginning: a model, and the likeliest assignment under it.
typedef struct BbGuess {
    guint beginning;
    BbModel *model;
    guint32 *parent; // of children
    double likelihood;
} BbGuess;

typedef struct BbLearned {
    GPtrArray *guesses; // of BbGuess, the likeliest first
    BbFifo *fifo;       // NULL where too many calls are open at once
    BbSearch *search;   // under the likeliest model; the site holds its assignment
} BbLearned;

// The site's durations are ranked (durations.h). It is lent, and must outlive the value, which the
// caller clears.
BbLearned bb_learning_run(BbSite *site, const BbOnset *onset, const BbGapScale *scale);
void bb_learned_clear(BbLearned *learned);

static inline const BbGuess *bb_learned_best(const BbLearned *learned)
{
    return g_ptr_array_index(learned->guesses, 0);
}

// Order counts for the search as the model has learned it, if it plays a part.
void bb_learning_order(BbSearch *search, BbFifo *fifo, const BbModel *model, const BbSite *site);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbLearned, bb_learned_clear)
