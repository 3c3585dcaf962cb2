// SPDX-License-Identifier: Apache-2.0
// Which calls without return hang: a return would have come, had there been one. The others were
// made so shortly before the end that calls like them lasted longer, and tell nothing.
#pragma once

#include "data/call.h"

// [call]: whether it has no return and hangs; those whose like never returned do. NULL where all
// returned. The caller frees.
bool *bb_hanging_find(const BbCall *calls, guint32 n_calls);
