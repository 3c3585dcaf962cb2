// SPDX-License-Identifier: Apache-2.0
// Chains of nodes as patterns: which paths count, what is corrected, delays that several windows
// found, what is forgotten, pairs that are not causal.
#include "data/chains.h"

#include <string.h>

#include "tests/unit/sample_chains.h"

#define MS CHAIN_MS
#define NO_MODE BB_MODE_NONE

// ---- words -------------------------------------------------------------------------------------

// "C A B" for C -> A -> B.
static char *chain_text(const BbPattern *pattern, const BbNames *names)
{
    GString *text = g_string_new(bb_names_text(names, pattern->client));
    const BbPatternNode *node = pattern->root;
    while (node) {
        g_string_append_printf(text, " %s", bb_names_text(names, node->node));
        ck_assert_uint_le(node->calls->len, 1);
        node = node->calls->len ? g_ptr_array_index(node->calls, 0) : NULL;
    }
    return g_string_free(text, FALSE);
}

// "C A B:3 | C A:1", without those that are NULL.
static void expect(const BbPatterns *patterns, const BbNames *names, const char *wanted)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, i);
        if (!pattern)
            continue;
        g_autofree char *chain = chain_text(pattern, names);
        g_string_append_printf(text, "%s%s%s:%" G_GUINT64_FORMAT, text->len ? " | " : "", chain,
                               pattern->derived ? " derived" : "", pattern->count);
    }
    ck_assert_str_eq(text->str, wanted);
}

static const BbPattern *find(const BbPatterns *patterns, const BbNames *names, const char *wanted)
{
    for (guint i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, i);
        g_autofree char *chain = pattern ? chain_text(pattern, names) : NULL;
        if (pattern && !pattern->derived && strcmp(chain, wanted) == 0)
            return pattern;
    }
    ck_abort_msg("no pattern %s", wanted);
}

static const BbPatternNode *node_at(const BbPattern *pattern, guint place)
{
    const BbPatternNode *node = pattern->root;
    while (place-- > 0)
        node = g_ptr_array_index(node->calls, 0);
    return node;
}

// "delay/spread x count, ..." in milliseconds.
static void expect_delays(const BbPatternNode *node, const char *wanted)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < node->delays->len; i++) {
        const BbPatternDelay *delay = &g_array_index(node->delays, BbPatternDelay, i);
        g_string_append_printf(text, "%s%.3f/%.3fx%" G_GUINT64_FORMAT, i ? " " : "",
                               (double)delay->delay_ns / MS, (double)delay->spread_ns / MS,
                               delay->count);
    }
    ck_assert_str_eq(text->str, wanted);
}

// Adds the window, and returns the pattern of its first instance.
static guint32 add(BbChains *counted, Chains *chains, guint64 before)
{
    g_autoptr(BbPaths) paths = chains_paths(chains, before);
    bb_chains_add(counted, paths);
    return paths->instances[0].pattern;
}

// from -> via -> to with the given delay; the last message causes nothing.
static void add_chain(Chains *chains, const char *const *nodes, gint64 at_ns, guint32 mode)
{
    guint32 parent = SCENE_ROOT;
    for (guint i = 0; nodes[i + 1]; i++)
        parent = chains_message(chains, parent, nodes[i], nodes[i + 1], at_ns + i * 10 * MS,
                                i ? mode : NO_MODE, nodes[i + 2] ? 1 : 0);
}

#define NODES(...) ((const char *const[]){__VA_ARGS__, NULL})

// ---- tests -------------------------------------------------------------------------------------

START_TEST(counts_each_way_to_a_message_without_effect)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    guint32 mode = chains_mode(&chains, 10 * MS, MS);
    guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", 0, NO_MODE, 2);
    guint32 left = chains_message(&chains, root, "A", "B", 10 * MS, mode, 1);
    chains_message(&chains, root, "A", "D", 11 * MS, mode, 0);
    chains_message(&chains, left, "B", "E", 20 * MS, mode, 0);
    add_chain(&chains, NODES("C", "A", "B", "E"), 100 * MS, mode);
    add_chain(&chains, NODES("C", "A"), 200 * MS, mode);
    for (guint i = 0; i < chains.confidence->len; i++)
        g_array_index(chains.confidence, float, i) = 1;
    g_autoptr(BbPaths) paths = chains_paths(&chains, 0);
    bb_chains_add(counted, paths);
    // The last message of the first instance is E's; chains are numbered as they appear.
    ck_assert_uint_eq(paths->instances[0].pattern, paths->instances[1].pattern);
    ck_assert_uint_eq(paths->instances[0].pattern, 2);
    ck_assert_uint_eq(paths->instances[2].pattern, 0);
    ck_assert(bb_chains_is_kept(counted, 3));
    ck_assert(!bb_chains_is_kept(counted, 4));
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    ck_assert_str_eq(patterns->algorithm, "convolution");
    ck_assert_uint_eq(patterns->facts.messages, 8);
    ck_assert_uint_eq(patterns->patterns->len, 4);
    ck_assert_ptr_null(g_ptr_array_index(patterns->patterns, 1)); // no path ends there
    expect(patterns, chains.scene->names, "C A:1 | C A B E:2 | C A D:1");
}
END_TEST

