// SPDX-License-Identifier: Apache-2.0
// Patterns as JSON, and the table of formats: the contract's keys, exact figures, defaults.
#include "tests/unit/golden.h"
#include "tests/unit/sample_chain_patterns.h"
#include "tests/unit/test.h"
#include "tests/unit/view_text.h"

#include <string.h>

START_TEST(golden)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    char *text =
        view_text("json", patterns, names, (BbViewOptions){.top = 2, .sort = BB_SORT_MEAN});
    golden_check("viz/top2.json", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(one_call)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *root = bb_pattern_node_new(bb_names_intern(names, "WS2"), BB_NAME_NONE);
    bb_stats_push(root->call_delay, 0);
    bb_stats_push(root->latency, 1000000001);
    root->self_total_ns = 1000000001;
    root->errors = 1;
    sample_pattern(patterns, names, "C\"1", root)->shape = 0xabc;
    patterns->facts.messages = 4;
    patterns->facts.calls = 0;
    patterns->facts.calls_unreturned = 1;
    patterns->facts.returns_orphaned = 2;
    patterns->facts.start_ns = START_NS;
    patterns->facts.end_ns = START_NS + 5;
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_str_eq(
        text,
        "{\"bbpaths\": 1, \"algorithm\": \"nesting\", \"trace\": {\"messages\": 4, \"calls\": 0, "
        "\"unmatched\": 3, \"start\": 1047680084.482205000, \"duration_s\": 0.000000005}, "
        "\"left_out\": {\"patterns\": 0, \"forgotten\": 0, \"instances\": 0, \"total_latency_s\": "
        "0.000000000},\n"
        "\"patterns\": [\n"
        "{\"rank\": 1, \"count\": 1, \"total_latency_s\": 1.000000001, \"mean_latency_s\": "
        "1.000000001, \"shape\": \"0000000000000abc\", \"wrong_share\": null, \"root\": {\"node\": "
        "\"C\\\"1\", \"calls\": "
        "[{\"node\": \"WS2\", \"op\": null, \"count\": 1, \"errors\": 1, \"self_total_s\": "
        "1.000000001, \"critical_total_s\": 1.000000001, \"confidence\": null, \"call_delay_s\": "
        "{\"mean\": 0.000000000, \"min\": 0.000000000, \"max\": "
        "0.000000000, \"stddev\": 0.000000000, \"p50\": 0.000000000, \"p90\": 0.000000000, "
        "\"p99\": 0.000000000, \"count\": 1}, \"latency_s\": {\"mean\": 1.000000001, \"min\": "
        "1.000000001, \"max\": 1.000000001, \"stddev\": 0.000000000, \"p50\": 1.000000001, "
        "\"p90\": 1.000000001, \"p99\": 1.000000001, \"count\": 1}, \"calls\": []}]}}]}\n");
    free(text);
}
END_TEST

// What is in patterns has a mark, and of what is in none it is told between which nodes it is.
START_TEST(calls_without_return)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *root = sample_node(names, "web", "", 1, 0, 10);
    sample_unanswered(root, names, "db", 10);
    sample_pattern(patterns, names, "client", root);
    const BbUnreturned edge = {bb_names_intern(names, "client"), bb_names_intern(names, "db"), 3};
    g_array_append_val(patterns->unreturned, edge);
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "}, \"unreturned\": [{\"from\": \"client\", \"to\": \"db\", "
                                       "\"count\": 3}], \"left_out\": {"));
    ck_assert_ptr_nonnull(strstr(text, "{\"node\": \"web\", \"op\": null, \"count\": 1, "
                                       "\"errors\": 0, "));
    ck_assert_ptr_nonnull(strstr(text, "{\"node\": \"db\", \"op\": null, \"count\": 1, "
                                       "\"unanswered\": true, \"errors\": 0, "));
    free(text);
}
END_TEST

