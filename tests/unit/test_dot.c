// SPDX-License-Identifier: Apache-2.0
// DOT and pictures: the golden text, structure read back by cgraph, hostile names shown as they
// are, the same bytes again, full disks, and that Graphviz draws what we write.
#include "tests/unit/golden.h"
#include "tests/unit/sample_chain_patterns.h"
#include "tests/unit/test.h"
#include "tests/unit/view_text.h"
#include "viz/dot.h"
#include "viz/ranking.h"

#include <string.h>

static const BbViewOptions all = {.top = BB_TOP_ALL};

START_TEST(golden)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    char *text = view_text("dot", patterns, names, all);
    golden_check("viz/patterns.dot", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(golden_top)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    char *text =
        view_text("dot", patterns, names, (BbViewOptions){.top = 2, .sort = BB_SORT_COUNT});
    golden_check("viz/top2.dot", text, strlen(text));
    free(text);
}
END_TEST

START_TEST(golden_empty)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    char *text = view_text("dot", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    golden_check("viz/empty.dot", text, strlen(text));
    free(text);
}
END_TEST

// Written pattern by pattern, it is what cgraph writes of the whole graph.
static void expect_written_whole(const BbPatterns *patterns, const BbNames *names)
{
    const BbViewOptions options = {.top = BB_TOP_ALL};
    g_autoptr(BbRanking) ranking = bb_ranking_new(patterns, names, &options, BB_TOP_ALL);
    const BbView view = {patterns, names, ranking, NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(BbDot) dot = bb_dot_new(&view, &error);
    ck_assert_ptr_nonnull(dot);
    char *whole = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&whole, &length);
    ck_assert_int_eq(agwrite(bb_dot_graph(dot), out), 0);
    fclose(out);
    char *text = view_text("dot", patterns, names, options);
    ck_assert_str_eq(text, whole);
    free(text);
    free(whole);
}

START_TEST(written_as_one_graph)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) trees = sample_patterns(names);
    g_autoptr(BbPatterns) chains = sample_chain_patterns(names);
    g_autoptr(BbPatterns) none = bb_patterns_new("nesting");
    expect_written_whole(trees, names);
    expect_written_whole(chains, names);
    expect_written_whole(none, names);
}
END_TEST

// 20,000 patterns took more than a minute, as the square of their number.
START_TEST(many_patterns)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    for (guint i = 0; i < 20000; i++) {
        g_autofree char *op = g_strdup_printf("op%u", i);
        BbPatternNode *root = sample_node(names, "S", op, 1, 0, MS);
        sample_call(root, sample_node(names, "T", op, 1, MS / 10, MS / 2));
        sample_pattern(patterns, names, "C", root);
    }
    gint64 start = g_get_monotonic_time();
    char *text = view_text("dot", patterns, names, all);
    ck_assert_int_lt(g_get_monotonic_time() - start, 20 * G_USEC_PER_SEC);
    ck_assert_ptr_nonnull(strstr(text, "subgraph cluster_20000 {"));
    free(text);
}
END_TEST

static Agnode_t *find_node(Agraph_t *graph, const char *label_start)
{
    for (Agnode_t *node = agfstnode(graph); node; node = agnxtnode(graph, node))
        if (g_str_has_prefix(agget(node, (char *)"label"), label_start))
            return node;
    return NULL;
}

static Agraph_t *read_back(const BbPatterns *patterns, const BbNames *names, BbViewOptions options)
{
    char *text = view_text("dot", patterns, names, options);
    Agraph_t *graph = agmemread(text);
    ck_assert_ptr_nonnull(graph);
    free(text);
    return graph;
}

