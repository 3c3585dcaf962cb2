// SPDX-License-Identifier: Apache-2.0
// Numbers in groups.
#include "data/groups.h"

#include "tests/unit/test.h"

static void check(const BbGroups *groups, guint32 group, const guint32 *wanted, guint32 n)
{
    ck_assert_uint_eq(bb_groups_size(groups, group), n);
    for (guint32 i = 0; i < n; i++)
        ck_assert_uint_eq(bb_groups_at(groups, group)[i], wanted[i]);
}

START_TEST(they_stand_as_they_were_put)
{
    g_auto(BbGroups) groups = bb_groups_begin(3);
    bb_groups_count(&groups, 2, 2);
    bb_groups_count(&groups, 0, 1);
    bb_groups_count(&groups, 2, 1);
    bb_groups_open(&groups);
    bb_groups_put(&groups, 2, 9);
    bb_groups_put(&groups, 0, 7);
    bb_groups_put(&groups, 2, 3);
    bb_groups_put(&groups, 2, 5);
    check(&groups, 0, (guint32[]){7}, 1);
    check(&groups, 1, NULL, 0);
    check(&groups, 2, (guint32[]){9, 3, 5}, 3);
}
END_TEST

START_TEST(by_a_group_of_each)
{
    const guint32 group[] = {1, BB_GROUPS_NONE, 0, 1, BB_GROUPS_NONE, 1};
    g_auto(BbGroups) groups = bb_groups_of(group, G_N_ELEMENTS(group), 2);
    check(&groups, 0, (guint32[]){2}, 1);
    check(&groups, 1, (guint32[]){0, 3, 5}, 3);
}
END_TEST

START_TEST(none)
{
    g_auto(BbGroups) groups = bb_groups_of(NULL, 0, 0);
    ck_assert_ptr_nonnull(groups.list);
    bb_groups_clear(&groups);
    bb_groups_clear(&groups);
    ck_assert_ptr_null(groups.list);
}
END_TEST

TEST_MAIN("groups", they_stand_as_they_were_put, by_a_group_of_each, none)
