// SPDX-License-Identifier: Apache-2.0
// Chains of edges: equal ones have one label, counts are of the messages now, depth has its limit.
#include "convolution/labels.h"
#include "tests/unit/planted.h"

// cause: of each message, by number as sent; messages are sent in order of time.
static void send(Planted *planted, const char *path, guint32 cause)
{
    const char from[] = {path[0], 0}, to[] = {path[1], 0};
    planted_send(planted, from, to, planted->causes->len * MS, cause);
}

static const guint32 *causes_of(const Planted *planted)
{
    return (const guint32 *)(gpointer)planted->causes->data;
}

START_TEST(equal_chains_have_one_label)
{
    g_autoptr(Planted) planted = planted_new(1);
    send(planted, "AB", PLANTED_ROOT);
    send(planted, "BC", 0);
    send(planted, "AB", PLANTED_ROOT);
    send(planted, "BC", 2);
    send(planted, "XB", PLANTED_ROOT);
    send(planted, "BC", 4); // another chain
    send(planted, "BC", PLANTED_ROOT);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(7);
    bb_labels_give(labels, planted->traffic, causes_of(planted));
    ck_assert_uint_eq(labels->labels->len, 5);
    ck_assert_uint_eq(labels->of[0], labels->of[2]);
    ck_assert_uint_eq(labels->of[1], labels->of[3]);
    ck_assert_uint_ne(labels->of[1], labels->of[5]);
    ck_assert_uint_ne(labels->of[5], labels->of[6]);
    const BbLabel *chain = bb_label(labels, labels->of[3]);
    ck_assert_uint_eq(chain->count, 2);
    ck_assert_uint_eq(chain->parent, labels->of[0]);
    ck_assert_uint_eq(chain->edge, planted->traffic->edge[1]);
    ck_assert_uint_eq(chain->depth, 1);
    ck_assert_float_eq(chain->weight, 1);
    ck_assert_float_eq(chain->weight, 1);
    ck_assert_uint_eq(bb_label(labels, labels->of[6])->parent, BB_LABEL_NONE);
    ck_assert_uint_eq(bb_label(labels, labels->of[6])->depth, 0);
}
END_TEST

START_TEST(labels_are_found)
{
    g_autoptr(Planted) planted = planted_new(1);
    send(planted, "AB", PLANTED_ROOT);
    send(planted, "BC", 0);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(2);
    bb_labels_give(labels, planted->traffic, causes_of(planted));
    guint32 ab = planted->traffic->edge[0], bc = planted->traffic->edge[1];
    ck_assert_uint_eq(bb_labels_find(labels, BB_LABEL_NONE, ab), labels->of[0]);
    ck_assert_uint_eq(bb_labels_find(labels, labels->of[0], bc), labels->of[1]);
    ck_assert_uint_eq(bb_labels_find(labels, BB_LABEL_NONE, bc), BB_LABEL_NONE);
    ck_assert_uint_eq(bb_labels_find(labels, labels->of[1], ab), BB_LABEL_NONE);
}
END_TEST

START_TEST(labels_keep_numbers_and_weights)
{
    g_autoptr(Planted) planted = planted_new(1);
    send(planted, "AB", PLANTED_ROOT);
    send(planted, "BC", 0);
    send(planted, "BC", 0);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(3);
    bb_labels_give(labels, planted->traffic, causes_of(planted));
    guint32 chain = labels->of[1];
    bb_label(labels, chain)->weight = 0.5f;
    const guint32 others[] = {BB_CALL_NO_PARENT, BB_CALL_NO_PARENT, 0};
    bb_labels_give(labels, planted->traffic, others);
    ck_assert_uint_eq(labels->of[2], chain);
    ck_assert_uint_eq(bb_label(labels, chain)->count, 1); // counted anew
    ck_assert_float_eq(bb_label(labels, chain)->weight, 0.5f);
    ck_assert_uint_eq(bb_label(labels, labels->of[1])->parent, BB_LABEL_NONE);
    const guint32 roots[] = {BB_CALL_NO_PARENT, BB_CALL_NO_PARENT, BB_CALL_NO_PARENT};
    bb_labels_give(labels, planted->traffic, roots);
    ck_assert_uint_eq(bb_label(labels, chain)->count, 0);
    ck_assert_uint_eq(bb_labels_find(labels, labels->of[0], planted->traffic->edge[1]), chain);
}
END_TEST

// With negative lags a cause can come later.
START_TEST(causes_may_come_later)
{
    g_autoptr(Planted) planted = planted_new(1);
    send(planted, "CD", 1);
    send(planted, "BC", 2);
    send(planted, "AB", PLANTED_ROOT);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(3);
    bb_labels_give(labels, planted->traffic, causes_of(planted));
    for (guint32 i = 0; i < 3; i++)
        ck_assert_uint_eq(bb_label(labels, labels->of[i])->depth, 2 - i);
    for (guint32 i = 0; i < labels->labels->len; i++) // parents before their children
        ck_assert(bb_label(labels, i)->parent == BB_LABEL_NONE || bb_label(labels, i)->parent < i);
}
END_TEST

START_TEST(deep_chains_begin_anew)
{
    g_autoptr(Planted) planted = planted_new(1);
    enum { LENGTH = 200 };
    for (guint32 i = 0; i < LENGTH; i++)
        send(planted, i % 2 ? "BA" : "AB", i ? i - 1 : PLANTED_ROOT);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(LENGTH);
    bb_labels_give(labels, planted->traffic, causes_of(planted));
    for (guint32 i = 0; i < LENGTH; i++)
        ck_assert_uint_eq(bb_label(labels, labels->of[i])->depth, i % BB_LABEL_DEPTH_MAX);
    ck_assert_uint_eq(labels->of[0], labels->of[2 * BB_LABEL_DEPTH_MAX]);
}
END_TEST

START_TEST(no_messages_no_labels)
{
    g_autoptr(Planted) planted = planted_new(1);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbLabels) labels = bb_labels_new(0);
    bb_labels_give(labels, planted->traffic, NULL);
    ck_assert_uint_eq(labels->labels->len, 0);
    ck_assert_uint_eq(bb_labels_find(labels, BB_LABEL_NONE, 0), BB_LABEL_NONE);
}
END_TEST

TEST_MAIN("labels", equal_chains_have_one_label, labels_are_found, labels_keep_numbers_and_weights,
          causes_may_come_later, deep_chains_begin_anew, no_messages_no_labels)
