// SPDX-License-Identifier: Apache-2.0
// In: ids of calls and returns as the observers have them. Out: ids of the merged trace.
#include "merge/call_ids.h"

#include "data/keys.h"
#include "merge/sighting.h"

#include <string.h>

#define BUCKETS_FIRST 1024u

// How an observer calls a call. The first of a call's aliases is the call: it alone has what
// follows call_ids, and goes last.
struct BbOpenCall {
    BbOpenCall *next_same; // in the bucket
    BbOpenCall *call;      // of which this is an alias
    BbId id;
    guint32 caller, callee, observer, input;

    BbOpenCall *next_of_call; // another alias of the same call
    BbId given;               // in the merged trace; absent until it is needed
    gint64 time_ns;           // of the call,
    gint64 arrived_ns;        // and when it arrived, once it is written
    bool written;
    BbOpenCall *older, *younger; // of those that are written
};

struct BbCallIds {
    BbOpenCall **buckets;
    guint n_buckets, n_aliases;
    guint64 seed; // of their hash
    BbOpenCall *oldest, *youngest;
    guint n_written, open_max;
    guint64 n_given, forgotten;
};

BbCallIds *bb_call_ids_new(guint open_max)
{
    BbCallIds *ids = g_new0(BbCallIds, 1);
    ids->open_max = MAX(open_max, 1);
    ids->seed = bb_mix_seed();
    ids->n_buckets = BUCKETS_FIRST;
    ids->buckets = g_new0(BbOpenCall *, ids->n_buckets);
    return ids;
}

static guint hash_of(const BbCallIds *ids, BbId id, guint32 caller, guint32 callee)
{
    guint64 hash = bb_mix(bb_mix(ids->seed, id.number), id.form);
    return (guint)bb_mix(hash, (guint64)callee << 32 | caller) & (ids->n_buckets - 1);
}

static BbOpenCall **bucket_of(const BbCallIds *ids, const BbOpenCall *alias)
{
    return &ids->buckets[hash_of(ids, alias->id, alias->caller, alias->callee)];
}

static void unlink_alias(BbCallIds *ids, const BbOpenCall *alias)
{
    BbOpenCall **at = bucket_of(ids, alias);
    while (*at != alias)
        at = &(*at)->next_same;
    *at = alias->next_same;
    ids->n_aliases--;
}

static void free_call(BbCallIds *ids, BbOpenCall *call)
{
    for (BbOpenCall *alias = call, *next = NULL; alias; alias = next) {
        next = alias->next_of_call;
        unlink_alias(ids, alias);
        g_slice_free(BbOpenCall, alias);
    }
}

// Calls that nobody closed go with their aliases: each call has at least one.
void bb_call_ids_free(BbCallIds *ids)
{
    if (!ids)
        return;
    for (guint i = 0; i < ids->n_buckets; i++)
        while (ids->buckets[i])
            free_call(ids, ids->buckets[i]->call);
    g_free(ids->buckets);
    g_free(ids);
}

static void grow(BbCallIds *ids)
{
    g_autofree BbOpenCall **old = ids->buckets;
    guint n_old = ids->n_buckets;
    ids->n_buckets *= 2;
    ids->buckets = g_new0(BbOpenCall *, ids->n_buckets);
    for (guint i = 0; i < n_old; i++) {
        // The younger come first in a bucket: moved in reverse, they still do.
        BbOpenCall *turned = NULL;
        for (BbOpenCall *alias = old[i], *next = NULL; alias; alias = next) {
            next = alias->next_same;
            alias->next_same = turned;
            turned = alias;
        }
        for (BbOpenCall *alias = turned, *next = NULL; alias; alias = next) {
            next = alias->next_same;
            BbOpenCall **bucket = bucket_of(ids, alias);
            alias->next_same = *bucket;
            *bucket = alias;
        }
    }
}

bool bb_call_id_is_made_up(const BbMessage *message)
{
    return bb_sighting_id_is_local(message) && !bb_id_is_known(message->path) &&
           !bb_id_is_known(message->parent);
}

// An id from the wire means the same to all.
#define ANY_INPUT G_MAXUINT32

