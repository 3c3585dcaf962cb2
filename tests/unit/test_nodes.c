// SPDX-License-Identifier: Apache-2.0
// Nodes: the most specific name wins, learned names are hostile, the memory has an end.
#include "capture/nodes.h"
#include "tests/unit/test.h"

static BbAddress at(const char *text)
{
    BbAddress address;
    ck_assert_msg(bb_address_parse(text, &address), "%s", text);
    return address;
}

static const char *name_of(BbNames *names, BbNodes *nodes, const char *text, guint16 port,
                           bool server)
{
    BbAddress address = at(text);
    return bb_names_text(names, bb_nodes_name(nodes, &address, port, server));
}

// Adds names: "ADDRESS[/BITS][:PORT] NAME", a line each; bits of 128.
static void load(BbNodes *nodes, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; **line; line++) {
        char *name = strchr(*line, ' '), *where = NULL;
        *name++ = '\0';
        char *port = bb_address_split_port(*line, &where), *slash = strchr(where, '/');
        if (slash)
            *slash++ = '\0';
        BbHost host = {.address = at(where),
                       .prefix = slash ? (guint8)atoi(slash) : 128,
                       .port = port ? (guint16)atoi(port) : 0,
                       .name = name};
        bb_address_mask(&host.address, host.prefix);
        bb_nodes_add(nodes, &host);
    }
}

START_TEST(an_address_is_its_name)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 80, true), "10.0.0.1");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8:0:0::1", 80, false), "2001:db8::1");
    guint32 count = bb_names_count(names);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 81, false), "10.0.0.1");
    ck_assert_uint_eq(bb_names_count(names), count);
}
END_TEST

START_TEST(servers_have_ports_where_asked)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    load(nodes, "10.0.0.2 db\n10.0.0.2:5432 orders-db\n");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 80, true), "10.0.0.1:80");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 443, true), "10.0.0.1:443");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 443, true), "10.0.0.1:443");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 40000, false), "10.0.0.1");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8::1", 80, true), "[2001:db8::1]:80");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.2", 80, true), "db:80");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.2", 5432, true), "orders-db");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.2", 40000, false), "db");
}
END_TEST

START_TEST(names_of_another_place)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    ck_assert_uint_eq(bb_nodes_unused(nodes), 0);
    load(nodes, "10.0.0.2 db\n10.0.0.2:5432 orders-db\n10.1.0.0/112 office\n");
    (void)name_of(names, nodes, "192.168.0.2", 5432, true);
    ck_assert_uint_eq(bb_nodes_unused(nodes), 3);
    (void)name_of(names, nodes, "10.1.0.9", 80, false);
    ck_assert_uint_eq(bb_nodes_unused(nodes), 0);
}
END_TEST

START_TEST(the_most_specific_wins)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, "0.0.0.0/96 internet\n"
                "10.0.0.0/104 inside\n"
                "10.1.0.0/112 office\n"
                "10.1.2.0/121 printers\n"
                "10.1.2.3 laser\n"
                "10.1.2.3:631 ipp\n"
                "::/0 six\n"
                "2001:db8::/33 lab\n"
                "[2001:db8::7]:80 www6\n"
                "[2001:db8::8] bracketed\n");
    ck_assert_str_eq(name_of(names, nodes, "8.8.8.8", 1, false), "internet");
    ck_assert_str_eq(name_of(names, nodes, "10.2.0.1", 1, false), "inside");
    ck_assert_str_eq(name_of(names, nodes, "10.1.2.128", 1, false), "office");
    ck_assert_str_eq(name_of(names, nodes, "10.1.2.127", 1, false), "printers");
    ck_assert_str_eq(name_of(names, nodes, "10.1.2.3", 1, true), "laser");
    ck_assert_str_eq(name_of(names, nodes, "10.1.2.3", 631, true), "ipp");
    ck_assert_str_eq(name_of(names, nodes, "10.1.2.3", 631, false), "ipp");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8:8000::1", 1, false), "six");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8:7fff::1", 1, false), "lab");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8::7", 80, true), "www6");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8::7", 81, true), "lab");
    ck_assert_str_eq(name_of(names, nodes, "2001:db8::8", 81, true), "bracketed");
}
END_TEST

