// SPDX-License-Identifier: Apache-2.0
// Exemplars of patterns: extremes, the middle one, an even sample, patterns that are dropped.
#include "data/exemplars.h"

#include "tests/unit/test.h"

static void note(BbExemplars *exemplars, guint32 pattern, guint64 number, gint64 latency_ns)
{
    bb_exemplars_note(exemplars, pattern, (BbExemplar){number, latency_ns});
}

static guint64 nearest(const BbExemplars *exemplars, guint32 pattern, gint64 latency_ns)
{
    BbExemplar found = {0, 0};
    ck_assert(bb_exemplars_nearest(exemplars, pattern, latency_ns, &found));
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
    ck_assert_uint_eq(nearest(exemplars, 7, 41), 7);
    ck_assert_uint_eq(nearest(exemplars, 7, 45), 1); // of 40 and 50 the first
    ck_assert_uint_eq(nearest(exemplars, 7, G_MAXINT64), 3);
    ck_assert_uint_eq(nearest(exemplars, 7, G_MININT64), 6);
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
    ck_assert(!bb_exemplars_nearest(exemplars, 4, 5, &one));
    ck_assert_uint_eq(one.number, 77);
    bb_exemplars_drop(exemplars, 3);
    bb_exemplars_drop(exemplars, 3);
    bb_exemplars_drop(exemplars, 99);
    ck_assert(!bb_exemplars_extremes(exemplars, 3, &one, &other));
    note(exemplars, 3, 2, 6);
    ck_assert_uint_eq(nearest(exemplars, 3, 0), 2);
}
END_TEST

// With 100,000 rising latencies, the one nearest the median of a fair sample of 32 lies between the
// deciles around it; and the same feed gives the same sample.
START_TEST(sample_is_even_and_the_same_each_time)
{
    guint64 first = 0;
    for (guint run = 0; run < 2; run++) {
        g_autoptr(BbExemplars) exemplars = bb_exemplars_new();
        for (guint i = 0; i < 100000; i++)
            note(exemplars, 0, i + 1, i);
        guint64 found = nearest(exemplars, 0, 50000);
        ck_assert_uint_ge(found, 40000);
        ck_assert_uint_le(found, 60000);
        ck_assert_uint_le(nearest(exemplars, 0, 0), 15000);
        ck_assert_uint_ge(nearest(exemplars, 0, 100000), 85000);
        ck_assert(run == 0 || found == first);
        first = found;
    }
}
END_TEST

TEST_MAIN("exemplars", extremes_and_middle, unknown_and_dropped,
          sample_is_even_and_the_same_each_time)
