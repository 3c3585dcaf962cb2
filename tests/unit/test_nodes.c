// SPDX-License-Identifier: Apache-2.0
// Nodes: the most specific name wins, learned names are hostile, the memory has an end.
#include "capture/hosts.h"
#include "capture/nodes.h"
#include "tests/unit/scratch.h"

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

static void load(BbNodes *nodes, Scratch *scratch, const char *text)
{
    g_autoptr(GError) error = NULL;
    const char *path = scratch_file(scratch, "names", text, strlen(text));
    bool loaded = bb_nodes_load(nodes, path, &error);
    ck_assert_msg(loaded, "%s", error ? error->message : "no reason");
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
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    load(nodes, scratch, "10.0.0.2 db\n10.0.0.2:5432 orders-db\n");
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

START_TEST(the_most_specific_wins)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, scratch,
         "0.0.0.0/0 internet\n"
         "10.0.0.0/8 inside\n"
         "10.1.0.0/16 office\n"
         "10.1.2.0/25 printers\n"
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
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, scratch, "::/0 six\n::ffff:10.0.0.0/104 mapped\n");
    ck_assert_str_eq(name_of(names, nodes, "9.0.0.1", 1, false), "9.0.0.1");
    ck_assert_str_eq(name_of(names, nodes, "10.9.9.9", 1, false), "mapped");
    ck_assert_str_eq(name_of(names, nodes, "fe80::1", 1, false), "six");
}
END_TEST

START_TEST(a_file_as_people_write_it)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, scratch,
         "\xef\xbb\xbf# names\r\n"
         "\r\n"
         "   \t\n"
         "10.0.0.1\tweb  web.local www # the front\r\n"
         "  10.0.0.2 caf\xc3\xa9#tail\n"
         "10.0.0.2 second\n"
         "fe80::1%eth0 link\n"
         "10.9.8.7/8 ten\n"
         "10.0.0.3 last-without-newline");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 1, false), "web");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.2", 1, false), "caf\xc3\xa9");
    ck_assert_str_eq(name_of(names, nodes, "fe80::1", 1, false), "link");
    ck_assert_str_eq(name_of(names, nodes, "10.200.0.1", 1, false), "ten");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.3", 1, false), "last-without-newline");
    load(nodes, scratch, "10.0.0.1 too-late\n10.0.0.9 new\n");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.1", 1, false), "web");
    ck_assert_str_eq(name_of(names, nodes, "10.0.0.9", 1, false), "new");
}
END_TEST

START_TEST(malformed_lines)
{
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"web 10.0.0.1", "\"web\" is no IP address"},
        {"10.0.0.1", "there is no name after the address"},
        {"10.0.0.1 # only a comment", "there is no name after the address"},
        {"10.0.0 x", "\"10.0.0\" is no IP address"},
        {"10.0.0.256 x", "\"10.0.0.256\" is no IP address"},
        {"10.0.0.1:0 x", "\"0\" is no port from 1 to 65535"},
        {"10.0.0.1:65536 x", "\"65536\" is no port from 1 to 65535"},
        {"10.0.0.1: x", "\"\" is no port from 1 to 65535"},
        {"10.0.0.1:+80 x", "\"+80\" is no port from 1 to 65535"},
        {"10.0.0.1:000080 x", "\"000080\" is no port from 1 to 65535"},
        {"10.0.0.0/33 x", "\"33\" is no prefix length from 0 to 32"},
        {"10.0.0.0/ x", "\"\" is no prefix length from 0 to 32"},
        {"2001:db8::/129 x", "\"129\" is no prefix length from 0 to 128"},
        {"ten/8 x", "\"ten\" is no IP address"},
        {"10.0.0.1:80/24 x", "\"10.0.0.1:80\" is no IP address"},
        {"[2001:db8::1 x", "\"[2001:db8::1\" is no IP address"},
        {"[2001:db8::1]80 x", "\"[2001:db8::1]80\" is no IP address"},
        {"[2001:db8::1]:http x", "\"http\" is no port from 1 to 65535"},
        {"[10.0.0.1.2]:80 x", "\"[10.0.0.1.2]:80\" is no IP address"},
    };
    g_autoptr(Scratch) scratch = scratch_new();
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
        g_autofree char *text = g_strdup_printf("10.0.0.9 good\n# two\n%s\n", cases[i].line);
        const char *path = scratch_file(scratch, "names", text, strlen(text));
        g_autoptr(GError) error = NULL;
        ck_assert_msg(!bb_nodes_load(nodes, path, &error), "%s", cases[i].line);
        g_autofree char *wanted = g_strdup_printf(
            "%s, line 3: %s; a line is an address (10.0.0.2, ", path, cases[i].reason);
        ck_assert_msg(g_str_has_prefix(error->message, wanted), "%s", error->message);
        ck_assert_str_eq(name_of(names, nodes, "10.0.0.9", 1, false), "good");
    }
}
END_TEST

static char *load_error(const void *bytes, gsize size)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    const char *path = scratch_file(scratch, "names", bytes, size);
    g_autoptr(GError) error = NULL;
    ck_assert(!bb_nodes_load(nodes, path, &error));
    return g_strdup(error->message);
}

START_TEST(lines_of_odd_bytes)
{
    g_autofree char *nul = load_error("10.0.0.1 a\n10.0.0.2 b\0c\n10.0.0.3 d\n", 36);
    ck_assert_ptr_nonnull(strstr(nul, ", line 2: the line holds a NUL byte"));

    g_autofree char *x = g_strnfill(5000, 'x');
    g_autofree char *comment = g_strdup_printf("#%s\n", x);
    g_autofree char *too_long = load_error(comment, strlen(comment));
    ck_assert_ptr_nonnull(
        strstr(too_long, ", line 1: the line holds a NUL byte, or more than 4094"));

    x[BB_HOSTS_NAME_MAX + 1] = '\0';
    g_autofree char *line = g_strdup_printf("10.0.0.1 %s\n", x);
    g_autofree char *long_name = load_error(line, strlen(line));
    ck_assert_ptr_nonnull(strstr(long_name, ", line 1: the name is longer than 255 bytes"));
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(GError) missing = NULL, cut = NULL;
    ck_assert(!bb_nodes_load(nodes, scratch_path(scratch, "none"), &missing));
    ck_assert_ptr_nonnull(strstr(missing->message, "/none"));

    static const guint8 gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    ck_assert(!bb_nodes_load(nodes, scratch_file(scratch, "n.gz", gzip, sizeof gzip), &cut));
    ck_assert_ptr_nonnull(
        strstr(cut->message, "n.gz: the gzip data breaks off at byte 10: a part "));
}
END_TEST

START_TEST(learned_names)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    load(nodes, scratch, "10.0.0.1 mine\n10.8.0.0/16 range\n");
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
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    load(nodes, scratch, "192.168.0.0/16 home\n");
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

TEST_MAIN("nodes", an_address_is_its_name, servers_have_ports_where_asked, the_most_specific_wins,
          families_are_apart, a_file_as_people_write_it, malformed_lines, lines_of_odd_bytes,
          files_that_cannot_be_read, learned_names, learned_too_late,
          learned_in_time_when_read_again, hostile_names_are_not_learned, learning_has_a_limit,
          naming_has_a_limit, ports_have_a_limit)
