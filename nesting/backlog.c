// SPDX-License-Identifier: Apache-2.0
// In: sightings in any order. Out: the same in order of time.
#include "nesting/backlog.h"

#include "data/large.h"
#include "nesting/timesort.h"

#define CHUNK ((guint32)(BB_LARGE_PAGE / sizeof(BbSighting)))

struct BbBacklog {
    GPtrArray *chunks; // of BbSighting[CHUNK]; NULL where it was fed already
    guint32 count;
    gint64 latest_ns; // time of the last one
    bool unordered, two_sided;
};

BbBacklog *bb_backlog_new(void)
{
    BbBacklog *backlog = g_new(BbBacklog, 1);
    *backlog = (BbBacklog){.chunks = g_ptr_array_new_with_free_func(bb_large_page_free),
                           .latest_ns = G_MININT64};
    return backlog;
}

void bb_backlog_free(BbBacklog *backlog)
{
    if (!backlog)
        return;
    g_ptr_array_unref(backlog->chunks);
    g_free(backlog);
}

bool bb_backlog_is_two_sided(const BbBacklog *backlog)
{
    return backlog->two_sided;
}

static BbSighting *sighting_at(const BbBacklog *backlog, guint32 index)
{
    BbSighting *chunk = g_ptr_array_index(backlog->chunks, index / CHUNK);
    return &chunk[index % CHUNK];
}

// Chunks come from the system and not from the heap, so that each goes back to it once it was read,
// while the calls grow. The first one will not be full where there are few.
static void add_chunk(BbBacklog *backlog)
{
    gpointer chunk = bb_large_page_new();
    if (backlog->chunks->len > 0)
        bb_large_advise(chunk, 1, BB_LARGE_PAGE);
    g_ptr_array_add(backlog->chunks, chunk);
}

void bb_backlog_push(BbBacklog *backlog, const BbSighting *sighting)
{
    if (backlog->count % CHUNK == 0)
        add_chunk(backlog);
    *sighting_at(backlog, backlog->count++) = *sighting;
    gint64 time_ns = bb_sighting_time(sighting);
    backlog->two_sided |= sighting->at_receiver;
    backlog->unordered |= time_ns < backlog->latest_ns;
    backlog->latest_ns = time_ns;
}

// The sightings in order of time, NULL if they came in order. The caller frees.
static BbTimed *order_of(const BbBacklog *backlog)
{
    if (!backlog->unordered)
        return NULL;
    guint32 count = backlog->count;
    BbTimed *order = bb_large_new(BbTimed, count);
    for (guint32 i = 0; i < count; i++)
        order[i] = (BbTimed){bb_sighting_time(sighting_at(backlog, i)), i};
    g_autofree BbTimed *scratch = bb_large_new(BbTimed, count);
    bb_timesort(order, scratch, count);
    return order;
}

static const BbSighting *nth(const BbBacklog *backlog, const BbTimed *order, guint32 n)
{
    return sighting_at(backlog, order ? order[n].index : n);
}

// Feeds the sightings [from, to), all at one time: calls, then returns.
static void feed_together(const BbBacklog *backlog, const BbTimed *order, guint32 from, guint32 to,
                          BbMatcher *matcher)
{
    for (guint32 i = from; i < to; i++)
        if (!nth(backlog, order, i)->is_return)
            bb_matcher_feed(matcher, nth(backlog, order, i));
    for (guint32 i = from; i < to; i++)
        if (nth(backlog, order, i)->is_return)
            bb_matcher_feed(matcher, nth(backlog, order, i));
}

void bb_backlog_feed(BbBacklog *backlog, BbMatcher *matcher)
{
    g_autofree BbTimed *order = order_of(backlog);
    guint32 from = 0, freed = 0;
    while (from < backlog->count) {
        gint64 time_ns = bb_sighting_time(nth(backlog, order, from));
        guint32 to = from + 1;
        while (to < backlog->count && bb_sighting_time(nth(backlog, order, to)) == time_ns)
            to++;
        feed_together(backlog, order, from, to, matcher);
        from = to;
        for (; !order && freed < from / CHUNK; freed++) // read for the last time
            g_clear_pointer(&g_ptr_array_index(backlog->chunks, freed), bb_large_page_free);
    }
}
