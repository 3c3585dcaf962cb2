// SPDX-License-Identifier: Apache-2.0
// How far the clocks of several observers are to be trusted: what a merge left in the counters of a
// trace, and what that means to an inference.
#pragma once

#include "data/counters.h"

// By how many nanoseconds times of two observers may be wrong against each other.
#define BB_CLOCK_ERROR "merge_clock_error_ns"
// Returns that preceded their calls, or their arrival: moved to their time, or left there.
#define BB_RETURNS_MOVED "merge_returns_moved"
#define BB_RETURNS_BEFORE "merge_returns_before"
// The calls that these are of: the merge wrote so many, of which a trace may have a part.
#define BB_CALLS_MERGED "merge_calls"

// Messages of an observer between nodes, and at a time, of which another one saw messages too, and
// none of them was joined: unless each saw others, so many stand twice, as clocks differ.
#define BB_SIGHTINGS_APART "merge_apart"

// Messages that two observers are known to have seen, and that were not joined: they stand twice.
#define BB_SIGHTINGS_TWICE "merge_twice"
// Observers whose clock could not be known, and that were not corrected.
#define BB_CLOCKS_UNKNOWN "merge_clocks_unknown"
// Times that the clock by which all others were corrected stepped back.
#define BB_CLOCK_FALLS "merge_reference_set_back"

typedef struct BbClockDoubt {
    guint64 error_ns; // 0: not known
    double share;     // of the calls, how many have a return that preceded them, or their
                      // arrival; 0 to 1
} BbClockDoubt;

#define BB_CLOCK_DOUBT_LEAST 0.01 // a share from which on paths suffer

// calls: those of the trace, where the merge did not say how many it wrote.
BbClockDoubt bb_clock_doubt_of(const BbCounters *counters, guint64 calls);

// A sentence on calls that are too short for these clocks, and what to do about it. The caller's;
// NULL where there are fewer than BB_CLOCK_DOUBT_LEAST.
char *bb_clock_doubt_tell(const BbClockDoubt *doubt);
