// SPDX-License-Identifier: Apache-2.0
// Workers (processes, threads) that keep an outgoing connection each, to one of the three nodes
// that they call most often. All calls on it between two replies are of one request, that of the
// later reply; so once it is known on which connection the calls of each request went, it is known
// which request its worker had before, and when its turn came. That takes neither a line that is
// common to all (workers.h) nor incoming connections that stay open (lines.h), and shows in the
// times alone: a worker replies soon after the last return on its connection, and after as many
// calls as others.
#pragma once

#include "nesting/gap.h"
#include "nesting/served.h"

typedef struct BbKeepers BbKeepers;

// Learns from n requests to a node, in order of arrival, and the calls it made: indices into calls,
// in order of call_ns. NULL: they are on too few connections or too many, or several calls at once
// on one. Cost: linear, times connections.
BbKeepers *bb_keepers_learn(const BbServed *served, guint32 n, const BbCall *calls,
                            const guint32 *made, guint32 n_made, const BbGapScale *scale);
void bb_keepers_free(BbKeepers *keepers);

// When each of n requests to the same node began; G_MININT64 where the connections do not tell.
void bb_keepers_begin(const BbKeepers *keepers, const BbServed *served, guint32 n,
                      const BbCall *calls, const guint32 *made, guint32 n_made, gint64 *begun);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbKeepers, bb_keepers_free)
