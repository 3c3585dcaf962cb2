// SPDX-License-Identifier: Apache-2.0
// In: calls by hand, some without return. Out: checks of which hang.
#include "nesting/hanging.h"

#include "tests/unit/sample_instances.h"

static void check(const Scene *scene, const char *wanted)
{
    const BbCall *calls = (const BbCall *)(const void *)scene->calls->data;
    g_autofree bool *hanging = bb_hanging_find(calls, scene->calls->len);
    g_autoptr(GString) got = g_string_new(NULL);
    for (guint32 i = 0; hanging && i < scene->calls->len; i++)
        g_string_append_c(got, hanging[i] ? 'h' : '-');
    ck_assert_str_eq(got->str, wanted);
}

static guint32 lost(Scene *scene, const char *caller, const char *callee, gint64 at_ns)
{
    return scene_unanswered(scene, SCENE_ROOT, caller, callee, at_ns, BB_TIME_NONE);
}

START_TEST(none)
{
    g_autoptr(Scene) scene = scene_new();
    check(scene, "");
    scene_call(scene, SCENE_ROOT, "A", "B", 0, 100);
    check(scene, "");
}
END_TEST

// As long before the end as the slowest took: 40 ns.
START_TEST(there_was_time_for_a_return)
{
    g_autoptr(Scene) scene = scene_new();
    scene_call(scene, SCENE_ROOT, "A", "B", 0, 10);
    scene_call(scene, SCENE_ROOT, "A", "B", 10, 50);
    scene_call(scene, SCENE_ROOT, "A", "C", 20, 200); // of another callee
    lost(scene, "A", "B", 60);
    lost(scene, "A", "B", 160);
    lost(scene, "A", "B", 161);
    check(scene, "---hh-");
    scene_call(scene, SCENE_ROOT, "U", "V", 300, 300); // the end is that of all
    check(scene, "---hhh-");
}
END_TEST

START_TEST(kinds_that_never_return_hang)
{
    g_autoptr(Scene) scene = scene_new();
    scene_call(scene, SCENE_ROOT, "A", "B", 0, 100);
    lost(scene, "A", "C", 99);
    guint32 other = lost(scene, "A", "B", 99);
    check(scene, "-h-");
    scene_at(scene, other)->op = bb_names_intern(scene->names, "SLOW");
    check(scene, "-hh");
}
END_TEST

START_TEST(stamps_may_be_any_number)
{
    g_autoptr(Scene) scene = scene_new();
    scene_call(scene, SCENE_ROOT, "A", "B", G_MAXINT64, 0);
    scene_call(scene, SCENE_ROOT, "A", "C", G_MININT64 + 1, G_MAXINT64);
    lost(scene, "A", "B", G_MININT64 + 1);
    lost(scene, "A", "C", 0);
    check(scene, "--hh"); // as long as can be told
}
END_TEST

TEST_MAIN("hanging", none, there_was_time_for_a_return, kinds_that_never_return_hang,
          stamps_may_be_any_number)
