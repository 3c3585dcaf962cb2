// SPDX-License-Identifier: Apache-2.0
// What several observers told of the network (data/network.h), and when each was watching: those
// that watched at different times saw different packets, others the same ones.
#pragma once

#include "data/network.h"

typedef struct BbWitnesses BbWitnesses;

BbWitnesses *bb_witnesses_new(void);
void bb_witnesses_free(BbWitnesses *witnesses);

// An observer watched for that long, too: the times of all it told of are from the first to the
// last. from_ns > to_ns: no time.
void bb_witnesses_watched(BbWitnesses *witnesses, guint32 observer, gint64 from_ns, gint64 to_ns);
// Adds to what it saw.
void bb_witnesses_saw(BbWitnesses *witnesses, guint32 observer, const BbNetworkEdge *edge);

// Adds to network, of each edge, in the order in which they were first told, what the observer says
// that saw most packets of it, then those that saw less, but for who watched at the same time as
// one who is believed already: for half of the shorter of both times, or more. Round trips are
// those of the first. What is told twice is less than half of what both saw. Cost: edges, times
// observers, and the square of those that are believed.
void bb_witnesses_tell(const BbWitnesses *witnesses, BbNetwork *network);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbWitnesses, bb_witnesses_free)
