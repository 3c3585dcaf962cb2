// SPDX-License-Identifier: Apache-2.0
// The text table: golden texts, its width, that columns stand below each other, full disks.
#include "data/caption.h"
#include "tests/unit/golden.h"
#include "tests/unit/sample_chain_patterns.h"
#include "tests/unit/test.h"
#include "tests/unit/view_text.h"

#include <string.h>

START_TEST(golden)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    char *text = view_text("text", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    golden_check("viz/patterns.txt", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(golden_left_out)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    patterns->facts.free_messages = 5;
    patterns->facts.deep_calls = 1;
    BbViewOptions options = {.top = 2, .sort = BB_SORT_MEAN, .min_count = 50};
    char *text = view_text("text", patterns, names, options);
    golden_check("viz/left-out.txt", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(golden_empty)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    golden_check("viz/empty.txt", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(nothing_that_was_asked_for)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    patterns->facts.calls = 3;
    patterns->facts.calls_unreturned = 2; // one returned, but was left out
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "No patterns: no request meets all conditions\n"));
    free(text);
    patterns->facts.calls_unreturned = 3;
    text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "No patterns: no call of the trace has a return\n"));
    free(text);
}
END_TEST

START_TEST(narrow_enough)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    char *text = view_text("text", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        ck_assert_uint_le(bb_caption_width(lines[i]), 120);
        ck_assert(!g_str_has_suffix(lines[i], " "));
    }
    free(text);
}
END_TEST

// Wide and combining characters take the columns that a terminal gives them.
START_TEST(columns_align)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *root = sample_node(names, "\xe6\x97\xa5\xe6\x9c\xac", "", 1, 0, 10 * MS);
    sample_call(root, sample_node(names, "e\xcc\x81t\xc3\xa9", "", 1, MS, 5 * MS));
    sample_pattern(patterns, names, "C", root);
    char *text = view_text("text", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint column = 0;
    guint rows = 0;
    for (guint i = 0; lines[i]; i++) {
        const char *unit = strstr(lines[i], "0 ms ");
        if (!g_str_has_prefix(lines[i], "  \xe6") && !g_str_has_prefix(lines[i], "  \xe2"))
            continue;
        g_autofree char *before = g_strndup(lines[i], (gsize)(unit - lines[i]));
        ck_assert(column == 0 || column == bb_caption_width(before));
        column = bb_caption_width(before);
        rows++;
    }
    ck_assert_uint_eq(rows, 2);
    free(text);
}
END_TEST

// Figures that fill their columns do not touch.
START_TEST(long_figures_are_apart)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    gint64 day_ns = G_GINT64_CONSTANT(86400) * 1000 * MS;
    sample_pattern(patterns, names, "C", sample_node(names, "S", "", 1, 0, 20 * day_ns));
    char *text = view_text("text", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    ck_assert_ptr_nonnull(strstr(text, "  1 1,728,000 s 1,728,000 s 1,728,000 s "));
    ck_assert_ptr_null(strstr(text, "s1"));
    free(text);
}
END_TEST

// As deep as an inference gives them: every level has its row, in time linear in the levels.
START_TEST(deep_chain)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *root = sample_node(names, "S", "", 1, 0, MS);
    BbPatternNode *last = root;
    for (guint level = 1; level < BB_PATHS_DEPTH_MAX; level++)
        last = sample_call(last, sample_node(names, "long name of a node", "op", 1, US, MS));
    sample_pattern(patterns, names, "C", root);
    static const char *const formats[] = {"text", "dot", "json"};
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        char *text = view_text(formats[i], patterns, names, BB_VIEW_OPTIONS_DEFAULT);
        guint rows = 0;
        for (const char *at = text; (at = strstr(at, i == 0 ? "\u2514\u2500 " : "long name of"));
             at++)
            rows++;
        ck_assert_uint_eq(rows, (BB_PATHS_DEPTH_MAX - 1) * (i == 1 ? 2 : 1)); // DOT: label, tooltip
        free(text);
    }
}
END_TEST

