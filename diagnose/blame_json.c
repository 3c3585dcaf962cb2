// SPDX-License-Identifier: Apache-2.0
// In: costs by node and by context. Out: one JSON object, a row a line; times in seconds.
#include "diagnose/blame.h"

#include "diagnose/route.h"

static void write_cost(BbJson *json, const BbBlameCost *cost, gint64 latency_ns)
{
    bb_json_put_uint(json, "requests", cost->instances);
    bb_json_put_uint(json, "calls", cost->calls);
    bb_json_put_uint(json, "errors", cost->errors);
    bb_json_put_seconds(json, "critical_total_s", cost->critical_ns);
    bb_json_key(json, "share");
    bb_json_share(json, latency_ns > 0 ? (double)cost->critical_ns / (double)latency_ns : 0);
    bb_json_put_seconds(json, "wire_total_s", cost->wire_ns);
    bb_json_put_uint(json, "calls_off_path", cost->off_path);
    bb_json_put_seconds(json, "slack_total_s", cost->slack_ns);
}

static void write_self(BbJson *json, const BbStats *self)
{
    bb_json_key(json, "self_s");
    bb_json_begin_object(json);
    bb_json_put_seconds(json, "mean", bb_stats_mean(self));
    bb_json_put_seconds(json, "stddev", bb_stats_stddev(self));
    bb_json_put_seconds(json, "p50", bb_stats_quantile(self, 0.5));
    bb_json_put_seconds(json, "p90", bb_stats_quantile(self, 0.9));
    bb_json_put_seconds(json, "p99", bb_stats_quantile(self, 0.99));
    bb_json_end_object(json);
}

