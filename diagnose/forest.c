// SPDX-License-Identifier: Apache-2.0
// In: calls and one parent of each. Out: trees, with the shape and the own time of each call.
#include "diagnose/forest.h"

#include "data/keys.h"
#include "data/self_time.h"

#include <stdlib.h>
#include <string.h>

// ---- shapes -------------------------------------------------------------------------------------

// A key is its length in words, then the words: callee, operation, kinds of the children in order.
struct BbKinds {
    GHashTable *numbers; // key -> number + 1
};

static guint key_hash(gconstpointer key)
{
    const guint32 *words = key;
    return bb_keys_bytes(words, (words[0] + (gsize)1) * sizeof *words);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const guint32 *x = a, *y = b;
    return x[0] == y[0] && memcmp(x, y, (x[0] + (gsize)1) * sizeof *x) == 0;
}

BbKinds *bb_kinds_new(void)
{
    BbKinds *kinds = g_new(BbKinds, 1);
    kinds->numbers = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    return kinds;
}

void bb_kinds_free(BbKinds *kinds)
{
    if (!kinds)
        return;
    g_hash_table_unref(kinds->numbers);
    g_free(kinds);
}

static guint32 number_of(BbKinds *kinds, const GArray *key)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(kinds->numbers, key->data));
    if (number == 0) {
        number = g_hash_table_size(kinds->numbers) + 1;
        g_hash_table_insert(kinds->numbers, g_memdup2(key->data, key->len * sizeof(guint32)),
                            GUINT_TO_POINTER(number));
    }
    return number - 1;
}

// ---- order --------------------------------------------------------------------------------------

// order is the queue as well: a call enters it once all its children are there.
guint32 bb_forest_order(const guint32 *parent, guint32 n, guint32 *order)
{
    g_autofree guint32 *missing = g_new0(guint32, n); // children that are not in order yet
    for (guint32 i = 0; i < n; i++)
        if (parent[i] != BB_CALL_NO_PARENT)
            missing[parent[i]]++;
    guint32 reached = 0;
    for (guint32 i = 0; i < n; i++)
        if (missing[i] == 0)
            order[reached++] = i;
    for (guint32 k = 0; k < reached; k++) {
        guint32 above = parent[order[k]];
        if (above != BB_CALL_NO_PARENT && --missing[above] == 0)
            order[reached++] = above;
    }
    for (guint32 i = 0, k = reached; i < n; i++)
        if (missing[i] > 0)
            order[k++] = i;
    return reached;
}

// ---- growth -------------------------------------------------------------------------------------

typedef struct {
    BbForest *forest;
    const BbLinks *links;
    BbKinds *kinds;
    const BbForestOptions *options;
    GArray *key;
} Growth;

static int by_time(gconstpointer a, gconstpointer b, gpointer user)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    gint64 x = bb_links_at(user, i)->call.call_ns, y = bb_links_at(user, j)->call.call_ns;
    return x != y ? (x < y ? -1 : 1) : (i > j) - (i < j);
}

static int by_number(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

static guint64 self_time(const Growth *growth, const BbCall *call, const guint32 *kids,
                         guint32 n_kids)
{
    BbSelfTime time = bb_self_time_start(call, growth->options->last_byte);
    for (guint32 k = 0; k < n_kids; k++)
        bb_self_time_add(&time, &bb_links_at(growth->links, kids[k])->call);
    return bb_self_time_end(&time);
}

static guint32 kind_of(Growth *growth, const BbCall *call, const guint32 *kids, guint32 n_kids)
{
    GArray *key = growth->key;
    g_array_set_size(key, n_kids + 3);
    guint32 *words = &g_array_index(key, guint32, 0);
    words[0] = n_kids + 2;
    words[1] = call->callee;
    words[2] = growth->options->labels ? call->op : BB_NAME_NONE;
    for (guint32 k = 0; k < n_kids; k++)
        words[3 + k] = growth->forest->kind[kids[k]];
    if (n_kids > 1)
        qsort(words + 3, n_kids, sizeof *words, by_number);
    return number_of(growth->kinds, key);
}

static void grow_call(Growth *growth, guint32 index)
{
    BbForest *forest = growth->forest;
    const BbCall *call = &bb_links_at(growth->links, index)->call;
    guint32 *kids = bb_groups_at(&forest->kids, index);
    guint32 n_kids = bb_groups_size(&forest->kids, index);
    if (n_kids > 1)
        g_qsort_with_data(kids, (gint)n_kids, sizeof *kids, by_time, (gpointer)growth->links);
    forest->self_ns[index] = self_time(growth, call, kids, n_kids);
    forest->kind[index] = kind_of(growth, call, kids, n_kids);
    forest->size[index] = 1;
    for (guint32 k = 0; k < n_kids; k++)
        forest->size[index] += forest->size[kids[k]];
}

static bool is_told(const BbLinks *links, guint32 index)
{
    return index != BB_CALL_NO_PARENT && bb_links_at(links, index)->truth != BB_LINK_UNTOLD;
}

static guint32 parent_in(const BbLinks *links, guint32 index, BbForestSide side)
{
    const BbLink *link = bb_links_at(links, index);
    guint32 parent = side == BB_FOREST_FOUND ? link->found : link->real;
    return is_told(links, index) && is_told(links, parent) ? parent : BB_CALL_NO_PARENT;
}

BbForest *bb_forest_new(const BbLinks *links, BbForestSide side, BbKinds *kinds,
                        const BbForestOptions *options)
{
    guint32 n = links->links->len;
    BbForest *forest = g_new(BbForest, 1);
    *forest = (BbForest){
        .n = n,
        .order = g_new(guint32, n),
        .parent = g_new(guint32, n),
        .size = g_new0(guint32, n),
        .kind = g_new0(guint32, n),
        .self_ns = g_new0(guint64, n),
    };
    for (guint32 i = 0; i < n; i++)
        forest->parent[i] = parent_in(links, i, side);
    guint32 reached = bb_forest_order(forest->parent, n, forest->order);
    g_assert(reached == n); // inferences make trees, and true circles were taken out
    g_autoptr(GArray) key = g_array_new(FALSE, FALSE, sizeof(guint32));
    Growth growth = {forest, links, kinds, options, key};
    forest->kids = bb_groups_of(forest->parent, forest->n, forest->n);
    for (guint32 k = 0; k < n; k++) {
        if (!is_told(links, forest->order[k]))
            continue;
        forest->order[forest->n_order] = forest->order[k];
        grow_call(&growth, forest->order[forest->n_order++]);
    }
    return forest;
}

void bb_forest_free(BbForest *forest)
{
    if (!forest)
        return;
    g_free(forest->order);
    g_free(forest->parent);
    bb_groups_clear(&forest->kids);
    g_free(forest->size);
    g_free(forest->kind);
    g_free(forest->self_ns);
    g_free(forest);
}
