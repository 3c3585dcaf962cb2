// SPDX-License-Identifier: Apache-2.0
// What all dialogs of a capture share: the tables that name things, the counters, the call ids, and
// the way out for messages. Inside of capture/ only.
#pragma once

#include "capture/loss.h"
#include "capture/nodes.h"
#include "data/network.h"
#include "data/order.h"

#define BB_CONTEXT_LABELS 65536u // different labels; further ones are `*`, counted

typedef struct BbContext {
    BbNames *names; // lent, as are the next two
    BbNodes *nodes;
    BbLoss *loss;
    bool learn_names;                   // hosts in DNS answers are told to the nodes
    const struct BbDecodeAs *decode_as; // lent, n_decode_as of them
    guint n_decode_as;
    struct BbTlsKeylog *keylog; // lent; NULL: nothing is decrypted
    BbNetwork *network;         // what TCP tells of it
    struct BbContextInside *inside;
} BbContext;

BbContext *bb_context_new(BbNames *names, BbNodes *nodes, BbLoss *loss, BbMessageSink sink,
                          gpointer user);
void bb_context_free(BbContext *context);

// An id that no call of this capture had.
guint64 bb_context_new_call(BbContext *context);
// Interns text among the labels.
guint32 bb_context_label(BbContext *context, const char *text, gsize length);

// Hands a message to the sink. Nothing reaches the sink after its first error.
void bb_context_emit(BbContext *context, const BbMessage *message);
// Whether the sink has taken everything; gives its error away once.
bool bb_context_report(BbContext *context, GError **error);
// From now on messages are dropped.
void bb_context_discard(BbContext *context);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbContext, bb_context_free)
