// SPDX-License-Identifier: Apache-2.0
// In: who saw which messages. Out: for each two observers, how much both saw.
#include "merge/overlap.h"

#include "data/id_hash.h"

#include <string.h>

#define RECENT 1024u // rows found again without the table; a power of two

typedef struct Row {
    guint32 sender, receiver, a, b; // b is BB_NAME_NONE: what a saw
    guint64 count;
    gint64 least_ns, most_ns;
} Row;

struct BbOverlap {
    GHashTable *rows; // Row -> itself
    Row *recent[RECENT];
    guint64 left_out;
};

static guint row_hash(gconstpointer key)
{
    const Row *row = key;
    guint hash = (row->sender * 0x9e3779b1u ^ row->receiver) * 0x85ebca6bu;
    hash = ((hash ^ hash >> 15 ^ row->a) * 0xc2b2ae35u ^ row->b) * 0x9e3779b1u;
    return hash ^ hash >> 16;
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

void bb_overlap_saw(BbOverlap *overlap, guint32 sender, guint32 receiver, guint32 observer)
{
    Row *row = find_row(overlap, &(Row){.sender = sender, .receiver = receiver, .a = observer});
    if (row)
        row->count++;
}

void bb_overlap_both(BbOverlap *overlap, guint32 sender, guint32 receiver, guint32 first,
                     guint32 second, gint64 delay_ns)
{
    Row key = {
        .sender = sender,
        .receiver = receiver,
        .a = MIN(first, second),
        .b = MAX(first, second),
        .least_ns = G_MAXINT64,
        .most_ns = G_MININT64,
    };
    Row *row = find_row(overlap, &key);
    if (!row)
        return;
    row->count++;
    row->least_ns = MIN(row->least_ns, delay_ns);
    row->most_ns = MAX(row->most_ns, delay_ns);
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

static BbOverlapPair *pair_of(GHashTable *pairs, guint32 a, guint32 b)
{
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
    bool turn = strcmp(bb_names_text(names, row->a), bb_names_text(names, row->b)) > 0;
    guint32 a = turn ? row->b : row->a, b = turn ? row->a : row->b;
    BbOverlapPair *pair = pair_of(pairs, a, b);
    guint64 saw_a = count_saw(overlap, row, a), saw_b = count_saw(overlap, row, b);
    pair->both += row->count;
    pair->only_a += saw_a - MIN(saw_a, row->count);
    pair->only_b += saw_b - MIN(saw_b, row->count);
    pair->least_ns = MIN(pair->least_ns, row->least_ns);
    pair->most_ns = MAX(pair->most_ns, row->most_ns);
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
    const BbOverlapPair *x = a, *y = b;
    const BbNames *names = data;
    if (x->both != y->both)
        return x->both > y->both ? -1 : 1;
    int order = strcmp(bb_names_text(names, x->a), bb_names_text(names, y->a));
    return order ? order : strcmp(bb_names_text(names, x->b), bb_names_text(names, y->b));
}

GArray *bb_overlap_pairs(const BbOverlap *overlap, const BbNames *names)
{
    g_autoptr(GHashTable) pairs =
        g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, g_free);
    GArray *result = g_array_new(FALSE, FALSE, sizeof(BbOverlapPair));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, overlap->rows);
    while (g_hash_table_iter_next(&iter, &item, NULL)) {
        const Row *row = item;
        if (row->b != BB_NAME_NONE)
            add_edge(overlap, pairs, row, names);
    }
    g_hash_table_iter_init(&iter, pairs);
    while (g_hash_table_iter_next(&iter, NULL, &item))
        g_array_append_vals(result, item, 1);
    g_array_sort_with_data(result, most_first, (gpointer)names);
    return result;
}