BbOpenCall *bb_call_ids_open(BbCallIds *ids, const BbMessage *call, guint input)
{
    bool made_up = bb_call_id_is_made_up(call);
    BbOpenCall *open = g_slice_new(BbOpenCall);
    *open = (BbOpenCall){
        .call = open,
        .id = call->id,
        .caller = call->sender,
        .callee = call->receiver,
        .observer = call->observer,
        .input = made_up ? input : ANY_INPUT,
        .given = made_up ? (BbId){0} : call->id,
        .time_ns = call->time_ns,
    };
    if (++ids->n_aliases > ids->n_buckets / 4)
        grow(ids);
    BbOpenCall **bucket = bucket_of(ids, open);
    open->next_same = *bucket;
    *bucket = open;
    return open;
}

void bb_call_ids_unite(BbCallIds *ids, BbOpenCall *call, BbOpenCall *other)
{
    BbOpenCall *last = call;
    while (last->next_of_call)
        last = last->next_of_call;
    last->next_of_call = other;
    for (BbOpenCall *alias = other; alias; alias = alias->next_of_call)
        alias->call = call;
    if (!bb_id_is_known(call->given))
        call->given = other->given;
}

static void unlink_call(BbCallIds *ids, BbOpenCall *call)
{
    *(call->older ? &call->older->younger : &ids->oldest) = call->younger;
    *(call->younger ? &call->younger->older : &ids->youngest) = call->older;
    ids->n_written--;
}

BbId bb_call_ids_fresh(BbCallIds *ids)
{
    return bb_id_number(++ids->n_given);
}

BbId bb_call_ids_of(BbCallIds *ids, BbOpenCall *call)
{
    if (!bb_id_is_known(call->given))
        call->given = bb_call_ids_fresh(ids);
    return call->given;
}

BbId bb_call_ids_write(BbCallIds *ids, BbOpenCall *call, const BbMessage *message)
{
    if (ids->n_written == ids->open_max) {
        ids->forgotten++;
        bb_call_ids_close(ids, ids->oldest);
    }
    call->written = true;
    call->time_ns = message->time_ns;
    call->arrived_ns = message->recv_ns;
    call->older = ids->youngest;
    *(call->older ? &call->older->younger : &ids->oldest) = call;
    ids->youngest = call;
    ids->n_written++;
    return bb_call_ids_of(ids, call);
}

void bb_open_call_move(BbOpenCall *call, gint64 time_ns)
{
    call->time_ns = time_ns;
}

bool bb_open_call_is_written(const BbOpenCall *call, gint64 *time_ns)
{
    *time_ns = call->time_ns;
    return call->written;
}

gint64 bb_open_call_arrived(const BbOpenCall *call)
{
    return call->arrived_ns;
}

// How well an alias fits a return: the same input, else another one of the same observer (a trace
// cut in pieces). 0: not at all.
static guint fit(const BbOpenCall *alias, const BbMessage *answer, bool made_up, guint input)
{
    if (!bb_id_equal(alias->id, answer->id) || alias->caller != answer->receiver ||
        alias->callee != answer->sender || made_up == (alias->input == ANY_INPUT))
        return 0;
    bool near = !made_up || alias->input == input;
    if (!near && alias->observer != answer->observer)
        return 0;
    return (near ? 2 : 0) + (alias->call->written ? 2 : 1);
}

static BbOpenCall *const *bucket_of_answer(const BbCallIds *ids, const BbMessage *answer)
{
    return &ids->buckets[hash_of(ids, answer->id, answer->receiver, answer->sender)];
}

BbOpenCall *bb_call_ids_find(const BbCallIds *ids, const BbMessage *answer, guint input)
{
    bool made_up = bb_call_id_is_made_up(answer);
    const BbOpenCall *best = NULL, *alias = *bucket_of_answer(ids, answer);
    guint best_fit = 1;
    for (; alias; alias = alias->next_same) {
        guint fits = fit(alias, answer, made_up, input);
        if (fits && fits >= best_fit) { // the younger come first
            best = alias;
            best_fit = fits;
        }
    }
    return best ? best->call : NULL;
}

void bb_call_ids_fetch_call(const BbCallIds *ids, const BbMessage *call)
{
    __builtin_prefetch(&ids->buckets[hash_of(ids, call->id, call->sender, call->receiver)]);
}

void bb_call_ids_fetch_answer(const BbCallIds *ids, const BbMessage *answer, bool again)
{
    BbOpenCall *const *bucket = bucket_of_answer(ids, answer);
    __builtin_prefetch(again ? (const void *)*bucket : bucket);
}

void bb_call_ids_close(BbCallIds *ids, BbOpenCall *call)
{
    if (call->written)
        unlink_call(ids, call);
    free_call(ids, call);
}

guint64 bb_call_ids_forgotten(const BbCallIds *ids)
{
    return ids->forgotten;
}
