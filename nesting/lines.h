// SPDX-License-Identifier: Apache-2.0
// Nodes of several processes, each with so many workers and a line of its own: a connection stays
// with the process that accepted it, so what comes on it waits for the workers of that one, however
// idle the others are (keep-alive before gunicorn, puma, a cluster of anything).
//
// Which connections share a line shows in the times alone: of all ways to deal them out, calls last
// the most alike from when their turns come where it is the true one.
#pragma once

#include "nesting/gap.h"
#include "nesting/served.h"

// Sets the line of each of the n calls to a node, in order of arrival. Returns how many workers
// each line has; 0: there are no such lines, and all calls stand in line 0.
// Cost: a search over 4,096 of the calls at most. Where there are no lines, 30 ms with 12
// connections, 0.8 s with 64; up to twice that where there are. Then a pass over all calls, and
// some 10 ms for each connection that is not in the sample.
guint bb_lines_find(BbServed *served, guint32 n, const BbGapScale *scale);
