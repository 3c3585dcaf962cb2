// SPDX-License-Identifier: Apache-2.0
// In: the shape of a pattern, node by node. Out: a tree that owns its statistics.
#include "data/pattern.h"

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
    g_free(pattern);
}

gint64 bb_pattern_total_latency(const BbPattern *pattern)
{
    return bb_stats_sum(pattern->root->latency);
}

gint64 bb_pattern_mean_latency(const BbPattern *pattern)
{
    return bb_stats_mean(pattern->root->latency);
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