// ::/0 is the whole of IPv6, and not the whole of IPv4.
START_TEST(families_are_apart)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, "::/0 six\n::ffff:10.0.0.0/104 mapped\n");
    ck_assert_str_eq(name_of(names, nodes, "9.0.0.1", 1, false), "9.0.0.1");
    ck_assert_str_eq(name_of(names, nodes, "10.9.9.9", 1, false), "mapped");
    ck_assert_str_eq(name_of(names, nodes, "fe80::1", 1, false), "six");
}
END_TEST

START_TEST(the_first_name_stays)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, "10.0.0.1 web\n10.0.0.1 www\n10.1.0.0/112 office\n10.1.7.7/112 desk\n");
    load(nodes, "10.0.0.1 too-late\n10.0.0.9 new\n");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 1, false), "web");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.9", 1, false), "new");
    ck_assert_str_eq(name_of(names, nodes, "10.1.7.7", 1, false), "office");
}
END_TEST

START_TEST(learned_names)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    load(nodes, "10.0.0.1 mine\n10.8.0.0/112 range\n");
    static const char *const hosts[] = {"10.0.0.1", "10.8.0.1", "10.0.0.2", "10.0.0.2"};
    static const char *const learned[] = {"a.example", "b.example", "Orders.Example.", "late"};
    for (gsize i = 0; i < G_N_ELEMENTS(hosts); i++) {
        BbAddress address = at(hosts[i]);
        bb_nodes_learn(nodes, &address, learned[i]);
    }
    ck_assert_uint_eq(bb_nodes_learned(nodes), 3);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 1, false), "mine");
    ck_assert_str_eq(name_of(names, nodes, "10.8.0.1", 1, false), "range");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.2", 1, false), "orders.example");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.2", 80, true), "orders.example:80");
}
END_TEST

// One node has one name: what was named by its address goes on so.
START_TEST(learned_too_late)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    BbAddress address = at("10.0.0.5");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.5", 1, false), "10.0.0.5");
    bb_nodes_learn(nodes, &address, "late.example");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.5", 1, false), "10.0.0.5");
}
END_TEST

// Input that is read a second time begins with all that was learned the first time.
START_TEST(learned_in_time_when_read_again)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.9", 80, true), "10.0.0.9:80");
    BbAddress address = at("10.0.0.9");
    bb_nodes_learn(nodes, &address, "db.example");
    bb_nodes_begin_again(nodes);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.9", 80, true), "db.example:80");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.9", 1, false), "db.example");
}
END_TEST

START_TEST(hostile_names_are_not_learned)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autofree char *x = g_strnfill(254, 'x');
    const char *const hostile[] = {"",          ".",   "a b",      "a\nb",   "a\"b", "a;b",
                                   "a\xc3\xa9", "<b>", "10.0.0.7", "fe80::", x,      "*.example"};
    BbAddress address = at("10.0.0.5");
    for (gsize i = 0; i < G_N_ELEMENTS(hostile); i++)
        bb_nodes_learn(nodes, &address, hostile[i]);
    ck_assert_uint_eq(bb_nodes_learned(nodes), 0);
    bb_nodes_learn(nodes, &address, x + 1);
    ck_assert_uint_eq(bb_nodes_learned(nodes), 1);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.5", 1, false), x + 1);

    static const char *const nobody[] = {"0.0.0.0", "127.0.0.1", "224.0.0.251", "255.255.255.255",
                                         "::",      "::1",       "ff02::fb"};
    for (gsize i = 0; i < G_N_ELEMENTS(nobody); i++) {
        BbAddress none = at(nobody[i]);
        bb_nodes_learn(nodes, &none, "blocked.example");
    }
    ck_assert_uint_eq(bb_nodes_learned(nodes), 1);
}
END_TEST

static BbAddress numbered(guint32 number)
{
    guint8 bytes[4] = {10, (guint8)(number >> 16), (guint8)(number >> 8), (guint8)number};
    return bb_address_v4(bytes);
}

START_TEST(learning_has_a_limit)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    for (guint32 i = 0; i < BB_NODES_LEARNED + 3; i++) {
        BbAddress address = numbered(i);
        bb_nodes_learn(nodes, &address, "pool.example");
    }
    ck_assert_uint_eq(bb_nodes_learned(nodes), BB_NODES_LEARNED);
    ck_assert_uint_eq(bb_nodes_unlearned(nodes), 3);
    ck_assert_str_eq(name_of(names, nodes, "10.1.0.1", 1, false), "10.1.0.1");
}
END_TEST

