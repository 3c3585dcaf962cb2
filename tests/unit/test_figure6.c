// SPDX-License-Identifier: Apache-2.0
// Figure 6 of the paper: what it makes of small systems, good and bad; limits; refusals; and a slow
// twin that correlates directly and recurs as the figure does.
#include "convolution/figure6.h"
#include "data/random.h"
#include "tests/unit/brute_figure6.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#define MU G_GINT64_CONSTANT(1000000)
#define APART 200 // quanta at least between two requests, so that no chance matches happen

typedef struct {
    BbNames *names;
    BbTraffic *traffic;
    BbFigure6Options options;
    BbFigure6Limits limits;
} Fixture;

static Fixture *fixture_new(void)
{
    Fixture *f = g_new0(Fixture, 1);
    f->names = bb_names_new();
    f->traffic = bb_traffic_new(f->names);
    f->options = bb_figure6_options_default();
    f->options.quantum_ns = MU;
    f->options.max_delay_ns = 100 * MU;
    return f;
}

static void fixture_free(Fixture *f)
{
    bb_traffic_free(f->traffic);
    bb_names_free(f->names);
    g_free(f);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)

static BbMessage message(Fixture *f, gint64 time_ns, const char *sender, const char *receiver)
{
    BbMessage m = bb_message_empty();
    m.time_ns = time_ns;
    m.sender = bb_names_intern(f->names, sender);
    m.receiver = bb_names_intern(f->names, receiver);
    return m;
}

static void push(Fixture *f, gint64 time_ns, const char *sender, const char *receiver)
{
    BbMessage m = message(f, time_ns, sender, receiver);
    ck_assert(bb_traffic_push(f->traffic, &m));
}

// One line a pattern: "A>B>C 40 (5:40)": the chain, its count, and after each hop but the first its
// delays in quanta with their counts.
static void append_pattern(GString *out, const BbNames *names, const BbPattern *pattern)
{
    g_string_append(out, bb_names_text(names, pattern->client));
    for (const BbPatternNode *node = pattern->root; node;
         node = node->calls->len ? g_ptr_array_index(node->calls, 0) : NULL) {
        ck_assert_uint_le(node->calls->len, 1);
        g_string_append_printf(out, ">%s", bb_names_text(names, node->node));
    }
    g_string_append_printf(out, " %" G_GUINT64_FORMAT, pattern->count);
    ck_assert_uint_eq(pattern->root->delays->len, 0);
    for (const BbPatternNode *node = pattern->root; node->calls->len;) {
        node = g_ptr_array_index(node->calls, 0);
        g_string_append(out, " (");
        for (guint i = 0; i < node->delays->len; i++) {
            const BbPatternDelay *delay = &g_array_index(node->delays, BbPatternDelay, i);
            ck_assert_int_eq(delay->delay_ns % MU, 0);
            g_string_append_printf(out, "%s%d:%d", i ? " " : "", (int)(delay->delay_ns / MU),
                                   (int)delay->count);
        }
        g_string_append_c(out, ')');
    }
    g_string_append_c(out, '\n');
}

static char *run(Fixture *f)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbPatterns) patterns = bb_figure6_run(f->traffic, &f->options, &f->limits, &error);
    ck_assert_msg(patterns != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(patterns->algorithm, "convolution");
    ck_assert_uint_eq(patterns->facts.messages, f->traffic->facts.messages);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < patterns->patterns->len; i++)
        append_pattern(text, f->names, g_ptr_array_index(patterns->patterns, i));
    return g_string_free(text, FALSE);
}

static void check(Fixture *f, const char *expected)
{
    bb_traffic_finish(f->traffic);
    g_autofree char *text = run(f);
    ck_assert_str_eq(text, expected);
    ck_assert_uint_eq(f->limits.vertices, 0);
}

// Beginnings of `count` requests, at uneven intervals.
static gint64 *beginnings(guint count)
{
    BbRandom random = bb_random_start(6);
    gint64 *times = g_new(gint64, count), time = G_GINT64_CONSTANT(1700000000) * 1000000000;
    for (guint i = 0; i < count; i++) {
        times[i] = time;
        time += (APART + (gint64)bb_random_below(&random, APART)) * MU +
                (gint64)bb_random_below(&random, (guint64)MU);
    }
    return times;
}

// Every request passes the same hops: "A B 0" is a message from A to B 0 quanta after the
// beginning.
typedef struct {
    const char *sender, *receiver;
    gint64 quanta;
} Hop;