// Who caused the second call of C is as good as guessed.
START_TEST(tosses_of_a_coin_are_told)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    Agraph_t *graph = read_back(patterns, names, all);
    Agnode_t *gateway = find_node(graph, "gw");
    guint dashed = 0;
    for (Agedge_t *edge = agfstout(graph, gateway); edge; edge = agnxtout(graph, edge)) {
        bool toss = strstr(agget(edge, (char *)"label"), "\\n55 % sure") != NULL;
        ck_assert_int_eq(toss, strcmp(agget(edge, (char *)"style"), "dashed") == 0);
        dashed += toss;
    }
    ck_assert_uint_eq(dashed, 1);
    agclose(graph);
    char *text = view_text("dot", patterns, names, all);
    ck_assert_ptr_nonnull(strstr(text, ", about 47 % of them wrong\""));
    free(text);
}
END_TEST

START_TEST(web_pattern)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    Agraph_t *graph = read_back(patterns, names, (BbViewOptions){.top = 1});
    ck_assert_int_eq(agnnodes(graph), 6);
    ck_assert_int_eq(agnedges(graph), 5);
    Agnode_t *client = find_node(graph, "client");
    ck_assert_str_eq(agget(client, (char *)"shape"), "box");
    Agedge_t *first = agfstout(graph, client);
    ck_assert_str_eq(agget(first, (char *)"label"), "1,234 x  98.7 s total");
    Agnode_t *app = find_node(graph, "app1");
    ck_assert_str_eq(agget(app, (char *)"label"),
                     "app1\\nGET /cart/*\\n79.0 ms, self 31 %\\nwaited 24.5 ms (31 %)");
    ck_assert_str_eq(agget(agfstin(graph, app), (char *)"label"), "+420 us");
    Agnode_t *pg = find_node(graph, "pg");
    ck_assert_str_eq(agget(pg, (char *)"penwidth"), "3"); // the heaviest, and no other
    ck_assert_str_eq(agget(app, (char *)"penwidth"), "2");
    ck_assert_str_eq(agget(find_node(graph, "lb"), (char *)"penwidth"), "1");
    ck_assert_ptr_nonnull(strstr(agget(pg, (char *)"tooltip"), "p99 63.8 ms"));
    agclose(graph);
}
END_TEST

START_TEST(wire)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_wire(patterns, names);
    Agraph_t *graph = read_back(patterns, names, all);
    const char *label = agget(find_node(graph, "db"), (char *)"label");
    ck_assert_ptr_nonnull(strstr(label, "\\nwire 30.0 ms (30 %)"));
    ck_assert_ptr_nonnull(strstr(agget(graph, (char *)"label"), "\\lwire = how long the client"));
    agclose(graph);
}
END_TEST

START_TEST(queued)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_queued(patterns, names);
    Agraph_t *graph = read_back(patterns, names, all);
    const char *label = agget(find_node(graph, "web"), (char *)"label");
    ck_assert_ptr_nonnull(strstr(label, "\\nwaited 70.0 ms (70 %)\\nqueued 50.0 ms (50 %)"));
    ck_assert_ptr_null(strstr(agget(find_node(graph, "db"), (char *)"label"), "queued"));
    ck_assert_ptr_nonnull(strstr(agget(graph, (char *)"label"), "\\lqueued = the part of waited"));
    agclose(graph);
}
END_TEST

// The equal calls of a node are nodes of their own; errors stand in the label and in the outline.
START_TEST(repeated_calls_and_errors)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_errors(patterns, names);
    Agraph_t *graph = read_back(patterns, names, all);
    Agnode_t *gw = find_node(graph, "gw");
    ck_assert_int_eq(agdegree(graph, gw, 0, 1), 2);
    ck_assert_ptr_nonnull(strstr(agget(gw, (char *)"label"), "\\n3 errors"));
    guint with_errors = 0;
    for (Agedge_t *edge = agfstout(graph, gw); edge; edge = agnxtout(graph, edge)) {
        const char *label = agget(aghead(edge), (char *)"label");
        ck_assert(g_str_has_prefix(label, "C\\nread\\n"));
        bool red = strcmp(agget(aghead(edge), (char *)"color"), "#b3261e") == 0;
        ck_assert(red == (strstr(label, "\\n1 error") != NULL));
        with_errors += red;
    }
    ck_assert_uint_eq(with_errors, 1);
    agclose(graph);
}
END_TEST

