// SPDX-License-Identifier: Apache-2.0
// A moment from which time counts, by a clock that may be set back, such as stamps of packets.
#pragma once

#include "data/message.h"

// Stamps in the past after which the clock was set back: two clocks may alternate.
#define BB_SINCE_BACK 64u

typedef struct BbSince {
    gint64 ns;  // BB_TIME_NONE before the first
    guint back; // stamps before it that came after it
} BbSince;

static inline BbSince bb_since(gint64 time_ns)
{
    return (BbSince){time_ns, 0};
}

// Whether so much time has passed. A clock that was set back begins anew.
static inline bool bb_since_passed(BbSince *since, gint64 time_ns, gint64 least_ns)
{
    if (since->ns == BB_TIME_NONE || (time_ns < since->ns && ++since->back > BB_SINCE_BACK))
        *since = bb_since(time_ns);
    return time_ns - since->ns >= least_ns;
}
