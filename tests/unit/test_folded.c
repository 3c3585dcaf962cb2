// SPDX-License-Identifier: Apache-2.0
// Folded stacks: frames, sums over patterns, what names may hold, chains.
#include "tests/unit/sample_chain_patterns.h"
#include "tests/unit/test.h"
#include "tests/unit/view_text.h"

static void expect(const BbPatterns *patterns, const BbNames *names, const char *expected)
{
    char *text = view_text("folded", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_str_eq(text, expected);
    free(text);
}

// Two patterns that begin alike, and one of another client.
START_TEST(stacks)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *web = sample_node(names, "web", "GET /", 1, 0, 100);
    sample_call(web, sample_node(names, "db", "SELECT", 1, 10, 60));
    sample_call(web, sample_node(names, "auth", "", 1, 10, 7));
    sample_pattern(patterns, names, "client", web);
    web = sample_node(names, "web", "GET /", 1, 0, 1000);
    sample_call(web, sample_node(names, "db", "SELECT", 1, 10, 600));
    sample_unanswered(web, names, "db", 300);
    sample_pattern(patterns, names, "client", web);
    sample_pattern(patterns, names, "cron", sample_node(names, "web", "GET /", 1, 0, 5));
    expect(patterns, names,
           "client;web GET / 433\n"
           "client;web GET /;auth 7\n"
           "client;web GET /;db (no return) 300\n"
           "client;web GET /;db SELECT 660\n"
           "cron;web GET / 5\n");
}
END_TEST

START_TEST(queued)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_queued(patterns, names);
    expect(patterns, names,
           "client;web 20000000\n"
           "client;web;(queued) 50000000\n"
           "client;web;db 30000000\n");
}
END_TEST

START_TEST(wire)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_wire(patterns, names);
    expect(patterns, names,
           "client;web 40000000\n"
           "client;web;db 30000000\n"
           "client;web;db;(wire) 30000000\n");
}
END_TEST

// What nobody waited for has no line, but what it called may have.
START_TEST(not_waited_for)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *web = sample_node(names, "web", "", 1, 0, 100);
    BbPatternNode *proxy = sample_call(web, sample_node(names, "proxy", "", 1, 0, 100));
    sample_call(proxy, sample_node(names, "db", "", 1, 0, 100));
    sample_pattern(patterns, names, "client", web);
    expect(patterns, names, "client;web;proxy;db 100\n");
}
END_TEST

START_TEST(hostile_names)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_pattern(patterns, names, "", sample_node(names, "a;b\n", "x y\xff", 1, 0, 5));
    expect(patterns, names, "?;a%3Bb%0A x y%FF 5\n");
}
END_TEST

START_TEST(sums_stop)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    for (guint i = 0; i < 3; i++) {
        BbPatternNode *root = sample_node(names, "B", "", 1, 0, 1);
        sample_pattern(patterns, names, "A", root);
        root->critical_total_ns = G_MAXINT64;
    }
    expect(patterns, names, "A;B 18446744073709551615\n");
}
END_TEST

// A node's own time is what it took before it sent: here B took 30 ns in the mean, C 5.
START_TEST(chains)
{
    static const SampleHop hops[] = {
        {"B", 8, {{0}}},
        {"C", 8, {{20, 0, 4}, {40, 0, 4}}},
        {"D", 4, {{5, 0, 4}}},
        {"E", 4, {{-3, 0, 4}}},
    };
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    sample_chain_of(patterns, names, "A", hops, 4, 4, 0);
    sample_chain_of(patterns, names, "A", hops, 2, 2, 0);
    sample_chain_of(patterns, names, "A", hops, 3, 9, 0)->derived = true;
    expect(patterns, names, "A;B 180\nA;B;C 20\n");
}
END_TEST

TEST_MAIN("folded", stacks, queued, wire, not_waited_for, hostile_names, sums_stop, chains)
