// SPDX-License-Identifier: Apache-2.0
// Scores of convolution on traces made by hand, whose every figure is known.
#include "diagnose/chain_score_parts.h"

#include <math.h>

#include "tests/unit/effect_lines.h"

#define MS 1000000

static BbPatternNode *add_node(Told *told, BbPatternNode *above, const char *name)
{
    BbPatternNode *node = bb_pattern_node_new(bb_names_intern(told->names, name), BB_NAME_NONE);
    node->delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
    if (above)
        g_ptr_array_add(above->calls, node);
    return node;
}

// "A B C", each node but the first two with one delay of so many messages.
static BbPattern *add_pattern(Told *told, BbPatterns *patterns, const char *text, guint64 count,
                              BbPatternDelay delay)
{
    g_auto(GStrv) names = g_strsplit(text, " ", -1);
    BbPatternNode *root = add_node(told, NULL, names[1]), *last = root;
    for (guint i = 2; names[i]; i++) {
        last = add_node(told, last, names[i]);
        g_array_append_val(last->delays, delay);
    }
    BbPattern *pattern = bb_pattern_new(bb_names_intern(told->names, names[0]), root);
    pattern->count = count;
    g_ptr_array_add(patterns->patterns, pattern);
    return pattern;
}

static void check_right(BbRight right, guint64 wanted, guint64 of)
{
    ck_assert_uint_eq(right.right, wanted);
    ck_assert_uint_eq(right.all, of);
}

static void check_fidelity(const BbChainScore *score, BbChainKind kind, guint tier,
                           BbFidelity wanted)
{
    check_right(score->fidelity[kind][tier].found, wanted.found.right, wanted.found.all);
    check_right(score->fidelity[kind][tier].real, wanted.real.right, wanted.real.all);
}

static const BbChainPair *pair_of(const BbChainScore *score, const Told *told, const char *text)
{
    for (guint i = 0; i < score->pairs->len; i++) {
        const BbChainPair *pair = &g_array_index(score->pairs, BbChainPair, i);
        g_autofree char *caption = g_strdup_printf(
            "%s %s %s", bb_names_text(told->names, pair->from),
            bb_names_text(told->names, pair->via), bb_names_text(told->names, pair->to));
        if (strcmp(caption, text) == 0)
            return pair;
    }
    ck_abort_msg("no pair %s", text);
    return NULL;
}

