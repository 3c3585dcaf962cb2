// SPDX-License-Identifier: Apache-2.0
// Path instances: how long they take, and taking some out with all that is known of their calls.
#include "data/path.h"

#include "tests/unit/sample_chains.h"

#define MS CHAIN_MS

START_TEST(latency_of_calls)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 root = scene_call(scene, SCENE_ROOT, "a", "b", 10 * MS, 40 * MS);
    scene_call(scene, root, "b", "c", 20 * MS, 90 * MS);
    scene_call(scene, SCENE_ROOT, "a", "b", 50 * MS, BB_TIME_NONE);
    scene_at(scene, root)->arrived_ns = 12 * MS;
    scene_at(scene, root)->return_end_ns = 45 * MS;
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    ck_assert_int_eq(bb_instance_latency(paths, &paths->instances[0], false), 28 * MS);
    ck_assert_int_eq(bb_instance_latency(paths, &paths->instances[0], true), 33 * MS);
    ck_assert_int_eq(bb_instance_latency(paths, &paths->instances[1], false), BB_TIME_NONE);
}
END_TEST

START_TEST(latency_of_messages)
{
    g_auto(Chains) chains = chains_scene();
    guint32 root = chains_message(&chains, SCENE_ROOT, "a", "b", 10 * MS, BB_MODE_NONE, 2);
    guint32 late = chains_message(&chains, root, "b", "c", 20 * MS, 0, 0);
    chains_message(&chains, root, "b", "d", 25 * MS, 0, 0);
    chains_message(&chains, SCENE_ROOT, "a", "b", 50 * MS, BB_MODE_NONE, 0);
    scene_at(chains.scene, root)->arrived_ns = 11 * MS;
    scene_at(chains.scene, late)->arrived_ns = 31 * MS;
    g_autoptr(BbPaths) paths = chains_paths(&chains, 0);
    ck_assert_int_eq(bb_instance_latency(paths, &paths->instances[0], false), 21 * MS);
    ck_assert_int_eq(bb_instance_latency(paths, &paths->instances[1], true), 0);
}
END_TEST

// Three instances whose messages lie among each other: 0 3 | 1 2 5 | 4.
static BbPaths *make_paths(Chains *chains)
{
    guint32 first = chains_message(chains, SCENE_ROOT, "a", "b", 0, BB_MODE_NONE, 0.5);
    guint32 second = chains_message(chains, SCENE_ROOT, "c", "d", 1 * MS, BB_MODE_NONE, 1.5);
    guint32 next = chains_message(chains, second, "d", "e", 2 * MS, 7, 2.5);
    chains_message(chains, first, "b", "f", 3 * MS, 8, 3.5);
    chains_message(chains, SCENE_ROOT, "g", "h", 4 * MS, BB_MODE_NONE, 4.5);
    chains_message(chains, next, "e", "i", 5 * MS, 9, 5.5);
    for (guint i = 0; i < 6; i++)
        g_array_index(chains->confidence, float, i) = (float)i / 8;
    BbPaths *paths = chains_paths(chains, 0);
    for (guint32 i = 0; i < 6; i++) {
        paths->shape[i] = 10 + i;
        paths->self_ns[i] = 20 + i;
    }
    paths->pool_wait = g_new0(BbPoolWait, 6);
    paths->worker_wait = g_new0(BbWorkerWait, 6);
    for (guint32 i = 0; i < 6; i++) {
        paths->pool_wait[i].ns = 30 + i;
        paths->worker_wait[i].ns = 40 + i;
    }
    return paths;
}

START_TEST(takes_out_what_is_marked)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbPaths) paths = make_paths(&chains);
    const guint8 gone[] = {1, 0, 0, 1, 0, 0};
    bb_paths_take_out(paths, gone);
    ck_assert_uint_eq(paths->n_calls, 4);
    ck_assert_uint_eq(paths->n_instances, 2);
    const struct {
        gint64 at_ns;
        guint32 was, parent, mode, level;
    } wanted[] = {{MS, 1, BB_CALL_NO_PARENT, BB_MODE_NONE, 1},
                  {2 * MS, 2, 0, 7, 2},
                  {4 * MS, 4, BB_CALL_NO_PARENT, BB_MODE_NONE, 1},
                  {5 * MS, 5, 1, 9, 3}};
    for (guint32 i = 0; i < 4; i++) {
        ck_assert_int_eq(paths->calls[i].call_ns, wanted[i].at_ns);
        ck_assert_uint_eq(paths->parent[i], wanted[i].parent);
        ck_assert_uint_eq(paths->mode[i], wanted[i].mode);
        ck_assert_uint_eq(paths->level[i], wanted[i].level);
        ck_assert_uint_eq(paths->shape[i], 10 + wanted[i].was);
        ck_assert_uint_eq(paths->self_ns[i], 20 + wanted[i].was);
        ck_assert_int_eq(paths->pool_wait[i].ns, 30 + wanted[i].was);
        ck_assert_int_eq(paths->worker_wait[i].ns, 40 + wanted[i].was);
        ck_assert_float_eq(paths->confidence[i], (float)wanted[i].was / 8);
        ck_assert_float_eq(paths->onward[i], (float)wanted[i].was + 0.5f);
    }
    const guint32 order[] = {0, 1, 3, 2};
    for (guint32 i = 0; i < 4; i++)
        ck_assert_uint_eq(paths->order[i], order[i]);
    ck_assert_uint_eq(paths->instances[0].count, 3);
    ck_assert_uint_eq(paths->instances[1].first, 3);
    ck_assert_uint_eq(paths->instances[1].place, 1);
    ck_assert_uint_eq(bb_instance_number(paths, &paths->instances[1]), 2);
}
END_TEST

START_TEST(takes_out_nothing_and_everything)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbPaths) paths = make_paths(&chains);
    const guint8 none[6] = {0}, all[] = {1, 1, 1, 1, 1, 1};
    bb_paths_take_out(paths, none);
    ck_assert_uint_eq(paths->n_calls, 6);
    ck_assert_uint_eq(paths->n_instances, 3);
    ck_assert_uint_eq(paths->parent[5], 2);
    bb_paths_take_out(paths, all);
    ck_assert_uint_eq(paths->n_calls, 0);
    ck_assert_uint_eq(paths->n_instances, 0);
}
END_TEST

// What only one of the two algorithms fills need not be there.
START_TEST(takes_out_without_what_is_not_there)
{
    g_auto(Chains) chains = chains_scene();
    g_autoptr(BbPaths) paths = make_paths(&chains);
    const guint8 gone[] = {0, 1, 1, 0, 0, 1};
    g_clear_pointer(&paths->shape, g_free);
    g_clear_pointer(&paths->self_ns, g_free);
    g_clear_pointer(&paths->pool_wait, g_free);
    g_clear_pointer(&paths->worker_wait, g_free);
    g_clear_pointer(&paths->mode, g_free);
    g_clear_pointer(&paths->onward, g_free);
    bb_paths_take_out(paths, gone);
    ck_assert_uint_eq(paths->n_calls, 3);
    ck_assert_uint_eq(paths->parent[1], 0);
}
END_TEST

TEST_MAIN("path", latency_of_calls, latency_of_messages, takes_out_what_is_marked,
          takes_out_nothing_and_everything, takes_out_without_what_is_not_there)
