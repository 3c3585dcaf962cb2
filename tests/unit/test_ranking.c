// SPDX-License-Identifier: Apache-2.0
// Selection: sort keys, all tie-breaks, filters, ranks without gaps, and what is left out.
#include "tests/unit/sample_patterns.h"
#include "tests/unit/test.h"
#include "viz/ranking.h"

#include <string.h>

typedef struct Fixture {
    BbNames *names;
    BbPatterns *patterns;
} Fixture;

static void add(Fixture *f, const char *client, const char *node, const char *op, guint64 count,
                gint64 latency_ns)
{
    BbPatternNode *root =
        bb_pattern_node_new(bb_names_intern(f->names, node), bb_names_intern(f->names, op));
    for (guint64 i = 0; i < count; i++)
        bb_stats_push(root->latency, latency_ns);
    sample_pattern(f->patterns, f->names, client, root);
}

static Fixture begin(void)
{
    return (Fixture){bb_names_new(), bb_patterns_new("nesting")};
}

static void end(Fixture *f)
{
    bb_patterns_free(f->patterns);
    bb_names_free(f->names);
}

// The clients of the patterns shown, in order.
static char *clients(const Fixture *f, const BbRanking *ranking)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < ranking->n_shown; i++)
        g_string_append(text, bb_names_text(f->names, ranking->shown[i]->client));
    return g_string_free(text, FALSE);
}

static void expect(const Fixture *f, BbViewOptions options, const char *expected)
{
    g_autoptr(BbRanking) ranking = bb_ranking_new(f->patterns, f->names, &options, 2);
    g_autofree char *shown = clients(f, ranking);
    ck_assert_str_eq(shown, expected);
    guint ranked = 0;
    for (guint i = 0; i < ranking->n_ranks; i++) {
        guint32 rank = ranking->rank[i];
        ranked += rank > 0;
        if (rank > 0)
            ck_assert_ptr_eq(ranking->shown[rank - 1], g_ptr_array_index(f->patterns->patterns, i));
        if (rank > 0)
            ck_assert_uint_eq(ranking->rank_shown[rank - 1], rank); // no gaps
    }
    ck_assert_uint_eq(ranked, ranking->n_shown);
}

// a: total 60, count 3, mean 20. b: 40, 4, 10. c: 50, 1, 50. d: 20, 4, 5.
static Fixture four(void)
{
    Fixture f = begin();
    add(&f, "d", "S", "", 4, 5);
    add(&f, "a", "S", "", 3, 20);
    add(&f, "b", "S", "", 4, 10);
    add(&f, "c", "S", "", 1, 50);
    return f;
}

START_TEST(sort_keys)
{
    Fixture f = four();
    expect(&f, (BbViewOptions){.sort = BB_SORT_TOTAL}, "acbd");
    expect(&f, (BbViewOptions){.sort = BB_SORT_COUNT}, "bdac"); // b before d: by total
    expect(&f, (BbViewOptions){.sort = BB_SORT_MEAN}, "cabd");
    end(&f);
}
END_TEST

START_TEST(filters)
{
    Fixture f = four();
    expect(&f, (BbViewOptions){.top = 3}, "acb");
    expect(&f, (BbViewOptions){.top = BB_TOP_OF_FORMAT}, "ac");
    expect(&f, (BbViewOptions){.top = 99}, "acbd");
    expect(&f, (BbViewOptions){.min_count = 4}, "bd");
    expect(&f, (BbViewOptions){.min_count = 2, .top = 2}, "ab");
    expect(&f, (BbViewOptions){.min_count = 5}, "");
    end(&f);
}
END_TEST

