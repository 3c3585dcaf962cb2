// SPDX-License-Identifier: Apache-2.0
// Links of a node: counting and FFTs tell the same, only suspects are looked at again, what is too
// rare tells nothing, batches are of one node.
#include "tests/unit/planted_links.h"

#include <string.h>

static void check_same(const BbLink *a, const BbLink *b, const Linking *linking)
{
    gsize bytes = ((gsize)linking->grid.bins + 1) * sizeof(float);
    ck_assert_uint_eq(a->in, b->in);
    ck_assert_uint_eq(a->peaks->len, b->peaks->len);
    ck_assert_mem_eq(a->peaks->data, b->peaks->data, a->peaks->len * sizeof(BbPeak));
    ck_assert_mem_eq(a->kernel, b->kernel, bytes);
    ck_assert_mem_eq(a->sharp, b->sharp, bytes);
    ck_assert_double_eq(a->excess, b->excess);
    ck_assert_double_eq(a->pairs, b->pairs);
}

// Dense enough for FFTs to pay: some thousand messages a stream, all within few lags.
static Planted *dense_traffic(void)
{
    Planted *planted = planted_new(5);
    const char *const sources[] = {"A", "D", "E"}, *const targets[] = {"C", "F"};
    for (guint i = 0; i < 6000; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 20 * SECOND);
        guint32 cause = planted_send(planted, sources[i % 3], "B", at, PLANTED_ROOT);
        planted_send(planted, "B", targets[i % 2], planted_later(planted, at, 20.0 * MS, 2.0 * MS),
                     cause);
    }
    planted_send(planted, "R", "B", EPOCH, PLANTED_ROOT); // rare
    return planted;
}

START_TEST(ffts_and_counting_tell_the_same)
{
    g_autoptr(Planted) planted = dense_traffic();
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 1000);
    guint32 first =
        MIN(linking_stream(linking, false, "B", "C"), linking_stream(linking, false, "B", "F"));
    ck_assert_double_gt(bb_trains_saved(linking->trains, first, 2), 0);
    GPtrArray *counted[2] = {0}, *transformed[2] = {0};
    linking_find(linking, first, 2, 1e-4, false, counted);
    linking_find(linking, first, 2, 1e-4, true, transformed);
    for (guint i = 0; i < 2; i++) {
        ck_assert_uint_ge(counted[i]->len, 2);
        ck_assert_uint_eq(counted[i]->len, transformed[i]->len);
        for (guint l = 0; l < counted[i]->len; l++)
            check_same(g_ptr_array_index(counted[i], l), g_ptr_array_index(transformed[i], l),
                       linking);
        g_ptr_array_unref(counted[i]);
        g_ptr_array_unref(transformed[i]);
    }
}
END_TEST

START_TEST(one_by_one_is_the_same_as_together)
{
    g_autoptr(Planted) planted = dense_traffic();
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 20, 100);
    guint32 first =
        MIN(linking_stream(linking, false, "B", "C"), linking_stream(linking, false, "B", "F"));
    GPtrArray *together[2] = {0};
    linking_find(linking, first, 2, 1e-4, false, together);
    for (guint i = 0; i < 2; i++) {
        GPtrArray *alone = NULL;
        linking_find(linking, first + i, 1, 1e-4, false, &alone);
        ck_assert_uint_eq(alone->len, together[i]->len);
        for (guint l = 0; l < alone->len; l++)
            check_same(g_ptr_array_index(alone, l), g_ptr_array_index(together[i], l), linking);
        g_ptr_array_unref(alone);
        g_ptr_array_unref(together[i]);
    }
}
END_TEST

START_TEST(suspects)
{
    g_autoptr(Planted) planted = planted_new(1);
    planted_hops(planted, 300, 20.0 * MS, 2.0 * MS);
    planted_noise(planted, "D", "B", 300, 100 * SECOND);
    planted_noise(planted, "E", "B", 4, 100 * SECOND);
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 100);
    guint32 out = linking_stream(linking, false, "B", "C");
    guint32 cause = linking_stream(linking, true, "A", "B");
    g_autoptr(BbEvidence) evidence = bb_evidence_new(linking->trains, false);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(BbSuspect));
    ck_assert_uint_eq(bb_evidence_survey(evidence, out, 1, found), 2); // E is too rare
    const BbSuspect *suspect = NULL;
    for (guint i = 0; i < found->len; i++) {
        const BbSuspect *one = &g_array_index(found, BbSuspect, i);
        ck_assert_uint_eq(one->out, out);
        ck_assert(one->chance >= 0 && one->chance <= BB_SUSPECT_MOST);
        suspect = one->in == cause ? one : suspect;
    }
    ck_assert_ptr_nonnull(suspect);
    ck_assert_double_lt(suspect->chance, 1e-20);
    GPtrArray *links = NULL;
    g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(BbSuspect));
    bb_evidence_find(evidence, out, 1, none, 1e-4, &links);
    ck_assert_uint_eq(links->len, 0);
    g_ptr_array_unref(links);
    bb_evidence_find(evidence, out, 1, found, 1e-4, &links);
    ck_assert_uint_eq(links->len, 1);
    ck_assert_uint_eq(((const BbLink *)g_ptr_array_index(links, 0))->in, cause);
    g_ptr_array_unref(links);
}
END_TEST

// Bursts that both streams have: what is as likely the other way round at the same lag is no link.
// What follows is one, though something else comes before.
START_TEST(the_mirror_is_of_the_same_lag)
{
    g_autoptr(Planted) planted = planted_new(3);
    for (guint i = 0; i < 400; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 200 * SECOND);
        planted_send(planted, "A", "B", at, PLANTED_ROOT);
        planted_send(planted, "B", "C", planted_later(planted, at, 40.0 * MS, 8.0 * MS), 0);
        planted_send(planted, "B", "C", planted_later(planted, at - 320 * MS, 0, 8.0 * MS), 0);
    }
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 180);
    GPtrArray *links = NULL;
    linking_find(linking, linking_stream(linking, false, "B", "C"), 1, 1e-4, false, &links);
    ck_assert_uint_eq(links->len, 1);
    const BbLink *link = g_ptr_array_index(links, 0);
    double kernel = 0;
    for (guint32 i = 10; i < 35; i++)
        kernel += link->kernel[i];
    ck_assert_double_eq_tol(kernel, 1, 0.15);
    g_ptr_array_unref(links);
}
END_TEST

START_TEST(batches_are_of_one_node)
{
    g_autoptr(Planted) planted = planted_new(1);
    for (guint i = 0; i < 40; i++) {
        g_autofree char *name = g_strdup_printf("%02u", i);
        planted_noise(planted, name, "B", 10, SECOND);
        planted_noise(planted, "B", name, 10, SECOND);
    }
    g_autoptr(Linking) linking = linking_new(planted, MS, 0, 100);
    const BbStreams *streams = linking->streams;
    guint32 batches = 0;
    for (guint32 first = 0, n; first < streams->n_out; first += n, batches++) {
        n = bb_trains_batch(linking->trains, first);
        ck_assert_uint_ge(n, 1);
        ck_assert_uint_le(first + n, streams->n_out);
        for (guint32 i = 1; i < n; i++)
            ck_assert_uint_eq(streams->out[first].node, streams->out[first + i].node);
    }
    ck_assert_uint_ge(batches, 42); // of 40 streams of B and one of each other
    ck_assert_uint_le(batches, 60);
}
END_TEST

TEST_MAIN("evidence", ffts_and_counting_tell_the_same, one_by_one_is_the_same_as_together, suspects,
          the_mirror_is_of_the_same_lag, batches_are_of_one_node)
