// SPDX-License-Identifier: Apache-2.0
// Which calls failed (status.h), where there are many: each pair of a protocol and a status is
// looked at once.
#pragma once

#include "data/call.h"
#include "data/names.h"
#include "data/tally.h"

typedef struct BbFailures {
    const BbNames *names;
    BbTally known; // (protocol, status) -> 1, and 1 more for a failure
} BbFailures;

// names is lent.
void bb_failures_init(BbFailures *failures, const BbNames *names);
void bb_failures_clear(BbFailures *failures);

bool bb_failures_has(BbFailures *failures, const BbCall *call);
