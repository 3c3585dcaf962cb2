// SPDX-License-Identifier: Apache-2.0
// Figures of a chain: messages where nobody counted them, means, the slowest, sums at the ends of
// gint64.
#include "viz/chain.h"

#include "tests/unit/sample_chain_patterns.h"
#include "tests/unit/test.h"

typedef struct Fixture {
    BbNames *names;
    BbPatterns *patterns;
    BbPattern *pattern;
} Fixture;

static Fixture begin(const SampleHop *hops, guint n_hops)
{
    Fixture f = {.names = bb_names_new(), .patterns = bb_patterns_new("convolution")};
    f.pattern = sample_chain_of(f.patterns, f.names, "A", hops, n_hops, 12, 0);
    return f;
}

static void end(Fixture *f)
{
    bb_patterns_free(f->patterns);
    bb_names_free(f->names);
}

START_TEST(form)
{
    g_autoptr(BbPatterns) chains = bb_patterns_new("convolution");
    g_autoptr(BbPatterns) trees = bb_patterns_new("nesting");
    ck_assert(bb_chain_is_form_of(chains));
    ck_assert(!bb_chain_is_form_of(trees));
}
END_TEST

START_TEST(messages)
{
    static const SampleHop hops[] = {{"B", 0, {{0}}}, {"C", 0, {{7, 0, 4}, {9, 0, 3}}}};
    Fixture f = begin(hops, 2);
    BbPatternNode *next = g_ptr_array_index(f.pattern->root->calls, 0);
    ck_assert_ptr_eq(bb_chain_next(f.pattern->root), next);
    ck_assert_ptr_null(bb_chain_next(next));
    ck_assert_uint_eq(bb_chain_delays(f.pattern->root), 0);
    ck_assert_uint_eq(bb_chain_delays(next), 2);
    ck_assert_int_eq(bb_chain_delay(next, 1)->delay_ns, 9);
    ck_assert_uint_eq(bb_chain_messages(f.pattern, f.pattern->root), 12);
    ck_assert_uint_eq(bb_chain_messages(f.pattern, next), 7);
    f.pattern->root->messages = 30;
    next->messages = 9; // of two of them the delay is not known
    ck_assert_uint_eq(bb_chain_messages(f.pattern, f.pattern->root), 30);
    ck_assert_uint_eq(bb_chain_messages(f.pattern, next), 9);
    g_clear_pointer(&next->delays, g_array_unref);
    ck_assert_uint_eq(bb_chain_delays(next), 0);
    end(&f);
}
END_TEST

START_TEST(means)
{
    static const SampleHop hops[] = {
        {"B", 0, {{0}}},
        {"C", 0, {{10, 0, 2}, {20, 0, 1}}},   // 13.3
        {"D", 0, {{-10, 0, 1}, {-11, 0, 1}}}, // -10.5: half away from zero
        {"E", 0, {{13, 0, 5}}},               // as slow as C, but later
        {"F", 0, {{G_MININT64, 0, 2}}},
    };
    static const gint64 expected[] = {0, 13, -11, 13, -(G_GINT64_CONSTANT(1) << 62)};
    Fixture f = begin(hops, G_N_ELEMENTS(hops));
    const BbPatternNode *node = f.pattern->root;
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++, node = bb_chain_next(node))
        ck_assert_int_eq(bb_chain_mean_delay(node), expected[i]);
    ck_assert_ptr_eq(bb_chain_slowest(f.pattern), bb_chain_next(f.pattern->root));
    ck_assert_int_eq(bb_chain_sum(f.pattern), 26); // of those that take time
    end(&f);
}
END_TEST

START_TEST(nothing_is_slow)
{
    static const SampleHop hops[] = {
        {"B", 0, {{0}}}, {"C", 0, {{-1, 0, 2}}}, {"D", 0, {{0, 0, 2}}}};
    Fixture f = begin(hops, G_N_ELEMENTS(hops));
    ck_assert_ptr_null(bb_chain_slowest(f.pattern));
    ck_assert_int_eq(bb_chain_sum(f.pattern), 0);
    end(&f);
}
END_TEST

START_TEST(sum_stops)
{
    static const SampleHop hops[] = {{"B", 0, {{0}}},
                                     {"C", 0, {{G_MAXINT64, 0, 2}}},
                                     {"D", 0, {{G_MAXINT64, 0, 2}}},
                                     {"E", 0, {{G_MAXINT64, 0, 2}}}};
    Fixture f = begin(hops, G_N_ELEMENTS(hops));
    ck_assert_int_eq(bb_chain_sum(f.pattern), G_MAXINT64);
    end(&f);
}
END_TEST

START_TEST(timed)
{
    static const SampleHop hops[] = {{"B", 0, {{0}}}, {"C", 0, {{0, 0, 2}}}};
    Fixture two = begin(hops, 2), one = begin(hops, 1);
    ck_assert(!bb_chain_is_timed(two.pattern));
    bb_stats_push(two.pattern->root->latency, 0);
    bb_stats_push(one.pattern->root->latency, 0);
    ck_assert(bb_chain_is_timed(two.pattern));
    ck_assert(!bb_chain_is_timed(one.pattern));
    bb_stats_push(one.pattern->root->latency, 1); // it was seen at both ends
    ck_assert(bb_chain_is_timed(one.pattern));
    end(&two);
    end(&one);
}
END_TEST

TEST_MAIN("chain", timed, form, messages, means, nothing_is_slow, sum_stops)
