// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: one JSON object, a pattern a line; times in seconds.
#include "viz/patterns_json.h"

#include "data/json.h"
#include "viz/chain.h"
#include "viz/ranking.h"
#include "viz/summary.h"

static void write_stats(BbJson *json, const char *key, const BbStats *stats)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
    bb_json_key(json, "mean");
    bb_json_seconds(json, bb_stats_mean(stats));
    bb_json_key(json, "min");
    bb_json_seconds(json, bb_stats_min(stats));
    bb_json_key(json, "max");
    bb_json_seconds(json, bb_stats_max(stats));
    bb_json_key(json, "stddev");
    bb_json_seconds(json, bb_stats_stddev(stats));
    bb_json_key(json, "p50");
    bb_json_seconds(json, bb_stats_quantile(stats, 0.5));
    bb_json_key(json, "p90");
    bb_json_seconds(json, bb_stats_quantile(stats, 0.9));
    bb_json_key(json, "p99");
    bb_json_seconds(json, bb_stats_quantile(stats, 0.99));
    bb_json_key(json, "count");
    bb_json_uint(json, bb_stats_count(stats));
    bb_json_end_object(json);
}

// replicas: NULL where the node has none.
static void write_replicas(BbJson *json, const BbNames *names, const GArray *replicas)
{
    if (!replicas)
        return;
    bb_json_key(json, "replicas");
    bb_json_begin_array(json);
    for (guint i = 0; i < replicas->len; i++) {
        const BbReplica *replica = &g_array_index(replicas, BbReplica, i);
        bb_json_begin_object(json);
        bb_json_put_string(json, "node", bb_names_text(names, replica->node));
        bb_json_key(json, "count");
        bb_json_uint(json, replica->count);
        bb_json_put_seconds(json, "mean_latency_s", bb_replica_mean_latency(replica));
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

// What a node of any pattern begins with.
static void write_what(BbJson *json, const BbNames *names, const BbPattern *pattern,
                       const BbPatternNode *node)
{
    bb_json_put_string(json, "node", bb_names_text(names, node->node));
    if (node->op != BB_NAME_NONE) {
        bb_json_put_string(json, "op", bb_names_text(names, node->op));
    } else {
        bb_json_key(json, "op");
        bb_json_null(json);
    }
    bb_json_key(json, "count");
    bb_json_uint(json, pattern->count);
}

static void write_delays(BbJson *json, const BbPatternNode *node)
{
    bb_json_key(json, "delays_s");
    bb_json_begin_array(json);
    for (guint i = 0; i < bb_chain_delays(node); i++) {
        const BbPatternDelay *delay = bb_chain_delay(node, i);
        bb_json_begin_object(json);
        bb_json_key(json, "delay");
        bb_json_seconds(json, delay->delay_ns);
        bb_json_key(json, "count");
        bb_json_uint(json, delay->count);
        bb_json_key(json, "spread");
        bb_json_seconds(json, delay->spread_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

// A message of a chain and what follows it.
static void write_message(BbJson *json, const BbNames *names, const BbPattern *pattern,
                          const BbPatternNode *node)
{
    bb_json_begin_object(json);
    write_what(json, names, pattern, node);
    bb_json_key(json, "messages");
    bb_json_uint(json, bb_chain_messages(pattern, node));
    bb_json_put_probability(json, "confidence", bb_pattern_sure(pattern, node));
    write_delays(json, node);
    bb_json_key(json, "latency_s");
    bb_json_null(json);
    write_replicas(json, names, node->replicas);
    bb_json_key(json, "calls");
    bb_json_begin_array(json);
    const BbPatternNode *next = bb_chain_next(node);
    if (next)
        write_message(json, names, pattern, next);
    bb_json_end_array(json);
    bb_json_end_object(json);
}

static void write_node(BbJson *json, const BbNames *names, const BbPattern *pattern,
                       const BbPatternNode *node)
{
    bb_json_begin_object(json);
    write_what(json, names, pattern, node);
    if (node->unanswered) {
        bb_json_key(json, "unanswered");
        bb_json_bool(json, true);
    }
    bb_json_key(json, "errors");
    bb_json_uint(json, node->errors);
    bb_json_key(json, "self_total_s");
    bb_json_seconds(json, (gint64)node->self_total_ns);
    bb_json_key(json, "critical_total_s");
    bb_json_seconds(json, (gint64)node->critical_total_ns);
    if (node->turn_total_ns > 0)
        bb_json_put_seconds(json, "turn_total_s", (gint64)node->turn_total_ns);
    if (node->pool_total_ns > 0)
        bb_json_put_seconds(json, "pool_total_s", (gint64)node->pool_total_ns);
    if (node->wire_total_ns > 0)
        bb_json_put_seconds(json, "wire_total_s", (gint64)node->wire_total_ns);
    bb_json_put_probability(json, "confidence", bb_pattern_sure(pattern, node));
    write_stats(json, "call_delay_s", node->call_delay);
    write_stats(json, "latency_s", node->latency);
    write_replicas(json, names, node->replicas);
    bb_json_key(json, "calls");
    bb_json_begin_array(json);
    for (guint i = 0; i < node->calls->len; i++)
        write_node(json, names, pattern, g_ptr_array_index(node->calls, i));
    bb_json_end_array(json);
    bb_json_end_object(json);
}

// Null where none is known: of convolution, where a path is known by its pieces only, or is a
// single message.
static void write_latency(BbJson *json, const char *key, const BbView *view,
                          const BbPattern *pattern, gint64 ns)
{
    bb_json_key(json, key);
    if (view->ranking->chains ? bb_chain_is_timed(pattern)
                              : bb_stats_count(pattern->root->latency) > 0)
        bb_json_seconds(json, ns);
    else
        bb_json_null(json);
}

static void write_pattern(BbJson *json, const BbView *view, guint i)
{
    const BbPattern *pattern = view->ranking->shown[i];
    char shape[17];
    g_snprintf(shape, sizeof shape, "%016" G_GINT64_MODIFIER "x", pattern->shape);
    bb_json_newline(json);
    bb_json_begin_object(json);
    bb_json_key(json, "rank");
    bb_json_uint(json, view->ranking->rank_shown[i]);
    bb_json_key(json, "count");
    bb_json_uint(json, pattern->count);
    write_latency(json, "total_latency_s", view, pattern, bb_pattern_total_latency(pattern));
    write_latency(json, "mean_latency_s", view, pattern, bb_pattern_mean_latency(pattern));
    bb_json_key(json, "shape");
    bb_json_string(json, shape);
    bb_json_put_probability(json, "wrong_share", bb_pattern_wrong(pattern));
    if (pattern->derived) {
        bb_json_key(json, "derived");
        bb_json_bool(json, true);
    }
    bb_json_key(json, "root");
    bb_json_begin_object(json);
    bb_json_put_string(json, "node", bb_names_text(view->names, pattern->client));
    write_replicas(json, view->names, pattern->clients);
    bb_json_key(json, "calls");
    bb_json_begin_array(json);
    if (view->ranking->chains)
        write_message(json, view->names, pattern, pattern->root);
    else
        write_node(json, view->names, pattern, pattern->root);
    bb_json_end_array(json);
    bb_json_end_object(json);
    bb_json_end_object(json);
}

// Only where there are some.
static void write_unreturned(BbJson *json, const BbView *view)
{
    const GArray *edges = view->patterns->unreturned;
    if (edges->len == 0)
        return;
    bb_json_key(json, "unreturned");
    bb_json_begin_array(json);
    for (guint i = 0; i < edges->len; i++) {
        const BbUnreturned *edge = &g_array_index(edges, BbUnreturned, i);
        bb_json_begin_object(json);
        bb_json_put_string(json, "from", bb_names_text(view->names, edge->caller));
        bb_json_put_string(json, "to", bb_names_text(view->names, edge->callee));
        bb_json_put_uint(json, "count", edge->count);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_trace(BbJson *json, const BbFacts *facts)
{
    bb_json_key(json, "trace");
    bb_json_begin_object(json);
    bb_json_key(json, "messages");
    bb_json_uint(json, facts->messages);
    bb_json_key(json, "calls");
    bb_json_uint(json, facts->calls);
    bb_json_key(json, "unmatched");
    bb_json_uint(json, bb_summary_unmatched(facts));
    bb_json_key(json, "start");
    if (facts->start_ns == BB_TIME_NONE)
        bb_json_null(json);
    else
        bb_json_seconds(json, facts->start_ns);
    bb_json_key(json, "duration_s");
    bb_json_seconds(json, bb_summary_duration(facts));
    if (facts->calls_late > 0)
        bb_json_put_uint(json, "late", facts->calls_late);
    if (facts->unrelated > 0)
        bb_json_put_uint(json, "unrelated", facts->unrelated);
    bb_json_end_object(json);
}

static void write_left_out(BbJson *json, const BbRanking *ranking)
{
    bb_json_key(json, "left_out");
    bb_json_begin_object(json);
    bb_json_key(json, "patterns");
    bb_json_uint(json, ranking->n_patterns - ranking->n_shown);
    bb_json_key(json, "forgotten");
    bb_json_uint(json, ranking->forgotten);
    bb_json_key(json, "instances");
    bb_json_uint(json, ranking->instances - ranking->instances_shown);
    bb_json_key(json, "total_latency_s");
    bb_json_seconds(json, ranking->latency_left_ns);
    bb_json_end_object(json);
}

bool bb_patterns_json_write(const BbView *view, FILE *out, GError **error)
{
    (void)error;
    const BbRanking *ranking = view->ranking;
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_key(json, "bbpaths");
    bb_json_uint(json, 1);
    bb_json_key(json, "algorithm");
    bb_json_string(json, view->patterns->algorithm);
    write_trace(json, &view->patterns->facts);
    write_unreturned(json, view);
    bb_chosen_write(ranking->options.chosen, json);
    write_left_out(json, ranking);
    bb_json_newline(json);
    bb_json_key(json, "patterns");
    bb_json_begin_array(json);
    for (guint i = 0; i < ranking->n_shown; i++)
        write_pattern(json, view, i);
    bb_json_end_array(json);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
    return true;
}