START_TEST(latency_is_from_the_first_message_to_the_last)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    guint32 mode = chains_mode(&chains, 10 * MS, MS);
    add_chain(&chains, NODES("C", "A", "B"), 100 * MS, mode);
    guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", 200 * MS, NO_MODE, 1);
    guint32 last = chains_message(&chains, root, "A", "B", 230 * MS, mode, 0);
    scene_at(chains.scene, last)->arrived_ns = 240 * MS;
    scene_at(chains.scene, root)->arrived_ns = 205 * MS;
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    const BbPattern *pattern = find(patterns, chains.scene->names, "C A B");
    ck_assert_uint_eq(bb_stats_count(pattern->root->latency), 2);
    ck_assert_int_eq(bb_stats_min(pattern->root->latency), 10 * MS);
    ck_assert_int_eq(bb_stats_max(pattern->root->latency), 40 * MS);
    ck_assert_int_eq(bb_pattern_mean_latency(pattern), 25 * MS);
}
END_TEST

START_TEST(the_last_message_names_the_instance)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", 0, NO_MODE, 2);
    chains_message(&chains, root, "A", "B", 30 * MS, NO_MODE, 0);
    chains_message(&chains, root, "A", "D", 20 * MS, NO_MODE, 0);
    ck_assert_uint_eq(add(counted, &chains, 0), 1);
    // An effect stamped before its cause: the cause is no end, though it is the last.
    root = chains_message(&chains, SCENE_ROOT, "C", "A", 50 * MS, NO_MODE, 1);
    chains_message(&chains, root, "A", "D", 40 * MS, NO_MODE, 0);
    ck_assert_uint_eq(add(counted, &chains, 1), 2);
}
END_TEST

// ---- correction --------------------------------------------------------------------------------

// n messages C -> A of which some are seen to cause A -> B, with what they are expected to cause.
static guint64 ends_of(guint messages, guint causes, guint effects_each, double onward)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    for (guint i = 0; i < messages; i++) {
        guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", i * MS, NO_MODE, onward);
        for (guint k = 0; i < causes && k < effects_each; k++)
            chains_message(&chains, root, "A", "B", i * MS, NO_MODE, 0);
    }
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    const BbPattern *pattern = g_ptr_array_index(patterns->patterns, 0);
    return pattern ? pattern->count : 0;
}

START_TEST(counts_are_corrected_for_effects_that_went_to_others)
{
    ck_assert_uint_eq(ends_of(10, 6, 1, 0.6), 4);
    ck_assert_uint_eq(ends_of(10, 6, 1, 0.9), 1); // three of the four lost theirs to others
    ck_assert_uint_eq(ends_of(10, 6, 1, 1.0), 0);
    ck_assert_uint_eq(ends_of(10, 6, 1, 1.4), 0);
    ck_assert_uint_eq(ends_of(10, 6, 1, 0.1), 4); // not more than are seen
    ck_assert_uint_eq(ends_of(10, 0, 0, 0.0), 10);
    ck_assert_uint_eq(ends_of(10, 0, 0, 0.8), 2);
    ck_assert_uint_eq(ends_of(10, 0, 0, 0.97), 0);
}
END_TEST

START_TEST(fan_out_is_not_taken_for_lost_effects)
{
    ck_assert_uint_eq(ends_of(10, 5, 2, 1.0), 5); // half of them cause two each
    ck_assert_uint_eq(ends_of(10, 5, 2, 2.0), 0);
    ck_assert_uint_eq(ends_of(10, 5, 3, 2.4), 2);
}
END_TEST

