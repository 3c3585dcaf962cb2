// SPDX-License-Identifier: Apache-2.0
// In: messages, in one thread. Out: the same messages, in another.
#include "data/relay.h"

#include <string.h>

#define BATCH_MESSAGES 4096u
#define BATCH_TEXT (256u * 1024u)
#define BATCHES 4u // in all: two being filled and emptied, two between them

typedef struct Batch {
    guint count;
    gsize text_used;
    bool sync, last;
    BbMessage messages[BATCH_MESSAGES];
    guint numbers[BATCH_MESSAGES];
    char text[BATCH_TEXT]; // conn and extra of the messages
    char *large;           // of one message that needs more
} Batch;

struct BbRelay {
    BbMessageSink sink;
    bool (*sync)(gpointer user, GError **error);
    gpointer user;
    GThread *thread;
    guint number;              // of the message that sink has; of the thread
    GAsyncQueue *full, *empty; // of Batch; what passes through them belongs to who takes it
    Batch *batch;              // being filled
    GMutex lock;
    GError *error; // first one of the other side; under lock
    gint failed;   // atomic: error is set
};

static void fail(BbRelay *relay, GError *error)
{
    g_mutex_lock(&relay->lock);
    relay->error = error;
    g_mutex_unlock(&relay->lock);
    g_atomic_int_set(&relay->failed, 1);
}

static bool empty_batch(BbRelay *relay, const Batch *batch, GError **error)
{
    for (guint i = 0; i < batch->count; i++) {
        relay->number = batch->numbers[i];
        if (!relay->sink(&batch->messages[i], relay->user, error))
            return false;
    }
    return !batch->sync || !relay->sync || relay->sync(relay->user, error);
}

static gpointer run(gpointer data)
{
    BbRelay *relay = data;
    for (bool last = false; !last;) {
        GError *error = NULL;
        Batch *batch = g_async_queue_pop(relay->full);
        if (!g_atomic_int_get(&relay->failed) && !empty_batch(relay, batch, &error))
            fail(relay, error);
        last = batch->last;
        g_clear_pointer(&batch->large, g_free);
        g_async_queue_push(relay->empty, batch);
    }
    return NULL;
}

BbRelay *bb_relay_new(BbMessageSink sink, bool (*sync)(gpointer user, GError **error),
                      gpointer user)
{
    BbRelay *relay = g_new0(BbRelay, 1);
    relay->sink = sink;
    relay->sync = sync;
    relay->user = user;
    relay->full = g_async_queue_new();
    relay->empty = g_async_queue_new();
    g_mutex_init(&relay->lock);
    for (guint i = 0; i < BATCHES; i++)
        g_async_queue_push(relay->empty, g_new0(Batch, 1));
    relay->batch = g_async_queue_pop(relay->empty);
    relay->thread = g_thread_new("relay", run, relay);
    return relay;
}

static void hand_over(BbRelay *relay, bool sync, bool last)
{
    relay->batch->sync = sync;
    relay->batch->last = last;
    g_async_queue_push(relay->full, g_steal_pointer(&relay->batch));
    if (last)
        return;
    relay->batch = g_async_queue_pop(relay->empty);
    relay->batch->count = 0;
    relay->batch->text_used = 0;
}

static void join(BbRelay *relay)
{
    if (!relay->thread)
        return;
    hand_over(relay, false, true);
    g_thread_join(g_steal_pointer(&relay->thread));
}

static bool report(BbRelay *relay, GError **error)
{
    if (G_LIKELY(!g_atomic_int_get(&relay->failed)))
        return true;
    g_mutex_lock(&relay->lock);
    g_propagate_error(error, g_error_copy(relay->error));
    g_mutex_unlock(&relay->lock);
    return false;
}

static char *place_text(char *at, const char **text, gsize size)
{
    if (size) {
        memcpy(at, *text, size);
        *text = at;
    }
    return at + size;
}

bool bb_relay_push_with(BbRelay *relay, const BbMessage *message, guint number, GError **error)
{
    gsize conn = message->conn ? strlen(message->conn) + 1 : 0;
    gsize extra = message->extra ? strlen(message->extra) + 1 : 0;
    if (relay->batch->count == BATCH_MESSAGES ||
        relay->batch->text_used + conn + extra > BATCH_TEXT)
        hand_over(relay, false, false);
    Batch *batch = relay->batch;
    char *at = batch->text + batch->text_used;
    if (conn + extra > BATCH_TEXT)
        at = batch->large = g_malloc(conn + extra);
    else
        batch->text_used += conn + extra;
    batch->numbers[batch->count] = number;
    BbMessage *copy = &batch->messages[batch->count++];
    *copy = *message;
    at = place_text(at, &copy->conn, conn);
    (void)place_text(at, &copy->extra, extra);
    if (batch->large)
        hand_over(relay, false, false);
    return report(relay, error);
}

bool bb_relay_push(BbRelay *relay, const BbMessage *message, GError **error)
{
    return bb_relay_push_with(relay, message, 0, error);
}

guint bb_relay_number(const BbRelay *relay)
{
    return relay->number;
}

bool bb_relay_sync(BbRelay *relay, GError **error)
{
    hand_over(relay, true, false);
    return report(relay, error);
}

bool bb_relay_finish(BbRelay *relay, GError **error)
{
    join(relay);
    return report(relay, error);
}

void bb_relay_free(BbRelay *relay)
{
    if (!relay)
        return;
    join(relay);
    for (Batch *batch = g_async_queue_try_pop(relay->empty); batch;
         batch = g_async_queue_try_pop(relay->empty))
        g_free(batch);
    g_async_queue_unref(relay->empty);
    g_async_queue_unref(relay->full);
    g_clear_error(&relay->error);
    g_mutex_clear(&relay->lock);
    g_free(relay);
}
