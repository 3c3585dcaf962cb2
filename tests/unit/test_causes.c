// SPDX-License-Identifier: Apache-2.0
// What really caused a message, told by ids: calls, returns, free messages, and what is not told.
#include "diagnose/causes.h"

#include "tests/unit/effect_lines.h"

// Causes by number of the message: "." a root, "?" not told, "!" lost, else the cause.
static char *causes(Told *told)
{
    bb_effects_settle(told->effects);
    GString *text = g_string_new(NULL);
    for (guint32 i = 0; i < told->effects->effects->len; i++) {
        const BbEffect *effect = bb_effects_at(told->effects, i);
        static const char marks[] = {
            [BB_EFFECT_UNTOLD] = '?', [BB_EFFECT_ROOT] = '.', [BB_EFFECT_LOST] = '!'};
        g_string_append(text, i ? " " : "");
        if (effect->truth == BB_EFFECT_CAUSED) {
            g_string_append_printf(text, "%u", effect->real);
        } else {
            ck_assert_uint_eq(effect->real, BB_EFFECT_NONE);
            g_string_append_c(text, marks[effect->truth]);
        }
    }
    return g_string_free(text, FALSE);
}

static void check_causes(const char *wanted, const char *const *lines)
{
    g_auto(Told) told = told_new();
    told_window(&told, lines);
    g_autofree char *found = causes(&told);
    ck_assert_str_eq(found, wanted);
}

#define CAUSES(wanted, ...) check_causes(wanted, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(a_return_of_the_last_child_causes_the_next_step)
{
    CAUSES(". 0 1 2 3 4", //
           "C A B 1 0 path=p parent=-", "C B C 2 1 path=p parent=1", "R C B 2 2 path=p parent=1",
           "C B D 3 3 path=p parent=1", "R D B 3 4 path=p parent=1", "R B A 1 5 path=p parent=-");
}
END_TEST

START_TEST(a_parent_that_did_not_enter_the_sender_is_lost)
{
    CAUSES(". !", "C A B 1 0 path=p parent=-", "C C D 2 1 path=p parent=1");
    CAUSES("!", "C B C 2 1 path=p parent=1");
    CAUSES("!", "R C B 2 2 path=p parent=1");
}
END_TEST

START_TEST(what_arrives_for_a_lost_call_is_a_cause)
{
    // The call of B was lost: what C and D answered was not.
    CAUSES("! 0 1 2 3", //
           "C B C 2 1 path=p parent=1", "R C B 2 2 path=p parent=1", "C B D 3 3 path=p parent=1",
           "R D B 3 4 path=p parent=1", "R B A 1 5 path=p parent=-");
    // The call of C was: its answer says for whom it came.
    CAUSES(". ! 1", "C A B 1 0 path=p parent=-", "R C B 2 2 path=p parent=1",
           "R B A 1 5 path=p parent=-");
    CAUSES("! ! 1", "C B D 3 1 path=p parent=1", "R C B 2 2 path=p parent=1",
           "R B A 1 5 path=p parent=-");
    // Work of the same id in another path is other work.
    CAUSES("! 0 !", "C B C 2 1 path=p parent=1", "R C B 2 2 path=p parent=1",
           "C B D 3 3 path=q parent=1");
}
END_TEST

START_TEST(parallel_calls_have_one_cause)
{
    CAUSES(". 0 0 1 2 3", // the later return causes the reply
           "C A B 1 0 path=p parent=-", "C B C 2 1 path=p parent=1", "C B D 3 1 path=p parent=1",
           "R C B 2 9 path=p parent=1", "R D B 3 5 path=p parent=1", "R B A 1 10 path=p parent=-");
}
END_TEST

START_TEST(behind_the_reply)
{
    CAUSES(". 0 1 2 2 4", // LOG is called after the reply, by what came last
           "C A B 1 0 path=p parent=-", "C B C 2 1 path=p parent=1", "R C B 2 2 path=p parent=1",
           "R B A 1 3 path=p parent=-", "C B LOG 3 4 path=p parent=1",
           "R LOG B 3 5 path=p parent=1");
}
END_TEST

START_TEST(a_forwarded_call_is_answered_by_another_node)
{
    CAUSES(". 0 1 2 3 4", //
           "C A B 1 0 path=p parent=-", "C B C 2 1 path=p parent=1", "C C D 3 2 path=p parent=2",
           "C D E 4 3 path=p parent=3", "R E D 4 4 path=p parent=3", "R D A 1 5 path=p parent=-");
}
END_TEST

START_TEST(free_messages)
{
    CAUSES(". 0 0 2 3 4", //
           "M A B 1 0 path=p parent=-", "M B C 2 1 path=p parent=1", "M B D 3 2 path=p parent=1",
           "C D E 4 3 path=p parent=3", "R E D 4 4 path=p parent=3", "M D F 5 5 path=p parent=3");
}
END_TEST

