// SPDX-License-Identifier: Apache-2.0
// A sample of the connections of a trace: the same ones in every trace and in every run.
#pragma once

#include "data/message.h"

// Whether message belongs to the sample of one connection in every `of` (> 0). Told by a hash of
// the connection or, where that is not known, of the two nodes and the id; so both directions of it
// stand or fall together.
bool bb_sampling_takes(const BbMessage *message, const BbNames *names, guint64 of);
