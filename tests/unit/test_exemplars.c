// SPDX-License-Identifier: Apache-2.0
// Exemplars of patterns: extremes, the middle one, an even sample, patterns that are dropped.
#include "data/exemplars.h"

#include "tests/unit/test.h"

static void note(BbExemplars *exemplars, guint32 pattern, guint64 number, gint64 latency_ns)
{
    bb_exemplars_note(exemplars, pattern, (BbExemplar){number, latency_ns});
}

static guint64 median(const BbExemplars *exemplars, guint32 pattern, bool exact)
{
    BbExemplar found = {0, 0};
    bool is_exact = !exact;
    ck_assert(bb_exemplars_median(exemplars, pattern, &found, &is_exact));
    ck_assert(is_exact == exact);
    return found.number;
}

START_TEST(extremes_and_middle)
{
    g_autoptr(BbExemplars) exemplars = bb_exemplars_new();
    const gint64 latencies[] = {50, 10, 90, 10, 90, -5, 40};
    for (guint i = 0; i < G_N_ELEMENTS(latencies); i++)
        note(exemplars, 7, i + 1, latencies[i]);
    BbExemplar fastest, slowest;
    ck_assert(bb_exemplars_extremes(exemplars, 7, &fastest, &slowest));
    ck_assert_uint_eq(fastest.number, 6);
    ck_assert_int_eq(fastest.latency_ns, -5);
    ck_assert_uint_eq(slowest.number, 3); // the first of two
    ck_assert_int_eq(slowest.latency_ns, 90);
    ck_assert_uint_eq(median(exemplars, 7, true), 7);
    note(exemplars, 7, 8, 45);
    ck_assert_uint_eq(median(exemplars, 7, true), 7); // of 40 and 45 the faster
    note(exemplars, 7, 9, 40);
    ck_assert_uint_eq(median(exemplars, 7, true), 9); // of -5 10 10 40 40 45 50 90 90
}
END_TEST

START_TEST(unknown_and_dropped)
{
    g_autoptr(BbExemplars) exemplars = bb_exemplars_new();
    BbExemplar one = {77, 77}, other = {77, 77};
    ck_assert(!bb_exemplars_extremes(exemplars, 0, &one, &other));
    note(exemplars, 3, 1, 5);
    ck_assert_uint_eq(bb_exemplars_patterns(exemplars), 4);
    ck_assert(!bb_exemplars_extremes(exemplars, 2, &one, &other));
    ck_assert(!bb_exemplars_median(exemplars, 4, &one, &(bool){false}));
    ck_assert_uint_eq(one.number, 77);
    bb_exemplars_drop(exemplars, 3);
    bb_exemplars_drop(exemplars, 3);
    bb_exemplars_drop(exemplars, 99);
    ck_assert(!bb_exemplars_extremes(exemplars, 3, &one, &other));
    note(exemplars, 3, 2, 6);
    ck_assert_uint_eq(median(exemplars, 3, true), 2);
}
END_TEST

// Numbers rise, latencies are shuffled.
static guint64 median_of(guint count, bool exact)
{
    g_autoptr(BbExemplars) exemplars = bb_exemplars_new();
    for (guint64 i = 0; i < count; i++)
        note(exemplars, 0, i, (gint64)(i * 7919 % count));
    return median(exemplars, 0, exact) * 7919 % count;
}

START_TEST(exact_as_long_as_all_are_kept)
{
    ck_assert_uint_eq(median_of(BB_EXEMPLARS_SAMPLE - 1, true), BB_EXEMPLARS_SAMPLE / 2 - 1);
    ck_assert_uint_eq(median_of(BB_EXEMPLARS_SAMPLE, true), BB_EXEMPLARS_SAMPLE / 2 - 1);
    ck_assert_uint_ge(median_of(BB_EXEMPLARS_SAMPLE + 1, false), BB_EXEMPLARS_SAMPLE / 2 - 2);
    ck_assert_uint_le(median_of(BB_EXEMPLARS_SAMPLE + 1, false), BB_EXEMPLARS_SAMPLE / 2 + 1);
}
END_TEST

// The middle of a fair sample of 2,048 is within three of its standard deviations (1.1 % of the
// ranks) of the median; and the same feed gives the same sample.
START_TEST(sample_is_even_and_the_same_each_time)
{
    guint64 found = median_of(100000, false);
    ck_assert_uint_ge(found, 46700);
    ck_assert_uint_le(found, 53300);
    ck_assert_uint_eq(median_of(100000, false), found);
}
END_TEST

TEST_MAIN("exemplars", extremes_and_middle, unknown_and_dropped, exact_as_long_as_all_are_kept,
          sample_is_even_and_the_same_each_time)
