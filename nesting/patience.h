// SPDX-License-Identifier: Apache-2.0
// How long a caller waited for calls without return. What hangs, or times out and is made again,
// costs a request most: without it that time would be the work of the node that waited.
#pragma once

#include "data/groups.h"
#include "data/path.h"

// Fills return_end_ns (data/call.h) of the calls without return that have a parent: their caller
// went on with the first message that it sent for the parent after half of the time that such a
// call usually takes, at the latest with its reply. Sooner, it sends what it would have sent
// anyway: calls that are made at once. Nobody waits longer than until return_end_ns, where that is
// known before (nesting/unread.h). kids: of each call, in order of time; order: all calls, each
// after its kids.
void bb_patience_find_ends(BbPaths *paths, const BbGroups *kids, const guint32 *order);