static void push_requests(Fixture *f, guint count, const Hop *hops, gsize n_hops)
{
    g_autofree gint64 *times = beginnings(count);
    for (guint i = 0; i < count; i++)
        for (gsize h = 0; h < n_hops; h++)
            push(f, times[i] + hops[h].quanta * MU, hops[h].sender, hops[h].receiver);
}

// ---- systems ------------------------------------------------------------------------------------

START_TEST(two_hops)
{
    g_autoptr(Fixture) f = fixture_new();
    const Hop hops[] = {{"A", "B", 0}, {"B", "C", 5}, {"C", "D", 12}};
    push_requests(f, 40, hops, G_N_ELEMENTS(hops));
    check(f, "A>B>C>D 40 (5:40) (7:40)\n");
    ck_assert_uint_eq(f->limits.deep, 0);
    ck_assert_uint_eq(f->limits.made, 3);
    ck_assert_uint_eq(f->limits.ffts, 6); // B's and C's; nothing is asked of D, which does not send
}
END_TEST

// Over all lags there are matches by chance as well: dense enough, they do not stand out.
START_TEST(whole_trace)
{
    g_autoptr(Fixture) f = fixture_new();
    f->options.max_delay_ns = 0;
    BbRandom random = bb_random_start(1);
    for (guint i = 0; i < 2000; i++) {
        gint64 time_ns = (gint64)bb_random_below(&random, (guint64)(10000 * MU));
        push(f, time_ns, "A", "B");
        push(f, time_ns + 7 * MU, "B", "C");
    }
    check(f, "A>B>C 2000 (7:2000)\n");
}
END_TEST

START_TEST(two_delays_on_an_edge)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autofree gint64 *times = beginnings(60);
    for (guint i = 0; i < 60; i++) {
        gint64 sent_ns = times[i] + (i % 3 ? 5 : 20) * MU;
        push(f, times[i], "A", "B");
        push(f, sent_ns, "B", "C");
        push(f, sent_ns + 3 * MU, "C", "D");
    }
    check(f, "A>B>C>D 60 (5:40 20:20) (3:60)\n");
    ck_assert_uint_eq(f->limits.made, 5); // A>B, then C and D for each delay
}
END_TEST

START_TEST(fan_out)
{
    g_autoptr(Fixture) f = fixture_new();
    const Hop hops[] = {{"A", "B", 0}, {"B", "D", 5}, {"B", "C", 5}, {"B", "E", 30}};
    push_requests(f, 40, hops, G_N_ELEMENTS(hops));
    check(f, "A>B>C 40 (5:40)\nA>B>D 40 (5:40)\nA>B>E 40 (30:40)\n");
}
END_TEST

START_TEST(two_roots)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autofree gint64 *times = beginnings(60);
    for (guint i = 0; i < 60; i++) {
        push(f, times[i], i % 3 ? "Y" : "X", "B");
        push(f, times[i] + 5 * MU, "B", i % 3 ? "C" : "D");
    }
    check(f, "Y>B>C 40 (5:40)\nX>B>D 20 (5:20)\n");
}
END_TEST

// A known weakness: B's answer to A follows A's call as surely as C's answer does, so that the
// short path stands beside the true one, with the delay of the whole.
START_TEST(rpc_has_derived_paths)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autoptr(BbGlobs) root = bb_globs_new("A");
    f->options.root = root;
    const Hop hops[] = {{"A", "B", 0}, {"B", "C", 5}, {"C", "B", 12}, {"B", "A", 15}};
    push_requests(f, 40, hops, G_N_ELEMENTS(hops));
    check(f, "A>B>A 40 (15:40)\nA>B>C>B>A 40 (5:40) (7:40) (3:40)\n");
}
END_TEST

// Every node of an RPC system is sent to: there is no root unless one is named, or all are.
START_TEST(roots)
{
    g_autoptr(Fixture) f = fixture_new();
    const Hop hops[] = {{"A", "B", 0}, {"B", "A", 5}};
    push_requests(f, 40, hops, G_N_ELEMENTS(hops));
    check(f, "");
    g_autoptr(BbGlobs) nobody = bb_globs_new("nobody");
    f->options.root = nobody;
    g_autofree char *none = run(f);
    ck_assert_str_eq(none, "");
    g_autoptr(BbGlobs) some = bb_globs_new("C,B*");
    f->options.root = some;
    g_autofree char *b = run(f);
    ck_assert_str_eq(b, "B>A 40\n");
    g_autoptr(BbGlobs) any = bb_globs_new("?");
    f->options.root = any;
    g_autofree char *both = run(f);
    ck_assert_str_eq(both, "B>A 40\nA>B>A 40 (5:40)\n");
    f->options.root = NULL;
    f->options.all_roots = true;
    g_autofree char *all = run(f);
    ck_assert_str_eq(all, "B>A 40\nA>B>A 40 (5:40)\n");
}
END_TEST

