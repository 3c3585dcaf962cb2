// SPDX-License-Identifier: Apache-2.0
// The messages of a trace, or of a window of one, as convolution sees them: on edges from node to
// node, at times. Calls, returns and free messages are alike (paper, section 5.2).
#pragma once

#include "data/path.h"

// All messages from one node to another.
typedef struct BbEdge {
    guint32 sender, receiver; // names
    guint32 first, count;     // of BbTraffic.by_edge
} BbEdge;

typedef struct BbTraffic {
    const BbNames *names; // lent
    // In order of call_ns; ties as they were pushed. call_ns: sent, by the sender's clock;
    // arrived_ns: by the receiver's, where it was seen there, else the same. No returns. Stamps are
    // as they came, and may be any number.
    BbCall *messages;
    guint32 *edge;    // of each message: index into edges
    guint32 *by_edge; // indices of messages, edge after edge, each in order of call_ns
    BbEdge *edges;    // in order of the names of sender and receiver
    // Edge after edge as by_edge: when messages were sent; and, in an order of its own, when they
    // arrived, with the message's index. Held within 2^62 - 1 ns of 1970, so that the difference of
    // any two is a time.
    gint64 *sent_ns, *arrived_ns;
    guint32 *arrived;
    guint32 n_messages, n_edges;
    gint64 start_ns, end_ns; // of all of sent_ns and arrived_ns; BB_TIME_NONE if empty
    BbFacts facts;
    GArray *pushed; // until bb_traffic_finish
    GArray *asked;  // of guint8, by name: whether anybody sends it anything but returns
} BbTraffic;

// names: the table of the messages to come; lent, must outlive the traffic.
BbTraffic *bb_traffic_new(const BbNames *names);
// That of the next window: knows who is a client from the one before.
BbTraffic *bb_traffic_new_after(const BbTraffic *before);
void bb_traffic_free(BbTraffic *traffic);

// Takes a message; nothing of it is kept by reference. Returns false, and takes nothing, when
// 2^32 - 2 are there already. Memory: 88 bytes a message until bb_traffic_finish, 108 after it.
bool bb_traffic_push(BbTraffic *traffic, const BbMessage *message);

// Takes a message of an earlier window, which is not counted again.
void bb_traffic_push_call(BbTraffic *traffic, const BbCall *message);

// Puts the messages in order. A second sighting at the receiver adds its time to the first one with
// the same sender, receiver and id; alone it stands for the message.
void bb_traffic_finish(BbTraffic *traffic);

// A time of a message, held within [start_ns, end_ns]: which stamps of hostile traces are not.
static inline gint64 bb_traffic_hold(const BbTraffic *traffic, gint64 time_ns)
{
    return CLAMP(time_ns, traffic->start_ns, traffic->end_ns);
}

// Whether a node only ever gets returns: then it is a client, and what it sends has no cause,
// though its next call may well wait for the return of the one before. A node that gets nothing is
// one too.
bool bb_traffic_is_client(const BbTraffic *traffic, guint32 node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTraffic, bb_traffic_free)
