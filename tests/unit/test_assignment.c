// SPDX-License-Identifier: Apache-2.0
// One cause a message: the likeliest pairs first, no more effects of a message than its link
// allows, weights, and what may not be without cause.
#include "convolution/assignment.h"
#include "tests/unit/test.h"

enum { MESSAGES = 20, FIRST = 10 }; // causes are messages below FIRST, effects from there on

typedef struct {
    BbExplanation explanation;
    BbStream out;
    guint32 messages[MESSAGES];
    BbLink links[2];
    BbAssignment *assignment;
} Fixture;

static Fixture *fixture_new(guint32 n_effects, double cap)
{
    Fixture *f = g_new0(Fixture, 1);
    for (guint32 i = 0; i < n_effects; i++)
        f->messages[i] = FIRST + i;
    f->out = (BbStream){.count = n_effects, .message = f->messages};
    f->explanation.out = &f->out;
    f->explanation.links = g_ptr_array_new();
    f->explanation.causes = g_array_new(FALSE, FALSE, sizeof(BbCause));
    f->explanation.none = g_new0(float, MESSAGES);
    f->explanation.spontaneous = 0.5;
    for (guint i = 0; i < 2; i++) {
        f->links[i].cap = cap;
        g_ptr_array_add(f->explanation.links, &f->links[i]);
    }
    f->assignment = bb_assignment_new(MESSAGES);
    return f;
}

static void fixture_free(Fixture *f)
{
    g_ptr_array_unref(f->explanation.links);
    g_array_unref(f->explanation.causes);
    g_free(f->explanation.none);
    bb_assignment_free(f->assignment);
    g_free(f);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)

static void add(Fixture *f, guint32 effect, guint32 cause, float chance)
{
    BbCause one = {FIRST + effect, cause, 0, chance};
    g_array_append_val(f->explanation.causes, one);
}

static void make(Fixture *f, const float *weight)
{
    bb_assignment_make(f->assignment, &f->explanation, weight);
    for (guint32 i = 0; i < MESSAGES; i++)
        ck_assert_uint_eq(f->assignment->uses[i], 0);
}

static void expect(const Fixture *f, guint32 effect, guint32 cause, float chance)
{
    ck_assert_uint_eq(f->assignment->cause[FIRST + effect], cause);
    ck_assert_float_eq_tol(f->assignment->chance[FIRST + effect], chance, 1e-6f);
}

START_TEST(nothing_has_a_cause_at_first)
{
    g_autoptr(Fixture) f = fixture_new(2, 1);
    for (guint32 i = 0; i < MESSAGES; i++) {
        ck_assert_uint_eq(f->assignment->cause[i], BB_CALL_NO_PARENT);
        ck_assert_float_eq(f->assignment->chance[i], 1);
    }
    f->explanation.none[0] = 0.25f;
    make(f, NULL);
    expect(f, 0, BB_CALL_NO_PARENT, 0.25f);
    expect(f, 1, BB_CALL_NO_PARENT, 0);
}
END_TEST

START_TEST(the_likeliest_pair_comes_first)
{
    g_autoptr(Fixture) f = fixture_new(2, 1);
    add(f, 0, 3, 0.5f);
    add(f, 0, 4, 0.3f);
    add(f, 1, 3, 0.9f);
    make(f, NULL);
    expect(f, 1, 3, 0.9f);
    expect(f, 0, 4, 0.3f); // its best is taken
    ck_assert_uint_eq(f->assignment->choice[FIRST], 1);
    ck_assert_uint_eq(f->assignment->choice[FIRST + 1], 2);
}
END_TEST

START_TEST(a_cause_has_as_many_effects_as_its_cap)
{
    for (guint32 cap = 1; cap <= 4; cap++) {
        g_autoptr(Fixture) f = fixture_new(5, cap);
        for (guint32 i = 0; i < 5; i++)
            add(f, i, 7, 0.9f - 0.1f * (float)i);
        make(f, NULL);
        for (guint32 i = 0; i < 5; i++)
            expect(f, i, i < cap ? 7 : BB_CALL_NO_PARENT, i < cap ? 0.9f - 0.1f * (float)i : 0);
    }
}
END_TEST