// The first node's clock is an hour slow: only the second one's matters.
START_TEST(times_as_the_node_sees_them)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autofree gint64 *times = beginnings(40);
    for (guint i = 0; i < 40; i++) {
        BbMessage m = message(f, times[i] - 3600000 * MU, "A", "B");
        m.recv_ns = times[i];
        ck_assert(bb_traffic_push(f->traffic, &m));
        push(f, times[i] + 5 * MU, "B", "C");
    }
    check(f, "A>B>C 40 (5:40)\n");
}
END_TEST

// B sees messages in another order than A sent them in.
START_TEST(overtaking)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autofree gint64 *times = beginnings(40);
    for (guint i = 0; i < 40; i += 2)
        for (guint k = 0; k < 2; k++) {
            BbMessage m = message(f, times[i + k], "A", "B");
            m.recv_ns = times[i + 1 - k];
            ck_assert(bb_traffic_push(f->traffic, &m));
            push(f, times[i + k] + 5 * MU, "B", "C");
        }
    check(f, "A>B>C 40 (5:40)\n");
}
END_TEST

// ---- limits -------------------------------------------------------------------------------------

static void push_loops(Fixture *f)
{
    const Hop hops[] = {{"A", "B", 0},  {"B", "C", 5},  {"C", "B", 10},
                        {"B", "C", 15}, {"C", "B", 20}, {"B", "C", 25}};
    push_requests(f, 40, hops, G_N_ELEMENTS(hops));
}

START_TEST(loops_are_cut_by_depth)
{
    g_autoptr(Fixture) f = fixture_new();
    push_loops(f);
    f->options.depth_max = 3;
    check(f, "A>B>C>B 120 (5:40 15:40 25:40) (5:80 15:40)\n");
    ck_assert_uint_eq(f->limits.deep, 3);
    f->options.depth_max = 1;
    g_autofree char *shallow = run(f);
    ck_assert_str_eq(shallow, "A>B 40\n");
    ck_assert_uint_eq(f->limits.deep, 1);
    f->options.depth_max = 32;
    g_autofree char *deep = run(f);
    ck_assert_ptr_nonnull(strstr(deep, "A>B>C>B>C>B>C "));
    ck_assert_uint_eq(f->limits.deep, 0);
}
END_TEST

START_TEST(vertices_are_limited)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autofree gint64 *times = beginnings(60);
    for (guint i = 0; i < 60; i++) {
        push(f, times[i], i % 3 ? "Y" : "X", "B");
        push(f, times[i] + 5 * MU, "B", i % 3 ? "C" : "D");
        push(f, times[i] + 9 * MU, "B", "E");
    }
    bb_traffic_finish(f->traffic);
    static const struct {
        guint max;
        guint64 cut;
        const char *text;
    } cases[] = {
        {6, 0, "Y>B>C 40 (5:40)\nY>B>E 40 (9:40)\nX>B>D 20 (5:20)\nX>B>E 20 (9:20)\n"},
        {4, 1, "Y>B>C 40 (5:40)\nY>B>E 40 (9:40)\nX>B 20\n"}, // X>B's effects
        {3, 1, "Y>B>C 40 (5:40)\nY>B>E 40 (9:40)\n"},         // X>B
        {2, 2, "Y>B>C 40 (5:40)\n"},                          // and Y>B>E
        {1, 2, "Y>B 40\n"},                                   // Y>B's effects, and X>B
        {0, 2, ""},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        f->options.vertices_max = cases[i].max;
        g_autofree char *text = run(f);
        ck_assert_str_eq(text, cases[i].text);
        ck_assert_uint_eq(f->limits.vertices, cases[i].cut);
        ck_assert_uint_eq(f->limits.made, cases[i].max);
    }
}
END_TEST

START_TEST(empty)
{
    g_autoptr(Fixture) f = fixture_new();
    check(f, "");
    ck_assert_uint_eq(f->limits.ffts, 0);
}
END_TEST