static char *text_of(const BbChainScore *score, const Told *told,
                     void (*write)(const BbChainScore *, const BbNames *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    write(score, told->names, out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

// Two requests A -> B -> C -> D, one A -> B -> E. Found: the second C's cause is the first B; the
// second D has none; E is right. 9 messages, 3 roots.
static const char *const mixed_up[] = {
    "M A B 1 0 path=x parent=- sure=1",
    "M A B 2 1 path=y parent=- sure=1",
    "M B C 3 10 path=x parent=1 found=0 sure=0.8 mode=9",
    "M B C 4 13 path=y parent=2 found=0 sure=0.4 mode=9",
    "M C D 5 20 path=x parent=3 found=2 sure=0.9 mode=10",
    "M C D 6 24 path=y parent=4 sure=0.3",
    "M A B 7 50 path=z parent=- sure=1",
    "M B E 8 55 path=z parent=7 found=6 sure=0.9 mode=4",
    "M E F 9 56 path=z silent=1",
    NULL,
};

static BbPatterns *mixed_up_patterns(Told *told)
{
    BbPatterns *patterns = bb_patterns_new("convolution");
    BbPatternDelay none = {0, 0, 0};
    add_pattern(told, patterns, "A B", 1, none);
    add_pattern(told, patterns, "A B C", 1, none);
    add_pattern(told, patterns, "A B C D", 1, none);
    add_pattern(told, patterns, "A B E", 1, none);
    add_pattern(told, patterns, "C D", 1, none);
    g_ptr_array_add(patterns->patterns, NULL);                      // ends nowhere
    add_pattern(told, patterns, "D A B", 70, none)->derived = true; // takes no part
    return patterns;
}

START_TEST(messages_right_and_wrong)
{
    g_auto(Told) told = told_new();
    told_window(&told, mixed_up);
    g_autoptr(BbPatterns) patterns = mixed_up_patterns(&told);
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    ck_assert_uint_eq(score->messages, 8);
    ck_assert_uint_eq(score->untold, 1);
    ck_assert_uint_eq(score->true_roots, 3);
    check_right(score->caused, 3, 5);
    check_right(score->roots, 3, 3);
    check_right(score->lost, 0, 0);
    check_right(score->found_causes, 3, 4);
    check_right(score->found_roots, 3, 4);
    ck_assert_uint_eq(score->confidence.stated, 8);
    ck_assert_uint_eq(score->confidence.bins[4].count, 1); // 0.4 sure, wrong
    ck_assert_uint_eq(score->confidence.bins[4].right, 0);
    ck_assert_uint_eq(score->confidence.bins[9].right, 2);
}
END_TEST

START_TEST(pairs_and_their_delays)
{
    g_auto(Told) told = told_new();
    told_window(&told, mixed_up);
    g_autoptr(BbPatterns) patterns = mixed_up_patterns(&told);
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    ck_assert_uint_eq(score->pairs->len, 3);
    const BbChainPair *pair = pair_of(score, &told, "A B C");
    ck_assert_uint_eq(pair->found, 2);
    ck_assert_uint_eq(pair->real, 2);
    ck_assert_int_eq(pair->stated_mean_ns, 9 * MS);
    ck_assert_int_eq(pair->real_mean_ns, 11 * MS); // 10 and 12
    ck_assert_int_eq(pair->found_p50_ns, 10 * MS); // 10 and 13
    ck_assert_int_eq(pair->real_p50_ns, 10 * MS);
    pair = pair_of(score, &told, "B C D");
    ck_assert_uint_eq(pair->found, 1);
    ck_assert_uint_eq(pair->real, 2);
    ck_assert_ptr_eq(pair_of(score, &told, "A B E"), &g_array_index(score->pairs, BbChainPair, 2));
    // Stated: 9 for 11, 10 for 10.5, 4 for 5 ms; medians 10, 10, 5 for 10, 10, 5 ms.
    ck_assert_uint_eq(score->mean_delay.compared, 3);
    ck_assert_int_eq(score->mean_delay.largest_ns, 2 * MS);
    ck_assert_double_eq_tol(score->mean_delay.largest, 0.2, 1e-12);
    ck_assert_int_eq(score->median_delay.largest_ns, 0);
    check_fidelity(score, BB_CHAIN_PAIRS, 0, (BbFidelity){{3, 3}, {3, 3}});
    check_fidelity(score, BB_CHAIN_PAIRS, 1, (BbFidelity){{0, 0}, {0, 0}});
}
END_TEST

// 40 pairs, of which the first is right and the others are 1 us off: no step of the mean may round.
START_TEST(mean_error_of_many_pairs)
{
    g_auto(Told) told = told_new();
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < 40; i++) {
        g_ptr_array_add(lines, g_strdup_printf("M A B a%u %u path=p%u parent=-", i, 100 * i, i));
        g_ptr_array_add(lines,
                        g_strdup_printf("M B E%u b%u %u path=p%u parent=a%u found=%u "
                                        "mode=%s",
                                        i, i, 100 * i + 10, i, i, 2 * i, i ? "10.001" : "10"));
    }
    g_ptr_array_add(lines, NULL);
    told_window(&told, (const char *const *)lines->pdata);
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    ck_assert_uint_eq(score->mean_delay.compared, 40);
    ck_assert_int_eq(score->mean_delay.largest_ns, 1000);
    ck_assert_int_eq(score->mean_delay.mean_ns, 975);
    ck_assert_int_eq(score->median_delay.mean_ns, 0);
}
END_TEST

START_TEST(vertices_and_paths)
{
    g_auto(Told) told = told_new();
    told_window(&told, mixed_up);
    g_autoptr(BbPatterns) patterns = mixed_up_patterns(&told);
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    // Found A B (3), A B C (2), A B C D (1), A B E (1), C D (1); true 3, 2, 2, 1.
    check_fidelity(score, BB_CHAIN_VERTICES, 0, (BbFidelity){{4, 5}, {4, 4}});
    check_fidelity(score, BB_CHAIN_VERTICES, 1, (BbFidelity){{1, 1}, {1, 1}});
    check_fidelity(score, BB_CHAIN_DEEP, 0, (BbFidelity){{3, 3}, {3, 3}});
    // Found ends A B, A B C, A B C D, A B E, C D; true A B C D (2), A B E (1).
    check_fidelity(score, BB_CHAIN_PATHS, 0, (BbFidelity){{2, 5}, {2, 2}});
    ck_assert_uint_eq(score->deep_excess.found, 4);
    ck_assert_uint_eq(score->deep_excess.too_many, 0);
    ck_assert_uint_eq(score->path_excess.found, 5);
    ck_assert_uint_eq(score->path_excess.too_many, 3);
    ck_assert_uint_eq(score->paths->len, 5);
    const BbChainPath *path = &g_array_index(score->paths, BbChainPath, 0);
    ck_assert_str_eq(path->caption, "A -> B -> C -> D"); // all but A B E differ by one
    ck_assert_uint_eq(path->found, 1);
    ck_assert_uint_eq(path->real, 2);
    path = &g_array_index(score->paths, BbChainPath, 4);
    ck_assert_str_eq(path->caption, "A -> B -> E");
}
END_TEST

// Figure 6: patterns only, and they share their beginnings.
START_TEST(patterns_without_causes)
{
    g_auto(Told) told = told_new();
    told_window(&told, mixed_up);
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    add_pattern(&told, patterns, "A B C D", 1, (BbPatternDelay){10 * MS, MS, 2});
    add_pattern(&told, patterns, "A B C E", 2, (BbPatternDelay){20 * MS, MS, 2});
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, false, told.names);
    ck_assert(!score->has_causes);
    check_right(score->caused, 0, 0);
    check_right(score->found_roots, 0, 0);
    ck_assert_uint_eq(score->confidence.stated + score->confidence.not_stated, 0);
    ck_assert_uint_eq(score->messages, 8);
    // Found A B (its 3 messages), A B C, A B C D, A B C E (2 each); true 3, 2, 2, and A B E (1).
    check_fidelity(score, BB_CHAIN_VERTICES, 0, (BbFidelity){{3, 4}, {3, 4}});
    check_fidelity(score, BB_CHAIN_DEEP, 0, (BbFidelity){{2, 3}, {2, 3}});
    check_fidelity(score, BB_CHAIN_PATHS, 0, (BbFidelity){{1, 2}, {1, 2}});
    check_fidelity(score, BB_CHAIN_PAIRS, 0, (BbFidelity){{2, 3}, {2, 3}});
    const BbChainPair *pair = pair_of(score, &told, "A B C");
    ck_assert_uint_eq(pair->found, 2); // once, though two patterns have it
    ck_assert_int_eq(pair->stated_mean_ns, 10 * MS);
    ck_assert_int_eq(pair->found_p50_ns, BB_TIME_NONE);
    ck_assert_int_eq(pair_of(score, &told, "A B E")->stated_mean_ns, BB_TIME_NONE);
    ck_assert_int_eq(pair_of(score, &told, "B C E")->real_mean_ns, BB_TIME_NONE);
    g_autofree char *json = text_of(score, &told, bb_chain_score_write_json);
    ck_assert(strstr(json, "\"causes\": null"));
    ck_assert(strstr(json, "\"true_mean_s\": null, \"p50_s\": null, \"true_p50_s\": null"));
    g_autofree char *text = text_of(score, &told, bb_chain_score_write_text);
    ck_assert(strstr(text, "Causes of messages: not inferred\n"));
    ck_assert(strstr(text, "20.0 ms          -          -          -\n"));
    ck_assert(!strstr(text, "median, between messages"));
    ck_assert(!strstr(text, "Confidence"));
    ck_assert_uint_eq(score->median_delay.compared, 0);
    ck_assert_uint_eq(score->mean_delay.compared, 2);
    ck_assert_uint_eq(score->deep_excess.found, 6);
    ck_assert_uint_eq(score->deep_excess.too_many, 2);
}
END_TEST

// 1000 roots: 0.5 % are 5, 1 % are 10; what is found half as often counts as found.
START_TEST(tiers)
{
    BbFidelity fidelity[BB_TIERS] = {0};
    const guint64 numbers[][2] = {{1, 0}, {2, 5},  {3, 5},  {5, 10},
                                  {9, 0}, {10, 1}, {4, 10}, {0, 20}};
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
        bb_fidelity_add(fidelity, 1000, numbers[i][0], numbers[i][1]);
    const BbFidelity wanted[BB_TIERS] = {
        {{5, 7}, {5, 6}}, // any
        {{4, 5}, {4, 5}}, // 3
        {{1, 1}, {1, 3}}, // 10
        {{2, 3}, {3, 5}}, // 0.5 %: 5
        {{1, 1}, {1, 3}}, // 1 %: 10
    };
    for (guint t = 0; t < BB_TIERS; t++) {
        check_right(fidelity[t].found, wanted[t].found.right, wanted[t].found.all);
        check_right(fidelity[t].real, wanted[t].real.right, wanted[t].real.all);
    }
}
END_TEST

START_TEST(text_and_json)
{
    g_auto(Told) told = told_new();
    told_window(&told, mixed_up);
    g_autoptr(BbPatterns) patterns = mixed_up_patterns(&told);
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    g_autofree char *text = text_of(score, &told, bb_chain_score_write_text);
    static const char *const lines[] = {
        "8 messages scored; left out: 1 message without ground truth\n",
        "  messages with a cause              60.00 %            3            5\n",
        "  of the roots found                 75.00 %            3            4\n",
        "  complete paths                     60.00 %            3            5\n",
        "            2            2    9.00 ms    11.0 ms    10.0 ms    10.0 ms\n",
        "            1            2  A -> B -> C -> D\n",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++)
        ck_assert_msg(strstr(text, lines[i]), "%s not in\n%s", lines[i], text);
    g_autofree char *json = text_of(score, &told, bb_chain_score_write_json);
    static const char *const parts[] = {
        "\"messages\": 8, \"true_roots\": 3, \"left_out\": {\"without_truth\": 1, "
        "\"circular_truth\": 0}",
        "\"caused\": {\"right\": 3, \"of\": 5, \"share\": 0.6000}",
        "\"any\": {\"found\": 5, \"found_right\": 4, \"precision\": 0.8000, \"true\": 4, "
        "\"true_found\": 4, \"recall\": 1.0000}",
        "\"precision\": null",
        "{\"from\": \"A\", \"via\": \"B\", \"to\": \"E\", \"found\": 1, \"true\": 1, "
        "\"stated_mean_s\": 0.004000000, \"true_mean_s\": 0.005000000",
        "{\"path\": \"A -> B -> C -> D\", \"found\": 1, \"true\": 2}",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
        ck_assert_msg(strstr(json, parts[i]), "%s not in\n%s", parts[i], json);
}
END_TEST

START_TEST(no_messages)
{
    g_auto(Told) told = told_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    ck_assert_uint_eq(score->messages, 0);
    ck_assert(isnan(bb_right_share(score->caused)));
    ck_assert(isnan(score->mean_delay.largest));
    g_autofree char *text = text_of(score, &told, bb_chain_score_write_text);
    ck_assert(g_str_has_prefix(text, "0 messages scored\n"));
    g_autofree char *json = text_of(score, &told, bb_chain_score_write_json);
    ck_assert(strstr(json, "\"largest\": null"));
}
END_TEST

// A chain longer than is told in full.
START_TEST(long_paths_are_cut_in_the_middle)
{
    g_auto(Told) told = told_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    g_autoptr(GString) text = g_string_new("n0");
    for (guint i = 1; i <= 60; i++)
        g_string_append_printf(text, " n%u", i);
    add_pattern(&told, patterns, text->str, 1, (BbPatternDelay){0, 0, 0});
    g_autoptr(BbChainScore) score = bb_chain_score_new(told.effects, patterns, true, told.names);
    const char *caption = g_array_index(score->paths, BbChainPath, 0).caption;
    ck_assert(g_str_has_prefix(caption, "n0 -> n1 -> "));
    ck_assert(g_str_has_suffix(caption, " -> n59 -> n60"));
    ck_assert(strstr(caption, "n19 -> ... -> n40"));
}
END_TEST

TEST_MAIN("chain_score", messages_right_and_wrong, pairs_and_their_delays, mean_error_of_many_pairs,
          vertices_and_paths, patterns_without_causes, tiers, text_and_json, no_messages,
          long_paths_are_cut_in_the_middle)
