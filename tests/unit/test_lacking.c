// SPDX-License-Identifier: Apache-2.0
// Parents that may lack a child: those that other draws give one more, and those whose child's true
// parent may not be among the candidates.
#include "nesting/lacking.h"

#include "tests/unit/test.h"

#include <math.h>

// Parents and children in order, each child with the first `most` parents as candidates.
static BbSite *site_new(guint32 n_parents, guint32 n_children, guint32 most)
{
    BbSite *site = bb_site_new(n_parents, n_children);
    site->n_parent_types = site->n_child_types = 1;
    site->list = g_new(guint32, n_children * most + 1);
    for (guint32 p = 0; p < n_parents; p++)
        site->parents[p] = (BbSiteParent){.s = p, .e = 1000};
    for (guint32 x = 0; x < n_children; x++) {
        site->children[x] = (BbSiteChild){.s = 100 + x, .e = 200};
        for (guint32 i = 0; i < most; i++)
            site->list[x * most + i] = i;
        site->first[x + 1] = (x + 1) * most;
    }
    return site;
}

START_TEST(draws_that_give_one_more)
{
    g_autoptr(BbSite) site = site_new(3, 2, 3);
    const guint32 final[] = {0, BB_SITE_NONE}, both[] = {0, 1};
    const guint32 draws[][2] = {{0, BB_SITE_NONE}, {0, 1}, {0, 1}, {1, 0}};
    float share[] = {0.75f, 0.25f}, whole[3];
    g_autoptr(BbLacking) lacking = bb_lacking_new(site, final);
    for (guint i = 0; i < G_N_ELEMENTS(draws); i++) {
        bb_site_restore(site, draws[i]);
        bb_lacking_observe(lacking, both, 2);
    }
    bb_lacking_finish(lacking, share, whole);
    // The draw that takes child 0 off parent 0 says nothing of what it lacks: its link is wrong.
    ck_assert_float_eq_tol(whole[0], 1, 1e-6);
    ck_assert_float_eq_tol(whole[1], 0.25, 1e-6);
    ck_assert_float_eq_tol(whole[2], 1, 1e-6);
    ck_assert_float_eq_tol(share[0], 0.75, 1e-6);
    ck_assert_float_eq_tol(share[1], 0.25, 1e-6);
}
END_TEST

START_TEST(nothing_left_out_changes_nothing)
{
    g_autoptr(BbSite) site = site_new(4, 4, 4);
    const guint32 final[] = {0, 1, 2, BB_SITE_NONE};
    float share[] = {1, 0.9f, 0.8f, 0.7f}, whole[4];
    g_autoptr(BbLacking) lacking = bb_lacking_new(site, final);
    bb_lacking_finish(lacking, share, whole);
    for (guint p = 0; p < 4; p++)
        ck_assert_float_eq_tol(whole[p], 1, 1e-6);
    ck_assert_float_eq_tol(share[1], 0.9, 1e-6);
    ck_assert_float_eq_tol(share[3], 0.7, 1e-6);
}
END_TEST

START_TEST(true_parents_that_were_left_out)
{
    g_autoptr(BbSite) site = site_new(10, 10, 10);
    guint32 final[10];
    float share[10], whole[10];
    for (guint x = 0; x < 10; x++) {
        final[x] = x < 2 ? x : BB_SITE_NONE;
        site->kept[x] = 0.2f;
        share[x] = 1;
    }
    g_autoptr(BbLacking) lacking = bb_lacking_new(site, final);
    bb_lacking_finish(lacking, share, whole);
    // Eight of ten without parent is what leaving out 80 % of the parents makes of calls that have
    // one each: none of them is known to be alone, and a link holds if its parent was kept.
    ck_assert_float_eq_tol(share[0], 0.2, 1e-5);
    ck_assert_float_eq_tol(share[9], 0, 1e-5);
    // 2 x 0.8 and 8 children are looked for by the eight parents that have none.
    ck_assert_float_eq_tol(whole[0], 1, 1e-6);
    ck_assert_float_eq_tol(whole[5], exp(-9.6 / 8), 1e-5);
}
END_TEST

START_TEST(calls_that_are_alone_more_often_than_that)
{
    g_autoptr(BbSite) site = site_new(10, 10, 10);
    guint32 final[10];
    float share[10], whole[10];
    for (guint x = 0; x < 10; x++) {
        final[x] = x < 1 ? x : BB_SITE_NONE;
        site->kept[x] = 0.8f;
        share[x] = 1;
    }
    g_autoptr(BbLacking) lacking = bb_lacking_new(site, final);
    bb_lacking_finish(lacking, share, whole);
    // 0.9 = lone + (1 - lone) 0.2: of the nine, 0.875 / 0.9 have none indeed.
    ck_assert_float_eq_tol(share[9], 0.875 / 0.9, 1e-5);
}
END_TEST

TEST_MAIN("lacking", draws_that_give_one_more, nothing_left_out_changes_nothing,
          true_parents_that_were_left_out, calls_that_are_alone_more_often_than_that)