// Eight messages with an effect each; two of the effects went to messages that have one already.
START_TEST(unsure_second_effects_are_taken_for_mistaken)
{
    for (guint sure = 0; sure < 2; sure++) {
        g_auto(Chains) chains = chains_scene();
        g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
        for (guint i = 0; i < 8; i++) {
            guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", i * MS, NO_MODE, 1);
            guint effects = i < 2 ? 0 : i < 4 ? 2 : 1;
            for (guint k = 0; k < effects; k++) {
                chains_message(&chains, root, "A", "B", i * MS, NO_MODE, 0);
                float *last = &g_array_index(chains.confidence, float, chains.confidence->len - 1);
                *last = effects == 1 || sure ? 0.95f : 0.5f;
            }
        }
        add(counted, &chains, 0);
        g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
        expect(patterns, chains.scene->names, sure ? "C A:2 | C A B:8" : "C A B:8");
    }
}
END_TEST

START_TEST(confidence_goes_with_the_corrected_count)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    for (guint i = 0; i < 8; i++) { // each message is half sure; the last four end for lack of one
        guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", i * MS, NO_MODE, 1);
        guint32 next = chains_message(&chains, root, "A", "B", i * MS, NO_MODE, 0.75);
        if (i < 4)
            chains_message(&chains, next, "B", "D", i * MS, NO_MODE, 0);
    }
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect(patterns, chains.scene->names, "C A B:2 | C A B D:4");
    const BbPattern *corrected = find(patterns, chains.scene->names, "C A B");
    ck_assert_double_eq_tol(bb_pattern_wrong(corrected), 0.75, 1e-9);
    ck_assert_double_eq_tol(bb_pattern_sure(corrected, node_at(corrected, 1)), 0.5, 1e-9);
    const BbPattern *whole = find(patterns, chains.scene->names, "C A B D");
    ck_assert_double_eq_tol(bb_pattern_wrong(whole), 0.875, 1e-9);
    ck_assert_double_eq_tol(bb_pattern_sure(whole, whole->root), 0.5, 1e-9);
}
END_TEST

START_TEST(one_unknown_confidence_makes_all_unknown)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    add_chain(&chains, NODES("C", "A", "B"), 0, NO_MODE);
    add_chain(&chains, NODES("C", "A", "B"), 50 * MS, NO_MODE);
    g_array_index(chains.confidence, float, 2) = BB_CONFIDENCE_NONE;
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    const BbPattern *pattern = find(patterns, chains.scene->names, "C A B");
    ck_assert_double_lt(bb_pattern_wrong(pattern), 0);
    ck_assert_double_lt(bb_pattern_sure(pattern, pattern->root), 0);
    ck_assert_double_lt(pattern->root->sure_total, 0);
}
END_TEST

// ---- delays ------------------------------------------------------------------------------------

START_TEST(delays_are_those_of_the_chain)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    guint32 quick = chains_mode(&chains, 10 * MS, MS),
            slow = chains_mode(&chains, 200 * MS, 5 * MS);
    for (guint i = 0; i < 5; i++)
        add_chain(&chains, NODES("C", "A", "B"), i * 100 * MS, i < 2 ? quick : slow);
    add_chain(&chains, NODES("X", "A", "B"), 900 * MS, quick);
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    const BbPattern *pattern = find(patterns, chains.scene->names, "C A B");
    expect_delays(pattern->root, "");
    expect_delays(node_at(pattern, 1), "200.000/5.000x3 10.000/1.000x2");
    ck_assert_int_eq(bb_stats_mean(node_at(pattern, 1)->call_delay), 200 * MS);
    ck_assert_int_eq(bb_stats_mean(pattern->root->call_delay), 0);
    ck_assert_uint_eq(pattern->root->messages, 5); // of X, another
    ck_assert_uint_eq(node_at(pattern, 1)->messages, 5);
    expect_delays(node_at(find(patterns, chains.scene->names, "X A B"), 1), "10.000/1.000x1");
}
END_TEST

START_TEST(windows_have_one_delay_at_slightly_different_places)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    const struct {
        gint64 delay_ns, spread_ns;
    } modes[] = {
        {100 * MS, 3 * MS}, {102 * MS, 3 * MS}, {400 * MS, 0}, {407 * MS, 0}, {430 * MS, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        guint32 mode = chains_mode(&chains, modes[i].delay_ns, modes[i].spread_ns);
        add_chain(&chains, NODES("C", "A", "B"), i * 1000 * MS, mode);
        add(counted, &chains, i);
    }
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    const BbPattern *pattern = find(patterns, chains.scene->names, "C A B");
    // sqrt(3^2 + 1^2), half of the 7 ms that two exact delays are apart; one more is another.
    expect_delays(node_at(pattern, 1), "101.000/3.162x2 403.500/3.500x2 430.000/0.000x1");
}
END_TEST

