// SPDX-License-Identifier: Apache-2.0
// How long something takes: a sum of random terms, as a scenario states it (bbtrace-scenario(5)).
#pragma once

#include "data/random.h"

#define BB_DELAY_TERMS 4u
#define BB_DELAY_MAX_NS (G_GINT64_CONSTANT(1000000000) * 1000000000) // no sample is longer

typedef enum {
    BB_DELAY_CONSTANT,    // a
    BB_DELAY_NORMAL,      // mean a, deviation b; what is not above 0 is drawn again
    BB_DELAY_UNIFORM,     // from a to b
    BB_DELAY_EXPONENTIAL, // mean a
    BB_DELAY_LOGNORMAL,   // exp of a normal number of mean a, deviation b (of ln ns)
    BB_DELAY_PARETO,      // least a, shape b
} BbDelayKind;

typedef struct BbDelayTerm {
    BbDelayKind kind;
    double a, b; // nanoseconds, where not said otherwise
} BbDelayTerm;

typedef struct BbDelay {
    guint count; // of terms; 0 is no delay
    BbDelayTerm terms[BB_DELAY_TERMS];
} BbDelay;

// A log-normal term by its own mean and deviation, both in nanoseconds, mean > 0.
BbDelayTerm bb_delay_lognormal(double mean, double deviation);

// A sample, in [0, BB_DELAY_MAX_NS].
gint64 bb_delay_sample(const BbDelay *delay, BbRandom *random);
