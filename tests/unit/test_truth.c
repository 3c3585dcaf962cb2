// SPDX-License-Identifier: Apache-2.0
// The ground truth of calls: kept by who called whom when, given away once.
#include "diagnose/truth.h"
#include "tests/unit/test.h"

#define CALLER 1
#define CALLEE 2

static BbMessage told(guint64 id, gint64 time_ns, guint64 path, guint64 parent)
{
    BbMessage message = bb_message_empty();
    message.kind = BB_CALL;
    message.sender = CALLER;
    message.receiver = CALLEE;
    message.time_ns = time_ns;
    message.id = bb_id_number(id);
    message.path = bb_id_number(path);
    message.parent = bb_id_number(parent);
    return message;
}

static void push(BbTruth *truth, BbMessage message)
{
    bb_truth_push(truth, &message);
}

static BbCall call_at(guint64 id, gint64 time_ns)
{
    return (BbCall){.call_ns = time_ns,
                    .arrived_ns = time_ns,
                    .id = bb_id_number(id),
                    .caller = CALLER,
                    .callee = CALLEE};
}

// The number of the path told of a call, 0 if there is no such call.
static guint64 take(BbTruth *truth, BbCall call)
{
    BbTruthFact fact = {{0}, {0}};
    return bb_truth_take(truth, &call, &fact) ? fact.path.number : 0;
}

START_TEST(a_call_is_found_by_nodes_id_and_time)
{
    g_autoptr(BbTruth) truth = bb_truth_new();
    push(truth, told(7, 1000, 70, 3));
    BbCall others[] = {call_at(8, 1000), call_at(7, 1001), call_at(7, 1000), call_at(7, 1000)};
    others[2].caller = CALLEE;
    others[3].callee = CALLER;
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_uint_eq(take(truth, others[i]), 0);
    BbTruthFact fact;
    BbCall call = call_at(7, 1000);
    ck_assert(bb_truth_take(truth, &call, &fact));
    ck_assert(bb_id_equal(fact.path, bb_id_number(70)));
    ck_assert(bb_id_equal(fact.parent, bb_id_number(3)));
    ck_assert_uint_eq(take(truth, call), 0); // given away
    ck_assert_uint_eq(bb_truth_waiting(truth), 0);
}
END_TEST

START_TEST(equal_calls_come_in_order_of_the_trace)
{
    g_autoptr(BbTruth) truth = bb_truth_new();
    for (guint64 path = 1; path <= 3; path++)
        push(truth, told(7, 1000, path, 1));
    ck_assert_uint_eq(take(truth, call_at(7, 1000)), 1);
    push(truth, told(7, 1000, 4, 1));
    for (guint64 path = 2; path <= 4; path++)
        ck_assert_uint_eq(take(truth, call_at(7, 1000)), path);
    ck_assert_uint_eq(take(truth, call_at(7, 1000)), 0);
}
END_TEST

START_TEST(only_calls_are_noted)
{
    g_autoptr(BbTruth) truth = bb_truth_new();
    BbMessage message = told(7, 1000, 1, 1);
    message.kind = BB_RETURN;
    push(truth, message);
    message.kind = BB_FREE;
    push(truth, message);
    ck_assert_uint_eq(bb_truth_waiting(truth), 0);
}
END_TEST

// One call seen at both ends; either end may be the one that tells.
START_TEST(two_sightings_are_one_call)
{
    for (guint teller = 0; teller < 2; teller++) {
        g_autoptr(BbTruth) truth = bb_truth_new();
        BbMessage sent = told(7, 1000, 70, 3), received = told(7, 1400, 71, 4);
        received.at_receiver = true;
        if (teller == 1)
            sent.path = sent.parent = (BbId){0};
        push(truth, sent);
        push(truth, received);
        BbCall call = call_at(7, 1000);
        call.arrived_ns = 1400;
        ck_assert_uint_eq(take(truth, call), teller == 0 ? 70 : 71);
        ck_assert_uint_eq(bb_truth_waiting(truth), 0);
    }
}
END_TEST

START_TEST(a_sighting_at_the_receiver_will_do)
{
    g_autoptr(BbTruth) truth = bb_truth_new();
    BbMessage received = told(7, 1400, 71, 4);
    received.at_receiver = true;
    push(truth, received);
    ck_assert_uint_eq(take(truth, call_at(7, 1400)), 71);
}
END_TEST

// Waves of calls, as windows make them: what was taken makes room for what comes.
START_TEST(many_calls)
{
    g_autoptr(BbTruth) truth = bb_truth_new();
    const guint64 n = 5000;
    guint64 good = 0;
    for (guint64 wave = 0; wave < 3; wave++) {
        for (guint64 i = 0; i < n; i++)
            push(truth, told(i, (gint64)(wave * n + i), 1 + wave * n + i, 1));
        for (guint64 i = n; i > 0; i--)
            good += take(truth, call_at(i - 1, (gint64)(wave * n + i - 1))) == wave * n + i;
        ck_assert_uint_eq(bb_truth_waiting(truth), 0);
    }
    ck_assert_uint_eq(good, 3 * n);
}
END_TEST

TEST_MAIN("truth", a_call_is_found_by_nodes_id_and_time, equal_calls_come_in_order_of_the_trace,
          only_calls_are_noted, two_sightings_are_one_call, a_sighting_at_the_receiver_will_do,
          many_calls)