START_TEST(naming_has_a_limit)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, "192.168.0.0/112 home\n");
    for (guint32 i = 0; i < BB_NODES_NAMED; i++) {
        BbAddress address = numbered(i);
        (void)bb_nodes_name(nodes, &address, 1, false);
    }
    ck_assert_uint_eq(bb_nodes_others(nodes), 0);
    guint32 count = bb_names_count(names);
    ck_assert_str_eq(name_of(names, nodes, "11.0.0.1", 1, false), BB_NODES_OTHER);
    ck_assert_str_eq(name_of(names, nodes, "11.0.0.2", 1, false), BB_NODES_OTHER);
    ck_assert_uint_eq(bb_nodes_others(nodes), 2);
    ck_assert_uint_eq(bb_names_count(names), count + 1);
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 1, false), "10.0.0.1");
    ck_assert_str_eq(name_of(names, nodes, "192.168.7.7", 1, false), "home");
    BbAddress address = at("11.0.0.3");
    bb_nodes_learn(nodes, &address, "db.example");
    ck_assert_str_eq(name_of(names, nodes, "11.0.0.3", 1, false), "db.example");
}
END_TEST

// A scan of all ports of many hosts: names with ports are limited by themselves.
START_TEST(ports_have_a_limit)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    for (guint32 i = 0; i < BB_NODES_NAMED; i++) {
        BbAddress address = numbered(i >> 16);
        (void)bb_nodes_name(nodes, &address, (guint16)i, true);
    }
    ck_assert_uint_eq(bb_nodes_others(nodes), 0);
    ck_assert_str_eq(name_of(names, nodes, "11.0.0.1", 80, true), BB_NODES_OTHER);
    ck_assert_str_eq(name_of(names, nodes, "11.0.0.1", 80, false), "11.0.0.1");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 80, true), "10.0.0.1:80");
    ck_assert_uint_eq(bb_nodes_others(nodes), 1);
}
END_TEST

static guint32 find(const BbNodes *nodes, const char *text, guint16 port, bool server)
{
    BbAddress address = at(text);
    return bb_nodes_find(nodes, &address, port, server);
}

// Only what has been named, and nothing is named by it.
START_TEST(found_if_named)
{
    for (guint endpoints = 0; endpoints < 2; endpoints++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbNodes) nodes = bb_nodes_new(names, endpoints);
        load(nodes, "10.0.0.2:5432 orders-db\n10.0.0.0/120 net\n");
        guint32 count = bb_names_count(names);
        ck_assert_uint_eq(find(nodes, "10.0.0.1", 80, true), BB_NAME_NONE);
        ck_assert_uint_eq(find(nodes, "10.0.0.1", 80, false), BB_NAME_NONE);
        ck_assert_uint_eq(bb_names_count(names), count);
        BbAddress address = at("10.9.0.1");
        guint32 server = bb_nodes_name(nodes, &address, 80, true);
        guint32 client = bb_nodes_name(nodes, &address, 40000, false);
        ck_assert(endpoints == (server != client));
        count = bb_names_count(names);
        ck_assert_uint_eq(find(nodes, "10.9.0.1", 80, true), server);
        ck_assert_uint_eq(find(nodes, "10.9.0.1", 80, false), client);
        ck_assert_uint_eq(find(nodes, "10.9.0.1", 81, true), endpoints ? BB_NAME_NONE : server);
        ck_assert_str_eq(bb_names_text(names, find(nodes, "10.0.0.2", 5432, true)), "orders-db");
        ck_assert_uint_eq(bb_names_count(names), count);
    }
}
END_TEST

TEST_MAIN("nodes", an_address_is_its_name, found_if_named, servers_have_ports_where_asked,
          names_of_another_place, the_most_specific_wins, families_are_apart, the_first_name_stays,
          learned_names, learned_too_late, learned_in_time_when_read_again,
          hostile_names_are_not_learned, learning_has_a_limit, naming_has_a_limit,
          ports_have_a_limit)
