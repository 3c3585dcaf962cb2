// SPDX-License-Identifier: Apache-2.0
// In: messages in any order. Out: calls with their returns, in order of time.
#include "nesting/pairs.h"

#include <sys/mman.h>

#include "nesting/forwarding.h"
#include "nesting/matcher.h"
#include "nesting/timesort.h"

#define CHUNK_BITS 14u
#define CHUNK (1u << CHUNK_BITS)
#define CHUNK_SIZE (CHUNK * sizeof(BbSighting))
#define COUNT_MAX (G_MAXUINT32 - 1)

struct BbPairs {
    const BbNames *names;
    GPtrArray *chunks; // of BbSighting[CHUNK]; NULL where it was matched already
    guint32 count;     // sightings
    guint32 n_calls;   // of them
    guint64 messages, free_messages;
    gint64 start_ns, end_ns; // of all messages
    gint64 latest_ns;        // time of the last sighting
    GArray *known;           // of BbCall: with their returns, from bb_pairs_push_call
    bool unordered, two_sided;
};

// Chunks are the better part of the stage's memory. They come from the system and not from the
// heap, so that each goes back to it once it was read, while the calls grow.
static BbSighting *chunk_new(void)
{
    void *chunk =
        mmap(NULL, CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        g_error("no memory for %zu messages more", (gsize)CHUNK);
    return chunk;
}

static void chunk_free(gpointer chunk)
{
    if (chunk)
        munmap(chunk, CHUNK_SIZE);
}

BbPairs *bb_pairs_new(const BbNames *names)
{
    BbPairs *pairs = g_new0(BbPairs, 1);
    pairs->names = names;
    pairs->chunks = g_ptr_array_new_with_free_func(chunk_free);
    pairs->start_ns = pairs->end_ns = BB_TIME_NONE;
    pairs->latest_ns = G_MININT64;
    pairs->known = g_array_new(FALSE, FALSE, sizeof(BbCall));
    return pairs;
}

void bb_pairs_free(BbPairs *pairs)
{
    if (!pairs)
        return;
    g_ptr_array_unref(pairs->chunks);
    g_array_unref(pairs->known);
    g_free(pairs);
}

static BbSighting *sighting_at(const BbPairs *pairs, guint32 index)
{
    BbSighting *chunk = g_ptr_array_index(pairs->chunks, index >> CHUNK_BITS);
    return &chunk[index & (CHUNK - 1)];
}

static void note_times(BbPairs *pairs, const BbMessage *message)
{
    if (pairs->messages == 1)
        pairs->start_ns = pairs->end_ns = message->time_ns;
    pairs->start_ns = MIN(pairs->start_ns, message->time_ns);
    pairs->end_ns = MAX(pairs->end_ns, message->time_ns);
}

static BbSighting sighting_of(const BbMessage *message)
{
    bool is_return = message->kind == BB_RETURN;
    return (BbSighting){.time_ns = message->time_ns,
                        .recv_ns = message->at_receiver ? BB_TIME_NONE : message->recv_ns,
                        .end_ns = message->end_ns,
                        .id_number = message->id.number,
                        .id_form = message->id.form,
                        .caller = is_return ? message->receiver : message->sender,
                        .callee = is_return ? message->sender : message->receiver,
                        .op = message->op,
                        .status = message->status,
                        .proto = message->proto & ((1u << 30) - 1),
                        .is_return = is_return,
                        .at_receiver = message->at_receiver};
}

static inline void push_sighting(BbPairs *pairs, BbSighting value)
{
    if ((pairs->count & (CHUNK - 1)) == 0)
        g_ptr_array_add(pairs->chunks, chunk_new());
    BbSighting *sighting = sighting_at(pairs, pairs->count++);
    *sighting = value;
    pairs->n_calls += !sighting->is_return;
    pairs->two_sided |= sighting->at_receiver;
    gint64 time_ns = bb_sighting_time(sighting);
    pairs->unordered |= time_ns < pairs->latest_ns;
    pairs->latest_ns = time_ns;
}

bool bb_pairs_push(BbPairs *pairs, const BbMessage *message)
{
    if (message->kind != BB_FREE && bb_pairs_held(pairs) >= COUNT_MAX)
        return false;
    pairs->messages++;
    note_times(pairs, message);
    if (message->kind == BB_FREE) {
        pairs->free_messages++;
        return true;
    }
    push_sighting(pairs, sighting_of(message));
    return true;
}

static gint64 unless_equal(gint64 time_ns, gint64 other_ns)
{
    return time_ns == other_ns ? BB_TIME_NONE : time_ns;
}

static BbSighting call_of(const BbCall *call)
{
    return (BbSighting){.time_ns = call->call_ns,
                        .recv_ns = unless_equal(call->arrived_ns, call->call_ns),
                        .end_ns = BB_TIME_NONE,
                        .id_number = call->id.number,
                        .id_form = call->id.form,
                        .caller = call->caller,
                        .callee = call->callee,
                        .op = call->op,
                        .proto = call->proto & ((1u << 30) - 1)};
}

static BbSighting return_of(const BbCall *call)
{
    BbSighting sighting = call_of(call);
    sighting.time_ns = call->replied_ns;
    sighting.recv_ns = unless_equal(call->return_ns, call->replied_ns);
    sighting.end_ns = call->return_end_ns;
    sighting.status = call->status;
    sighting.is_return = true;
    return sighting;
}

void bb_pairs_push_call(BbPairs *pairs, const BbCall *call)
{
    if (bb_call_is_returned(call))
        g_array_append_val(pairs->known, *call);
    else
        push_sighting(pairs, call_of(call));
}

guint64 bb_pairs_held(const BbPairs *pairs)
{
    return pairs->count + 2 * (guint64)pairs->known->len;
}

guint64 bb_pairs_messages(const BbPairs *pairs)
{
    return pairs->messages;
}

// The sightings in order of time, NULL if they came in order. The caller frees.
static BbTimed *order_of(const BbPairs *pairs)
{
    if (!pairs->unordered)
        return NULL;
    BbTimed *order = g_new(BbTimed, pairs->count);
    for (guint32 i = 0; i < pairs->count; i++)
        order[i] = (BbTimed){bb_sighting_time(sighting_at(pairs, i)), i};
    g_autofree BbTimed *scratch = g_new(BbTimed, pairs->count);
    bb_timesort(order, scratch, pairs->count);
    return order;
}

static const BbSighting *nth(const BbPairs *pairs, const BbTimed *order, guint32 n)
{
    return sighting_at(pairs, order ? order[n].index : n);
}

// Feeds the sightings [from, to), all at one time: calls, then returns.
static void feed_together(const BbPairs *pairs, const BbTimed *order, guint32 from, guint32 to,
                          BbMatcher *matcher)
{
    for (guint32 i = from; i < to; i++)
        if (!nth(pairs, order, i)->is_return)
            bb_matcher_feed(matcher, nth(pairs, order, i));
    for (guint32 i = from; i < to; i++)
        if (nth(pairs, order, i)->is_return)
            bb_matcher_feed(matcher, nth(pairs, order, i));
}

static void feed_all(BbPairs *pairs, const BbTimed *order, BbMatcher *matcher)
{
    guint32 from = 0, freed = 0;
    while (from < pairs->count) {
        gint64 time_ns = bb_sighting_time(nth(pairs, order, from));
        guint32 to = from + 1;
        while (to < pairs->count && bb_sighting_time(nth(pairs, order, to)) == time_ns)
            to++;
        feed_together(pairs, order, from, to, matcher);
        from = to;
        for (; !order && freed < from >> CHUNK_BITS; freed++) // read for the last time
            g_clear_pointer(&g_ptr_array_index(pairs->chunks, freed), chunk_free);
    }
}

// Moves calls to where order says, in place: each cycle of the permutation once round.
static void permute(BbCall *calls, BbTimed *order, guint32 count)
{
    for (guint32 start = 0; start < count; start++) {
        if (order[start].index == start)
            continue;
        BbCall first = calls[start];
        guint32 hole = start;
        for (;;) {
            guint32 from = order[hole].index;
            order[hole].index = hole;
            if (from == start)
                break;
            calls[hole] = calls[from];
            hole = from;
        }
        calls[hole] = first;
    }
}

static void sort_calls(BbCall *calls, guint32 count)
{
    guint32 in_order = 1;
    while (in_order < count && calls[in_order - 1].call_ns <= calls[in_order].call_ns)
        in_order++;
    if (in_order >= count)
        return;
    g_autofree BbTimed *order = g_new(BbTimed, count);
    for (guint32 i = 0; i < count; i++)
        order[i] = (BbTimed){calls[i].call_ns, i};
    g_autofree BbTimed *scratch = g_new(BbTimed, count);
    bb_timesort(order, scratch, count);
    permute(calls, order, count);
}

static guint64 count_unreturned(const BbPaths *paths)
{
    guint64 unreturned = 0;
    for (guint32 i = 0; i < paths->n_calls; i++)
        unreturned += !bb_call_is_returned(&paths->calls[i]);
    return unreturned;
}

// The calls in order of time and those that were known before, which are so too, as one array.
static void merge_known(const BbPairs *pairs, BbPaths *paths)
{
    const BbCall *known = (const BbCall *)(const void *)pairs->known->data;
    guint32 i = paths->n_calls, j = pairs->known->len, at = i + j;
    if (j == 0)
        return;
    BbCall *calls = paths->calls = g_renew(BbCall, paths->calls, at);
    paths->n_calls = at;
    while (j > 0) // ties: known ones first
        calls[--at] =
            i > 0 && calls[i - 1].call_ns >= known[j - 1].call_ns ? calls[--i] : known[--j];
}

// Where messages may come twice, a second sighting may still come for them.
static void unpair_known(BbPairs *pairs)
{
    for (guint i = 0; i < pairs->known->len; i++) {
        const BbCall *call = &g_array_index(pairs->known, BbCall, i);
        push_sighting(pairs, call_of(call));
        push_sighting(pairs, return_of(call));
    }
    g_array_set_size(pairs->known, 0);
}

static void join_forwarded(const BbMatcher *matcher, BbPaths *paths)
{
    guint32 n_orphans;
    const BbCall *orphans = bb_matcher_orphans(matcher, &n_orphans);
    paths->facts.forwarded = bb_forwarding_join(paths->calls, paths->n_calls, orphans, n_orphans,
                                                &paths->facts.returns_orphaned);
}

void bb_pairs_finish(BbPairs *pairs, BbPaths *paths)
{
    if (pairs->two_sided)
        unpair_known(pairs);
    g_autoptr(BbMatcher) matcher = bb_matcher_new(pairs->n_calls, pairs->two_sided);
    g_autofree BbTimed *order = order_of(pairs);
    feed_all(pairs, order, matcher);
    g_ptr_array_set_size(pairs->chunks, 0);
    paths->calls = bb_matcher_finish(matcher, &paths->n_calls, &paths->facts.returns_orphaned);
    sort_calls(paths->calls, paths->n_calls);
    merge_known(pairs, paths);
    join_forwarded(matcher, paths);
    paths->facts.calls = paths->n_calls;
    paths->facts.calls_unreturned = count_unreturned(paths);
    paths->facts.messages = pairs->messages;
    paths->facts.free_messages = pairs->free_messages;
    paths->facts.start_ns = pairs->start_ns;
    paths->facts.end_ns = pairs->end_ns;
    pairs->count = pairs->n_calls = 0;
    g_array_set_size(pairs->known, 0);
}
