// SPDX-License-Identifier: Apache-2.0
// What is said where a pattern matches no node: near names, or which there are.
#include "data/node_set.h"

#include "tests/unit/test.h"

// miss: what is said with nodes (parted by spaces) and the operation "GET /"; NULL: nothing.
static void expect(const char *nodes, const char *pattern, const char *miss)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeSet) set = bb_node_set_new(names);
    g_auto(GStrv) words = g_strsplit(nodes, " ", -1);
    bb_names_intern(names, "GET /"); // a name, but of no node
    for (char **word = words; *word; word++)
        bb_node_set_add(set, bb_names_intern(names, *word));
    g_autofree char *said = bb_node_set_miss(set, pattern);
    ck_assert_pstr_eq(said, miss);
}

START_TEST(nothing_where_one_matches)
{
    expect("client web db", "web", NULL);
    expect("client web db", "c*", NULL);
    expect("client web db", "??", NULL);
}
END_TEST

START_TEST(near_names)
{
    const char *nodes = "db client web auth cron";
    expect(nodes, "wb", "no node matches 'wb': near that are db, web");
    expect(nodes, "Auth", "no node matches 'Auth': near that is auth");
    expect(nodes, "c", "no node matches 'c': near that are client, cron");
    expect("web4 web3 web2 web1", "web9", "no node matches 'web9': near that are web1, web2, web3");
}
END_TEST

START_TEST(all_names)
{
    const char *nodes = "db client web auth cron";
    expect(nodes, "Z*", "no node matches 'Z*': nodes are auth, client, cron, db, web");
    expect(nodes, "GET /", "no node matches 'GET /': nodes are auth, client, cron, db, web");
    expect("db", "much else", "no node matches 'much else': the only node is db");
    expect("j i h g f e d c b a", "xyz",
           "no node matches 'xyz': nodes are a, b, c, d, e, f, g, h and 2 more");
}
END_TEST

START_TEST(no_nodes)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeSet) set = bb_node_set_new(names);
    g_autofree char *said = bb_node_set_miss(set, "*");
    ck_assert_str_eq(said, "no node matches '*': there are no nodes");
}
END_TEST

START_TEST(names_are_shown_safely)
{
    expect("a\nb", "che ck\n", "no node matches 'che ck%0A': the only node is a%0Ab");
}
END_TEST

// Names that are interned later, in any order.
START_TEST(nodes_that_come_late)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeSet) set = bb_node_set_new(names);
    guint32 first = bb_names_intern(names, "first"), second = bb_names_intern(names, "second");
    bb_node_set_add(set, second);
    g_autofree char *before = bb_node_set_miss(set, "first");
    ck_assert_str_eq(before, "no node matches 'first': the only node is second");
    bb_node_set_add(set, bb_names_intern(names, "third"));
    bb_node_set_add(set, first);
    g_autofree char *after = bb_node_set_miss(set, "first");
    ck_assert_ptr_null(after);
}
END_TEST

TEST_MAIN("node_set", nothing_where_one_matches, near_names, all_names, no_nodes,
          names_are_shown_safely, nodes_that_come_late)
