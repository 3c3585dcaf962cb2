// SPDX-License-Identifier: Apache-2.0
// What times of a kind usually are: mean and deviation of their logs, which a few that take for
// ever hardly move.
#pragma once

#include "data/call.h"
#include "data/tally.h"

typedef struct BbUsualTimes {
    guint64 count;
    double sum, squares; // of bb_usual_log
} BbUsualTimes;

typedef struct BbUsual BbUsual;

BbUsual *bb_usual_new(void);
void bb_usual_free(BbUsual *usual);

void bb_usual_add(BbUsual *usual, BbTallyKey kind, gint64 ns);

// NULL where there are none of the kind. Lent until the next one is added.
const BbUsualTimes *bb_usual_find(const BbUsual *usual, BbTallyKey kind);

// What is shorter than 1 ns counts as that.
double bb_usual_log(gint64 ns);

// The time that half of them are longer than, if their logs are spread alike to both sides; in ns.
gint64 bb_usual_middle(const BbUsualTimes *times);

// By how many deviations, but of `least` each at least, a time is off.
double bb_usual_off(const BbUsualTimes *times, gint64 ns, double least);

// Calls are alike if they have the same caller, callee and operation.
static inline BbTallyKey bb_usual_kind(const BbCall *call)
{
    return (BbTallyKey){call->caller, call->callee, call->op};
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbUsual, bb_usual_free)