// A cause must be worth half of no cause, and three tenths of it when the better ones are served.
START_TEST(no_cause_is_a_cause_too)
{
    const struct {
        float none, chance;
        bool caused;
    } cases[] = {
        {0.6f, 0.4f, true}, {0.76f, 0.24f, true}, {0.78f, 0.22f, false}, {1, 0.01f, false}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Fixture) f = fixture_new(1, 1);
        f->explanation.none[0] = cases[i].none;
        add(f, 0, 2, cases[i].chance);
        make(f, NULL);
        expect(f, 0, cases[i].caused ? 2 : BB_CALL_NO_PARENT,
               cases[i].caused ? cases[i].chance : cases[i].none);
    }
}
END_TEST

START_TEST(the_second_pass_comes_after_all_of_the_first)
{
    g_autoptr(Fixture) f = fixture_new(2, 1);
    f->explanation.none[0] = 0.7f;
    add(f, 0, 2, 0.28f); // four tenths of none: in the second pass
    f->explanation.none[1] = 0.1f;
    add(f, 1, 2, 0.2f); // less, but twice as likely as none
    make(f, NULL);
    expect(f, 1, 2, 0.2f);
    expect(f, 0, BB_CALL_NO_PARENT, 0.7f);
}
END_TEST

// Where hardly any message is without cause, all get one, whatever the cap.
START_TEST(all_have_causes_where_none_may_be_without)
{
    for (guint all = 0; all < 2; all++) {
        g_autoptr(Fixture) f = fixture_new(3, 1);
        f->explanation.spontaneous = all ? 0.9 * BB_SPONTANEOUS_LEAST : BB_SPONTANEOUS_LEAST;
        f->explanation.none[1] = 0.9f;
        add(f, 0, 2, 0.9f);
        add(f, 1, 2, 0.1f);
        add(f, 2, 2, 0.8f);
        make(f, NULL);
        expect(f, 0, 2, 0.9f);
        expect(f, 1, all ? 2 : BB_CALL_NO_PARENT, all ? 0.1f : 0.9f);
        expect(f, 2, all ? 2 : BB_CALL_NO_PARENT, all ? 0.8f : 0);
    }
}
END_TEST

START_TEST(weights_change_who_is_chosen)
{
    g_autoptr(Fixture) f = fixture_new(1, 1);
    add(f, 0, 3, 0.6f);
    add(f, 0, 4, 0.4f);
    make(f, (const float[]){0.5f, 1});
    expect(f, 0, 4, 0.4f); // the chance is told without weights
    make(f, (const float[]){1, 1});
    expect(f, 0, 3, 0.6f); // made anew
    f->explanation.none[0] = 0.2f;
    make(f, (const float[]){0, 0.01f});
    expect(f, 0, BB_CALL_NO_PARENT, 0.2f);
}
END_TEST

// Caps are those of links, uses those of causes: two links share what a cause can do.
START_TEST(other_streams_are_left_alone)
{
    g_autoptr(Fixture) f = fixture_new(2, 1);
    f->assignment->cause[FIRST + 5] = 1;
    f->assignment->chance[FIRST + 5] = 0.75f;
    add(f, 0, 1, 0.9f);
    make(f, NULL);
    expect(f, 0, 1, 0.9f);
    expect(f, 5, 1, 0.75f);
}
END_TEST

START_TEST(chances_at_the_ends)
{
    g_autoptr(Fixture) f = fixture_new(3, 300);
    add(f, 0, 1, 1);
    add(f, 1, 1, 1.000001f); // rounding
    add(f, 2, 1, 1e-30f);
    make(f, NULL);
    expect(f, 0, 1, 1);
    expect(f, 1, 1, 1.000001f);
    expect(f, 2, 1, 1e-30f);
}
END_TEST

TEST_MAIN("assignment", nothing_has_a_cause_at_first, the_likeliest_pair_comes_first,
          a_cause_has_as_many_effects_as_its_cap, no_cause_is_a_cause_too,
          the_second_pass_comes_after_all_of_the_first, all_have_causes_where_none_may_be_without,
          weights_change_who_is_chosen, other_streams_are_left_alone, chances_at_the_ends)
