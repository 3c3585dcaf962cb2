// SPDX-License-Identifier: Apache-2.0
// What two streams have in common because both are busy at the same times.
#pragma once

#include "convolution/streams.h"

typedef struct BbTrafficLoad {
    double pairs; // of messages a nanosecond of lag, by chance: sum of the products of their
                  // numbers in each block of time, divided by the block's length
    double crowd; // messages of both a nanosecond, where there are pairs
} BbTrafficLoad;

// start_ns: of the trace; block_ns: over which the load is taken as constant.
BbTrafficLoad bb_load_measure(const BbStream *in, const BbStream *out, gint64 start_ns,
                              double block_ns);

// Over which the load is taken as constant, in ns: several longest lags, or a small part of the
// trace, whichever is longer.
double bb_load_calm_ns(double longest_lag_ns, double trace_ns);