// Same total and count: client, then callee, operation, number of calls, the calls in order.
START_TEST(ties)
{
    Fixture f = begin();
    add(&f, "b", "S", "", 1, 7);
    add(&f, "a", "T", "", 1, 7);
    add(&f, "a", "S", "y", 1, 7);
    add(&f, "a", "S", "x", 1, 7);
    add(&f, "a", "S", "x", 1, 7);
    add(&f, "a", "S", "x", 1, 7);
    add(&f, "a", "S", "x", 1, 7);
    BbPattern *with_d = g_ptr_array_index(f.patterns->patterns, 3);
    BbPattern *with_c = g_ptr_array_index(f.patterns->patterns, 4);
    BbPattern *alone = g_ptr_array_index(f.patterns->patterns, 5);
    BbPattern *twin = g_ptr_array_index(f.patterns->patterns, 6);
    sample_call(with_d->root, sample_node(f.names, "D", "", 1, 0, 1));
    sample_call(with_c->root, sample_node(f.names, "C", "", 1, 0, 1));
    BbViewOptions options = {0};
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, 0);
    const BbPattern *expected[] = {alone,
                                   twin,
                                   with_c,
                                   with_d,
                                   g_ptr_array_index(f.patterns->patterns, 2),
                                   g_ptr_array_index(f.patterns->patterns, 1),
                                   g_ptr_array_index(f.patterns->patterns, 0)};
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
        ck_assert_ptr_eq(ranking->shown[i], expected[i]);
    end(&f);
}
END_TEST

START_TEST(left_out)
{
    Fixture f = four();
    BbViewOptions options = {.top = 2};
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_uint_eq(ranking->n_patterns, 4);
    ck_assert_uint_eq(ranking->n_shown, 2);
    ck_assert_uint_eq(ranking->instances, 12);
    ck_assert_uint_eq(ranking->instances_shown, 4);
    ck_assert_int_eq(ranking->latency_ns, 170);
    ck_assert_int_eq(ranking->latency_left_ns, 60);
    ck_assert(bb_ranking_chooses(ranking));
    end(&f);
}
END_TEST

// Sums stop at the greatest number: what is left out is no difference of two of them.
START_TEST(left_out_of_what_saturates)
{
    Fixture f = begin();
    add(&f, "a", "S", "", 1, G_MAXINT64);
    add(&f, "b", "S", "", 1, G_MAXINT64);
    add(&f, "c", "S", "", 1, -5);
    BbViewOptions options = {.top = 2};
    g_autoptr(BbRanking) some = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_int_eq(some->latency_left_ns, -5);
    options.top = BB_TOP_ALL;
    g_autoptr(BbRanking) all = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_int_eq(all->latency_left_ns, 0);
    end(&f);
}
END_TEST

START_TEST(chooses)
{
    Fixture f = begin();
    BbViewOptions all = BB_VIEW_OPTIONS_DEFAULT;
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &all, BB_TOP_ALL);
    ck_assert(!bb_ranking_chooses(ranking));
    ck_assert_uint_eq(ranking->n_shown, 0);
    BbViewOptions some = {.min_count = 1};
    g_autoptr(BbRanking) chosen = bb_ranking_new(f.patterns, f.names, &some, BB_TOP_ALL);
    ck_assert(bb_ranking_chooses(chosen));
    end(&f);
}
END_TEST

START_TEST(sums_saturate)
{
    Fixture f = begin();
    add(&f, "a", "S", "", 1, G_MAXINT64);
    add(&f, "b", "S", "", 1, G_MAXINT64);
    BbViewOptions options = {0};
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_int_eq(ranking->latency_ns, G_MAXINT64);
    end(&f);
}
END_TEST

// The same with the convolution's default order, and all keys.
START_TEST(chains)
{
    Fixture f = four();
    f.patterns->algorithm = "convolution";
    g_ptr_array_insert(f.patterns->patterns, 2, NULL);
    expect(&f, (BbViewOptions){0}, "bdac");
    expect(&f, (BbViewOptions){.sort = BB_SORT_TOTAL}, "acbd");
    expect(&f, (BbViewOptions){.sort = BB_SORT_MEAN}, "cabd");
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, BB_TOP_ALL);
    ck_assert(ranking->chains);
    ck_assert(!bb_ranking_chooses(ranking));
    ck_assert_uint_eq(ranking->n_patterns, 4);
    ck_assert_uint_eq(ranking->n_ranks, 5);
    ck_assert_uint_eq(ranking->rank[2], 0);
    ck_assert_double_eq(bb_ranking_share(ranking, ranking->shown[0]), 4 / 12.0);
    end(&f);
}
END_TEST