START_TEST(full_disk)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    view_expect_full("text", patterns, names);
}
END_TEST

START_TEST(replicas)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_replicas(patterns, names);
    char *text = view_text("text", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    ck_assert_ptr_nonnull(strstr(text, "  c{1,2}: c1 29 (20.0 ms), c2 15 (25.0 ms)\n"));
    ck_assert_ptr_nonnull(strstr(text, "  store{1..8}: store1 6 (3.00 ms), store2 6 (3.00 ms), "));
    ck_assert_ptr_nonnull(strstr(text, ",\n    store5 5 (3.00 ms), store6 5 (3.00 ms), "));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++)
        ck_assert_uint_le(bb_caption_width(lines[i]), 120);
    free(text);
}
END_TEST

START_TEST(golden_chains)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    patterns->facts.deep_calls = 2;
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    golden_check("viz/chains.txt", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(golden_chains_by_mean)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    patterns->forgotten = 3;
    patterns->forgotten_instances = 5;
    BbViewOptions options = {.top = 3, .sort = BB_SORT_MEAN, .min_count = 2, .min_share = 0.01};
    char *text = view_text("text", patterns, names, options);
    golden_check("viz/chains-by-mean.txt", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(no_chains)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_str_eq(text, "bbpaths convolution, 0 s, 0 messages\n"
                           "No patterns: the trace has no messages\n\n");
    free(text);
    patterns->facts.messages = 3;
    text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "No patterns: no path meets all conditions\n"));
    free(text);
}
END_TEST

// Long names and many hops stay within the columns; the ranking says how many nodes it leaves out.
START_TEST(chains_are_narrow_enough)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    SampleHop hops[20] = {{"svc", 9, {{0}}}};
    for (guint i = 1; i < G_N_ELEMENTS(hops); i++)
        hops[i] = (SampleHop){
            "service-of-the-shop.prod.example.com", 12345678, {{3 * MS, 2 * MS, 12345678}}};
    sample_chain_of(patterns, names, "C", hops, G_N_ELEMENTS(hops), 7000000, 0);
    char *text = view_text("text", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    ck_assert_ptr_nonnull(strstr(text, "  C > svc > servic...e.com > +17 > servic...e.com\n"));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        ck_assert_uint_le(bb_caption_width(lines[i]), 120);
        ck_assert(!g_str_has_suffix(lines[i], " "));
    }
    free(text);
}
END_TEST

// What the conditions say may mean something to Graphviz.
START_TEST(what_was_chosen)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    const BbChosen chosen = {
        .by = "--op='GET \\N' --errors", .instances = 1234, .of = 5678, .counted = true};
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    options.chosen = &chosen;
    char *text = view_text("text", patterns, names, options);
    ck_assert_ptr_nonnull(
        strstr(text, "\nChosen by --op='GET \\N' --errors: 1,234 of 5,678 requests\n"));
    ck_assert_ptr_nonnull(strstr(text, " % of the chosen latency"));
    ck_assert_ptr_null(strstr(text, "of all latency"));
    free(text);
    char *dot = view_text("dot", patterns, names, options);
    ck_assert_ptr_nonnull(
        strstr(dot, "\\lChosen by --op='GET \\\\N' --errors: 1,234 of 5,678 requests\\l"));
    ck_assert_ptr_nonnull(strstr(dot, " % of the chosen latency"));
    free(dot);
    char *json = view_text("json", patterns, names, options);
    ck_assert_ptr_nonnull(strstr(json, "\"chosen\": {\"by\": \"--op='GET \\\\N' --errors\", "
                                       "\"instances\": 1234, \"of\": 5678}"));
    free(json);
}
END_TEST

static void add_edge(BbPatterns *patterns, BbNames *names, guint callee, guint64 count)
{
    g_autofree char *name = g_strdup_printf("node%u", callee);
    BbUnreturned edge = {bb_names_intern(names, "client"), bb_names_intern(names, name), count};
    g_array_append_val(patterns->unreturned, edge);
}