START_TEST(equal_counts_go_by_delay)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    guint32 slow = chains_mode(&chains, 200 * MS, 0), quick = chains_mode(&chains, -10 * MS, 0);
    add_chain(&chains, NODES("C", "A", "B"), 0, slow);
    add_chain(&chains, NODES("C", "A", "B"), 0, quick);
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect_delays(node_at(find(patterns, chains.scene->names, "C A B"), 1),
                  "-10.000/0.000x1 200.000/0.000x1");
}
END_TEST

// ---- derived pairs -----------------------------------------------------------------------------

static void add_derived(BbPaths *paths, BbNames *names, guint64 count, gint64 delay_ns)
{
    BbDerived derived = {bb_names_intern(names, "C"),
                         bb_names_intern(names, "A"),
                         bb_names_intern(names, "C"),
                         count,
                         delay_ns,
                         MS};
    g_array_append_val(paths->derived, derived);
}

START_TEST(derived_pairs_follow_the_chains)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 0);
    for (guint window = 0; window < 2; window++) {
        add_chain(&chains, NODES("C", "A", "C"), 0, NO_MODE);
        g_autoptr(BbPaths) paths = chains_paths(&chains, window);
        add_derived(paths, chains.scene->names, 5, 100 * MS);
        add_derived(paths, chains.scene->names, 2, 300 * MS);
        bb_chains_add(counted, paths);
    }
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect(patterns, chains.scene->names, "C A C:2 | C A C derived:14");
    const BbPattern *chain = g_ptr_array_index(patterns->patterns, 1);
    const BbPattern *derived = g_ptr_array_index(patterns->patterns, 2);
    expect_delays(node_at(derived, 1), "100.000/1.000x10 300.000/1.000x4");
    expect_delays(derived->root, "");
    ck_assert_double_lt(bb_pattern_wrong(derived), 0);
    ck_assert_uint_ne(chain->shape, derived->shape);
}
END_TEST

// ---- forgetting --------------------------------------------------------------------------------

// times paths C -> A -> <name>.
static void add_times(Chains *chains, const char *name, guint times)
{
    for (guint i = 0; i < times; i++)
        add_chain(chains, NODES("C", "A", name), i * 100 * MS, NO_MODE);
}

START_TEST(the_rarest_are_forgotten_and_counted)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 4);
    add_times(&chains, "often", 9);
    add_times(&chains, "seldom", 2);
    add_times(&chains, "less", 1);
    add_times(&chains, "last", 1);
    add(counted, &chains, 0);
    for (guint32 i = 0; i < 5; i++)
        ck_assert(bb_chains_is_kept(counted, i)); // a window is counted in full
    add_times(&chains, "last", 1);
    ck_assert_uint_eq(add(counted, &chains, 13), 5); // a new one
    ck_assert(bb_chains_is_kept(counted, 0));
    ck_assert(bb_chains_is_kept(counted, 1));
    for (guint32 i = 2; i < 5; i++)
        ck_assert(!bb_chains_is_kept(counted, i));
    ck_assert(bb_chains_is_kept(counted, 5));
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect(patterns, chains.scene->names, "C A often:9 | C A last:1");
    ck_assert_uint_eq(patterns->forgotten, 3);
    ck_assert_uint_eq(patterns->forgotten_instances, 4);
    ck_assert_int_eq(patterns->forgotten_latency_ns, 40 * MS);
    ck_assert_uint_eq(patterns->patterns->len, 6);
}
END_TEST

START_TEST(a_chain_stays_as_long_as_one_that_goes_on_from_it)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 4);
    guint32 root = chains_message(&chains, SCENE_ROOT, "C", "A", 0, NO_MODE, 9);
    for (guint i = 0; i < 9; i++)
        chains_message(&chains, root, "A", "B", 10 * MS, NO_MODE, 0);
    for (guint i = 0; i < 3; i++) {
        add_chain(&chains, NODES("X", "A"), 100 * MS, NO_MODE);
        add_chain(&chains, NODES("Y", "A"), 100 * MS, NO_MODE);
        add_chain(&chains, NODES("Z", "A"), 100 * MS, NO_MODE);
    }
    add(counted, &chains, 0);
    add_chain(&chains, NODES("C", "A", "B"), 0, NO_MODE);
    ck_assert_uint_eq(add(counted, &chains, 10), 1);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect(patterns, chains.scene->names, "C A B:10"); // one message of C, nine effects
    ck_assert_uint_eq(patterns->forgotten, 3);
}
END_TEST

