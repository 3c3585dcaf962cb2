// SPDX-License-Identifier: Apache-2.0
// In: a chain of messages with the delays of each. Out: figures that all views of it share.
#include "viz/chain.h"

#include <math.h>
#include <string.h>

bool bb_chain_is_form_of(const BbPatterns *patterns)
{
    return strcmp(patterns->algorithm, "convolution") == 0;
}

const BbPatternNode *bb_chain_next(const BbPatternNode *node)
{
    return node->calls->len > 0 ? g_ptr_array_index(node->calls, 0) : NULL;
}

guint bb_chain_delays(const BbPatternNode *node)
{
    return node->delays ? node->delays->len : 0;
}

const BbPatternDelay *bb_chain_delay(const BbPatternNode *node, guint i)
{
    return &g_array_index(node->delays, BbPatternDelay, i);
}

guint64 bb_chain_messages(const BbPattern *pattern, const BbPatternNode *node)
{
    guint64 messages = node == pattern->root ? pattern->count : 0;
    if (node->messages > 0)
        return node->messages;
    for (guint i = 0; i < bb_chain_delays(node); i++)
        messages += bb_chain_delay(node, i)->count;
    return messages;
}

gint64 bb_chain_mean_delay(const BbPatternNode *node)
{
    double sum = 0, messages = 0; // the product of delay and count may not fit into gint64
    for (guint i = 0; i < bb_chain_delays(node); i++) {
        const BbPatternDelay *delay = bb_chain_delay(node, i);
        sum += (double)delay->delay_ns * (double)delay->count;
        messages += (double)delay->count;
    }
    return messages > 0 ? (gint64)CLAMP(round(sum / messages), -0x1p62, 0x1p62) : 0;
}

const BbPatternNode *bb_chain_slowest(const BbPattern *pattern)
{
    const BbPatternNode *slowest = NULL;
    gint64 most_ns = 0;
    for (const BbPatternNode *node = pattern->root; node; node = bb_chain_next(node)) {
        gint64 delay_ns = bb_chain_mean_delay(node);
        if (delay_ns <= most_ns)
            continue;
        most_ns = delay_ns;
        slowest = node;
    }
    return slowest;
}

gint64 bb_chain_sum(const BbPattern *pattern)
{
    gint64 sum = 0;
    for (const BbPatternNode *node = pattern->root; node; node = bb_chain_next(node))
        if (__builtin_add_overflow(sum, MAX(bb_chain_mean_delay(node), 0), &sum))
            return G_MAXINT64;
    return sum;
}

bool bb_chain_is_timed(const BbPattern *pattern)
{
    const BbStats *latency = pattern->root->latency;
    return bb_stats_count(latency) > 0 &&
           (bb_chain_next(pattern->root) || bb_stats_max(latency) != 0);
}