START_TEST(wire)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *db = sample_wire(patterns, names);
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "  wire 30 %\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nwire: how long the client waited for"));
    free(text);
    db->wire_total_ns = MS;
    text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_null(strstr(text, "wire"));
    free(text);
}
END_TEST

// From 2 % of the latency on.
START_TEST(queued)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_queued(patterns, names);
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "  queued 50 %\n  └─ db "));
    ck_assert_ptr_nonnull(strstr(text, "\nqueued: the part of waited in which it stood in line"));
    free(text);
    BbPattern *pattern = g_ptr_array_index(patterns->patterns, 0);
    pattern->root->turn_total_ns = MS;
    ((BbPatternNode *)g_ptr_array_index(pattern->root->calls, 0))->pool_total_ns = 9 * MS / 10;
    text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_null(strstr(text, "queued"));
    free(text);
}
END_TEST

// In patterns those of the patterns at hand, which are not all where some were chosen; in none, the
// commonest edges.
START_TEST(calls_without_return)
{
    const BbChosen chosen = {.by = "--root=client", .instances = 1, .of = 2, .counted = true};
    for (guint choose = 0; choose <= 1; choose++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
        BbPatternNode *root = sample_node(names, "web", "", 1, 0, 1000000);
        sample_unanswered(root, names, "db", 1000000);
        sample_pattern(patterns, names, "client", root);
        patterns->facts.calls_unreturned = 2030;
        patterns->facts.calls_unanswered = 9;
        for (guint i = 0; i < 7; i++)
            add_edge(patterns, names, i, i == 0 ? 2000 : 3);
        BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
        options.chosen = choose ? &chosen : NULL;
        char *text = view_text("text", patterns, names, options);
        ck_assert_ptr_nonnull(strstr(text, "  no return\n"));
        ck_assert_ptr_nonnull(
            strstr(text, "\nIn patterns, without return in time: 1 call whose callers went "
                         "on without one\n"
                         "In no pattern: 2,021 calls without return, 0 returns "
                         "without call\n"));
        ck_assert_ptr_nonnull(strstr(text, choose ? "\n  without return, of the chosen: 2,000 "
                                                  : "\n  without return: 2,000 "));
        ck_assert_ptr_nonnull(strstr(text, " 2,000 client -> node0, 3 client -> node1, "
                                           "3 client -> node2, 3 client -> node3, "
                                           "3 client -> node4, and 6 of 2 other edges\n"));
        free(text);
    }
}
END_TEST

// As deep as an inference gives them: every message has its row.
START_TEST(deep_path)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    g_autofree SampleHop *hops = g_new0(SampleHop, BB_PATHS_DEPTH_MAX);
    for (guint i = 0; i < BB_PATHS_DEPTH_MAX; i++)
        hops[i] = (SampleHop){i % 2 ? "ping" : "pong", 1, {{i * MS, 0, i > 0}}};
    sample_chain_of(patterns, names, "C", hops, BB_PATHS_DEPTH_MAX, 1, 0);
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    guint rows = 0;
    for (const char *at = text; (at = strstr(at, " -> p")); at++)
        rows++;
    ck_assert_uint_eq(rows, BB_PATHS_DEPTH_MAX + 1); // the title has the first
    free(text);
    char *json = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(json, "\"delay\": 0.511000000, \"count\": 1, \"spread\": 0.0"));
    free(json);
    char *dot = view_text("dot", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(dot, "p1n511 -> p1n512"));
    free(dot);
}
END_TEST

TEST_MAIN("table", golden, golden_left_out, golden_empty, nothing_that_was_asked_for, narrow_enough,
          columns_align, long_figures_are_apart, deep_chain, full_disk, replicas, golden_chains,
          golden_chains_by_mean, no_chains, chains_are_narrow_enough, what_was_chosen,
          calls_without_return, wire, queued, deep_path)
