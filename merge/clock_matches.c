// SPDX-License-Identifier: Apache-2.0
// In: sightings, sorted by key. Out: what each two observers have in common.
#include "merge/clock_matches.h"

#include "data/keys.h"

// An observer is at a node that has an end of this share of what it sees.
#define PLACE_SHARE 0.98

#define FOUND_MAX BB_CLOCK_OBSERVERS_MAX // sightings of a key that are compared

// ---- matches -----------------------------------------------------------------------------------

static guint hash_pair(gconstpointer key)
{
    const BbClockMatches *pair = key;
    return bb_keys_mix(pair->a, pair->b);
}

static gboolean equal_pairs(gconstpointer x, gconstpointer y)
{
    const BbClockMatches *p = x, *q = y;
    return p->a == q->a && p->b == q->b;
}

static int compare_pairs(gconstpointer x, gconstpointer y)
{
    const BbClockMatches *p = *(const BbClockMatches *const *)x;
    const BbClockMatches *q = *(const BbClockMatches *const *)y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

static void pair_free(gpointer pair)
{
    g_array_unref(((BbClockMatches *)pair)->matches);
    g_free(pair);
}

static BbClockMatches *pair_of(GPtrArray *pairs, GHashTable *table, guint a, guint b)
{
    const BbClockMatches key = {.a = a, .b = b};
    BbClockMatches *pair = g_hash_table_lookup(table, &key);
    if (pair)
        return pair;
    pair = g_new(BbClockMatches, 1);
    *pair = (BbClockMatches){a, b, g_array_new(FALSE, FALSE, sizeof(BbClockMatch))};
    g_ptr_array_add(pairs, pair);
    g_hash_table_add(table, pair);
    return pair;
}

static BbClockMatch match_of(const BbSeen *a, const BbSeen *b)
{
    BbClockMatch match = {
        .a_ns = a->time_ns, .b_ns = b->time_ns, .sender = a->sender, .receiver = a->receiver};
    if (a->at_receiver != b->at_receiver)
        match.order = a->at_receiver ? BB_CLOCK_ORDER_B_FIRST : BB_CLOCK_ORDER_A_FIRST;
    return match;
}

static bool same_key(const BbSeen *a, const BbSeen *b)
{
    return a->hi == b->hi && a->lo == b->lo;
}

// The key of a position is one for both directions.
static bool same_way(const BbSeen *a, const BbSeen *b)
{
    return bb_sighting_same_way((BbSightingWay){a->sender, a->receiver, (BbKind)a->kind},
                                (BbSightingWay){b->sender, b->receiver, (BbKind)b->kind});
}

// Of the sightings [0, count) of one key, those whose observer has no other one of it that goes the
// same way: two of an observer at most.
static guint single(const BbSeen *seen, gsize count, const BbSeen **found, guint64 *ambiguous)
{
    guint n = 0;
    bool twice = false;
    for (gsize from = 0, to = 0; from < count && n < FOUND_MAX; from = to) {
        while (to < count && seen[to].observer == seen[from].observer)
            to++;
        bool pair = to - from == 2 && !same_way(&seen[from], &seen[from + 1]);
        twice |= to - from > 1 && !pair;
        for (gsize i = from; i < to && (pair || to - from == 1); i++)
            found[n++] = &seen[i];
    }
    *ambiguous += twice;
    return n;
}

// The other sighting of the same observer; NULL where it has none.
static const BbSeen *beside(const BbSeen *const *found, guint n, guint i)
{
    if (i > 0 && found[i - 1]->observer == found[i]->observer)
        return found[i - 1];
    return i + 1 < n && found[i + 1]->observer == found[i]->observer ? found[i + 1] : NULL;
}

// Whether two observers saw one message, and neither of them another one that may be it.
static bool is_match(const BbSeen *const *found, guint n, guint i, guint k)
{
    const BbSeen *a = found[i], *b = found[k];
    const BbSeen *other_a = beside(found, n, i), *other_b = beside(found, n, k);
    return a->observer != b->observer && same_way(a, b) && !(other_a && same_way(other_a, b)) &&
           !(other_b && same_way(a, other_b));
}

GPtrArray *bb_clock_matches_list(const BbSeen *seen, gsize count, guint64 *ambiguous)
{
    GPtrArray *pairs = g_ptr_array_new_with_free_func(pair_free);
    g_autoptr(GHashTable) table = g_hash_table_new(hash_pair, equal_pairs);
    const BbSeen *found[FOUND_MAX + 1];
    *ambiguous = 0;
    for (gsize begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && same_key(&seen[begin], &seen[end]))
            end++;
        guint n = single(&seen[begin], end - begin, found, ambiguous);
        for (guint i = 0; i < n; i++) {
            for (guint k = i + 1; k < n; k++) {
                if (!is_match(found, n, i, k))
                    continue;
                BbClockMatch match = match_of(found[i], found[k]);
                BbClockMatches *pair =
                    pair_of(pairs, table, found[i]->observer, found[k]->observer);
                g_array_append_val(pair->matches, match);
            }
        }
    }
    g_ptr_array_sort(pairs, compare_pairs);
    return pairs;
}

// ---- places ------------------------------------------------------------------------------------

static void count_end(GHashTable *ends, guint observer, guint32 node)
{
    guint64 key = (guint64)observer << 32 | node;
    guint64 *count = g_hash_table_lookup(ends, &key);
    if (!count) {
        guint64 *entry = g_new0(guint64, 2); // key, count
        entry[0] = key;
        count = &entry[1];
        g_hash_table_insert(ends, entry, count);
    }
    ++*count;
}

guint32 *bb_clock_places(const BbSeen *seen, gsize count, guint observers)
{
    g_autoptr(GHashTable) ends =
        g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
    g_autofree gsize *total = g_new0(gsize, observers);
    g_autofree guint *found = g_new0(guint, observers);
    guint32 *place = g_new0(guint32, observers);
    for (gsize i = 0; i < count; i++) {
        total[seen[i].observer]++;
        count_end(ends, seen[i].observer, seen[i].sender);
        if (seen[i].receiver != seen[i].sender)
            count_end(ends, seen[i].observer, seen[i].receiver);
    }
    GHashTableIter iter;
    gpointer key = NULL, value = NULL;
    g_hash_table_iter_init(&iter, ends);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        guint observer = (guint)(*(guint64 *)key >> 32);
        if ((double)*(guint64 *)value < PLACE_SHARE * (double)total[observer])
            continue;
        place[observer] = found[observer]++ ? 0 : (guint32) * (guint64 *)key;
    }
    return place;
}
