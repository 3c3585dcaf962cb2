// SPDX-License-Identifier: Apache-2.0
// In: vertices, each after the one it follows. Out: patterns that are chains.
#include "convolution/vertices.h"

#include "data/keys.h"

typedef struct {
    guint32 before, edge;
    guint64 count;
    GArray *delays; // of BbPatternDelay, one for each vertex added; NULL at roots
    bool goes_on;   // some vertex follows it
} Vertex;

struct BbVertices {
    const BbTraffic *traffic;
    GArray *all;       // of Vertex
    GHashTable *known; // key of (before, edge) -> index of all + 1
};

static void clear_vertex(gpointer vertex)
{
    g_clear_pointer(&((Vertex *)vertex)->delays, g_array_unref);
}

BbVertices *bb_vertices_new(const BbTraffic *traffic)
{
    BbVertices *self = g_new0(BbVertices, 1);
    self->traffic = traffic;
    self->all = g_array_new(FALSE, FALSE, sizeof(Vertex));
    g_array_set_clear_func(self->all, clear_vertex);
    self->known = g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
    return self;
}

void bb_vertices_free(BbVertices *self)
{
    if (!self)
        return;
    g_hash_table_unref(self->known);
    g_array_unref(self->all);
    g_free(self);
}

static guint32 find_or_add(BbVertices *self, guint32 before, guint32 edge)
{
    guint64 key = (guint64)before << 32 | edge;
    gpointer known = g_hash_table_lookup(self->known, &key);
    if (known)
        return GPOINTER_TO_UINT(known) - 1;
    Vertex vertex = {.before = before, .edge = edge};
    if (before != BB_VERTEX_NONE) {
        vertex.delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
        g_array_index(self->all, Vertex, before).goes_on = true;
    }
    g_array_append_val(self->all, vertex);
    g_hash_table_insert(self->known, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(self->all->len));
    return self->all->len - 1;
}

guint32 bb_vertices_add(BbVertices *self, guint32 before, guint32 edge, const BbPatternDelay *delay)
{
    guint32 index = find_or_add(self, before, edge);
    Vertex *vertex = &g_array_index(self->all, Vertex, index);
    vertex->count += delay->count;
    if (vertex->delays)
        g_array_append_val(vertex->delays, *delay);
    return index;
}

// ---- patterns -----------------------------------------------------------------------------------

static gint by_delay(gconstpointer left, gconstpointer right)
{
    const BbPatternDelay *a = left, *b = right;
    return a->delay_ns < b->delay_ns ? -1 : a->delay_ns > b->delay_ns;
}

// Adds another delay of the same length; spreads are those of spikes, and weigh by messages.
static void merge_delay(BbPatternDelay *sum, const BbPatternDelay *other)
{
    double spread = (double)sum->spread_ns * (double)sum->count +
                    (double)other->spread_ns * (double)other->count;
    sum->count += other->count;
    sum->spread_ns = (gint64)(spread / (double)MAX(1, sum->count) + 0.5);
}

// Those of equal length as one.
static GArray *merge_delays(const GArray *delays)
{
    GArray *merged = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
    if (!delays)
        return merged;
    g_autoptr(GArray) sorted = g_array_copy((GArray *)delays);
    g_array_sort(sorted, by_delay); // keeps the order of equals
    for (guint i = 0; i < sorted->len; i++) {
        const BbPatternDelay *delay = &g_array_index(sorted, BbPatternDelay, i);
        BbPatternDelay *last =
            merged->len ? &g_array_index(merged, BbPatternDelay, merged->len - 1) : NULL;
        if (last && last->delay_ns == delay->delay_ns)
            merge_delay(last, delay);
        else
            g_array_append_val(merged, *delay);
    }
    g_array_sort(merged, bb_pattern_delay_compare);
    return merged;
}

static BbPattern *chain_of(const BbVertices *self, const Vertex *last)
{
    BbPatternNode *first = NULL;
    for (const Vertex *vertex = last;;) {
        const BbEdge *edge = &self->traffic->edges[vertex->edge];
        BbPatternNode *node = bb_pattern_node_new(edge->receiver, BB_NAME_NONE);
        node->delays = merge_delays(vertex->delays);
        node->messages = vertex->count;
        node->sure_total = (double)BB_CONFIDENCE_NONE;
        if (first)
            g_ptr_array_add(node->calls, first);
        first = node;
        if (vertex->before == BB_VERTEX_NONE) {
            BbPattern *pattern = bb_pattern_new(edge->sender, first);
            pattern->count = last->count;
            pattern->right_total = (double)BB_CONFIDENCE_NONE;
            pattern->shape = bb_pattern_hash_chain(pattern, self->traffic->names);
            return pattern;
        }
        vertex = &g_array_index(self->all, Vertex, vertex->before);
    }
}

BbPatterns *bb_vertices_patterns(const BbVertices *self)
{
    BbPatterns *patterns = bb_patterns_new("convolution");
    patterns->facts = self->traffic->facts;
    for (guint i = 0; i < self->all->len; i++) {
        const Vertex *vertex = &g_array_index(self->all, Vertex, i);
        if (!vertex->goes_on)
            g_ptr_array_add(patterns->patterns, chain_of(self, vertex));
    }
    return patterns;
}
