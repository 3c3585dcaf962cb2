// SPDX-License-Identifier: Apache-2.0
// In: sightings. Out: a sample of them, whole messages only.
#include "merge/sightings.h"

#include <stdlib.h>

G_STATIC_ASSERT(sizeof(BbSeen) == 40); // as BB_SIGHTINGS_MAX says

// Pairs of nodes share a stratum by accident; each stratum has a share of its own.
#define STRATA 256u

struct BbSightings {
    GArray *kept; // of BbSeen
    gsize max;
    guint64 added;
    guint64 limit[STRATA]; // what has no lower key is not kept; only ever falls
    gsize count[STRATA];
};

BbSightings *bb_sightings_new(gsize max)
{
    BbSightings *sightings = g_new0(BbSightings, 1);
    sightings->kept = g_array_new(FALSE, FALSE, sizeof(BbSeen));
    sightings->max = max;
    for (guint i = 0; i < STRATA; i++)
        sightings->limit[i] = G_MAXUINT64;
    return sightings;
}

void bb_sightings_free(BbSightings *sightings)
{
    if (!sightings)
        return;
    g_array_unref(sightings->kept);
    g_free(sightings);
}

// The same for both directions.
static guint stratum_of(const BbSeen *seen)
{
    guint32 low = MIN(seen->sender, seen->receiver), high = MAX(seen->sender, seen->receiver);
    return (low * 0x9e3779b1u ^ high * 0x85ebca77u) >> 24;
}

static bool is_in(const BbSightings *sightings, const BbSeen *seen)
{
    return seen->hi < sightings->limit[stratum_of(seen)];
}

// Halves the share of all strata that hold at least half of the mean: together these hold more than
// half of everything, so that about a quarter or more goes.
static void make_room(BbSightings *sightings)
{
    gsize used = 0, kept = 0;
    for (guint i = 0; i < STRATA; i++)
        used += sightings->count[i] > 0;
    gsize half = sightings->kept->len / MAX(used, 1) / 2;
    for (guint i = 0; i < STRATA; i++) {
        if (sightings->count[i] && sightings->count[i] >= half)
            sightings->limit[i] /= 2;
        sightings->count[i] = 0;
    }
    BbSeen *seen = &g_array_index(sightings->kept, BbSeen, 0);
    for (gsize i = 0; i < sightings->kept->len; i++) {
        if (!is_in(sightings, &seen[i]))
            continue;
        sightings->count[stratum_of(&seen[i])]++;
        seen[kept++] = seen[i];
    }
    g_array_set_size(sightings->kept, (guint)kept);
}

void bb_sightings_add(BbSightings *sightings, const BbSeen *seen)
{
    sightings->added++;
    while (is_in(sightings, seen) && sightings->kept->len >= sightings->max)
        make_room(sightings);
    if (!is_in(sightings, seen))
        return;
    sightings->count[stratum_of(seen)]++;
    g_array_append_vals(sightings->kept, seen, 1);
}

guint64 bb_sightings_added(const BbSightings *sightings)
{
    return sightings->added;
}

gsize bb_sightings_kept(const BbSightings *sightings)
{
    return sightings->kept->len;
}

static int compare(gconstpointer a, gconstpointer b)
{
    const BbSeen *p = a, *q = b;
    if (p->hi != q->hi)
        return p->hi < q->hi ? -1 : 1;
    if (p->lo != q->lo)
        return p->lo < q->lo ? -1 : 1;
    if (p->observer != q->observer)
        return p->observer < q->observer ? -1 : 1;
    if (p->at_receiver != q->at_receiver)
        return p->at_receiver ? 1 : -1;
    if (p->time_ns != q->time_ns)
        return p->time_ns < q->time_ns ? -1 : 1;
    if (p->sender != q->sender)
        return p->sender < q->sender ? -1 : 1;
    if (p->receiver != q->receiver)
        return p->receiver < q->receiver ? -1 : 1;
    return (int)p->kind - (int)q->kind;
}

static void drop_repeats(GArray *kept)
{
    BbSeen *seen = &g_array_index(kept, BbSeen, 0);
    guint n = 1;
    for (guint i = 1; i < kept->len; i++)
        if (compare(&seen[i], &seen[n - 1]) != 0)
            seen[n++] = seen[i];
    g_array_set_size(kept, n);
}

const BbSeen *bb_sightings_sort(BbSightings *sightings)
{
    if (!sightings->kept->len)
        return NULL;
    qsort(sightings->kept->data, sightings->kept->len, sizeof(BbSeen), compare);
    drop_repeats(sightings->kept);
    return &g_array_index(sightings->kept, BbSeen, 0);
}
