// SPDX-License-Identifier: Apache-2.0
// Which kinds of parents do the same. A node mostly does for one caller what it does for another,
// and what is learned from the calls of both is learned better; but not always.
//
// Kinds are one if what is known of both together foretells the gaps and the numbers of children of
// both no worse than what is known of each foretells its own, or so little worse that it is chance:
// leave-one-out, so that more freedom gains nothing by itself.
//
// Cost: densities fitted grow with the square of the number of groups; most pairs are told apart by
// their counts or first gaps.
#pragma once

#include "nesting/slot.h"

// What is known of one kind.
typedef struct BbKnownKind {
    double n;           // parents
    BbSlot **slots;     // [n_slots], fitted; NULL where never seen
    const double *seen; // [n_counts]: parents with so many children of a type (counts.h)
} BbKnownKind;

typedef struct BbKin {
    guint n_slots, n_counts; // of each kind
    const BbGapScale *scale;
} BbKin;

// Fills group[0 .. n) with the number of the most frequent kind that does the same. Kinds without
// parents are taken for the most frequent of all.
void bb_kin_find(const BbKin *kin, const BbKnownKind *kinds, guint n, guint16 *group);
