// SPDX-License-Identifier: Apache-2.0
// What all dialogs of a capture share: the tables that name things, the counters, the call ids, and
// the way out for messages. Inside of capture/ only.
//
// A context with a tape (capture/tape.h) belongs to a shard: nodes, ids and names are its own, and
// what they are in the trace is found out by who plays the tape.
#pragma once

#include "capture/endpoints.h"
#include "capture/loss.h"
#include "data/network.h"
#include "data/order.h"

#define BB_CONTEXT_LABELS 65536u // different labels; further ones are `*`, counted

// Edges of the network (data/network.h) that are kept, and those among them that no connection with
// data was seen of; beyond, connections are counted in BB_NETWORK_LIMIT.
#define BB_CONTEXT_EDGES 65536u
#define BB_CONTEXT_BARE_EDGES 1024u

struct BbCaptureOptions;
struct BbKept;
struct BbTape;

typedef struct BbContext {
    BbNames *names; // lent, as are the next two
    BbNodes *nodes; // NULL with a tape
    BbLoss *loss;
    gint64 network_ns;                  // see BbCaptureOptions
    bool learn_names;                   // hosts in DNS answers are told to the nodes
    const struct BbDecodeAs *decode_as; // lent, n_decode_as of them
    guint n_decode_as;
    struct BbTlsKeylog *keylog; // lent; NULL: nothing is decrypted
    struct BbSkips *skips;      // told what is passed over (capture/skips.h); lent, or NULL
    BbNetwork *network;         // what TCP tells of it; nothing with a tape
    struct BbServers *servers;  // seen so far (capture/servers.h); lent, or NULL: nobody looks
    struct BbHold *hold;        // of the connection at hand (capture/hold.h); NULL: it has none
    guint64 seed;               // of tables by what the packets have chosen
    struct BbContextInside *inside;
} BbContext;

BbContext *bb_context_new(BbNames *names, BbNodes *nodes, BbLoss *loss, BbMessageSink sink,
                          gpointer user);
// Of shard number `shard`, with names of its own. tape and kept (capture/kept.h) are lent.
BbContext *bb_context_new_shard(BbNames *names, BbLoss *loss, struct BbTape *tape,
                                const struct BbKept *kept, guint shard);
void bb_context_free(BbContext *context);
// Takes those of a capture that dialogs ask for.
void bb_context_set_options(BbContext *context, const struct BbCaptureOptions *options);
// From now on it goes to that tape.
void bb_context_set_tape(BbContext *context, struct BbTape *tape);
guint64 bb_context_packet(const BbContext *context); // number of the packet that is decoded on it

// A handle that no call of this context had, and (into id) what messages have as its id. The id is
// given back when no more messages of the call come.
guint64 bb_context_new_call(BbContext *context, guint64 *id);
void bb_context_end_call(BbContext *context, guint64 id);

// What messages have as the node of that end: its name, but with a tape. Given back when no more
// messages have it; NONE is nothing to give back.
guint32 bb_context_node(BbContext *context, const BbEndpoints *endpoints, guint end,
                        bool is_server);
void bb_context_end_node(BbContext *context, guint32 node);

// Interns text among the labels, or as the name of a protocol.
guint32 bb_context_label(BbContext *context, const char *text, gsize length);
guint32 bb_context_protocol(BbContext *context, const char *text);
// The label of those that are too many.
guint32 bb_context_other(BbContext *context);
// Where labels are as many as they may be: how many names there were then. Among those alone are
// further labels taken. 0: they are not.
guint32 bb_context_kept_names(const BbContext *context);

// Adds to what is known of the edge between two nodes (edge->client and server are filled in).
// has_data: some was seen of the connection; is_over: nothing more comes of it.
void bb_context_edge(BbContext *context, const BbEndpoints *endpoints, guint client, bool has_data,
                     bool is_over, BbNetworkEdge *edge);
// A host has this name, where learn_names asks for it.
void bb_context_learn(BbContext *context, const BbAddress *address, const char *name);

// Hands a message to the sink. Nothing reaches the sink after its first error.
void bb_context_emit(BbContext *context, const BbMessage *message);
// Whether the sink has taken everything; gives its error away once.
bool bb_context_report(BbContext *context, GError **error);
// From now on messages are dropped.
void bb_context_discard(BbContext *context);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbContext, bb_context_free)