// No name is an attribute value in disguise: no HTML-like label, no escape, no entity.
START_TEST(hostile_names)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_hostile(patterns, names);
    Agraph_t *graph = read_back(patterns, names, all);
    Agnode_t *root = find_node(graph, "<b>");
    ck_assert_ptr_nonnull(root);
    char *label = agget(root, (char *)"label");
    ck_assert(!aghtmlstr(label));
    ck_assert_ptr_nonnull(strstr(label, "<b>\\\\N</b>\\n"));
    ck_assert_ptr_nonnull(strstr(label, "\"a\\\\\" \\\\G %26lt; & %0A%1B[31m"));
    ck_assert_str_eq(agget(find_node(graph, "}"), (char *)"label"), "}\\\\");
    ck_assert_ptr_nonnull(find_node(graph, "caf\xc3\xa9 %FF\\n%E2%80%AEevil\\n"));
    ck_assert_ptr_nonnull(find_node(graph, "?\\ngraph\\n"));
    agclose(graph);
}
END_TEST

START_TEST(call_without_return)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    BbPatternNode *root = sample_node(names, "S", "", 1, 0, MS);
    sample_unanswered(root, names, "T", MS);
    sample_pattern(patterns, names, "C", root);
    Agraph_t *graph = read_back(patterns, names, all);
    Agnode_t *drawn = find_node(graph, "T");
    ck_assert_str_eq(agget(drawn, (char *)"label"),
                     "T\\nno return in 1.00 ms\\nwaited 1.00 ms (100 %)");
    ck_assert_ptr_nonnull(strstr(agget(drawn, (char *)"style"), "dashed"));
    ck_assert_ptr_nonnull(strstr(agget(drawn, (char *)"tooltip"), "1 call without return; "));
    agclose(graph);
}
END_TEST

// Addresses must not decide on the order: other allocations before, the same text.
START_TEST(same_bytes_again)
{
    char *first = NULL;
    g_autoptr(GPtrArray) noise = g_ptr_array_new_with_free_func(g_free);
    for (guint run = 0; run < 5; run++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbPatterns) patterns = sample_patterns(names);
        for (guint i = 0; i < 100 * run; i++)
            g_ptr_array_add(noise, g_malloc(8 + i * 37 % 500));
        for (guint i = 0; i < noise->len; i += 2)
            g_clear_pointer(&noise->pdata[i], g_free);
        char *text = view_text("dot", patterns, names, all);
        if (first)
            ck_assert_str_eq(first, text);
        free(first);
        first = text;
    }
    free(first);
}
END_TEST

START_TEST(pictures)
{
    static const struct {
        const char *format, *start;
    } cases[] = {{"svg", "<?xml"}, {"png", "\x89PNG\r\n"}, {"pdf", "%PDF-"}};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        size_t length = 0, again_length = 0;
        char *text = view_text_len(cases[i].format, patterns, names, all, &length);
        char *again = view_text_len(cases[i].format, patterns, names, all, &again_length);
        ck_assert_int_eq(memcmp(text, cases[i].start, strlen(cases[i].start)), 0);
        ck_assert_uint_eq(length, again_length);
        ck_assert_int_eq(memcmp(text, again, length), 0);
        free(text);
        free(again);
    }
}
END_TEST

