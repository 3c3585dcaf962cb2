// SPDX-License-Identifier: Apache-2.0
// Inferences made by hand, for the views: patterns as they occur, calls without any algorithm.
#pragma once

#include "data/path.h"

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

static inline BbPattern *sample_pattern(BbPaths *paths, BbNames *names, const char *client,
                                        BbPatternNode *root)
{
    BbPattern *pattern = bb_pattern_new(bb_names_intern(names, client), root);
    pattern->count = bb_stats_count(root->latency);
    pattern->shape = 0x9e3779b97f4a7c15 * (paths->patterns->len + 1);
    g_ptr_array_add(paths->patterns, pattern);
    return pattern;
}

static inline void sample_web(BbPaths *paths, BbNames *names)
{
    guint64 n = 1234;
    BbPatternNode *lb = sample_node(names, "lb", "GET /cart/*", n, 0, 80 * MS);
    BbPatternNode *app = sample_node(names, "app1", "GET /cart/*", n, 420 * US, 79 * MS);
    sample_call(lb, app);
    sample_call(app, sample_node(names, "auth", "check", n, 900 * US, 3100 * US));
    sample_call(app, sample_node(names, "redis", "GET cart:*", n, 4300 * US, 410 * US));
    sample_call(app, sample_node(names, "pg", "SELECT carts", n, 4800 * US, 51 * MS));
    sample_pattern(paths, names, "client", lb);
}

static inline void sample_fan_out(BbPaths *paths, BbNames *names)
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
    sample_pattern(paths, names, "client", lb);
}

static inline void sample_chain(BbPaths *paths, BbNames *names)
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
    sample_pattern(paths, names, "scheduler", root);
}

static inline void sample_errors(BbPaths *paths, BbNames *names)
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
    sample_pattern(paths, names, "mobile-eu-west-1.example.net", gw);
}

static inline void sample_hostile(BbPaths *paths, BbNames *names)
{
    BbPatternNode *root =
        sample_node(names, "<b>\\N</b>", "\"a\\\" \\G &lt; & \n\x1b[31m", 2, 0, MS);
    sample_call(root, sample_node(names, "caf\xc3\xa9 \xff",
                                  "\xe2\x80\xae"
                                  "evil",
                                  2, -3 * US, 0));
    sample_call(root, sample_node(names, "", "graph", 2, 5 * US, 7));
    sample_pattern(paths, names, "}\\", root);
}

// All of the above, by falling total latency.
static inline BbPaths *sample_paths(BbNames *names)
{
    BbPaths *paths = bb_paths_new();
    paths->algorithm = "nesting";
    sample_web(paths, names);
    sample_fan_out(paths, names);
    sample_chain(paths, names);
    sample_errors(paths, names);
    sample_hostile(paths, names);
    paths->messages = 38612;
    paths->n_calls = 0;
    paths->calls_unreturned = 12;
    paths->returns_orphaned = 3;
    paths->start_ns = START_NS;
    paths->end_ns = START_NS + 50 * 1000 * MS;
    return paths;
}
