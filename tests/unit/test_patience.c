// SPDX-License-Identifier: Apache-2.0
// In: calls by hand, some without return. Out: checks of when their callers went on.
#include "nesting/patience.h"

#include "tests/unit/sample_instances.h"

// The calls of a scene by their parents, as trees.c has them.
static BbPaths *find_ends(Scene *scene)
{
    BbPaths *paths = scene_paths(scene, 0);
    g_auto(BbGroups) kids = bb_groups_of(paths->parent, paths->n_calls, paths->n_calls);
    g_autofree guint32 *order = g_new(guint32, (gsize)paths->n_calls + 1);
    for (guint32 i = 0; i < paths->n_calls; i++)
        order[i] = paths->n_calls - 1 - i;
    bb_patience_find_ends(paths, &kids, order);
    return paths;
}

static guint32 lost(Scene *scene, guint32 parent, const char *callee, gint64 at_ns)
{
    return scene_unanswered(scene, parent, "A", callee, at_ns, BB_TIME_NONE);
}

static void check(const BbPaths *paths, guint32 call, gint64 wanted_ns)
{
    ck_assert_int_eq(paths->calls[call].return_end_ns, wanted_ns);
}

// A call of B that takes 40 ns, by a request long before.
static void add_usual(Scene *scene)
{
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", -1000, -900);
    scene_call(scene, a, "A", "B", -990, -950);
}

START_TEST(with_the_next_message)
{
    g_autoptr(Scene) scene = scene_new();
    add_usual(scene);
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, 1000);
    guint32 first = lost(scene, a, "B", 100), second = lost(scene, a, "B", 200);
    scene_call(scene, a, "A", "C", 500, 600);
    guint32 third = lost(scene, a, "B", 700);
    g_autoptr(BbPaths) paths = find_ends(scene);
    check(paths, first, 200);
    check(paths, second, 500);
    check(paths, third, 1000); // its reply
    ck_assert_uint_eq(paths->facts.calls_unanswered, 3);
}
END_TEST

// What is sent at once would have been sent anyway: less than 20 ns later.
START_TEST(not_with_calls_that_are_made_at_once)
{
    g_autoptr(Scene) scene = scene_new();
    add_usual(scene);
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, 1000);
    guint32 first = lost(scene, a, "B", 100);
    scene_call(scene, a, "A", "C", 100, 130);
    scene_call(scene, a, "A", "D", 118, 150);
    scene_call(scene, a, "A", "E", 121, 150);
    guint32 b = scene_call(scene, SCENE_ROOT, "U", "A", 2000, 3000);
    guint32 second = lost(scene, b, "B", 2100);
    scene_call(scene, b, "A", "C", 2110, 2130);
    g_autoptr(BbPaths) paths = find_ends(scene);
    check(paths, first, 121);
    check(paths, second, 3000);
}
END_TEST

// The connection was closed, and nothing followed, or later than that.
START_TEST(not_when_it_is_closed)
{
    g_autoptr(Scene) scene = scene_new();
    add_usual(scene);
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, 1000);
    guint32 first = lost(scene, a, "B", 100), second = lost(scene, a, "B", 400);
    scene_at(scene, first)->replied_ns = scene_at(scene, first)->return_end_ns = 350;
    scene_at(scene, second)->replied_ns = scene_at(scene, second)->return_end_ns = 1200;
    g_autoptr(BbPaths) paths = find_ends(scene);
    check(paths, first, 350);
    check(paths, second, 1000);
}
END_TEST

// None of its callee ever returned: then as other calls of A; where none did, the next message.
START_TEST(what_is_usual_may_not_be_known)
{
    for (guint known = 0; known <= 1; known++) {
        g_autoptr(Scene) scene = scene_new();
        if (known)
            add_usual(scene);
        guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, 1000);
        guint32 call = lost(scene, a, "X", 100);
        lost(scene, a, "X", 110);
        g_autoptr(BbPaths) paths = find_ends(scene);
        check(paths, call, known ? 1000 : 110);
    }
}
END_TEST

START_TEST(on_the_callees_clock)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, 1000);
    guint32 call = lost(scene, a, "B", 100);
    scene_at(scene, call)->arrived_ns = 5100;
    g_autoptr(BbPaths) paths = find_ends(scene);
    ck_assert_int_eq(paths->calls[call].return_end_ns, 6000);
    ck_assert_int_eq(bb_call_end(&paths->calls[call], false), 6000);
    ck_assert_int_eq(bb_call_back(&paths->calls[call], false), 1000);
}
END_TEST

// After the reply nobody waits; what has no parent has no end.
START_TEST(there_may_be_no_wait)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, 1000);
    guint32 after = lost(scene, a, "B", 1500), alone = lost(scene, SCENE_ROOT, "B", 10);
    g_autoptr(BbPaths) paths = find_ends(scene);
    check(paths, after, 1500);
    check(paths, alone, BB_TIME_NONE);
}
END_TEST

START_TEST(stamps_may_be_any_number)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", G_MININT64 + 1, G_MAXINT64);
    scene_call(scene, a, "A", "B", G_MININT64 + 1, G_MAXINT64);
    guint32 first = lost(scene, a, "B", G_MININT64 + 1), last = lost(scene, a, "B", G_MAXINT64);
    scene_at(scene, last)->arrived_ns = G_MAXINT64;
    g_autoptr(BbPaths) paths = find_ends(scene);
    check(paths, first, 0); // as long as may be told
    check(paths, last, G_MAXINT64);
}
END_TEST

// Half of what is usual after the call there is no time any more: nothing comes then.
START_TEST(patience_may_last_until_the_end_of_time)
{
    for (gint64 late_ns = 0; late_ns <= 14; late_ns += 14) {
        g_autoptr(Scene) scene = scene_new();
        add_usual(scene);
        guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", 0, G_MAXINT64);
        guint32 call = lost(scene, a, "B", G_MAXINT64 - 15);
        scene_call(scene, a, "A", "C", G_MAXINT64 - 10, G_MAXINT64 - 9);
        scene_at(scene, call)->arrived_ns += late_ns;
        g_autoptr(BbPaths) paths = find_ends(scene);
        check(paths, call, G_MAXINT64);
        ck_assert_int_eq(bb_call_back(&paths->calls[call], false), G_MAXINT64 - late_ns);
    }
}
END_TEST

TEST_MAIN("patience", with_the_next_message, not_with_calls_that_are_made_at_once,
          not_when_it_is_closed, what_is_usual_may_not_be_known, on_the_callees_clock,
          there_may_be_no_wait, stamps_may_be_any_number, patience_may_last_until_the_end_of_time)
