// SPDX-License-Identifier: Apache-2.0
// From what may have caused each message to what did: one cause each at most, and no more effects
// of a message than a link allows.
#pragma once

#include "convolution/explain.h"

typedef struct BbAssignment {
    guint32 n;       // messages
    guint32 *cause;  // by message: its cause, BB_CALL_NO_PARENT where it has none
    guint32 *choice; // by message: index into the causes of its stream's explanation
    float *chance;   // by message: of the choice, before any weights; or that it has no cause
    guint8 *uses;    // by message: effects it has on the stream at hand; 0 between streams
} BbAssignment;

BbAssignment *bb_assignment_new(guint32 n);
void bb_assignment_free(BbAssignment *assignment);

// Assigns the messages of a stream. weight: by cause, what multiplies its chance; NULL: 1. The
// likeliest pairs first; what is left then takes what it can get, if it may not be without cause.
void bb_assignment_make(BbAssignment *assignment, const BbExplanation *explanation,
                        const float *weight);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAssignment, bb_assignment_free)
