// SPDX-License-Identifier: Apache-2.0
// Observers that come from several inputs by other clocks: their own traces, and a merge that has
// corrected these. What both have has two times, and stands twice in what is merged of them. What
// an observer tells twice by one clock does not matter: the join makes it one.
//
// Of each observer's places in connections those BB_REPEATS_KEYS are kept that have the lowest
// keys: of all inputs the same, so that their share that came with two times is that of all.
// Datagrams, which are sent again, and ids, which are used again, say nothing.
//
// Memory: 2 KiB an observer, of BB_REPEATS_OBSERVERS observers; others are not looked at.
#pragma once

#include "merge/sighting.h"

#define BB_REPEATS_KEYS 64u
#define BB_REPEATS_LEAST 4u // keys with two times, of an observer that is told
#define BB_REPEATS_OBSERVERS 4096u

typedef struct BbRepeats BbRepeats;

BbRepeats *bb_repeats_new(void);
void bb_repeats_free(BbRepeats *repeats);

// Takes a sighting of this input, in any order.
void bb_repeats_add(BbRepeats *repeats, const BbMessage *message, const BbSightingKey *key,
                    guint input);

typedef struct BbRepeat {
    guint32 observer;
    guint input, other; // two that have the same of it at other times
    gint64 apart_ns;    // how much later in other
    guint64 twice;      // sightings that stand twice, about
} BbRepeat;

// Those with most first, then by their texts in names. The array of BbRepeat is yours.
GArray *bb_repeats_list(const BbRepeats *repeats, const BbNames *names);

// Their sum, as a counter of a trace, and a sentence for people.
#define BB_REPEATS_TWO_CLOCKS "merge_two_clocks"
#define BB_REPEATS_MEANING "messages that stand twice, by two clocks of one observer (about)"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRepeats, bb_repeats_free)
