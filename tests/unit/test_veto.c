// SPDX-License-Identifier: Apache-2.0
// Chains that claim more messages than their ends have in common are held back; those that were are
// not.
#include "convolution/veto.h"
#include "tests/unit/planted_links.h"

// A and X send to B, B to C, C to D or Y. What came from A goes to D, what came from X to Y: only
// the ends of a chain tell, as B and C treat all alike.
static Planted *cross_traffic(guint count, gint64 span)
{
    Planted *planted = planted_new(11);
    for (guint i = 0; i < count; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, (guint64)span);
        guint32 cause = planted_send(planted, i % 2 ? "A" : "X", "B", at, PLANTED_ROOT);
        at = planted_later(planted, at, 30.0 * MS, 3.0 * MS);
        cause = planted_send(planted, "B", "C", at, cause);
        at = planted_later(planted, at, 30.0 * MS, 3.0 * MS);
        planted_send(planted, "C", i % 2 ? "D" : "Y", at, cause);
    }
    bb_traffic_finish(planted->traffic);
    return planted;
}

// By message: its true cause.
static guint32 *true_causes(const Planted *planted)
{
    const BbTraffic *traffic = planted->traffic;
    g_autofree guint32 *index = g_new(guint32, traffic->n_messages);
    for (guint32 i = 0; i < traffic->n_messages; i++)
        index[planted_number(&traffic->messages[i])] = i;
    guint32 *causes = g_new(guint32, traffic->n_messages);
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        guint32 cause = planted_cause(planted, &traffic->messages[i]);
        causes[i] = cause == PLANTED_ROOT ? BB_CALL_NO_PARENT : index[cause];
    }
    return causes;
}

static guint32 edge_number(const Planted *planted, const char *from, const char *to)
{
    return (guint32)(planted_edge(planted, from, to) - planted->traffic->edges);
}

static const BbLabel *chain(const Planted *planted, const BbLabels *labels, const char *from,
                            const char *to)
{
    guint32 root = bb_labels_find(labels, BB_LABEL_NONE, edge_number(planted, from, "B"));
    guint32 middle = bb_labels_find(labels, root, edge_number(planted, "B", "C"));
    guint32 end = bb_labels_find(labels, middle, edge_number(planted, "C", to));
    ck_assert_uint_ne(end, BB_LABEL_NONE);
    return bb_label(labels, end);
}

// A message C -> D takes the cause of one C -> Y that was sent close to it, and the other way
// round: hop by hop nothing tells that this is wrong.
static void mix_up(const Planted *planted, guint32 *causes)
{
    const BbTraffic *traffic = planted->traffic;
    const BbEdge *d = planted_edge(planted, "C", "D"), *y = planted_edge(planted, "C", "Y");
    guint32 k = y->first;
    for (guint32 i = d->first; i < d->first + d->count; i++) {
        while (k < y->first + y->count && traffic->sent_ns[k] < traffic->sent_ns[i] - 10 * MS)
            k++;
        if (k == y->first + y->count || traffic->sent_ns[k] > traffic->sent_ns[i] + 10 * MS)
            continue;
        guint32 one = traffic->by_edge[i], other = traffic->by_edge[k++], swap = causes[one];
        causes[one] = causes[other];
        causes[other] = swap;
    }
}