START_TEST(long_chains_weigh_more)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 60);
    guint32 parent = SCENE_ROOT;
    for (guint i = 0; i < 50; i++) // 50 chains of 25 nodes on average: more than 60 times 16
        parent = chains_message(&chains, parent, i % 2 ? "A" : "C", i % 2 ? "C" : "A", i * MS,
                                NO_MODE, i < 49);
    add(counted, &chains, 0);
    add_chain(&chains, NODES("X", "Y"), 0, NO_MODE);
    add(counted, &chains, 1);
    ck_assert(bb_chains_is_kept(counted, 29)); // 30 * 31 / 2 nodes <= 30 * 16
    ck_assert(!bb_chains_is_kept(counted, 30));
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect(patterns, chains.scene->names, "X Y:1");
    ck_assert_uint_eq(patterns->forgotten_instances, 1);
}
END_TEST

START_TEST(long_patterns_are_bounded_at_the_end)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 60);
    guint32 parent = SCENE_ROOT;
    for (guint i = 0; i < 20; i++)
        parent = chains_message(&chains, parent, i % 2 ? "A" : "C", i % 2 ? "C" : "A", i * MS,
                                NO_MODE, i < 19 ? 1 : 50);
    for (guint i = 0; i < 50; i++) { // 50 patterns of 21 nodes: more than 60 times 16
        g_autofree char *leaf = g_strdup_printf("leaf%u", i);
        chains_message(&chains, parent, "C", leaf, 20 * MS, NO_MODE, 0);
    }
    add(counted, &chains, 0);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    ck_assert_uint_eq(patterns->forgotten, 40);
    ck_assert_uint_eq(patterns->forgotten_instances, 40);
    guint kept = 0;
    for (guint i = 0; i < patterns->patterns->len; i++)
        kept += g_ptr_array_index(patterns->patterns, i) != NULL;
    ck_assert_uint_eq(kept, 10); // and the 20 chains before them
}
END_TEST

START_TEST(pairs_beyond_the_limit_are_counted_only)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 2);
    g_autoptr(BbPaths) paths = chains_paths(&chains, 0);
    const char *const names[] = {"A", "B", "D", "A"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        guint32 name = bb_names_intern(chains.scene->names, names[i]);
        BbDerived derived = {name, name, name, 3, MS, 0};
        g_array_append_val(paths->derived, derived);
    }
    bb_chains_add(counted, paths);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    expect(patterns, chains.scene->names, "A A A derived:6 | B B B derived:3");
    ck_assert_uint_eq(patterns->forgotten, 1);
    ck_assert_uint_eq(patterns->forgotten_instances, 0); // they are no paths
}
END_TEST

START_TEST(nothing_is_nothing)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbChains) counted = bb_chains_new(chains.scene->names, 1);
    g_autoptr(BbPaths) paths = bb_paths_new();
    bb_chains_add(counted, paths);
    g_autoptr(BbPatterns) patterns = bb_chains_finish(counted);
    ck_assert_uint_eq(patterns->patterns->len, 0);
    ck_assert_int_eq(patterns->facts.start_ns, BB_TIME_NONE);
}
END_TEST

TEST_MAIN("chains", counts_each_way_to_a_message_without_effect,
          latency_is_from_the_first_message_to_the_last, the_last_message_names_the_instance,
          counts_are_corrected_for_effects_that_went_to_others,
          fan_out_is_not_taken_for_lost_effects, unsure_second_effects_are_taken_for_mistaken,
          confidence_goes_with_the_corrected_count, one_unknown_confidence_makes_all_unknown,
          delays_are_those_of_the_chain, windows_have_one_delay_at_slightly_different_places,
          equal_counts_go_by_delay, derived_pairs_follow_the_chains,
          the_rarest_are_forgotten_and_counted, a_chain_stays_as_long_as_one_that_goes_on_from_it,
          long_chains_weigh_more, long_patterns_are_bounded_at_the_end,
          pairs_beyond_the_limit_are_counted_only, nothing_is_nothing)
