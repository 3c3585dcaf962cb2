// SPDX-License-Identifier: Apache-2.0
// Losses (paper, section 7.5.5): of each message by chance, and in bursts by a sniffer that takes
// in no more than a peak rate and holds no more than a queue.
#pragma once

#include "data/message.h"

typedef struct BbDropOptions {
    double chance; // that a message is lost, apart from the sniffer
    double peak;   // messages a second that the sniffer takes; 0 is no sniffer
    guint queue;   // messages that it holds, the one that it works on among them; > 0
    guint64 seed;
} BbDropOptions;

typedef struct BbDrop BbDrop;

BbDrop *bb_drop_new(const BbDropOptions *options);
void bb_drop_free(BbDrop *drop);

// Only messages that this node sends or receives are lost. May be called again, for more nodes.
void bb_drop_node(BbDrop *drop, guint32 node);

// Whether this message is lost. Messages come in order of time.
bool bb_drop_loses(BbDrop *drop, const BbMessage *message);

guint64 bb_drop_by_chance(const BbDrop *drop);
guint64 bb_drop_by_queue(const BbDrop *drop);

// The peak rate at which a sniffer with such a queue loses about this share of messages at these
// times, which are in order. 0 if it would lose less at any rate.
double bb_drop_peak_for(const gint64 *times_ns, gsize count, guint queue, double share);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbDrop, bb_drop_free)
