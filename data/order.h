// SPDX-License-Identifier: Apache-2.0
// Puts a nearly sorted flow of messages in order of time with bounded memory: a message waits until
// the window is full. Ties keep their order of arrival.
#pragma once

#include "data/message.h"

typedef struct BbOrder BbOrder;

// Receives messages in order. Returns false to stop (with an error set).
typedef bool (*BbMessageSink)(const BbMessage *message, gpointer user, GError **error);

// window: how many messages may wait (memory: window * sizeof(BbMessage), strings on top).
BbOrder *bb_order_new(gsize window, BbMessageSink sink, gpointer user);
void bb_order_free(BbOrder *order); // drops what still waits

// Takes a message (its lent strings are copied). May hand earlier ones to the sink.
bool bb_order_push(BbOrder *order, const BbMessage *message, GError **error);

// Hands everything that waits to the sink.
bool bb_order_drain(BbOrder *order, GError **error);

// Messages that came after a later one had already gone to the sink: these are out of order there.
guint64 bb_order_late(const BbOrder *order);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOrder, bb_order_free)
