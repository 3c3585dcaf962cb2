// SPDX-License-Identifier: Apache-2.0
// Carries messages to a thread of its own, in batches and in order, so that finding messages and
// writing them go on side by side. Memory is bounded: when the other thread falls behind, push
// waits.
#pragma once

#include "data/order.h"

typedef struct BbRelay BbRelay;

// sink receives the messages in the relay's thread, with user; sync (may be NULL) is called there
// when bb_relay_sync asks for it. After the first failure of either nothing more reaches them.
// Names interned before a push may be looked up in the thread (see data/names.h).
BbRelay *bb_relay_new(BbMessageSink sink, bool (*sync)(gpointer user, GError **error),
                      gpointer user);
// Waits for the thread.
void bb_relay_free(BbRelay *relay);

// Takes a message; its lent strings are copied. Returns false with the first error of the other
// side, which may be one of an earlier message.
bool bb_relay_push(BbRelay *relay, const BbMessage *message, GError **error);

// The same with a number of the caller's, which sink can ask for while it has the message.
bool bb_relay_push_with(BbRelay *relay, const BbMessage *message, guint number, GError **error);
guint bb_relay_number(const BbRelay *relay);

// Hands over what waits, and has sync called after it; does not wait for that.
bool bb_relay_sync(BbRelay *relay, GError **error);

// Hands over what waits and returns when all of it has been dealt with.
bool bb_relay_finish(BbRelay *relay, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRelay, bb_relay_free)
