// SPDX-License-Identifier: Apache-2.0
// Returns that take long to be complete: whoever waits for their last byte seems to work meanwhile.
#pragma once

#include "data/path.h"

// The returns of a callee to a caller.
typedef struct BbBlameRest {
    guint32 caller, callee;
    guint64 calls;  // that were waited for so
    gint64 rest_ns; // for how long, from first to last byte (BbCritical.rest_ns)
} BbBlameRest;

typedef struct BbBlameRests BbBlameRests;

// names is lent. Some 70 bytes for each pair of nodes.
BbBlameRests *bb_blame_rests_new(const BbNames *names);
void bb_blame_rests_free(BbBlameRests *rests);

void bb_blame_rests_add(BbBlameRests *rests, guint32 caller, guint32 callee, gint64 rest_ns);

// Of BbBlameRest, those of so much time or more, by falling time, then by names. The caller unrefs.
GArray *bb_blame_rests_find(const BbBlameRests *rests, double least_ns);