START_TEST(one_message)
{
    g_autoptr(Fixture) f = fixture_new();
    push(f, 5, "A", "B");
    check(f, "A>B 1\n");
}
END_TEST

START_TEST(all_at_one_time)
{
    g_autoptr(Fixture) f = fixture_new();
    f->options.max_delay_ns = 0;
    for (guint i = 0; i < 10; i++) {
        push(f, 5, "A", "B");
        push(f, 5, "B", "C");
    }
    check(f, "A>B 10\n"); // one lag: nothing to stand out from
}
END_TEST

// Times beyond those that a difference can hold count as the first or the last ones.
START_TEST(stamps_may_be_any_number)
{
    g_autoptr(Fixture) f = fixture_new();
    f->options.quantum_ns = (gint64)1 << 53;
    f->options.max_delay_ns = 1;
    f->options.all_roots = true;
    f->options.spike = f->options.valley = 0;
    for (guint i = 0; i < 20; i++) {
        BbMessage m = message(f, i % 2 ? G_MAXINT64 : G_MININT64 + 1, i % 3 ? "A" : "B", "A");
        m.recv_ns = i % 4 < 2 ? G_MAXINT64 : G_MININT64 + 1;
        ck_assert(bb_traffic_push(f->traffic, &m));
    }
    bb_traffic_finish(f->traffic);
    g_autofree char *text = run(f);
    ck_assert(g_str_has_prefix(text, "A>A"));
}
END_TEST

START_TEST(signals_that_do_not_fit)
{
    g_autoptr(Fixture) f = fixture_new();
    push(f, 0, "A", "B");
    push(f, G_GINT64_CONSTANT(4000000000000000000), "B", "C");
    bb_traffic_finish(f->traffic);
    static const struct {
        gint64 quantum_ns, max_delay_ns;
        const char *message;
    } cases[] = {
        {1, 0,
         "The trace has 4,000,000,000,000,000,001 quanta of 1 ns: their signals do not fit into "
         "memory. Take a quantum of at least 180 s"},
        {G_GINT64_CONSTANT(178000000000), 0,
         "The trace has 22,471,911 quanta of 178 s: their signals do not fit into memory. Take a "
         "quantum of at least 180 s"},
        {MU, MU,
         "The trace has 4,000,000,000,001 quanta of 1.00 ms: their signals do not fit into memory."
         " Take a quantum of at least 90.0 s"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        f->options.quantum_ns = cases[i].quantum_ns;
        f->options.max_delay_ns = cases[i].max_delay_ns;
        ck_assert_ptr_null(bb_figure6_run(f->traffic, &f->options, NULL, &error));
        ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM));
        ck_assert_str_eq(error->message, cases[i].message);
    }
}
END_TEST

START_TEST(order_of_messages_does_not_matter)
{
    g_autoptr(Fixture) f = fixture_new(), g = fixture_new();
    g_autofree gint64 *times = beginnings(60);
    for (guint i = 0; i < 60; i++) {
        push(f, times[i], "A", "B");
        push(f, times[i] + 5 * MU, "B", i % 2 ? "C" : "D");
        push(g, times[59 - i] + 5 * MU, "B", i % 2 ? "D" : "C");
        push(g, times[59 - i], "A", "B");
    }
    bb_traffic_finish(f->traffic);
    bb_traffic_finish(g->traffic);
    g_autofree char *a = run(f), *b = run(g);
    ck_assert_str_eq(a, "A>B>C 30 (5:30)\nA>B>D 30 (5:30)\n");
    ck_assert_str_eq(a, b);
}
END_TEST

// ---- what a pattern says ------------------------------------------------------------------------

START_TEST(pattern)
{
    g_autoptr(Fixture) f = fixture_new();
    const Hop hops[] = {{"A", "B", 0}, {"B", "C", 5}, {"B", "D", 9}};
    push_requests(f, 40, hops, G_N_ELEMENTS(hops));
    bb_traffic_finish(f->traffic);
    g_autoptr(BbPatterns) patterns = bb_figure6_run(f->traffic, &f->options, NULL, NULL);
    ck_assert_uint_eq(patterns->patterns->len, 2);
    const BbPattern *c = g_ptr_array_index(patterns->patterns, 0);
    const BbPattern *d = g_ptr_array_index(patterns->patterns, 1);
    ck_assert(!c->derived);
    ck_assert(c->shape != 0 && c->shape != d->shape);
    ck_assert_double_lt(bb_pattern_wrong(c), 0);
    ck_assert_double_lt(bb_pattern_sure(c, c->root), 0);
    ck_assert_uint_eq(bb_stats_count(c->root->latency), 0);
    const BbPatternNode *node = g_ptr_array_index(c->root->calls, 0);
    ck_assert_uint_eq(c->root->messages, 40);
    ck_assert_uint_eq(node->messages, 40);
    ck_assert_int_eq(g_array_index(node->delays, BbPatternDelay, 0).spread_ns, 0);
}
END_TEST

