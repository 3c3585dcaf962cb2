// SPDX-License-Identifier: Apache-2.0
// Which of the calls that a node makes follow what happens at it, and which nobody causes: known of
// kinds, not of single calls, before any assignment.
#pragma once

#include "nesting/lags.h"

// What happens at a site and at its node, in order of time. site and scale are lent.
typedef struct BbCaused BbCaused;

BbCaused *bb_caused_new(const BbSite *site, const BbGapScale *scale);
void bb_caused_free(BbCaused *caused);

// Share of the calls of a type without candidates (nested: of each child, whether it has some) that
// follow the arrival or the reply of calls to the node, or the return of its calls that are nested,
// at lags that chance does not explain, or that are made while a call to the node is open, beyond
// chance; the largest. 0 where that cannot be told. (Where many calls are open being made while one
// is shows nothing: bb_caused_find asks what they follow only.)
double bb_caused_share(const BbCaused *caused, guint type, const bool *nested);

// Share of them that follow the arrival or the reply of calls to the node at lags up to a longer
// reach, in quanta, beyond what is so of calls of the type at other times, where they are nested in
// none either. 0 where that is less than due, or cannot be told.
double bb_caused_later(const BbCaused *caused, gint64 reach, guint type, const bool *nested,
                       double due);

// How many of the calls of a type calls to the node made while they were open: as many as are made
// then, but for what is so a while before and after.
typedef struct BbCausedWithin {
    double of_all;  // share of the type, at most; 1 where that cannot be told, as is
    double of_open; // share of those that are made while a call to the node is open
    double follow;  // so many follow an arrival at lags that chance does not explain; then all
} BbCausedWithin;

BbCausedWithin bb_caused_within(const BbCaused *caused, guint type);

// Which types ([c]) are of calls that are caused: those that follow arrivals or replies, or returns
// of types that do; and those of which that cannot be told.
void bb_caused_find(const BbCaused *caused, bool *is_caused);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaused, bb_caused_free)
