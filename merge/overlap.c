// SPDX-License-Identifier: Apache-2.0
// In: who saw which messages. Out: for each two observers, how much both saw.
#include "merge/overlap.h"

#include "data/keys.h"

#include <string.h>

#define APART_NEAR 16u // observers of an edge that one is compared with
#define RECENT 1024u   // rows found again without the table; a power of two

typedef struct Row {
    guint32 sender, receiver, a, b; // b is BB_NAME_NONE: what a saw
    guint64 count;
    gint64 least_ns, most_ns; // delay; of what a saw, first and last time
} Row;

struct BbOverlap {
    GHashTable *rows; // Row -> itself
    Row *recent[RECENT];
    guint64 left_out;
};

static guint row_hash(gconstpointer key)
{
    const Row *row = key;
    return bb_keys_mix((guint64)row->sender << 32 | row->receiver, (guint64)row->a << 32 | row->b);
}

static gboolean row_equal(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;
    return x->sender == y->sender && x->receiver == y->receiver && x->a == y->a && x->b == y->b;
}

BbOverlap *bb_overlap_new(void)
{
    BbOverlap *overlap = g_new0(BbOverlap, 1);
    overlap->rows = g_hash_table_new_full(row_hash, row_equal, g_free, NULL);
    return overlap;
}

void bb_overlap_free(BbOverlap *overlap)
{
    if (!overlap)
        return;
    g_hash_table_destroy(overlap->rows);
    g_free(overlap);
}

// NULL at the limit.
static Row *find_row(BbOverlap *overlap, const Row *key)
{
    Row **recent = &overlap->recent[row_hash(key) & (RECENT - 1)];
    if (*recent && row_equal(*recent, key))
        return *recent;
    Row *row = g_hash_table_lookup(overlap->rows, key);
    if (!row && g_hash_table_size(overlap->rows) == BB_OVERLAP_ROWS) {
        overlap->left_out++;
        return NULL;
    }
    if (!row) {
        row = g_memdup2(key, sizeof *key);
        g_hash_table_add(overlap->rows, row);
    }
    *recent = row;
    return row;
}

static void count(BbOverlap *overlap, const Row *key, gint64 ns)
{
    Row *row = find_row(overlap, key);
    if (!row)
        return;
    row->count++;
    row->least_ns = MIN(row->least_ns, ns);
    row->most_ns = MAX(row->most_ns, ns);
}

void bb_overlap_saw(BbOverlap *overlap, guint32 sender, guint32 receiver, guint32 observer,
                    gint64 time_ns)
{
    const Row key = {
        .sender = sender,
        .receiver = receiver,
        .a = observer,
        .least_ns = G_MAXINT64,
        .most_ns = G_MININT64,
    };
    count(overlap, &key, time_ns);
}

void bb_overlap_both(BbOverlap *overlap, guint32 sender, guint32 receiver, guint32 first,
                     guint32 second, gint64 delay_ns)
{
    const Row key = {
        .sender = sender,
        .receiver = receiver,
        .a = MIN(first, second),
        .b = MAX(first, second),
        .least_ns = G_MAXINT64,
        .most_ns = G_MININT64,
    };
    count(overlap, &key, delay_ns);
}

guint64 bb_overlap_left_out(const BbOverlap *overlap)
{
    return overlap->left_out;
}

// ---- pairs --------------------------------------------------------------------------------------

static guint64 count_saw(const BbOverlap *overlap, const Row *edge, guint32 observer)
{
    Row key = {.sender = edge->sender, .receiver = edge->receiver, .a = observer};
    const Row *row = g_hash_table_lookup(overlap->rows, &key);
    return row ? row->count : 0;
}

static GHashTable *new_pairs(void)
{
    return g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, g_free);
}

// Of two observers, in the order of their texts.
static BbOverlapPair *pair_of(GHashTable *pairs, guint32 a, guint32 b, const BbNames *names)
{
    if (strcmp(bb_names_text(names, a), bb_names_text(names, b)) > 0) {
        guint32 other = a;
        a = b;
        b = other;
    }
    gint64 key = (gint64)((guint64)a << 32 | b);
    BbOverlapPair *pair = g_hash_table_lookup(pairs, &key);
    if (pair)
        return pair;
    pair = g_new(BbOverlapPair, 1);
    *pair = (BbOverlapPair){.a = a, .b = b, .least_ns = G_MAXINT64, .most_ns = G_MININT64};
    g_hash_table_insert(pairs, g_memdup2(&key, sizeof key), pair);
    return pair;
}