START_TEST(queued)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_queued(patterns, names);
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "\"critical_total_s\": 0.070000000, "
                                       "\"turn_total_s\": 0.030000000, \"confidence\""));
    ck_assert_ptr_nonnull(strstr(text, "\"critical_total_s\": 0.030000000, "
                                       "\"pool_total_s\": 0.020000000, \"confidence\""));
    free(text);
}
END_TEST

START_TEST(wire)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_wire(patterns, names);
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "\"wire_total_s\": 0.030000000, \"confidence\""));
    free(text);
}
END_TEST

START_TEST(empty)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_str_eq(
        text,
        "{\"bbpaths\": 1, \"algorithm\": \"nesting\", \"trace\": {\"messages\": 0, \"calls\": "
        "0, \"unmatched\": 0, \"start\": null, \"duration_s\": 0.000000000}, "
        "\"left_out\": {\"patterns\": 0, \"forgotten\": 0, \"instances\": 0, \"total_latency_s\": "
        "0.000000000},\n\"patterns\": []}\n");
    free(text);
}
END_TEST

// DOT and text show ten patterns unless told otherwise, JSON all of them.
START_TEST(default_tops)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    for (guint i = 0; i < 12; i++) {
        char client[8];
        g_snprintf(client, sizeof client, "c%u", i);
        sample_pattern(patterns, names, client, sample_node(names, "S", "", 1, 0, MS));
    }
    char *dot = view_text("dot", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_uint_eq(count_of(dot, "subgraph cluster_"), 10);
    ck_assert_ptr_nonnull(strstr(dot, "Top 10 of 12 patterns by total latency\\lLeft out: 2 "
                                      "patterns, 2 instances, 17 % of all latency"));
    char *json = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_uint_eq(count_of(json, "\"rank\": "), 12);
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_uint_eq(count_of(text, "\n#"), 10);
    free(dot);
    free(json);
    free(text);
}
END_TEST

START_TEST(formats)
{
    gsize count = 0;
    const BbViewFormat *list = bb_view_formats(&count);
    ck_assert_str_eq(list[0].name, "dot");
    for (gsize i = 0; i < count; i++) {
        ck_assert_ptr_eq(bb_view_format_find(list[i].name), &list[i]);
        ck_assert(*list[i].about && list[i].write);
    }
    static const struct {
        const char *path, *name;
    } cases[] = {{"a.svg", "svg"},
                 {"/x.y/out.JSON", "json"},
                 {"a.b.gv", "dot"},
                 {"a.txt", "text"},
                 {"a.png", "png"},
                 {"x.pdf", "pdf"},
                 {"dir.svg/out", NULL},
                 {"svg", NULL},
                 {"a.", NULL},
                 {"a.jpeg", NULL},
                 {"", NULL}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const BbViewFormat *format = bb_view_format_of_file(cases[i].path);
        ck_assert_str_eq(format ? format->name : "-", cases[i].name ? cases[i].name : "-");
    }
    ck_assert(bb_view_format_find("png")->binary);
    ck_assert(!bb_view_format_find("svg")->binary);
    ck_assert_ptr_null(bb_view_format_find("SVG "));
}
END_TEST

START_TEST(full_disk)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    view_expect_full("json", patterns, names);
}
END_TEST

START_TEST(replicas)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_replicas(patterns, names);
    char *text = view_text("json", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    ck_assert_ptr_nonnull(
        strstr(text, "\"replicas\": "
                     "[{\"node\": \"c1\", \"count\": 29, \"mean_latency_s\": 0.020000000}, "
                     "{\"node\": \"c2\", \"count\": 15, \"mean_latency_s\": 0.025000000}]"));
    ck_assert_ptr_nonnull(strstr(text, "\"replicas\": [{\"node\": \"store1\", \"count\": 6, "));
    free(text);
}
END_TEST

