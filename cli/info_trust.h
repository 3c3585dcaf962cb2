// SPDX-License-Identifier: Apache-2.0
// How far a trace is to be trusted, in sentences: the last part of bbtrace info.
#pragma once

#include "data/counters.h"

typedef struct {
    guint64 messages, calls; // messages: calls, returns and free ones
    guint64 unreturned;      // calls without return, but for those that were cut off
    guint64 cut_off; // calls whose connection was closed before a return came: none was lost
    guint64 orphans; // returns without call
    guint64 early;   // calls whose return is stamped before them
    guint64 inward;  // calls that go from a node to itself
    gint64 half_ns;  // half of the calls returned within this; 0 where none did
    bool damaged;    // the file itself
} BbInfoMatched;

// Prints a verdict, and what it rests on.
void bb_info_print_trust(const BbInfoMatched *matched, const BbCounters *counters);
