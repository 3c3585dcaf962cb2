// SPDX-License-Identifier: Apache-2.0
// Inferences made by hand, for the views: patterns as they occur, calls without any algorithm.
#pragma once

#include "data/census.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#define US G_GINT64_CONSTANT(1000)
#define MS G_GINT64_CONSTANT(1000000)
#define START_NS G_GINT64_CONSTANT(1047680084482205000)

// A node whose latencies are `count` values around latency_ns, and whose delays are around
// delay_ns.
static inline BbPatternNode *sample_node(BbNames *names, const char *node, const char *op,
                                         guint64 count, gint64 delay_ns, gint64 latency_ns)
{
    BbPatternNode *self =
        bb_pattern_node_new(bb_names_intern(names, node), bb_names_intern(names, op));
    for (guint64 i = 0; i < count; i++) {
        gint64 swing = count > 1 ? (gint64)(i % 11) - 5 : 0;
        bb_stats_push(self->call_delay, delay_ns + delay_ns / 40 * swing);
        bb_stats_push(self->latency, latency_ns + latency_ns / 20 * swing);
    }
    self->self_total_ns = (guint64)bb_stats_sum(self->latency);
    return self;
}

// Hangs call below node. In row: node does not work while call runs.
static inline BbPatternNode *sample_call(BbPatternNode *node, BbPatternNode *call)
{
    g_ptr_array_add(node->calls, call);
    guint64 covered = (guint64)bb_stats_sum(call->latency);
    node->self_total_ns -= MIN(covered, node->self_total_ns);
    return call;
}

// Hangs a call below node that got no return in that time.
static inline void sample_unanswered(BbPatternNode *node, BbNames *names, const char *callee,
                                     gint64 wait_ns)
{
    BbPatternNode *waited = sample_node(names, callee, "", 1, 0, wait_ns);
    waited->unanswered = true;
    g_ptr_array_add(node->calls, waited);
}

// As if all calls were made in row: all own work is waited for.
static inline void sample_wait(BbPatternNode *node)
{
    node->critical_total_ns = node->self_total_ns;
    node->sure_total = -1;
    for (guint i = 0; i < node->calls->len; i++)
        sample_wait(g_ptr_array_index(node->calls, i));
}

static inline BbPattern *sample_pattern(BbPatterns *patterns, BbNames *names, const char *client,
                                        BbPatternNode *root)
{
    BbPattern *pattern = bb_pattern_new(bb_names_intern(names, client), root);
    pattern->count = bb_stats_count(root->latency);
    pattern->right_total = -1;
    sample_wait(root);
    pattern->shape = 0x9e3779b97f4a7c15 * (patterns->patterns->len + 1);
    g_ptr_array_add(patterns->patterns, pattern);
    return pattern;
}

static inline void sample_web(BbPatterns *patterns, BbNames *names)
{
    guint64 n = 1234;
    BbPatternNode *lb = sample_node(names, "lb", "GET /cart/*", n, 0, 80 * MS);
    BbPatternNode *app = sample_node(names, "app1", "GET /cart/*", n, 420 * US, 79 * MS);
    sample_call(lb, app);
    sample_call(app, sample_node(names, "auth", "check", n, 900 * US, 3100 * US));
    sample_call(app, sample_node(names, "redis", "GET cart:*", n, 4300 * US, 410 * US));
    sample_call(app, sample_node(names, "pg", "SELECT carts", n, 4800 * US, 51 * MS));
    sample_pattern(patterns, names, "client", lb);
}

// web's calls wait 30 of its 100 ms for their turn, and web 20 ms for a pool before it calls db.
static inline void sample_queued(BbPatterns *patterns, BbNames *names)
{
    BbPatternNode *web = sample_node(names, "web", "", 1, 0, 100 * MS);
    BbPatternNode *db = sample_call(web, sample_node(names, "db", "", 1, 60 * MS, 30 * MS));
    sample_pattern(patterns, names, "client", web);
    web->turn_total_ns = 30 * MS;
    db->pool_total_ns = 20 * MS;
}

// 30 of 100 ms are on the way from web to db and back; returns db.
static inline BbPatternNode *sample_wire(BbPatterns *patterns, BbNames *names)
{
    BbPatternNode *web = sample_node(names, "web", "", 1, 0, 100 * MS);
    BbPatternNode *db = sample_call(web, sample_node(names, "db", "", 1, 60 * MS, 30 * MS));
    sample_pattern(patterns, names, "client", web);
    web->critical_total_ns -= 30 * MS;
    db->wire_total_ns = 30 * MS;
    return db;
}