static void add_edge(const BbOverlap *overlap, GHashTable *pairs, const Row *row,
                     const BbNames *names)
{
    BbOverlapPair *pair = pair_of(pairs, row->a, row->b, names);
    guint64 saw_a = count_saw(overlap, row, pair->a), saw_b = count_saw(overlap, row, pair->b);
    pair->both += row->count;
    pair->only_a += saw_a - MIN(saw_a, row->count);
    pair->only_b += saw_b - MIN(saw_b, row->count);
    pair->least_ns = MIN(pair->least_ns, row->least_ns);
    pair->most_ns = MAX(pair->most_ns, row->most_ns);
}

// What pairs are told in the order of: messages that both saw, or, of a pair that has none, as many
// as each saw.
static guint64 share_of(const BbOverlapPair *pair)
{
    return pair->both > 0 ? pair->both : MIN(pair->only_a, pair->only_b);
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
    const BbOverlapPair *x = a, *y = b;
    const BbNames *names = data;
    if (share_of(x) != share_of(y))
        return share_of(x) > share_of(y) ? -1 : 1;
    int order = strcmp(bb_names_text(names, x->a), bb_names_text(names, y->a));
    return order ? order : strcmp(bb_names_text(names, x->b), bb_names_text(names, y->b));
}

static gboolean is_too_little(gpointer key, gpointer pair, gpointer least)
{
    return share_of(pair) < *(const guint64 *)least;
}

// Those with so many messages, most first. Empties pairs of the others.
static GArray *list_pairs(GHashTable *pairs, guint64 least, const BbNames *names)
{
    GArray *result = g_array_new(FALSE, FALSE, sizeof(BbOverlapPair));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_foreach_remove(pairs, is_too_little, &least);
    g_hash_table_iter_init(&iter, pairs);
    while (g_hash_table_iter_next(&iter, NULL, &item))
        g_array_append_vals(result, item, 1);
    g_array_sort_with_data(result, most_first, (gpointer)names);
    return result;
}

GArray *bb_overlap_pairs(const BbOverlap *overlap, const BbNames *names)
{
    g_autoptr(GHashTable) pairs = new_pairs();
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, overlap->rows);
    while (g_hash_table_iter_next(&iter, &item, NULL)) {
        const Row *row = item;
        if (row->b != BB_NAME_NONE)
            add_edge(overlap, pairs, row, names);
    }
    return list_pairs(pairs, 0, names);
}

// ---- pairs that have nothing in common ----------------------------------------------------------

static int by_edge(gconstpointer a, gconstpointer b)
{
    const Row *x = *(const Row *const *)a, *y = *(const Row *const *)b;
    if (x->sender != y->sender)
        return x->sender < y->sender ? -1 : 1;
    if (x->receiver != y->receiver)
        return x->receiver < y->receiver ? -1 : 1;
    return (x->a > y->a) - (x->a < y->a);
}

// What two observers, x->a < y->a, saw of one edge.
static void add_apart(const BbOverlap *overlap, GHashTable *pairs, const Row *x, const Row *y,
                      const BbNames *names)
{
    Row key = {.sender = x->sender, .receiver = x->receiver, .a = x->a, .b = y->a};
    if (x->least_ns > y->most_ns || y->least_ns > x->most_ns ||
        g_hash_table_contains(overlap->rows, &key))
        return;
    BbOverlapPair *pair = pair_of(pairs, x->a, y->a, names);
    pair->only_a += pair->a == x->a ? x->count : y->count;
    pair->only_b += pair->a == x->a ? y->count : x->count;
}

// What each observer saw, by edge, then observer. The rows are the overlap's.
static GPtrArray *list_sightings(const BbOverlap *overlap)
{
    GPtrArray *rows = g_ptr_array_new();
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, overlap->rows);
    while (g_hash_table_iter_next(&iter, &item, NULL))
        if (((const Row *)item)->b == BB_NAME_NONE)
            g_ptr_array_add(rows, item);
    g_ptr_array_sort(rows, by_edge);
    return rows;
}

GArray *bb_overlap_apart(const BbOverlap *overlap, const BbNames *names)
{
    g_autoptr(GPtrArray) rows = list_sightings(overlap);
    g_autoptr(GHashTable) pairs = new_pairs();
    for (guint i = 0; i < rows->len; i++) {
        const Row *x = rows->pdata[i];
        for (guint k = i + 1; k < MIN(rows->len, i + APART_NEAR); k++) {
            const Row *y = rows->pdata[k];
            if (y->sender != x->sender || y->receiver != x->receiver)
                break;
            add_apart(overlap, pairs, x, y, names);
        }
    }
    return list_pairs(pairs, BB_OVERLAP_APART, names);
}
