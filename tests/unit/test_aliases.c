// SPDX-License-Identifier: Apache-2.0
// Aliases: names of one address are one host, names that many share stay apart.
#include "merge/aliases.h"
#include "tests/unit/test.h"

// Names are integers here; addresses begin at 100.
static void see(BbAliases *aliases, BbAliasKind kind, guint32 name, guint32 address, guint times)
{
    for (guint i = 0; i < times; i++)
        bb_aliases_add(aliases, kind, name, address);
}

START_TEST(three_names_of_one_host)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    see(aliases, BB_ALIAS_SAID, 1, 100, 3);
    see(aliases, BB_ALIAS_FOUND, 2, 100, 3);
    see(aliases, BB_ALIAS_BY, 3, 100, 2);
    see(aliases, BB_ALIAS_GOT, 4, 100, 1);
    bb_aliases_settle(aliases);
    for (guint32 name = 1; name <= 4; name++)
        ck_assert_uint_eq(bb_aliases_find(aliases, name), 2);
    ck_assert_uint_eq(bb_aliases_find(aliases, 100), 2);
    ck_assert_uint_eq(bb_aliases_find(aliases, 5), 5);
    ck_assert_uint_eq(bb_aliases_count(aliases), 4);
}
END_TEST

START_TEST(called_by_the_best_name_there_is)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    see(aliases, BB_ALIAS_SAID, 1, 100, 9);
    see(aliases, BB_ALIAS_BY, 2, 100, 1);
    see(aliases, BB_ALIAS_SAID, 3, 101, 1);
    bb_aliases_settle(aliases);
    ck_assert_uint_eq(bb_aliases_find(aliases, 1), 2);
    ck_assert_uint_eq(bb_aliases_find(aliases, 100), 2);
    ck_assert_uint_eq(bb_aliases_find(aliases, 101), 3);
}
END_TEST

// A name that is said everywhere (a forged one, or that of a farm) joins nothing.
START_TEST(a_name_at_many_addresses)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    for (guint32 address = 100; address < 104; address++) {
        see(aliases, BB_ALIAS_SAID, 1, address, 1);
        see(aliases, BB_ALIAS_FOUND, address - 90, address, 1);
    }
    bb_aliases_settle(aliases);
    ck_assert_uint_eq(bb_aliases_find(aliases, 1), 1);
    for (guint32 address = 100; address < 104; address++)
        ck_assert_uint_eq(bb_aliases_find(aliases, address), address - 90);
}
END_TEST

// Half is not more than half.
START_TEST(no_majority)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    see(aliases, BB_ALIAS_SAID, 1, 100, 2);
    see(aliases, BB_ALIAS_SAID, 1, 101, 2);
    see(aliases, BB_ALIAS_SAID, 2, 102, 2);
    see(aliases, BB_ALIAS_SAID, 3, 102, 2);
    bb_aliases_settle(aliases);
    ck_assert_uint_eq(bb_aliases_count(aliases), 0);
    for (guint32 name = 1; name <= 3; name++)
        ck_assert_uint_eq(bb_aliases_find(aliases, name), name);
    ck_assert_uint_eq(bb_aliases_find(aliases, 102), 102);
}
END_TEST

// Behind one address that many share, only the one that is most of it takes its name.
START_TEST(many_hosts_behind_one_address)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    see(aliases, BB_ALIAS_FOUND, 9, 100, 10);
    see(aliases, BB_ALIAS_SAID, 1, 100, 6);
    see(aliases, BB_ALIAS_SAID, 2, 100, 4);
    bb_aliases_settle(aliases);
    ck_assert_uint_eq(bb_aliases_find(aliases, 1), 9);
    ck_assert_uint_eq(bb_aliases_find(aliases, 2), 2);
}
END_TEST

START_TEST(renamed_in_the_dns)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    see(aliases, BB_ALIAS_FOUND, 1, 100, 2);
    see(aliases, BB_ALIAS_FOUND, 2, 100, 5);
    see(aliases, BB_ALIAS_FOUND, 3, 100, 1);
    see(aliases, BB_ALIAS_FOUND, 3, 101, 2);
    bb_aliases_settle(aliases);
    ck_assert_uint_eq(bb_aliases_find(aliases, 1), 2);
    ck_assert_uint_eq(bb_aliases_find(aliases, 2), 2);
    ck_assert_uint_eq(bb_aliases_find(aliases, 3), 3); // at home elsewhere
    ck_assert_uint_eq(bb_aliases_find(aliases, 101), 3);
}
END_TEST

START_TEST(nothing_seen)
{
    g_autoptr(BbAliases) aliases = bb_aliases_new();
    bb_aliases_settle(aliases);
    ck_assert_uint_eq(bb_aliases_find(aliases, 1), 1);
    ck_assert_uint_eq(bb_aliases_find(aliases, BB_NAME_NONE), BB_NAME_NONE);
}
END_TEST

// However names are seen: what a host is called is called the same, and the order does not matter.
START_TEST(settled_for_good_in_any_order)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("aliases"));
    for (guint round = 0; round < 200; round++) {
        g_autoptr(BbAliases) forth = bb_aliases_new(), back = bb_aliases_new();
        guint32 seen[60][3];
        for (guint i = 0; i < 60; i++) {
            seen[i][0] = (guint32)g_rand_int_range(rand, 0, BB_ALIAS_KINDS);
            seen[i][1] = (guint32)g_rand_int_range(rand, 1, 12);
            seen[i][2] = (guint32)g_rand_int_range(rand, 100, 106);
        }
        for (guint i = 0; i < 60; i++) {
            const guint32 *a = seen[i], *b = seen[59 - i];
            bb_aliases_add(forth, (BbAliasKind)a[0], a[1], a[2]);
            bb_aliases_add(back, (BbAliasKind)b[0], b[1], b[2]);
        }
        bb_aliases_settle(forth);
        bb_aliases_settle(back);
        for (guint32 name = 1; name < 110; name++) {
            guint32 head = bb_aliases_find(forth, name);
            ck_assert_uint_eq(bb_aliases_find(forth, head), head);
            ck_assert_uint_eq(bb_aliases_find(back, name), head);
        }
    }
}
END_TEST

TEST_MAIN("aliases", three_names_of_one_host, called_by_the_best_name_there_is,
          a_name_at_many_addresses, no_majority, many_hosts_behind_one_address, renamed_in_the_dns,
          nothing_seen, settled_for_good_in_any_order)