START_TEST(a_chain_that_never_was_is_held_back)
{
    g_autoptr(Planted) planted = cross_traffic(3000, 60 * SECOND);
    g_autofree guint32 *causes = true_causes(planted);
    mix_up(planted, causes);
    g_autoptr(BbLabels) labels = bb_labels_new(planted->traffic->n_messages);
    bb_labels_give(labels, planted->traffic, causes);
    g_autoptr(BbVeto) veto = bb_veto_new(planted->traffic, causes, 20.0 * SECOND);
    ck_assert(bb_veto_apply(veto, labels));
    const BbLabel *never[] = {chain(planted, labels, "A", "Y"), chain(planted, labels, "X", "D")};
    const BbLabel *real[] = {chain(planted, labels, "A", "D"), chain(planted, labels, "X", "Y")};
    for (guint i = 0; i < 2; i++) {
        ck_assert_uint_gt(never[i]->count, 300);
        ck_assert_float_lt(never[i]->weight, 1);
        ck_assert_float_lt(never[i]->weight, 0.6f);
        ck_assert_float_eq(real[i]->weight, 1);
        ck_assert_float_eq(real[i]->weight, 1);
    }
    float before = never[0]->weight;
    ck_assert(bb_veto_apply(veto, labels)); // again: held back more
    ck_assert_float_lt(never[0]->weight, before);
}
END_TEST

START_TEST(true_chains_are_not_held_back)
{
    const gint64 spans[] = {3000 * SECOND, 300 * SECOND, 30 * SECOND};
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) {
        g_autoptr(Planted) planted = cross_traffic(2000, spans[i]);
        g_autofree guint32 *causes = true_causes(planted);
        g_autoptr(BbLabels) labels = bb_labels_new(planted->traffic->n_messages);
        bb_labels_give(labels, planted->traffic, causes);
        g_autoptr(BbVeto) veto = bb_veto_new(planted->traffic, causes, 20.0 * SECOND);
        ck_assert(!bb_veto_apply(veto, labels));
        for (guint k = 0; k < labels->labels->len; k++)
            ck_assert_float_eq(bb_label(labels, k)->weight, 1);
    }
}
END_TEST

// Pairs of edges alone were tested before: only longer chains are judged.
START_TEST(single_hops_are_not_judged)
{
    g_autoptr(Planted) planted = planted_new(1);
    planted_noise(planted, "A", "B", 500, 100 * SECOND);
    planted_noise(planted, "B", "C", 500, 100 * SECOND);
    bb_traffic_finish(planted->traffic);
    const BbTraffic *traffic = planted->traffic;
    g_autofree guint32 *causes = g_new(guint32, traffic->n_messages);
    guint32 last = BB_CALL_NO_PARENT;
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        bool first = traffic->edge[i] == edge_number(planted, "A", "B");
        causes[i] = first ? BB_CALL_NO_PARENT : last;
        last = first ? i : last;
    }
    g_autoptr(BbLabels) labels = bb_labels_new(traffic->n_messages);
    bb_labels_give(labels, traffic, causes);
    g_autoptr(BbVeto) veto = bb_veto_new(traffic, causes, 20.0 * SECOND);
    ck_assert(!bb_veto_apply(veto, labels));
}
END_TEST

// Labels that come later are looked at too.
START_TEST(new_labels_are_judged)
{
    g_autoptr(Planted) planted = cross_traffic(3000, 60 * SECOND);
    g_autofree guint32 *causes = true_causes(planted);
    g_autoptr(BbLabels) labels = bb_labels_new(planted->traffic->n_messages);
    bb_labels_give(labels, planted->traffic, causes);
    g_autofree guint32 *mixed = true_causes(planted);
    mix_up(planted, mixed);
    g_autoptr(BbVeto) veto = bb_veto_new(planted->traffic, mixed, 20.0 * SECOND);
    ck_assert(!bb_veto_apply(veto, labels));
    bb_labels_give(labels, planted->traffic, mixed);
    ck_assert(bb_veto_apply(veto, labels));
    ck_assert_float_lt(chain(planted, labels, "A", "Y")->weight, 1);
}
END_TEST

START_TEST(nothing_to_judge)
{
    g_autoptr(Planted) planted = planted_new(1);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(0);
    g_autoptr(BbVeto) veto = bb_veto_new(planted->traffic, NULL, 1e9);
    ck_assert(!bb_veto_apply(veto, labels));
}
END_TEST

TEST_MAIN("veto", a_chain_that_never_was_is_held_back, true_chains_are_not_held_back,
          single_hops_are_not_judged, new_labels_are_judged, nothing_to_judge)
