// SPDX-License-Identifier: Apache-2.0
// How finely, and how far back, to look for causes: from 1 us to hours, nobody has to know. From
// counts of lags in bins that grow with the lag.
#pragma once

#include "convolution/streams.h"

typedef struct BbScale {
    gint64 quantum_ns;   // a fifth of the smallest spread of a delay; 0: nothing was found
    gint64 max_delay_ns; // several times the longest delay
    gint64 step_ns;      // of the clocks, as far as it shows: the quantum is a multiple of it
} BbScale;

// A scale that all of them fit in; nothing of none.
BbScale bb_scale_widest(const BbScale *scales, guint n);

// What the lags between streams at the same node show. Time: some 200 steps for each of some
// thousand messages of some hundred pairs of streams.
BbScale bb_scale_guess(const BbStreams *streams, gint64 start_ns, gint64 end_ns);
