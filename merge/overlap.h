// SPDX-License-Identifier: Apache-2.0
// How much observers see of the same: for each two of them, messages that both saw, and messages
// that only one saw on edges (from one node to another) where both see something.
//
// At most BB_OVERLAP_ROWS edges with their observers are told apart; what comes beyond is counted
// in bb_overlap_left_out only.
#pragma once

#include "data/names.h"

#define BB_OVERLAP_ROWS 262144u // 64 bytes each

typedef struct BbOverlap BbOverlap;

typedef struct BbOverlapPair {
    guint32 a, b; // observers: names, a's text is the lesser
    guint64 both, only_a, only_b;
    gint64 least_ns, most_ns; // delay between the sightings, earlier to later
} BbOverlapPair;

BbOverlap *bb_overlap_new(void);
void bb_overlap_free(BbOverlap *overlap);

// An observer saw a message at this time.
void bb_overlap_saw(BbOverlap *overlap, guint32 sender, guint32 receiver, guint32 observer,
                    gint64 time_ns);
// Two of these sightings were one message.
void bb_overlap_both(BbOverlap *overlap, guint32 sender, guint32 receiver, guint32 first,
                     guint32 second, gint64 delay_ns);

// Pairs that saw something in common, those with most first, then by their texts in names. The
// array of BbOverlapPair is yours.
GArray *bb_overlap_pairs(const BbOverlap *overlap, const BbNames *names);
// Likewise pairs that saw edges at the same time, and nothing in common there, though each saw
// BB_OVERLAP_APART messages or more on them: only_a and only_b are these, both is 0. Their clocks
// may be so far apart, or each saw another part. Those with most first.
#define BB_OVERLAP_APART 100u
GArray *bb_overlap_apart(const BbOverlap *overlap, const BbNames *names);
guint64 bb_overlap_left_out(const BbOverlap *overlap);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOverlap, bb_overlap_free)
