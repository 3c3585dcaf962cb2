// SPDX-License-Identifier: Apache-2.0
// Returns that nobody read (BB_STATUS_UNREAD): the caller had closed the connection when they came.
// To the caller they are none, whatever it did next; what its callee did until then is known. So
// are closed connections (BB_STATUS_CLOSED), which nesting/pairs.h takes for the returns of calls
// that get none.
#pragma once

#include "data/path.h"

typedef struct BbUnread BbUnread;

// Takes those returns from the calls of paths, which are late then (data/call.h); return_end_ns is
// when the connection was closed, on the caller's clock, where that is known. NULL: there are none.
// names, lent: of the calls' statuses.
BbUnread *bb_unread_take(BbPaths *paths, const BbNames *names);
void bb_unread_free(BbUnread *unread);

// They are calls that hang ([call], nesting/hanging.h), be the trace over soon or not.
void bb_unread_add_hanging(const BbUnread *unread, bool *hanging);
// Parents were found. Gives back the returns of those without one: nobody's request is known that
// went on, and it is until then that theirs was worked on. The others count as late.
void bb_unread_give_back(const BbUnread *unread, BbPaths *paths);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbUnread, bb_unread_free)