START_TEST(golden_chains)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    golden_check("viz/chains.json", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(two_messages)
{
    static const SampleHop hops[] = {{"B", 7, {{0}}}, {"C", 5, {{50 * MS, MS, 4}, {-1, 0, 1}}}};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    BbPattern *pattern = sample_chain_of(patterns, names, "A", hops, 2, 4, 0);
    pattern->shape = 0xabc;
    pattern->derived = true;
    pattern->right_total = 3;
    ((BbPatternNode *)g_ptr_array_index(pattern->root->calls, 0))->sure_total = 3.5;
    patterns->facts.messages = 12;
    char *text = view_text("json", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_str_eq(
        text,
        "{\"bbpaths\": 1, \"algorithm\": \"convolution\", \"trace\": {\"messages\": 12, \"calls\": "
        "0, \"unmatched\": 0, \"start\": null, \"duration_s\": 0.000000000}, \"left_out\": "
        "{\"patterns\": 0, \"forgotten\": 0, \"instances\": 0, \"total_latency_s\": "
        "0.000000000},\n\"patterns\": [\n"
        "{\"rank\": 1, \"count\": 4, \"total_latency_s\": null, \"mean_latency_s\": null, "
        "\"shape\": \"0000000000000abc\", \"wrong_share\": 0.2500, \"derived\": true, \"root\": "
        "{\"node\": \"A\", \"calls\": [{\"node\": \"B\", \"op\": null, \"count\": 4, "
        "\"messages\": 7, \"confidence\": null, \"delays_s\": [], \"latency_s\": null, \"calls\": "
        "[{\"node\": \"C\", \"op\": null, \"count\": 4, \"messages\": 5, \"confidence\": 0.8750, "
        "\"delays_s\": [{\"delay\": 0.050000000, \"count\": 4, \"spread\": 0.001000000}, "
        "{\"delay\": -0.000000001, \"count\": 1, \"spread\": 0.000000000}], \"latency_s\": null, "
        "\"calls\": []}]}]}}]}\n");
    free(text);
}
END_TEST

// Of 1,000 paths those with fewer than 5 are noise: for people, unless they ask. Programs get all.
START_TEST(noise_is_left_out)
{
    const struct {
        const char *format;
        BbViewOptions options;
        guint shown;
    } cases[] = {
        {"dot", BB_VIEW_OPTIONS_DEFAULT, 2},
        {"text", BB_VIEW_OPTIONS_DEFAULT, 2},
        {"json", BB_VIEW_OPTIONS_DEFAULT, 3},
        {"text", {.top = BB_TOP_ALL, .min_share = BB_SHARE_OF_FORMAT}, 3},
        {"text", {.top = 5, .min_share = BB_SHARE_OF_FORMAT}, 2},
        {"text", {.top = 5, .min_share = BB_SHARE_OF_FORMAT, .min_count = 1}, 3},
        {"text", {.top = 5, .min_share = 0}, 3},
        {"text", {.top = 5, .min_share = 0.5}, 1},
        {"json", {.min_share = 0.1}, 1},
    };
    static const SampleHop hop = {"S", 1, {{0}}};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    sample_chain_of(patterns, names, "rare", &hop, 1, 4, 0);
    sample_chain_of(patterns, names, "often", &hop, 1, 991, 0);
    sample_chain_of(patterns, names, "enough", &hop, 1, 5, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = view_text(cases[i].format, patterns, names, cases[i].options);
        guint shown = cases[i].format[0] == 'd'   ? count_of(text, "subgraph cluster_")
                      : cases[i].format[0] == 'j' ? count_of(text, "\"rank\": ")
                                                  : count_of(text, "\n#");
        ck_assert_msg(shown == cases[i].shown, "case %zu: %u shown", i, shown);
        free(text);
    }
    patterns->algorithm = "nesting";
    char *text = view_text("text", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_uint_eq(count_of(text, "\n#"), 3);
    free(text);
}
END_TEST

TEST_MAIN("patterns_json", golden, one_call, calls_without_return, queued, wire, empty,
          default_tops, formats, full_disk, replicas, golden_chains, two_messages,
          noise_is_left_out)
