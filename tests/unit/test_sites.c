// SPDX-License-Identifier: Apache-2.0
// In: calls by hand. Out: checks of the sites that are made of them.
#include "nesting/sites.h"

#include "tests/unit/sample_instances.h"

// A1 and A2 are replicas; only the calls of A1 are a join's and looked at again. Its candidates are
// its own, though those of A2 were looked at last.
START_TEST(a_replica_that_is_passed_over_leaves_nothing)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 first = scene_call(scene, SCENE_ROOT, "U", "A1", 0, 100);
    guint32 kid = scene_call(scene, first, "A1", "B", 10, 20);
    for (gint64 i = 1; i <= 3; i++) {
        guint32 other = scene_call(scene, SCENE_ROOT, "U", "A2", 1000 * i, 1000 * i + 100);
        scene_call(scene, other, "A2", "B", 1000 * i + 30, 1000 * i + 40);
    }
    const guint32 replicas[] = {bb_names_intern(scene->names, "A1"),
                                bb_names_intern(scene->names, "A2")};
    g_autoptr(BbRoles) roles = bb_roles_new(scene->names);
    bb_roles_join(roles, replicas, 2);
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    BbSites *sites =
        bb_sites_new((const BbCall *)(const void *)scene->calls->data, scene->calls->len,
                     bb_names_count(scene->names), 0, true, true, roles, scale, NULL);
    g_autofree guint8 *place = g_new0(guint8, scene->calls->len);
    g_autofree gint64 *ready_ns = g_new(gint64, scene->calls->len);
    for (guint32 i = 0; i < scene->calls->len; i++)
        ready_ns[i] = G_MININT64;
    place[first] = 1;
    ck_assert_uint_eq(bb_sites_look(sites, place, ready_ns, NULL), 1);
    g_auto(BbMade) made = bb_sites_make(sites, 0);
    const BbSite *site = made.site;
    ck_assert_uint_eq(site->n_children, 1);
    ck_assert_uint_eq(site->children[0].call, kid);
    ck_assert_uint_eq(made.children, 1);
    ck_assert_uint_eq(site->first[1], 1);
    ck_assert_uint_eq(site->parents[site->list[0]].call, first);
    bb_sites_free(sites);
}
END_TEST

TEST_MAIN("sites", a_replica_that_is_passed_over_leaves_nothing)
