// SPDX-License-Identifier: Apache-2.0
// Which names are one node, by rules; and which rules make no sense.
#include "merge/node_rules.h"

#include "tests/unit/scratch.h"

#include <string.h>

static const char *apply(BbNodeRules *rules, BbNames *names, const char *name)
{
    return bb_names_text(names, bb_node_rules_apply(rules, bb_names_intern(names, name)));
}

static bool load(BbNodeRules *rules, const char *text, GError **error)
{
    g_autoptr(Scratch) scratch = scratch_new();
    return bb_node_rules_load(rules, scratch_file(scratch, "rules", text, strlen(text)), error);
}

START_TEST(the_first_rule_that_fits_counts)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeRules) rules = bb_node_rules_new(names);
    ck_assert_str_eq(apply(rules, names, "web-1"), "web-1");
    ck_assert(load(rules,
                   "# hosts\n"
                   "web:  10.0.0.7\tweb-*   # two\n"
                   "\r\n"
                   "db: 10.0.1.0/28 2001:DB8::/33 x%20y\n"
                   "all: 10.0.0.0/8 web-? 2001:db8::1\n"
                   "a#b: c#d\n",
                   NULL));
    ck_assert_str_eq(apply(rules, names, "web-1"), "web");
    ck_assert_str_eq(apply(rules, names, "10.0.0.7"), "web");
    ck_assert_str_eq(apply(rules, names, "10.0.0.8"), "all");
    ck_assert_str_eq(apply(rules, names, "10.0.1.15"), "db");
    ck_assert_str_eq(apply(rules, names, "10.0.1.16"), "all");
    ck_assert_str_eq(apply(rules, names, "11.0.1.16"), "11.0.1.16");
    ck_assert_str_eq(apply(rules, names, "2001:db8:7fff::1"), "db");
    ck_assert_str_eq(apply(rules, names, "2001:db8:8000::1"), "2001:db8:8000::1");
    ck_assert_str_eq(apply(rules, names, "x y"), "db");
    ck_assert_str_eq(apply(rules, names, "c#d"), "a#b");
    ck_assert_str_eq(apply(rules, names, "web"), "web");
    ck_assert_uint_eq(bb_node_rules_apply(rules, BB_NAME_NONE), BB_NAME_NONE);
}
END_TEST

START_TEST(addresses_are_compared_as_such)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeRules) rules = bb_node_rules_new(names);
    ck_assert(load(rules, "six: 2001:DB8:0::1 ::/0\nfour: 0.0.0.0/0\n", NULL));
    ck_assert_str_eq(apply(rules, names, "2001:db8::1"), "six");
    ck_assert_str_eq(apply(rules, names, "fe80::1"), "six");
    ck_assert_str_eq(apply(rules, names, "1.2.3.4"), "four");
    ck_assert_str_eq(apply(rules, names, "1.2.3.4.5"), "1.2.3.4.5");
    ck_assert_str_eq(apply(rules, names, "::ffff:1.2.3.4"), "four"); // the same address
}
END_TEST

START_TEST(malformed_lines_are_refused_with_their_place)
{
    static const char *const bad[][2] = {
        {"web 10.0.0.1\n", ":1: \"web\" is not a node's new name with a colon behind it"},
        {"a: b\nweb:\n", ":2: there is no other name behind the colon"},
        {"web: 10.0.0.0/33\n", ":1: \"10.0.0.0/33\" is no prefix"},
        {"web: 10.0.0/8\n", ":1: \"10.0.0/8\" is no prefix"},
        {": b\n", ":1: \":\" is not a node's new name"},
        {"web: a%2\n", ":1: "},
        {"w%00: a\n", ":1: "},
        {"web: 10.0.0.0/\n", ":1: \"10.0.0.0/\" is no prefix"},
        {"web: 10.0.0.0/-1\n", ":1: \"10.0.0.0/-1\" is no prefix"},
        {"web: 2001:db8::/129\n", ":1: \"2001:db8::/129\" is no prefix"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbNodeRules) rules = bb_node_rules_new(names);
        g_autoptr(GError) error = NULL;
        ck_assert(!load(rules, bad[i][0], &error));
        ck_assert_msg(strstr(error->message, bad[i][1]), "%s", error->message);
    }
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeRules) rules = bb_node_rules_new(names);
    g_autoptr(GError) error = NULL;
    ck_assert(!bb_node_rules_load(rules, "/nowhere/at/all", &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at/all"));
}
END_TEST

START_TEST(rules_that_fit_nothing_are_told)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeRules) rules = bb_node_rules_new(names);
    ck_assert(load(rules, "web: 10.0.0.7 web-*\ndb: 10.0.1.0/28 x%20y\n", NULL));
    ck_assert_str_eq(apply(rules, names, "10.0.0.7"), "web");
    ck_assert_str_eq(apply(rules, names, "cache"), "cache");
    guint at = 0;
    ck_assert_str_eq(bb_node_rules_next_unused(rules, &at), "web-*");
    ck_assert_str_eq(bb_node_rules_next_unused(rules, &at), "10.0.1.0/28");
    ck_assert_str_eq(bb_node_rules_next_unused(rules, &at), "x y");
    ck_assert_ptr_null(bb_node_rules_next_unused(rules, &at));
}
END_TEST

TEST_MAIN("node_rules", the_first_rule_that_fits_counts, addresses_are_compared_as_such,
          malformed_lines_are_refused_with_their_place, a_file_that_is_not_there,
          rules_that_fit_nothing_are_told)
