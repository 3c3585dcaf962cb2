// SPDX-License-Identifier: Apache-2.0
// Patterns of convolution made by hand, for the views: chains with delays, as data/chains.h
// publishes them.
#pragma once

#include "tests/unit/sample_patterns.h"

// A message of a chain: who gets it, and its delays up to the first without count; the first
// message has none.
typedef struct SampleHop {
    const char *node;
    guint64 messages;
    BbPatternDelay delays[6];
} SampleHop;

static inline BbPatternNode *sample_hop(BbNames *names, const SampleHop *hop)
{
    BbPatternNode *node = bb_pattern_node_new(bb_names_intern(names, hop->node), BB_NAME_NONE);
    node->messages = hop->messages;
    node->sure_total = -1;
    node->delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
    for (guint i = 0; i < G_N_ELEMENTS(hop->delays) && hop->delays[i].count > 0; i++)
        g_array_append_val(node->delays, hop->delays[i]);
    return node;
}

// latency_ns: around which `count` paths take from end to end; 0 where that is not known.
static inline BbPattern *sample_chain_of(BbPatterns *patterns, BbNames *names, const char *client,
                                         const SampleHop *hops, guint n_hops, guint64 count,
                                         gint64 latency_ns)
{
    BbPatternNode *root = sample_hop(names, &hops[0]);
    BbPatternNode *last = root;
    for (guint i = 1; i < n_hops; i++) {
        BbPatternNode *node = sample_hop(names, &hops[i]);
        g_ptr_array_add(last->calls, node);
        last = node;
    }
    for (guint64 i = 0; latency_ns != 0 && i < count; i++)
        bb_stats_push(root->latency, latency_ns + latency_ns / 20 * ((gint64)(i % 11) - 5));
    BbPattern *pattern = bb_pattern_new(bb_names_intern(names, client), root);
    pattern->count = count;
    pattern->right_total = -1;
    pattern->shape = 0x9e3779b97f4a7c15 * (patterns->patterns->len + 1);
    g_ptr_array_add(patterns->patterns, pattern);
    return pattern;
}

// Figure 9 of the paper, with 200 ms more on a quarter of the way from WS2 to AP1, many delays of
// AP1, and one cause that is a toss of a coin.
static inline void sample_figure9(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hops[] = {
        {"WS2", 3104, {{0}}},
        {"AUTH", 3098, {{50100 * US, 9900 * US, 3098}}},
        {"WS2", 3098, {{50 * MS, 10 * MS, 3098}}},
        {"AP1", 1640, {{50200 * US, 10 * MS, 1231}, {250 * MS, 10100 * US, 409}}},
        {"DB1",
         1302,
         {{52 * MS, 4 * MS, 800},
          {61 * MS, 3 * MS, 300},
          {80 * MS, 3 * MS, 99},
          {101 * MS, 7 * MS, 55},
          {400 * MS, 12 * MS, 31},
          {1500 * MS, 90 * MS, 17}}},
        {"AP1", 1302, {{10 * MS, 2 * MS, 1302}}},
        {"WS2", 1301, {{9900 * US, 2 * MS, 1301}}},
        {"C2", 1301, {{10 * MS, 2100 * US, 1301}}},
    };
    const guint64 count = 1234;
    BbPattern *pattern =
        sample_chain_of(patterns, names, "C2", hops, G_N_ELEMENTS(hops), count, 340 * MS);
    BbPatternNode *node = pattern->root;
    pattern->right_total = 1100;
    for (guint i = 0; i < G_N_ELEMENTS(hops); i++) {
        node->sure_total = (i == 5 ? 0.52 : 0.98) * (double)count;
        node = node->calls->len > 0 ? g_ptr_array_index(node->calls, 0) : NULL;
    }
}

// A pipeline of which only the pieces are known, as figure 6 gives it.
static inline void sample_pipeline(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hops[] = {
        {"ingest", 0, {{0}}},
        {"parse", 0, {{2 * MS, 0, 4321}}},
        {"index", 0, {{1900 * MS, 0, 4000}, {-3 * MS, 0, 321}}},
    };
    sample_chain_of(patterns, names, "sensor", hops, G_N_ELEMENTS(hops), 4321, 0);
}

static inline void sample_mail(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hops[] = {
        {"mail-relay-outbound-17.eu-central-1.compute.example.net", 120, {{0}}},
        {"mx1.lists.department-of-computing.university.example.edu",
         118,
         {{0, 0, 90}, {10000 * MS, 5000 * MS, 28}}},
        {"postbox.university.example.edu", 100, {{3600000 * MS, 60000 * MS, 100}}},
    };
    sample_chain_of(patterns, names, "workstation-0123456789.office.company.example.com", hops,
                    G_N_ELEMENTS(hops), 96, 3610000 * MS);
}

static inline void sample_one_message(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hop = {"WS1", 60, {{0}}};
    sample_chain_of(patterns, names, "C1", &hop, 1, 44, 0);
}

static inline void sample_derived(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hops[] = {{"AP1", 0, {{0}}}, {"WS2", 0, {{72 * MS, 5 * MS, 210}}}};
    sample_chain_of(patterns, names, "WS2", hops, G_N_ELEMENTS(hops), 210, 0)->derived = true;
}

static inline void sample_noise(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hops[] = {{"DB1", 9, {{0}}}, {"WS1", 3, {{777 * MS, 50 * MS, 3}}}};
    sample_chain_of(patterns, names, "AP2", hops, G_N_ELEMENTS(hops), 3, 777 * MS);
}

static inline void sample_hostile_chain(BbPatterns *patterns, BbNames *names)
{
    static const SampleHop hops[] = {
        {"<b>\\N</b>", 50, {{0}}},
        {"\"a\\\" \\G &lt; & \n\x1b[31m", 50, {{-5 * MS, 1, 50}}},
        {"caf\xc3\xa9 \xff", 49, {{G_MAXINT64, 0, 49}}},
        {"", 48, {{G_MAXINT64 - 1, G_MAXINT64, 47}, {G_MININT64, 0, 1}}}};
    sample_chain_of(patterns, names, "}\\", hops, G_N_ELEMENTS(hops), 48, 0);
}

// A forgotten chain, one that no path ends with, and all of the above but the hostile one.
static inline BbPatterns *sample_chain_patterns(BbNames *names)
{
    BbPatterns *patterns = bb_patterns_new("convolution");
    g_ptr_array_add(patterns->patterns, NULL);
    sample_noise(patterns, names);
    sample_figure9(patterns, names);
    sample_derived(patterns, names);
    g_ptr_array_add(patterns->patterns, NULL);
    sample_pipeline(patterns, names);
    sample_mail(patterns, names);
    sample_one_message(patterns, names);
    patterns->facts.messages = 38612;
    patterns->facts.calls = 12000;
    patterns->facts.calls_unreturned = 12000;
    patterns->facts.free_messages = 612;
    patterns->facts.start_ns = START_NS;
    patterns->facts.end_ns = START_NS + 50 * 1000 * MS;
    return patterns;
}
