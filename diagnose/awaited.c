// SPDX-License-Identifier: Apache-2.0
// In: calls and returns as they come. Out: the call of a return, and what still waits.
#include "diagnose/awaited.h"

#include "data/keys.h"
#include "data/pool.h"

struct BbAwaited {
    guint limit;
    GHashTable *calls; // of BbAwaitedCall, -> itself
    GQueue order;      // of the same, by arrival
    GSequence *starts; // of those watched, by start
    BbPool pool;
    guint64 forgotten;
};

static guint call_hash(gconstpointer key)
{
    const BbAwaitedCall *call = key;
    return (guint)bb_mix(bb_id_key_hash(&call->id), (guint64)call->caller << 32 | call->callee);
}

static gboolean call_equal(gconstpointer a, gconstpointer b)
{
    const BbAwaitedCall *x = a, *y = b;
    return bb_id_equal(x->id, y->id) && x->caller == y->caller && x->callee == y->callee;
}

BbAwaited *bb_awaited_new(guint limit)
{
    g_return_val_if_fail(limit > 0, NULL);
    BbAwaited *awaited = g_new0(BbAwaited, 1);
    awaited->limit = limit;
    awaited->calls = g_hash_table_new(call_hash, call_equal);
    g_queue_init(&awaited->order);
    awaited->starts = g_sequence_new(NULL);
    bb_pool_init(&awaited->pool, sizeof(BbAwaitedCall));
    return awaited;
}

void bb_awaited_free(BbAwaited *awaited)
{
    if (!awaited)
        return;
    g_hash_table_destroy(awaited->calls);
    g_sequence_free(awaited->starts);
    bb_pool_clear(&awaited->pool);
    g_free(awaited);
}

static void forget(BbAwaited *awaited, BbAwaitedCall *call)
{
    if (call->watched)
        g_sequence_remove(call->watched);
    g_queue_unlink(&awaited->order, &call->link);
    g_hash_table_remove(awaited->calls, call);
    bb_pool_give(&awaited->pool, call);
}

void bb_awaited_clear(BbAwaited *awaited)
{
    while (awaited->order.head)
        forget(awaited, awaited->order.head->data);
}

BbAwaitedCall *bb_awaited_add(BbAwaited *awaited, const BbMessage *message)
{
    const BbAwaitedCall key = {
        .id = message->id, .caller = message->sender, .callee = message->receiver};
    BbAwaitedCall *former = g_hash_table_lookup(awaited->calls, &key);
    if (former)
        forget(awaited, former);
    if (awaited->order.length == awaited->limit) {
        forget(awaited, awaited->order.head->data);
        awaited->forgotten++;
    }
    BbAwaitedCall *call = bb_pool_take(&awaited->pool);
    *call = key;
    call->op = message->op;
    call->proto = message->proto;
    call->time_ns = message->time_ns;
    call->link.data = call;
    g_queue_push_tail_link(&awaited->order, &call->link);
    g_hash_table_add(awaited->calls, call);
    return call;
}

bool bb_awaited_take(BbAwaited *awaited, const BbMessage *message, BbAwaitedCall *call)
{
    const BbAwaitedCall key = {
        .id = message->id, .caller = message->receiver, .callee = message->sender};
    BbAwaitedCall *found =
        bb_id_is_known(message->id) ? g_hash_table_lookup(awaited->calls, &key) : NULL;
    if (!found)
        return false;
    *call = *found;
    forget(awaited, found);
    return true;
}

static gint by_start(gconstpointer a, gconstpointer b, gpointer user)
{
    const BbAwaitedCall *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

// What is asked for comes before all that started then.
static gint not_before(gconstpointer a, gconstpointer b, gpointer user)
{
    const BbAwaitedCall *x = a, *y = b, *asked = user;
    if (x == asked)
        return x->time_ns > y->time_ns ? 1 : -1;
    return y->time_ns > x->time_ns ? -1 : 1;
}

static BbAwaitedCall *call_at(GSequenceIter *place)
{
    return g_sequence_iter_is_end(place) ? NULL : g_sequence_get(place);
}

void bb_awaited_watch(BbAwaited *awaited, BbAwaitedCall *call)
{
    call->watched = g_sequence_insert_sorted(awaited->starts, call, by_start, NULL);
}

BbAwaitedCall *bb_awaited_since(const BbAwaited *awaited, gint64 from_ns)
{
    BbAwaitedCall asked = {.time_ns = from_ns};
    return call_at(g_sequence_search(awaited->starts, &asked, not_before, &asked));
}

BbAwaitedCall *bb_awaited_next(const BbAwaitedCall *call)
{
    return call_at(g_sequence_iter_next(call->watched));
}

guint bb_awaited_count(const BbAwaited *awaited)
{
    return awaited->order.length;
}

guint64 bb_awaited_forgotten(const BbAwaited *awaited)
{
    return awaited->forgotten;
}