// The SVG shows names letter by letter, in order of rank from the top.
START_TEST(svg_text)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    char *text = view_text("svg", patterns, names, all);
    ck_assert_ptr_nonnull(strstr(text, ">&lt;b&gt;\\N&lt;/b&gt;</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">&quot;a\\&quot; \\G %26lt; &amp; %0A%1B[31m</text>"));
    ck_assert_ptr_nonnull(strstr(text, "=\"&lt;b&gt;%5CN&lt;/b&gt; &quot;a%5C&quot; %5CG %26lt;"));
    ck_assert_ptr_nonnull(strstr(text, "p99 63.8 ms&#10;"));
    double above = -G_MAXDOUBLE;
    for (guint rank = 1; rank <= 5; rank++) {
        g_autofree char *title = g_strdup_printf(">#%u ", rank);
        const char *shown = strstr(text, title);
        ck_assert_ptr_nonnull(shown);
        const char *y = g_strrstr_len(text, shown - text, " y=\"");
        double at = g_ascii_strtod(y + 4, NULL);
        ck_assert(at > above);
        above = at;
    }
    free(text);
}
END_TEST

START_TEST(full_disk)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_patterns(names);
    view_expect_full("dot", patterns, names);
    view_expect_full("svg", patterns, names);
}
END_TEST

START_TEST(replicas)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    sample_replicas(patterns, names);
    char *text = view_text("dot", patterns, names, (BbViewOptions){.top = BB_TOP_ALL});
    ck_assert_ptr_nonnull(strstr(text, "15 %)\\n9 replicas\""));
    ck_assert_ptr_nonnull(strstr(text, "c{1,2}\\nc1: 29, mean 20.0 ms\\nc2: 15, mean 25.0 ms"));
    ck_assert_ptr_nonnull(strstr(text, "\\nstore1: 6, mean 3.00 ms\\nstore2: 6, "));
    free(text);
}
END_TEST

START_TEST(golden_chains)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    char *text = view_text("dot", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    golden_check("viz/chains.dot", text, strlen(text));
    free(text);
}
END_TEST

// The only edge that leaves the node.
static Agedge_t *next_edge(Agraph_t *graph, Agnode_t *node)
{
    Agedge_t *edge = agfstout(graph, node);
    ck_assert(edge && !agnxtout(graph, edge));
    return edge;
}

// Figure 9: nodes repeat, the slowest edge is bold and no other, the first four delays stand on it.
START_TEST(a_chain)
{
    static const char *const expected[][2] = {
        {"WS2", "3,104 x"},
        {"AUTH", "3,098 @ 50.1 ms"},
        {"WS2", "3,098 @ 50.0 ms"},
        {"AP1", "1,640 x\\n1,231 @ 50.2 ms\\n409 @ 250 ms"},
        {"DB1", "1,302 x\\n800 @ 52.0 ms\\n300 @ 61.0 ms\\n99 @ 80.0 ms\\n55 @ 101 ms\\n..."},
        {"AP1", "1,302 @ 10.0 ms\\n52 % sure"},
        {"WS2", "1,301 @ 9.90 ms"},
        {"C2", "1,301 @ 10.0 ms"},
    };
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    sample_figure9(patterns, names);
    Agraph_t *graph = read_back(patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    Agnode_t *node = agfstnode(graph);
    ck_assert_str_eq(agget(node, (char *)"label"), "C2");
    ck_assert_str_eq(agget(node, (char *)"shape"), "box");
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        Agedge_t *edge = next_edge(graph, node);
        node = aghead(edge);
        ck_assert_str_eq(agget(node, (char *)"label"), expected[i][0]);
        ck_assert_str_eq(agget(edge, (char *)"label"), expected[i][1]);
        ck_assert_str_eq(agget(edge, (char *)"penwidth"), i == 3 ? "2" : "");
        ck_assert_str_eq(agget(edge, (char *)"style"), i == 5 ? "dashed" : "");
    }
    ck_assert_ptr_null(agfstout(graph, node));
    ck_assert_str_eq(agget(node, (char *)"fillcolor"), "#ffffff");
    ck_assert_int_eq(agnnodes(graph), 9);
    Agraph_t *cluster = agfstsubg(graph);
    ck_assert_str_eq(agget(cluster, (char *)"label"),
                     "#1   1,234 x   100 % of all paths   end to end: mean 340 ms, p50 340 ms, p90 "
                     "408 ms, p99 425 ms, about 11 % of them wrong");
    agclose(graph);
}
END_TEST