// Delays from 9 to 11 quanta, those of 10 most often: one spike, with its width.
START_TEST(width_of_a_spike)
{
    g_autoptr(Fixture) f = fixture_new();
    f->options.max_delay_ns = 199 * MU;
    g_autofree gint64 *times = beginnings(80);
    for (guint i = 0; i < 80; i++) {
        push(f, times[i], "A", "B");
        push(f, times[i] + (i % 4 == 0 ? 9 : i % 4 == 1 ? 11 : 10) * MU, "B", "C");
    }
    bb_traffic_finish(f->traffic);
    g_autoptr(BbPatterns) patterns = bb_figure6_run(f->traffic, &f->options, NULL, NULL);
    const BbPattern *only = g_ptr_array_index(patterns->patterns, 0);
    const BbPatternNode *node = g_ptr_array_index(only->root->calls, 0);
    ck_assert_uint_eq(only->count, 80);
    const BbPatternDelay *delay = &g_array_index(node->delays, BbPatternDelay, 0);
    ck_assert_int_eq(delay->delay_ns, 10 * MU);
    ck_assert_double_eq_tol((double)delay->spread_ns, sqrt(0.5) * (double)MU, 0.02 * (double)MU);
}
END_TEST

// ---- the slow twin ------------------------------------------------------------------------------

static void push_random(Fixture *f, BbRandom *random)
{
    static const char *const nodes[] = {"A", "B", "C", "D"};
    guint count = 20 + (guint)bb_random_below(random, 60);
    guint64 span = 40 + bb_random_below(random, 60);
    for (guint i = 0; i < count; i++) {
        gint64 time_ns = (gint64)bb_random_below(random, span * (guint64)MU);
        guint from = (guint)bb_random_below(random, 4), to = (guint)bb_random_below(random, 4);
        BbMessage m = message(f, time_ns, nodes[from], nodes[to]);
        if (bb_random_chance(random, 0.3))
            m.recv_ns = time_ns + (gint64)bb_random_below(random, 3 * (guint64)MU) - MU;
        ck_assert(bb_traffic_push(f->traffic, &m));
    }
    bb_traffic_finish(f->traffic);
}

START_TEST(like_the_slow_twin)
{
    BbRandom random = bb_random_start(test_seed("figure6"));
    gsize bytes = 0;
    for (guint round = 0; round < 60; round++) {
        g_autoptr(Fixture) f = fixture_new();
        push_random(f, &random);
        f->options.all_roots = true;
        f->options.depth_max = 3;
        f->options.tolerance = (gint64)bb_random_below(&random, 3);
        f->options.spike = 2.5 + bb_random_unit(&random) * 1.5;
        f->options.valley = f->options.spike - bb_random_unit(&random) * 2;
        f->options.max_delay_ns = bb_random_chance(&random, 0.5) ? 0 : 35 * MU;
        g_autofree char *fast = run(f), *slow = twin_run(f->traffic, &f->options);
        ck_assert_uint_eq(f->limits.vertices, 0);
        g_auto(GStrv) parts = g_strsplit(fast, "\n", -1);
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; parts[i] && *parts[i]; i++)
            g_ptr_array_add(lines, g_strconcat(parts[i], "\n", NULL));
        g_autofree char *sorted = sorted_lines(lines);
        ck_assert_str_eq(sorted, slow);
        bytes += strlen(slow);
    }
    ck_assert_uint_gt(bytes, 10000); // there was something to compare
}
END_TEST

TEST_MAIN("figure6", two_hops, whole_trace, two_delays_on_an_edge, fan_out, two_roots,
          rpc_has_derived_paths, roots, times_as_the_node_sees_them, overtaking,
          loops_are_cut_by_depth, vertices_are_limited, empty, one_message, all_at_one_time,
          stamps_may_be_any_number, signals_that_do_not_fit, order_of_messages_does_not_matter,
          pattern, width_of_a_spike, like_the_slow_twin)
