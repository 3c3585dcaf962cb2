// SPDX-License-Identifier: Apache-2.0
// In: messages in any order. Out: calls with their returns, in order of time.
#include "nesting/pairs.h"

#include <sys/mman.h>

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
    return pairs;
}

void bb_pairs_free(BbPairs *pairs)
{
    if (!pairs)
        return;
    g_ptr_array_unref(pairs->chunks);
    g_free(pairs);
}

const BbNames *bb_pairs_names(const BbPairs *pairs)
{
    return pairs->names;
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

bool bb_pairs_push(BbPairs *pairs, const BbMessage *message)
{
    if (message->kind != BB_FREE && pairs->count == COUNT_MAX)
        return false;
    pairs->messages++;
    note_times(pairs, message);
    if (message->kind == BB_FREE) {
        pairs->free_messages++;
        return true;
    }
    if ((pairs->count & (CHUNK - 1)) == 0)
        g_ptr_array_add(pairs->chunks, chunk_new());
    BbSighting *sighting = sighting_at(pairs, pairs->count++);
    *sighting = sighting_of(message);
    pairs->n_calls += !sighting->is_return;
    pairs->two_sided |= sighting->at_receiver;
    gint64 time_ns = bb_sighting_time(sighting);
    pairs->unordered |= time_ns < pairs->latest_ns;
    pairs->latest_ns = time_ns;
    return true;
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

void bb_pairs_finish(BbPairs *pairs, BbPaths *paths)
{
    g_autoptr(BbMatcher) matcher = bb_matcher_new(pairs->n_calls, pairs->two_sided);
    g_autofree BbTimed *order = order_of(pairs);
    feed_all(pairs, order, matcher);
    g_ptr_array_set_size(pairs->chunks, 0);
    paths->calls = bb_matcher_finish(matcher, &paths->n_calls, &paths->returns_orphaned);
    sort_calls(paths->calls, paths->n_calls);
    paths->calls_unreturned = count_unreturned(paths);
    paths->messages = pairs->messages;
    paths->free_messages = pairs->free_messages;
    paths->start_ns = pairs->start_ns;
    paths->end_ns = pairs->end_ns;
    pairs->count = pairs->n_calls = 0;
}
