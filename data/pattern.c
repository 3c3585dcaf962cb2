// SPDX-License-Identifier: Apache-2.0
// In: the shape of a pattern, node by node. Out: a tree that owns its statistics.
#include "data/pattern.h"

#include "data/path.h"
#include "data/text_hash.h"

#include <string.h>

BbPatternNode *bb_pattern_node_new(guint32 node, guint32 op)
{
    BbPatternNode *self = g_new0(BbPatternNode, 1);
    self->node = node;
    self->op = op;
    self->call_delay = bb_stats_new();
    self->latency = bb_stats_new();
    self->calls = g_ptr_array_new();
    return self;
}

void bb_pattern_node_free(BbPatternNode *node)
{
    if (!node)
        return;
    for (guint i = 0; i < node->calls->len; i++)
        bb_pattern_node_free(g_ptr_array_index(node->calls, i));
    g_ptr_array_unref(node->calls);
    g_clear_pointer(&node->replicas, g_array_unref);
    g_clear_pointer(&node->delays, g_array_unref);
    bb_stats_free(node->call_delay);
    bb_stats_free(node->latency);
    g_free(node);
}

BbPattern *bb_pattern_new(guint32 client, BbPatternNode *root)
{
    BbPattern *pattern = g_new0(BbPattern, 1);
    pattern->client = client;
    pattern->root = root;
    return pattern;
}

void bb_pattern_free(BbPattern *pattern)
{
    if (!pattern)
        return;
    bb_pattern_node_free(pattern->root);
    g_clear_pointer(&pattern->clients, g_array_unref);
    g_free(pattern);
}

void bb_replicas_count(GArray *replicas, guint32 node, gint64 latency_ns)
{
    guint low = 0, high = replicas->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(replicas, BbReplica, middle).node < node)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == replicas->len || g_array_index(replicas, BbReplica, low).node != node) {
        BbReplica one = {.node = node};
        g_array_insert_val(replicas, low, one);
    }
    BbReplica *replica = &g_array_index(replicas, BbReplica, low);
    replica->count++;
    replica->latency_ns = bb_time_after(replica->latency_ns, latency_ns);
}

static gint by_falling_count(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbReplica *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(bb_names_text(names, x->node), bb_names_text(names, y->node));
}

void bb_replicas_sort(GArray *replicas, const BbNames *names)
{
    if (replicas)
        g_array_sort_with_data(replicas, by_falling_count, (gpointer)names);
}

gint64 bb_pattern_total_latency(const BbPattern *pattern)
{
    return bb_stats_sum(pattern->root->latency);
}

gint64 bb_pattern_mean_latency(const BbPattern *pattern)
{
    return bb_stats_mean(pattern->root->latency);
}

double bb_pattern_wrong(const BbPattern *pattern)
{
    return bb_confidence_wrong(pattern->right_total, pattern->count);
}

guint64 bb_pattern_queued(const BbPatternNode *node)
{
    guint64 ns = node->turn_total_ns;
    for (guint i = 0; i < node->calls->len; i++)
        ns = MIN(ns + ((const BbPatternNode *)g_ptr_array_index(node->calls, i))->pool_total_ns,
                 node->critical_total_ns);
    return ns;
}

double bb_pattern_sure(const BbPattern *pattern, const BbPatternNode *node)
{
    if (pattern->right_total < 0 || node->sure_total < 0 || pattern->count == 0)
        return -1;
    return node->sure_total / (double)pattern->count;
}

static guint node_size(const BbPatternNode *node)
{
    guint size = 1;
    for (guint i = 0; i < node->calls->len; i++)
        size += node_size(g_ptr_array_index(node->calls, i));
    return size;
}

guint bb_pattern_size(const BbPattern *pattern)
{
    return node_size(pattern->root);
}

gint bb_pattern_delay_compare(gconstpointer left, gconstpointer right)
{
    const BbPatternDelay *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->delay_ns > b->delay_ns) - (a->delay_ns < b->delay_ns);
}

guint64 bb_pattern_hash_chain(const BbPattern *pattern, const BbNames *names)
{
    guint64 hash = bb_text_hash_whole(BB_TEXT_HASH_START, pattern->derived ? "derived" : "");
    hash = bb_text_hash_whole(hash, bb_names_text(names, pattern->client));
    for (const BbPatternNode *node = pattern->root; node;
         node = node->calls->len > 0 ? g_ptr_array_index(node->calls, 0) : NULL)
        hash = bb_text_hash_whole(hash, bb_names_text(names, node->node));
    return hash;
}
