// SPDX-License-Identifier: Apache-2.0
// What an inference says of messages finds its way to them, whatever the windows.
#include "diagnose/effects.h"

#include "tests/unit/effect_lines.h"

static void check(const Told *told, guint32 index, guint32 found, double confidence)
{
    const BbEffect *effect = bb_effects_at(told->effects, index);
    ck_assert_uint_eq(effect->found, found);
    ck_assert_double_eq_tol((double)effect->confidence, confidence, 1e-6);
}

START_TEST(causes_confidences_and_delays)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "M A B 1 0 sure=0.9", "M B C 2 5 found=0 sure=0.7 mode=4.5", "M B C 3 6 found=0");
    bb_effects_settle(told.effects);
    check(&told, 0, BB_EFFECT_NONE, 0.9);
    check(&told, 1, 0, 0.7);
    check(&told, 2, 0, (double)BB_CONFIDENCE_NONE);
    ck_assert_int_eq(bb_effects_at(told.effects, 0)->stated_ns, BB_TIME_NONE);
    ck_assert_int_eq(bb_effects_at(told.effects, 1)->stated_ns, 4500000);
    ck_assert_int_eq(bb_effects_at(told.effects, 2)->stated_ns, BB_TIME_NONE);
}
END_TEST

START_TEST(windows_in_another_order_than_the_trace)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "M A B 1 10 sure=0.1", "M B C 2 12 found=0 sure=0.2");
    TOLD(&told, "M A B 3 0 sure=0.3", "M B C 4 2 found=0 sure=0.4");
    bb_effects_settle(told.effects);
    check(&told, 0, BB_EFFECT_NONE, 0.1);
    check(&told, 1, 0, 0.2);
    check(&told, 2, BB_EFFECT_NONE, 0.3);
    check(&told, 3, 2, 0.4);
}
END_TEST

// Nodes, ids and time tell messages apart; those that nothing does come in order.
START_TEST(equal_messages_in_order_of_the_trace)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "M A B - 1 sure=0.1", "M A B - 1 sure=0.2", "M A C - 1 sure=0.3",
         "M A B 5 1 sure=0.4", "M C B - 1 sure=0.5", "M A B - 1 sure=0.6");
    bb_effects_settle(told.effects);
    for (guint32 i = 0; i < 6; i++)
        check(&told, i, BB_EFFECT_NONE, (double[]){0.1, 0.2, 0.3, 0.4, 0.5, 0.6}[i]);
}
END_TEST

START_TEST(messages_that_the_inference_does_not_know)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "M A B 1 0 silent=1", "M B C 2 1 sure=0.5", "M C D 3 2 silent=1");
    bb_effects_settle(told.effects);
    check(&told, 0, BB_EFFECT_NONE, (double)BB_CONFIDENCE_NONE);
    check(&told, 2, BB_EFFECT_NONE, (double)BB_CONFIDENCE_NONE);
    check(&told, 1, BB_EFFECT_NONE, 0.5);
}
END_TEST

START_TEST(findings_that_no_message_has)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "M B C 2 1 sure=0.5");
    g_autoptr(BbPaths) paths = told_paths(2);
    for (guint32 i = 0; i < 2; i++) {
        paths->calls[i] = (BbCall){.call_ns = 7 + i, .caller = 1, .callee = 2};
        paths->parent[i] = i == 0 ? BB_CALL_NO_PARENT : 0;
        paths->confidence[i] = 1;
        paths->mode[i] = BB_MODE_NONE;
    }
    paths->n_calls = 2;
    bb_effects_add(told.effects, paths);
    bb_effects_settle(told.effects);
    ck_assert_uint_eq(told.effects->effects->len, 1);
    check(&told, 0, BB_EFFECT_NONE, 0.5);
}
END_TEST

TEST_MAIN("effects", causes_confidences_and_delays, windows_in_another_order_than_the_trace,
          equal_messages_in_order_of_the_trace, messages_that_the_inference_does_not_know,
          findings_that_no_message_has)
