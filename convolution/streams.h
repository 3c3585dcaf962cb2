// SPDX-License-Identifier: Apache-2.0
// What a node sees: the messages it gets on each edge, and those that it sends on each. Edges with
// few messages share one stream at a node, as each alone tells nothing. What clients get is left
// out: nothing that they send has a cause.
#pragma once

#include "convolution/traffic.h"

typedef struct BbStream {
    guint32 node;
    bool pooled;            // of several rare edges
    guint32 count;          // messages
    const gint64 *ns;       // when they arrived at the node, or when it sent them; in order
    const guint32 *message; // index into BbTraffic.messages
} BbStream;

typedef struct BbStreams {
    // By node; of a node by the edges' order, the pooled one last.
    BbStream *in, *out;
    guint32 n_in, n_out;
    GPtrArray *owned; // memory of pooled streams
} BbStreams;

// Streams of one edge at a node, each way, at most: the rarer edges are pooled, so that the number
// of pairs of streams does not grow with that of edges squared.
#define BB_STREAMS_MAX 512u

// rare: edges with fewer messages are pooled. traffic is lent.
BbStreams *bb_streams_new(const BbTraffic *traffic, guint rare);
void bb_streams_free(BbStreams *streams);

// The streams into a node: in[first .. first + the number returned).
guint32 bb_streams_into(const BbStreams *streams, guint32 node, guint32 *first);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStreams, bb_streams_free)
