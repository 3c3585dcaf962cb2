// SPDX-License-Identifier: Apache-2.0
// In: path instances. Out: their patterns, the costliest first.
//
// Instances of one pattern list their calls in the same order of shapes (nesting/trees.h), so the
// k-th call of each belongs to the k-th vertex of the pattern.
#include "nesting/census.h"

#include <stdlib.h>
#include <string.h>

#include "data/status.h"
#include "nesting/tally.h"

typedef struct {
    BbPattern *pattern;
    BbPatternNode **nodes; // in order of the instances' calls
    char *text;            // of the shape
    gint64 total_ns;
    guint32 index; // in order of first appearance
} Entry;

typedef struct {
    BbPaths *paths;
    const BbTrees *trees;
    const BbNames *names;
    bool labels, last_byte;
    GArray *entries;   // of Entry
    BbTally by_shape;  // (client, shape of the root) -> index into entries + 1
    BbTally by_status; // (protocol, status) -> 1, and 1 more for a failure
} Census;

static BbPatternNode *node_of(const Census *census, const BbCall *call)
{
    return bb_pattern_node_new(call->callee, census->labels ? call->op : BB_NAME_NONE);
}

static Entry make_entry(const Census *census, const BbInstance *instance)
{
    const guint32 *order = census->paths->order + instance->first;
    const BbCall *calls = census->paths->calls;
    BbPatternNode *above[BB_PATHS_DEPTH_MAX + 1]; // the latest vertex of each level
    Entry entry = {.nodes = g_new(BbPatternNode *, instance->count)};
    for (guint32 k = 0; k < instance->count; k++) {
        guint level = census->trees->level[order[k]];
        entry.nodes[k] = above[level] = node_of(census, &calls[order[k]]);
        if (k > 0)
            g_ptr_array_add(above[level - 1]->calls, entry.nodes[k]);
    }
    entry.pattern = bb_pattern_new(calls[order[0]].caller, entry.nodes[0]);
    entry.index = census->entries->len;
    return entry;
}

static guint32 entry_of(Census *census, const BbInstance *instance)
{
    guint32 root = census->paths->order[instance->first];
    guint32 client = census->paths->calls[root].caller;
    guint64 *found =
        bb_tally_at(&census->by_shape, (BbTallyKey){client, census->trees->shape[root], 0});
    if (*found == 0) {
        Entry entry = make_entry(census, instance);
        g_array_append_val(census->entries, entry);
        *found = census->entries->len;
    }
    return (guint32)(*found - 1);
}

static bool failed(Census *census, const BbCall *call)
{
    if (call->status == BB_NAME_NONE)
        return false;
    guint64 *known = bb_tally_at(&census->by_status, (BbTallyKey){call->proto, call->status, 0});
    if (*known == 0)
        *known = 1 + bb_status_is_error(bb_names_text(census->names, call->proto),
                                        bb_names_text(census->names, call->status));
    return *known == 2;
}

static void count_call(Census *census, BbPatternNode *node, guint32 index, bool is_root)
{
    const BbCall *calls = census->paths->calls, *call = &calls[index];
    gint64 delay_ns = 0;
    if (!is_root)
        delay_ns = bb_time_between(calls[census->paths->parent[index]].arrived_ns, call->call_ns);
    bb_stats_push(node->call_delay, delay_ns);
    bb_stats_push(node->latency,
                  bb_time_between(call->arrived_ns, bb_trees_end(call, census->last_byte)));
    guint64 self_ns = MIN(census->trees->self_ns[index], (guint64)G_MAXINT64);
    node->self_total_ns = MIN(node->self_total_ns + self_ns, (guint64)G_MAXINT64);
    node->errors += failed(census, call);
}

