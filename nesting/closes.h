// SPDX-License-Identifier: Apache-2.0
// Returns that nobody read (BB_STATUS_UNREAD): when their callers had closed the connections, where
// that was seen.
#pragma once

#include "data/names.h"
#include "data/path.h"
#include "nesting/sighting.h"

// ends: of what ends calls (bb_message_ends_call), as of their returns, in any order. Fills
// return_end_ns (data/call.h) of such calls with the first one between call and return that the
// caller saw, else that its callee did.
void bb_closes_note(const BbSighting *ends, guint n, BbPaths *paths, const BbNames *names);