START_TEST(ids_that_come_again)
{
    CAUSES(". . 0 1 3 2 . 6", //
           "C A B 1 0 path=p parent=-", "C A B 1 1 path=q parent=-", "C B C 2 2 path=p parent=1",
           "C B C 3 3 path=q parent=1", "R C B 3 4 path=q parent=1", "R C B 2 5 path=p parent=1",
           "C A B 1 6 path=p parent=-", "C B C 2 7 path=p parent=1");
}
END_TEST

START_TEST(a_path_that_is_not_told_of_the_parent)
{
    CAUSES("? 0", "C A B 1 0", "C B C 2 1 path=p parent=1");
}
END_TEST

START_TEST(what_is_not_told)
{
    CAUSES("? ? .", "C A B 1 0 path=p", "R B A 1 1 path=p", "M A B 2 2 path=p parent=-");
    CAUSES("? .", "R B A - 1 path=p parent=-", "M A B - 2 path=p parent=-");
    CAUSES("? ? ?", "C A B - 0 path=p parent=-", "C B C - 1 path=p parent=1",
           "R C B - 2 path=p parent=1");
    CAUSES("! ?", "R B A 1 1 path=p parent=-", "C A B - 2 path=p parent=-");
}
END_TEST

START_TEST(arrival_counts_not_sending)
{
    // The return of C is under way when B calls D, and the call of F is sent before it arrives.
    CAUSES(". 0 1 0 2", //
           "C A B 1 0 recv=1 path=p parent=-", "C B C 2 2 recv=3 path=p parent=1",
           "R C B 2 4 recv=8 path=p parent=1", "C B D 3 6 recv=7 path=p parent=1",
           "R B A 1 9 recv=10 path=p parent=-");
}
END_TEST

START_TEST(clocks_that_put_the_cause_later)
{
    CAUSES(". 0 1", "M A B 1 10 path=p parent=-", "M B C 2 7 path=p parent=1",
           "M C D 3 1 path=p parent=2");
    CAUSES("1 .", "R B A 1 5 path=p parent=-", "C A B 1 10 path=p parent=-");
    // A return that is stamped before its call did not cause it.
    CAUSES(". 2 0", "C A B 1 0 path=p parent=-", "R C B 2 2 path=p parent=1",
           "C B C 2 9 path=p parent=1");
    // Of two that are later, the first.
    CAUSES("1 . .", "M B C 9 1 path=p parent=1", "M A B 1 10 path=p parent=-",
           "M A B 1 20 path=p parent=-");
}
END_TEST

START_TEST(circles_are_not_told)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "M A B 1 0 path=p parent=2", "M B A 2 1 path=p parent=1",
         "M B C 3 2 path=p parent=1", "M C D 4 3 path=p parent=-", "M X X 5 4 path=q parent=5");
    g_autofree char *found = causes(&told);
    ck_assert_str_eq(found, "? ? 0 . !"); // no message is its own cause
    ck_assert_uint_eq(told.effects->circular, 2);
    ck_assert_uint_eq(told.effects->untold, 2);
}
END_TEST

START_TEST(two_sightings_are_one_message)
{
    g_auto(Told) told = told_new();
    TOLD(&told, "C A B 1 0 path=p parent=-", "rC A B 1 2 silent=1", "C B C 2 3",
         "rC B C 2 1 path=p parent=1 silent=1", "rR C B 2 5 path=p parent=1",
         "R B A 1 6 path=p parent=-");
    g_autofree char *found = causes(&told);
    ck_assert_str_eq(found, ". 0 1 2");
    ck_assert_int_eq(bb_effects_at(told.effects, 0)->arrived_ns, 2000000);
    ck_assert_int_eq(bb_effects_at(told.effects, 1)->arrived_ns, 1000000);
    ck_assert_int_eq(bb_effects_at(told.effects, 2)->sent_ns, 5000000);
}
END_TEST

START_TEST(nothing_at_all)
{
    g_autoptr(BbEffects) effects = bb_effects_new();
    bb_effects_settle(effects);
    ck_assert_uint_eq(effects->effects->len, 0);
    ck_assert_uint_eq(effects->untold, 0);
}
END_TEST

TEST_MAIN("causes", a_return_of_the_last_child_causes_the_next_step,
          a_parent_that_did_not_enter_the_sender_is_lost, what_arrives_for_a_lost_call_is_a_cause,
          parallel_calls_have_one_cause, behind_the_reply,
          a_forwarded_call_is_answered_by_another_node, free_messages, ids_that_come_again,
          a_path_that_is_not_told_of_the_parent, what_is_not_told, arrival_counts_not_sending,
          clocks_that_put_the_cause_later, circles_are_not_told, two_sightings_are_one_message,
          nothing_at_all)
