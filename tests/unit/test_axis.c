// SPDX-License-Identifier: Apache-2.0
// Times in quanta, node by node; stamps that are years off spoil nobody's.
#include "nesting/axis.h"
#include "tests/unit/test.h"

enum { A, B, C, NODES };

#define SECOND G_GINT64_CONSTANT(1000000000)
#define YEAR (365 * 86400 * SECOND)

typedef struct {
    GArray *calls;
    BbAxis *axis;
} Scene;

static Scene scene_new(void)
{
    return (Scene){g_array_new(FALSE, FALSE, sizeof(BbCall)), NULL};
}

static void scene_clear(Scene *scene)
{
    bb_axis_free(scene->axis);
    g_array_unref(scene->calls);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

static void add(Scene *scene, guint32 from, guint32 to, gint64 call_ns, gint64 return_ns)
{
    BbCall call = {.call_ns = call_ns,
                   .arrived_ns = call_ns,
                   .replied_ns = return_ns,
                   .return_ns = return_ns,
                   .caller = from,
                   .callee = to};
    g_array_append_val(scene->calls, call);
}

static const BbAxis *axis_of(Scene *scene)
{
    const BbCall *calls = (const BbCall *)(const void *)scene->calls->data;
    scene->axis = bb_axis_new(calls, scene->calls->len, NODES);
    return scene->axis;
}

START_TEST(each_node_has_its_own)
{
    g_auto(Scene) scene = scene_new();
    add(&scene, A, B, 10 * SECOND, 10 * SECOND + 5000);
    add(&scene, B, C, 20 * SECOND, 20 * SECOND + 7000);
    const BbAxis *axis = axis_of(&scene); // the unit is 1000 ns
    ck_assert_int_eq(bb_axis_at(axis, A, 10 * SECOND + 5000), 5);
    ck_assert_int_eq(bb_axis_at(axis, B, 20 * SECOND), 10 * 1000000);
    ck_assert_int_eq(bb_axis_at(axis, C, 20 * SECOND), 0);
    ck_assert_int_eq(bb_axis_spread(axis, A), 5);
    ck_assert_int_eq(bb_axis_spread(axis, C), 7);
    ck_assert_int_eq(bb_axis_length(axis, 3000), 3);
}
END_TEST

// Calls that got no return have their place, too: replicas' times are laid one after the other.
START_TEST(unanswered_calls_are_their_callers)
{
    g_auto(Scene) scene = scene_new();
    add(&scene, B, C, 3000, BB_TIME_NONE);
    add(&scene, A, B, 10000, 15000);
    add(&scene, B, C, 99000, BB_TIME_NONE);
    const BbAxis *axis = axis_of(&scene);
    ck_assert_int_eq(bb_axis_at(axis, B, 3000), 0);
    ck_assert_int_eq(bb_axis_spread(axis, B), 96);
    ck_assert_int_eq(bb_axis_spread(axis, C), 0);
}
END_TEST

// Years before all others, and years after: whose they are has a long axis, on which its other
// times stay apart; who has none of them does not notice.
START_TEST(lost_stamps)
{
    static const gint64 lost[] = {0, 250 * YEAR, G_MININT64 / 2, G_MAXINT64 - 1};
    for (gsize i = 0; i < G_N_ELEMENTS(lost); i++) {
        g_auto(Scene) scene = scene_new();
        gint64 now = 56 * YEAR;
        if (lost[i] < now)
            add(&scene, C, B, lost[i], lost[i] + 1);
        for (guint k = 0; k < 9; k++)
            add(&scene, A, B, now + k * SECOND, now + k * SECOND + 7);
        if (lost[i] >= now)
            add(&scene, C, B, lost[i], lost[i] + 1);
        const BbAxis *axis = axis_of(&scene);
        ck_assert_int_eq(bb_axis_spread(axis, A), 8 * SECOND + 7);
        ck_assert_int_eq(bb_axis_at(axis, A, now + 8 * SECOND), 8 * SECOND);
        ck_assert_int_eq(bb_axis_at(axis, B, now + 5) - bb_axis_at(axis, B, now), 5);
        ck_assert_int_ge(bb_axis_at(axis, B, now), 0);
        ck_assert_int_le(bb_axis_spread(axis, B), BB_AXIS_MAX);
    }
}
END_TEST

static double busy_of(gint64 pause_ns)
{
    g_auto(Scene) scene = scene_new();
    for (guint k = 0; k < 1000; k++) {
        gint64 at = k * SECOND + (k >= 500 ? pause_ns : 0);
        add(&scene, A, B, at, at + SECOND);
    }
    return bb_axis_busy(axis_of(&scene));
}

START_TEST(pauses_count_little)
{
    ck_assert_double_eq(busy_of(0), 1000); // in seconds, the unit of these stamps
    ck_assert_double_eq(busy_of(5 * SECOND), 1005);
    // Ten times what is usual, but for the 1 % that quantiles are good to.
    ck_assert_double_eq_tol(busy_of(86400 * SECOND), 1009, 0.1);
    ck_assert_double_eq_tol(busy_of(100 * YEAR), 1009, 0.1);
}
END_TEST

START_TEST(next_to_nothing)
{
    g_auto(Scene) none = scene_new();
    ck_assert_double_eq(bb_axis_busy(axis_of(&none)), 1);
    ck_assert_int_eq(bb_axis_spread(none.axis, A), 0);
    g_auto(Scene) one = scene_new();
    add(&one, A, B, G_MAXINT64, G_MAXINT64);
    ck_assert_double_eq(bb_axis_busy(axis_of(&one)), 1);
    ck_assert_int_eq(bb_axis_at(one.axis, A, G_MAXINT64), 0);
}
END_TEST

TEST_MAIN("axis", each_node_has_its_own, unanswered_calls_are_their_callers, lost_stamps,
          pauses_count_little, next_to_nothing)
