// SPDX-License-Identifier: Apache-2.0
// In: calls by hand, some of which hang. Out: checks of what is found below those.
#include "nesting/beneath.h"

#include "nesting/hanging.h"
#include "tests/unit/sample_instances.h"

#define MS G_GINT64_CONSTANT(1000000)

// Twenty requests U -> A -> B -> D, 100 ms apart; B calls D after 10 ms, give or take some.
static void add_usual(Scene *scene)
{
    for (guint i = 0; i < 20; i++) {
        gint64 at_ns = i * 100 * MS;
        guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", at_ns, at_ns + 50 * MS);
        guint32 b = scene_call(scene, a, "A", "B", at_ns + 5 * MS, at_ns + 40 * MS);
        scene_call(scene, b, "B", "D", at_ns + 15 * MS + ((gint64)(i % 5) - 2) * MS,
                   at_ns + 30 * MS);
    }
}

// U -> A, and of A a call to B that hangs.
static guint32 add_hanging(Scene *scene, gint64 at_ns)
{
    guint32 a = scene_call(scene, SCENE_ROOT, "U", "A", at_ns, at_ns + 200 * MS);
    return scene_unanswered(scene, a, "A", "B", at_ns + 5 * MS, BB_TIME_NONE);
}

static guint32 add_lone(Scene *scene, gint64 at_ns, gint64 length_ns)
{
    return scene_call(scene, SCENE_ROOT, "B", "D", at_ns, at_ns + length_ns);
}

// Long after all else.
static void add_end(Scene *scene)
{
    scene_call(scene, SCENE_ROOT, "U", "V", 100000 * MS, 100000 * MS);
}

// late: a call that its parent is said to have given up, or SCENE_ROOT; whether it still is.
static BbPaths *find_with(Scene *scene, guint32 late, bool *is_late)
{
    add_end(scene);
    BbPaths *paths = scene_paths(scene, 0);
    g_autofree bool *hanging = bb_hanging_find(paths->calls, paths->n_calls);
    g_autofree bool *given_up = g_new0(bool, paths->n_calls);
    if (late != SCENE_ROOT)
        given_up[late] = true;
    bb_beneath_find(paths, bb_names_count(scene->names), hanging, given_up);
    *is_late = late != SCENE_ROOT && given_up[late];
    return paths;
}

static BbPaths *find(Scene *scene)
{
    bool is_late;
    return find_with(scene, SCENE_ROOT, &is_late);
}

START_TEST(what_is_made_as_usual)
{
    g_autoptr(Scene) scene = scene_new();
    add_usual(scene);
    guint32 first = add_hanging(scene, 3000 * MS), slow = add_lone(scene, 3016 * MS, 900 * MS);
    guint32 early = add_lone(scene, 3006 * MS, MS), late = add_lone(scene, 3100 * MS, MS);
    guint32 before = add_lone(scene, 2990 * MS, MS);
    g_autoptr(BbPaths) paths = find(scene);
    ck_assert_uint_eq(paths->parent[slow], first);
    ck_assert_float_gt(paths->confidence[slow], 0.9f);
    ck_assert_uint_eq(paths->parent[early], SCENE_ROOT);
    ck_assert_uint_eq(paths->parent[late], SCENE_ROOT);
    ck_assert_uint_eq(paths->parent[before], SCENE_ROOT);
}
END_TEST

// Each hangs with one call of D at most, as others have one; between two that suit it alike nothing
// is said.
START_TEST(as_many_as_usual)
{
    g_autoptr(Scene) scene = scene_new();
    add_usual(scene);
    guint32 first = add_hanging(scene, 3000 * MS), one = add_lone(scene, 3015 * MS, MS);
    guint32 two = add_lone(scene, 3016 * MS, MS);
    add_hanging(scene, 4000 * MS);
    add_hanging(scene, 4000 * MS);
    guint32 either = add_lone(scene, 4015 * MS, MS);
    g_autoptr(BbPaths) paths = find(scene);
    ck_assert_uint_eq(paths->parent[one], first);
    ck_assert_uint_eq(paths->parent[two], SCENE_ROOT);
    ck_assert_uint_eq(paths->parent[either], SCENE_ROOT);
}
END_TEST

// A -> B -> D, all of which hang; and what hangs without parent of its own is nobody's.
START_TEST(chains_that_hang)
{
    g_autoptr(Scene) scene = scene_new();
    add_usual(scene);
    guint32 b = add_hanging(scene, 3000 * MS);
    guint32 d = scene_unanswered(scene, SCENE_ROOT, "B", "D", 3015 * MS, BB_TIME_NONE);
    scene_unanswered(scene, SCENE_ROOT, "A", "B", 4005 * MS, BB_TIME_NONE);
    guint32 other = add_lone(scene, 4015 * MS, MS);
    g_autoptr(BbPaths) paths = find(scene);
    ck_assert_uint_eq(paths->parent[d], b);
    ck_assert_uint_eq(paths->parent[other], SCENE_ROOT);
}
END_TEST

// What no other call outlasts was not given up by one that was open by chance, but made for one
// that hangs, if its time suits that.
START_TEST(rather_than_given_up)
{
    for (guint suits = 0; suits <= 1; suits++) {
        g_autoptr(Scene) scene = scene_new();
        add_usual(scene);
        guint32 hangs = add_hanging(scene, 3000 * MS);
        guint32 b = scene_call(scene, SCENE_ROOT, "A", "B", 3004 * MS, 3080 * MS);
        guint32 slow = scene_call(scene, b, "B", "D", (suits ? 3015 : 3070) * MS, 3900 * MS);
        bool is_late;
        g_autoptr(BbPaths) paths = find_with(scene, slow, &is_late);
        ck_assert_uint_eq(paths->parent[slow], suits ? hangs : b);
        ck_assert_int_eq(is_late, !suits);
    }
}
END_TEST

// Nothing is known of what is usual, or nothing hangs.
START_TEST(nothing_to_go_by)
{
    g_autoptr(Scene) scene = scene_new();
    add_hanging(scene, 3000 * MS);
    guint32 call = add_lone(scene, 3015 * MS, MS);
    g_autoptr(BbPaths) paths = find(scene);
    ck_assert_uint_eq(paths->parent[call], SCENE_ROOT);
    add_usual(scene);
    call = add_lone(scene, 3015 * MS, MS);
    g_autoptr(BbPaths) others = find(scene);
    ck_assert_uint_eq(others->parent[call], SCENE_ROOT);
}
END_TEST

TEST_MAIN("beneath", what_is_made_as_usual, as_many_as_usual, chains_that_hang,
          rather_than_given_up, nothing_to_go_by)