static void count_instance(Census *census, BbInstance *instance)
{
    const guint32 *order = census->paths->order + instance->first;
    if (!bb_call_is_returned(&census->paths->calls[order[0]]))
        return;
    instance->pattern = entry_of(census, instance);
    const Entry *entry = &g_array_index(census->entries, Entry, instance->pattern);
    entry->pattern->count++;
    for (guint32 k = 0; k < instance->count; k++)
        count_call(census, entry->nodes[k], order[k], k == 0);
}

static gint by_delay(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbPatternNode *x = *(BbPatternNode *const *)a, *y = *(BbPatternNode *const *)b;
    gint64 x_ns = bb_stats_mean(x->call_delay), y_ns = bb_stats_mean(y->call_delay);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    gint order = strcmp(bb_names_text(names, x->node), bb_names_text(names, y->node));
    return order ? order : strcmp(bb_names_text(names, x->op), bb_names_text(names, y->op));
}

static void sort_calls(const BbPatternNode *node, const BbNames *names)
{
    g_ptr_array_sort_with_data(node->calls, by_delay, (gpointer)names); // stable
    for (guint i = 0; i < node->calls->len; i++)
        sort_calls(g_ptr_array_index(node->calls, i), names);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The same text for the same shape whatever the order of its calls and of the names' table. The
// marks are control bytes, so that names sort before what hangs on them.
static char *shape_text(const BbPatternNode *node, const BbNames *names)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < node->calls->len; i++)
        g_ptr_array_add(texts, shape_text(g_ptr_array_index(node->calls, i), names));
    g_ptr_array_sort(texts, by_text);
    GString *text = g_string_new(bb_names_text(names, node->node));
    g_string_append_printf(text, "\x01%s\x02", bb_names_text(names, node->op));
    for (guint i = 0; i < texts->len; i++)
        g_string_append(text, g_ptr_array_index(texts, i));
    g_string_append_c(text, '\x03');
    return g_string_free(text, FALSE);
}

// FNV-1a, 64 bits.
static guint64 hash_text(const char *text)
{
    guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (guint8)*text) * G_GUINT64_CONSTANT(0x100000001b3);
    return hash;
}

static void describe(const Census *census, Entry *entry)
{
    const BbNames *names = census->names;
    g_autofree char *root = shape_text(entry->pattern->root, names);
    entry->text = g_strconcat(bb_names_text(names, entry->pattern->client), "\x04", root, NULL);
    entry->pattern->shape = hash_text(entry->text);
    entry->total_ns = bb_pattern_total_latency(entry->pattern);
    sort_calls(entry->pattern->root, names);
    g_clear_pointer(&entry->nodes, g_free);
}

static int by_cost(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void publish(Census *census)
{
    BbPaths *paths = census->paths;
    guint n = census->entries->len;
    for (guint i = 0; i < n; i++)
        describe(census, &g_array_index(census->entries, Entry, i));
    if (n > 1)
        qsort(census->entries->data, n, sizeof(Entry), by_cost);
    g_autofree guint32 *place = g_new(guint32, n);
    for (guint i = 0; i < n; i++) {
        Entry *entry = &g_array_index(census->entries, Entry, i);
        place[entry->index] = i;
        entry->pattern->rank = i + 1;
        g_ptr_array_add(paths->patterns, entry->pattern);
        g_free(entry->text);
    }
    for (guint32 i = 0; i < paths->n_instances; i++)
        if (paths->instances[i].pattern != BB_PATTERN_NONE)
            paths->instances[i].pattern = place[paths->instances[i].pattern];
}

void bb_census_take(BbPaths *paths, const BbTrees *trees, const BbNames *names, bool labels,
                    bool last_byte)
{
    Census census = {paths, trees, names, labels, last_byte, NULL, {NULL}, {NULL}};
    census.entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    bb_tally_init(&census.by_shape);
    bb_tally_init(&census.by_status);
    for (guint32 i = 0; i < paths->n_instances; i++)
        count_instance(&census, &paths->instances[i]);
    publish(&census);
    g_array_unref(census.entries);
    bb_tally_clear(&census.by_shape);
    bb_tally_clear(&census.by_status);
}
