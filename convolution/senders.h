// SPDX-License-Identifier: Apache-2.0
// What each node sends, in quanta, and which of it follows messages that the node gets (paper,
// figure 6: the messages at d +- v).
#pragma once

#include "convolution/correlator.h"
#include "convolution/traffic.h"

// Messages by sender. Those of node are [first[node], first[node + 1]).
typedef struct BbSenders {
    guint32 *first;
    guint32 *messages; // indices of BbTraffic.messages, those of a node in order of time sent
    guint32 *quanta;   // when each of these was sent
} BbSenders;

// The trace is shorter than 2^32 quanta.
BbSenders *bb_senders_new(const BbTraffic *traffic, gint64 quantum_ns);
void bb_senders_free(BbSenders *senders);

BbQuanta bb_senders_sent(const BbSenders *senders, guint32 node);

// Writes the positions in `sent`, in order, of those that are some quantum of `causes` plus lag,
// plus or minus tolerance, each once; returns how many. Room for sent.count. Cost: what is found,
// and about log(gap) for each gap; not sent.count.
gsize bb_senders_follow(BbQuanta causes, BbQuanta sent, guint32 lag, guint32 tolerance,
                        guint32 *positions);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSenders, bb_senders_free)
