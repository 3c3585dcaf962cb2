// SPDX-License-Identifier: Apache-2.0
// From a sample of sightings to the pairs of observers that saw the same messages.
#pragma once

#include "merge/clock_order.h"
#include "merge/sightings.h"

// A message that more observers saw is compared among so many of them.
#define BB_CLOCK_OBSERVERS_MAX 8

typedef struct BbClockMatches {
    guint a, b;      // observers, a < b
    GArray *matches; // of BbClockMatch
} BbClockMatches;

// The pairs of observers in order of a and b. *ambiguous counts keys that one observer has more
// than once, in one direction: which sighting belongs to which cannot be told. Free with
// g_ptr_array_unref.
GPtrArray *bb_clock_matches_list(const BbSeen *seen, gsize count, guint64 *ambiguous);

// The node that is an end of nearly all messages an observer saw, and the only such; 0 if there is
// none. One for each observer below observers. The result is yours.
guint32 *bb_clock_places(const BbSeen *seen, gsize count, guint observers);
