// SPDX-License-Identifier: Apache-2.0
// The ground truth that a trace carries in the path= and parent= keys of its calls, kept from the
// reading of a call until the inference publishes it. What an inference is scored against; no
// algorithm reads it.
#pragma once

#include "data/call.h"

// What a trace tells of a call. Absent ids where it tells nothing.
typedef struct BbTruthFact {
    BbId path;   // the request that the call belongs to
    BbId parent; // id of the call that caused it; BB_ID_DASH: nothing did
} BbTruthFact;

// Memory: 80 bytes and a slot of 8 to 16 for each call that was pushed and not taken yet: with
// windows, those of a window.
typedef struct BbTruth BbTruth;

BbTruth *bb_truth_new(void);
void bb_truth_free(BbTruth *truth);

// Takes note of a message, in the order of the trace; all but calls are ignored.
void bb_truth_push(BbTruth *truth, const BbMessage *message);

// What was told of the call, which is then forgotten: each call is asked for once, those that are
// equal in nodes, id and time in the order of the trace. False, and nothing in *fact, when no such
// call was pushed.
bool bb_truth_take(BbTruth *truth, const BbCall *call, BbTruthFact *fact);

// Calls pushed and not taken yet.
guint32 bb_truth_waiting(const BbTruth *truth);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTruth, bb_truth_free)