// Rare ones are left out, and the ranks of the others stay: c, by the mean the first, is missing.
START_TEST(rare_ones_keep_their_rank)
{
    Fixture f = four();
    BbViewOptions options = {.sort = BB_SORT_MEAN, .min_share = 0.1, .top = 2};
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, 0);
    g_autofree char *shown = clients(&f, ranking);
    ck_assert_str_eq(shown, "ab");
    ck_assert_uint_eq(ranking->rare, 1);
    ck_assert_uint_eq(ranking->rank_shown[0], 2);
    ck_assert_uint_eq(ranking->rank_shown[1], 3);
    ck_assert_uint_eq(ranking->rank[1], 2); // a
    ck_assert_uint_eq(ranking->rank[3], 0); // c
    ck_assert(bb_ranking_chooses(ranking));
    options = (BbViewOptions){.min_share = 4 / 12.0}; // just as many are not fewer
    g_autoptr(BbRanking) most = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_uint_eq(most->n_shown, 2);
    ck_assert_uint_eq(most->rare, 2);
    ck_assert(bb_ranking_chooses(most));
    end(&f);
}
END_TEST

// They are no paths, and come last.
START_TEST(derived_are_not_counted)
{
    Fixture f = four();
    f.patterns->algorithm = "convolution";
    ((BbPattern *)g_ptr_array_index(f.patterns->patterns, 1))->derived = true; // a
    add(&f, "a", "S", "", 3, 20);
    BbViewOptions options = {.top = 4};
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, 0);
    g_autofree char *shown = clients(&f, ranking);
    ck_assert_str_eq(shown, "bdac");
    ck_assert(!ranking->shown[2]->derived);
    ck_assert_uint_eq(ranking->derived, 1);
    ck_assert_uint_eq(ranking->derived_shown, 0);
    ck_assert_uint_eq(ranking->instances, 12);
    ck_assert_uint_eq(ranking->instances_shown, 12);
    ck_assert_int_eq(ranking->latency_ns, 170);
    options.top = 5;
    g_autoptr(BbRanking) more = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_uint_eq(more->derived_shown, 1);
    ck_assert_uint_eq(more->instances_shown, 12);
    end(&f);
}
END_TEST

// Whatever is sorted by: a derived pattern with the most of all follows the causal ones.
START_TEST(derived_come_last)
{
    Fixture f = four();
    f.patterns->algorithm = "convolution";
    add(&f, "x", "S", "", 9, 90);
    add(&f, "y", "S", "", 8, 95);
    ((BbPattern *)g_ptr_array_index(f.patterns->patterns, 4))->derived = true;
    ((BbPattern *)g_ptr_array_index(f.patterns->patterns, 5))->derived = true;
    expect(&f, (BbViewOptions){0}, "bdacxy");
    expect(&f, (BbViewOptions){.sort = BB_SORT_TOTAL}, "acbdxy");
    expect(&f, (BbViewOptions){.sort = BB_SORT_MEAN}, "cabdyx");
    expect(&f, (BbViewOptions){.top = 5}, "bdacx");
    expect(&f, (BbViewOptions){.min_count = 4}, "bdxy");
    end(&f);
}
END_TEST

START_TEST(nothing_but_derived)
{
    Fixture f = begin();
    f.patterns->algorithm = "convolution";
    add(&f, "a", "S", "", 1, 7);
    ((BbPattern *)g_ptr_array_index(f.patterns->patterns, 0))->derived = true;
    BbViewOptions options = {.min_share = 0.5};
    g_autoptr(BbRanking) ranking = bb_ranking_new(f.patterns, f.names, &options, 0);
    ck_assert_uint_eq(ranking->n_shown, 1);
    ck_assert_double_eq(bb_ranking_share(ranking, ranking->shown[0]), 0);
    end(&f);
}
END_TEST

TEST_MAIN("ranking", sort_keys, filters, ties, left_out, left_out_of_what_saturates, chooses,
          sums_saturate, chains, rare_ones_keep_their_rank, derived_are_not_counted,
          derived_come_last, nothing_but_derived)