static inline void sample_fan_out(BbPatterns *patterns, BbNames *names)
{
    guint64 n = 400;
    BbPatternNode *lb = sample_node(names, "lb", "GET /feed", n, 0, 31 * MS);
    BbPatternNode *feed = sample_node(names, "feed", "GET /feed", n, 380 * US, 30 * MS);
    sample_call(lb, feed);
    for (gint64 i = 0; i < 14; i++) {
        char name[16];
        g_snprintf(name, sizeof name, "shard%02d", (int)i);
        sample_call(feed, sample_node(names, name, "MGET", n, (500 + 90 * i) * US,
                                      (1200 + 70 * (i * 5 % 14)) * US));
    }
    sample_pattern(patterns, names, "client", lb);
    // The shards work at the same time, and only the last is waited for.
    for (guint i = 0; i < 14; i++) {
        BbPatternNode *shard = g_ptr_array_index(feed->calls, i);
        feed->critical_total_ns += i < 13 ? shard->critical_total_ns : 0;
        shard->critical_total_ns = i < 13 ? 0 : shard->critical_total_ns;
    }
}

static inline void sample_chain(BbPatterns *patterns, BbNames *names)
{
    static const char *const nodes[] = {"cron",   "planner", "stock",     "pricing", "rates",
                                        "ledger", "archive", "pg-ledger", "san"};
    BbPatternNode *root = NULL;
    BbPatternNode *last = NULL;
    for (gint64 i = 0; i < 9; i++) {
        BbPatternNode *node = sample_node(names, nodes[i], i % 2 ? "Run" : "", 7, i * 130 * US,
                                          (900 - 40 * i - (i > 5 ? 300 : 0)) * MS);
        if (last)
            sample_call(last, node);
        else
            root = node;
        last = node;
    }
    sample_pattern(patterns, names, "scheduler", root);
}

static inline void sample_errors(BbPatterns *patterns, BbNames *names)
{
    guint64 n = 99;
    BbPatternNode *gw = sample_node(names, "gw",
                                    "POST /api/v2/customers/*/orders/*/items/*/reservations/*/"
                                    "confirm?dryRun=false&notify=true",
                                    n, 0, 41 * MS);
    gw->errors = 3;
    BbPatternNode *first = sample_node(names, "C", "read", n, 2 * MS, 14 * MS);
    BbPatternNode *second = sample_node(names, "C", "read", n, 17 * MS, 19 * MS);
    second->errors = 1;
    sample_call(gw, first);
    sample_call(gw, second);
    BbPattern *pattern = sample_pattern(patterns, names, "mobile-eu-west-1.example.net", gw);
    gw->sure_total = (double)n;
    first->sure_total = 0.97 * (double)n;
    second->sure_total = 0.55 * (double)n; // a toss of a coin
    pattern->right_total = 0.53 * (double)n;
}

static inline void sample_hostile(BbPatterns *patterns, BbNames *names)
{
    BbPatternNode *root =
        sample_node(names, "<b>\\N</b>", "\"a\\\" \\G &lt; & \n\x1b[31m", 2, 0, MS);
    sample_call(root, sample_node(names, "caf\xc3\xa9 \xff",
                                  "\xe2\x80\xae"
                                  "evil",
                                  2, -3 * US, 0));
    sample_call(root, sample_node(names, "", "graph", 2, 5 * US, 7));
    sample_pattern(patterns, names, "}\\", root);
}

// Two clients that are replicas, eight stores that are, used more and less.
static inline void sample_replicas(BbPatterns *patterns, BbNames *names)
{
    BbPatternNode *app = sample_node(names, "app", "", 40, 0, 20 * MS);
    BbPatternNode *store =
        sample_call(app, sample_node(names, "store{1..8}", "GET", 40, MS, 3 * MS));
    BbPattern *pattern = sample_pattern(patterns, names, "c{1,2}", app);
    store->replicas = g_array_new(FALSE, FALSE, sizeof(BbReplica));
    pattern->clients = g_array_new(FALSE, FALSE, sizeof(BbReplica));
    for (guint i = 0; i < 44; i++) {
        char name[32];
        g_snprintf(name, sizeof name, i == 7 ? "store%u <&\"\xff" : "store%u", 1 + i % 8);
        bb_replicas_count(store->replicas,
                          bb_names_intern(names, i == 15 ? "store8 <&\"\xff" : name), 3 * MS);
        bb_replicas_count(pattern->clients, bb_names_intern(names, i % 3 ? "c1" : "c2"),
                          i % 3 ? 20 * MS : 25 * MS);
    }
    bb_replicas_sort(store->replicas, names);
    bb_replicas_sort(pattern->clients, names);
}

// All of the above, by falling total latency.
static inline BbPatterns *sample_patterns(BbNames *names)
{
    BbPatterns *patterns = bb_patterns_new("nesting");
    sample_web(patterns, names);
    sample_fan_out(patterns, names);
    sample_chain(patterns, names);
    sample_errors(patterns, names);
    sample_hostile(patterns, names);
    patterns->facts.messages = 38612;
    patterns->facts.calls = 0;
    patterns->facts.calls_unreturned = 12;
    patterns->facts.returns_orphaned = 3;
    patterns->facts.start_ns = START_NS;
    patterns->facts.end_ns = START_NS + 50 * 1000 * MS;
    return patterns;
}