START_TEST(all_delays_in_the_tooltip)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    sample_figure9(patterns, names);
    char *text = view_text("dot", patterns, names, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "1,302 messages, mean delay 85.5 ms\\n800 @ 52.0 ms, spread "
                                       "4.00 ms\\n"));
    ck_assert_ptr_nonnull(strstr(text, "\\n17 @ 1.50 s, spread 90.0 ms\""));
    free(text);
}
END_TEST

// A frame that says so; what is causal has none of it.
START_TEST(derived_is_marked)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    Agraph_t *graph = read_back(patterns, names, all);
    guint derived = 0, clusters = 0;
    for (Agraph_t *c = agfstsubg(graph); c; c = agnxtsubg(c), clusters++) {
        bool told = strstr(agget(c, (char *)"label"), "derived: other paths explain it") != NULL;
        ck_assert_int_eq(told, strcmp(agget(c, (char *)"style"), "dashed") == 0);
        ck_assert_int_eq(told, !strstr(agget(c, (char *)"label"), "of all paths"));
        derived += told;
    }
    ck_assert_uint_eq(derived, 1);
    ck_assert_uint_eq(clusters, 6);
    ck_assert_ptr_nonnull(strstr(agget(graph, (char *)"label"), "Dashed frame: no causal path"));
    agclose(graph);
    char *text = view_text("dot", patterns, names, (BbViewOptions){.top = 2});
    ck_assert_ptr_null(strstr(text, "Dashed frame"));
    free(text);
}
END_TEST

START_TEST(hostile_chain)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    sample_hostile_chain(patterns, names);
    Agraph_t *graph = read_back(patterns, names, all);
    ck_assert_int_eq(agnnodes(graph), 5);
    ck_assert_ptr_nonnull(find_node(graph, "<b>\\\\N</b>"));
    ck_assert_ptr_nonnull(find_node(graph, "\"a\\\\\" \\\\G %26lt;"));
    ck_assert_ptr_nonnull(find_node(graph, "caf\xc3\xa9 %FF"));
    ck_assert_ptr_nonnull(find_node(graph, "?"));
    Agedge_t *last = agfstin(graph, find_node(graph, "?"));
    ck_assert_str_eq(agget(last, (char *)"label"),
                     "48 x\\n47 @ 9,223,372,037 s\\n1 @ -9,223,372,037 s");
    agclose(graph);
}
END_TEST

// Each chain is drawn as one line: all of its names at the same height, from left to right.
START_TEST(chains_are_lines)
{
    static const char *const names_in_order[] = {"sensor", "ingest", "parse", "index"};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = sample_chain_patterns(names);
    char *text = view_text("svg", patterns, names, all);
    double x = -G_MAXDOUBLE, y = 0;
    for (guint i = 0; i < G_N_ELEMENTS(names_in_order); i++) {
        g_autofree char *shown = g_strdup_printf(">%s</text>", names_in_order[i]);
        const char *at = strstr(text, shown);
        ck_assert_ptr_nonnull(at);
        double here_x = g_ascii_strtod(g_strrstr_len(text, at - text, " x=\"") + 4, NULL);
        double here_y = g_ascii_strtod(g_strrstr_len(text, at - text, " y=\"") + 4, NULL);
        ck_assert(here_x > x);
        ck_assert(i == 0 || (here_y - y < 1 && y - here_y < 1));
        x = here_x;
        y = here_y;
    }
    free(text);
}
END_TEST

TEST_MAIN("dot", written_as_one_graph, many_patterns, tosses_of_a_coin_are_told, golden, golden_top,
          golden_empty, web_pattern, repeated_calls_and_errors, wire, queued, hostile_names,
          call_without_return, same_bytes_again, pictures, svg_text, full_disk, replicas,
          golden_chains, a_chain, all_delays_in_the_tooltip, derived_is_marked, hostile_chain,
          chains_are_lines)
