// SPDX-License-Identifier: Apache-2.0
// Calls grouped by node.
#include "nesting/by_node.h"

#include "tests/unit/test.h"

static const BbCall calls[] = {{.caller = 2, .callee = 0},
                               {.caller = 0, .callee = 2},
                               {.caller = 2, .callee = 2},
                               {.caller = 0, .callee = 2}};

static void check_group(const BbGroups *groups, guint32 name, const guint32 *wanted, guint32 n)
{
    ck_assert_uint_eq(bb_groups_size(groups, name), n);
    for (guint32 i = 0; i < n; i++)
        ck_assert_uint_eq(bb_groups_at(groups, name)[i], wanted[i]);
}

START_TEST(by_both_ends)
{
    g_auto(BbGroups) to = bb_by_node(calls, 4, 3, true, NULL);
    check_group(&to, 0, (guint32[]){0}, 1);
    check_group(&to, 1, NULL, 0);
    check_group(&to, 2, (guint32[]){1, 2, 3}, 3);
    g_auto(BbGroups) by = bb_by_node(calls, 4, 3, false, NULL);
    check_group(&by, 0, (guint32[]){1, 3}, 2);
    check_group(&by, 2, (guint32[]){0, 2}, 2);
}
END_TEST

START_TEST(in_another_order)
{
    g_auto(BbGroups) to = bb_by_node(calls, 4, 3, true, (guint32[]){3, 0, 1, 2});
    check_group(&to, 2, (guint32[]){3, 1, 2}, 3);
}
END_TEST

START_TEST(none)
{
    g_auto(BbGroups) to = bb_by_node(NULL, 0, 1, true, NULL);
    ck_assert_uint_eq(bb_groups_size(&to, 0), 0);
}
END_TEST

TEST_MAIN("by node", by_both_ends, in_another_order, none)