static void write_nodes(BbJson *json, const BbBlameFindings *findings, const BbNames *names)
{
    bb_json_newline(json);
    bb_json_key(json, "nodes");
    bb_json_begin_array(json);
    for (guint i = 0; i < findings->nodes->len; i++) {
        const BbBlameNode *node = &g_array_index(findings->nodes, BbBlameNode, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_key(json, "node");
        bb_json_string(json, bb_names_text(names, node->node));
        bb_json_put_uint(json, "contexts", node->rows);
        write_cost(json, &node->cost, findings->latency_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_rows(BbJson *json, const BbBlameFindings *findings, const BbNames *names)
{
    bb_json_newline(json);
    bb_json_key(json, "contexts");
    bb_json_begin_array(json);
    for (guint i = 0; i < findings->rows->len; i++) {
        const BbBlameRow *row = &g_array_index(findings->rows, BbBlameRow, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_route_write_call(json, names, row->node, row->op);
        bb_route_write_unanswered(json, row->unanswered);
        bb_route_write_callers(json, "callers", names, row->callers, row->n_callers);
        write_cost(json, &row->cost, findings->latency_ns);
        write_self(json, row->self);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

// The callers of a hint, or its replica.
static void put_whom(BbJson *json, const BbNames *names, const char *key, const guint32 *whom,
                     const BbBlameHint *hint, bool replica)
{
    if (replica)
        bb_json_put_string(json, key, bb_names_text(names, *whom));
    else
        bb_route_write_callers(json, key, names, whom, hint->n_callers);
}

static void write_hints(BbJson *json, const GArray *hints, bool replica, const BbNames *names)
{
    bb_json_newline(json);
    bb_json_key(json, replica ? "depends_on_replica" : "depends_on_caller");
    bb_json_begin_array(json);
    for (guint i = 0; i < hints->len; i++) {
        const BbBlameHint *hint = &g_array_index(hints, BbBlameHint, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_route_write_call(json, names, hint->node, hint->op);
        put_whom(json, names, replica ? "slow_replica" : "slow_callers", hint->slow, hint, replica);
        bb_json_put_uint(json, "slow_calls", hint->slow_calls);
        bb_json_put_seconds(json, "slow_self_s", hint->slow_ns);
        put_whom(json, names, replica ? "fast_replica" : "fast_callers", hint->fast, hint, replica);
        bb_json_put_uint(json, "fast_calls", hint->fast_calls);
        bb_json_put_seconds(json, "fast_self_s", hint->fast_ns);
        bb_json_put_seconds(json, "excess_total_s", hint->excess_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_change_side(BbJson *json, const char *key, guint64 requests, gint64 mean_ns)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "requests", requests);
    bb_json_put_seconds(json, "mean_latency_s", mean_ns);
    bb_json_end_object(json);
}

static void write_changes(BbJson *json, const BbBlameFindings *findings, const BbNames *names)
{
    bb_json_newline(json);
    bb_json_key(json, "changed");
    bb_json_begin_array(json);
    for (guint i = 0; i < findings->changes->len; i++) {
        const BbChange *change = &g_array_index(findings->changes, BbChange, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_route_write_call(json, names, change->node, change->op);
        bb_json_put_seconds(json, "at", change->at_ns);
        write_change_side(json, "before", change->before, change->before_ns);
        write_change_side(json, "after", change->after, change->after_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

// Only where there are any.
static void write_rests(BbJson *json, const GArray *rests, const BbNames *names)
{
    if (rests->len == 0)
        return;
    bb_json_newline(json);
    bb_json_key(json, "waited_for_last_byte");
    bb_json_begin_array(json);
    for (guint i = 0; i < rests->len; i++) {
        const BbBlameWaits *rest = &g_array_index(rests, BbBlameWaits, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_put_string(json, "client", bb_names_text(names, rest->caller));
        bb_json_put_string(json, "server", bb_names_text(names, rest->callee));
        bb_json_put_uint(json, "calls", rest->calls);
        bb_json_put_seconds(json, "waited_total_s", rest->waited_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

// Only where there are any.
static void write_waits(BbJson *json, const char *key, const GArray *all, const BbNames *names)
{
    if (all->len == 0)
        return;
    bb_json_newline(json);
    bb_json_key(json, key);
    bb_json_begin_array(json);
    for (guint i = 0; i < all->len; i++) {
        const BbBlameWaits *waits = &g_array_index(all, BbBlameWaits, i);
        bool is_edge = waits->caller != BB_NAME_NONE;
        bb_json_newline(json);
        bb_json_begin_object(json);
        if (is_edge)
            bb_json_put_string(json, "client", bb_names_text(names, waits->caller));
        bb_json_put_string(json, is_edge ? "server" : "node", bb_names_text(names, waits->callee));
        if (waits->op != BB_NAME_NONE)
            bb_json_put_string(json, "op", bb_names_text(names, waits->op));
        bb_json_put_uint(json, "at_once", waits->limit);
        if (waits->replicas) {
            bb_json_key(json, "a_replica");
            bb_json_bool(json, true);
        }
        if (waits->lines > 0)
            bb_json_put_uint(json, "groups", waits->lines);
        if (waits->keep) {
            bb_json_key(json, "own_connections");
            bb_json_bool(json, true);
        }
        bb_json_put_uint(json, "calls", waits->calls);
        bb_json_put_uint(json, "calls_waited", (guint64)(waits->waited + 0.5));
        bb_json_put_seconds(json, "waited_total_s", waits->waited_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void put_unopened(BbJson *json, const BbNetworkEdge *edge)
{
    bb_json_put_uint(json, "connections", edge->connections);
    bb_json_put_uint(json, "unanswered", edge->unanswered);
    bb_json_put_uint(json, "refused", edge->refused);
}

static void put_sent_again(BbJson *json, const BbNetworkEdge *edge)
{
    bb_json_put_uint(json, "packets", edge->packets);
    bb_json_put_uint(json, "retransmitted", edge->retransmitted);
}

// Of edges with some of what number tells; only where there are any, in the order of first mention.
static void write_edges(BbJson *json, const char *key, const BbNetwork *network,
                        const BbNames *names, guint64 (*number)(const BbNetworkEdge *),
                        void (*put)(BbJson *, const BbNetworkEdge *))
{
    guint n = network ? bb_network_count(network) : 0, found = 0;
    for (guint i = 0; i < n; i++) {
        const BbNetworkEdge *edge = bb_network_at(network, i);
        if (number(edge) == 0)
            continue;
        if (found++ == 0) {
            bb_json_newline(json);
            bb_json_key(json, key);
            bb_json_begin_array(json);
        }
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_put_string(json, "client", bb_names_text(names, edge->client));
        bb_json_put_string(json, "server", bb_names_text(names, edge->server));
        put(json, edge);
        bb_json_end_object(json);
    }
    if (found > 0)
        bb_json_end_array(json);
}

void bb_blame_write_json(const BbBlameFindings *findings, const BbNames *names, FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "bbpaths_blame", 1);
    bb_chosen_write(findings->chosen, json);
    bb_json_put_uint(json, "requests", findings->instances);
    bb_json_put_seconds(json, "latency_total_s", findings->latency_ns);
    bb_json_put_probability(json, "wrong_share", findings->wrong);
    bb_json_key(json, "any_client");
    bb_json_bool(json, findings->any_client);
    bb_json_put_uint(json, "left_out_calls", findings->left_out);
    bb_json_put_seconds(json, "left_out_total_s", findings->left_out_ns);
    write_nodes(json, findings, names);
    write_rows(json, findings, names);
    write_hints(json, findings->hints, false, names);
    if (findings->replica_hints)
        write_hints(json, findings->replica_hints, true, names);
    write_changes(json, findings, names);
    write_waits(json, "waited_for_turn", findings->turns, names);
    write_waits(json, "waited_for_pool", findings->pools, names);
    write_rests(json, findings->rests, names);
    write_edges(json, "not_opened", findings->network, names, bb_network_unopened, put_unopened);
    write_edges(json, "sent_again", findings->network, names, bb_network_sent_again,
                put_sent_again);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
}
