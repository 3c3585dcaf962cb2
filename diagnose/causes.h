// SPDX-License-Identifier: Apache-2.0
// What really caused each message, by the ids, path= and parent= of a trace. A free-form message is
// caused by the message that parent= names. One that belongs to the work on a call is caused by the
// last message that arrived for it before: the call itself, or the return of a call made for it. It
// is lost where nothing that arrived for the work is in the trace.
// Where clocks put all that could be after it, the message that began the work is the cause.
#pragma once

#include "diagnose/effects.h"

// Writes truth and real of all effects.
void bb_causes_find(BbEffects *effects);
