// SPDX-License-Identifier: Apache-2.0
// Mirrors as they are described, and what each vendor is told for them: the golden files in
// tests/golden/mirror hold the commands, and the words of those that cannot.
#include "capture/mirror/vendor.h"
#include "tests/unit/golden.h"
#include "tests/unit/test.h"

// ---- descriptions ------------------------------------------------------------------------------

static BbMirrorWords words_of(const char *const *from, const char *to)
{
    return (BbMirrorWords){.from = from, .to = to};
}

static char *error_of(const BbMirrorWords *words, GQuark *domain)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_mirror_new(words, &error));
    ck_assert_ptr_nonnull(error);
    *domain = error->domain;
    return g_strdup(error->message);
}

static void check_usage(const BbMirrorWords *words, const char *said)
{
    GQuark domain;
    g_autofree char *text = error_of(words, &domain);
    ck_assert_msg(strstr(text, said) != NULL, "'%s' in: %s", said, text);
    ck_assert_uint_eq(domain, G_OPTION_ERROR);
}

START_TEST(a_description)
{
    static const char *const from[] = {"eth0,eth1", "eth0", NULL};
    BbMirrorWords words = {.from = from,
                           .to_erspan = "2001:DB8:0::7",
                           .local = "2001:db8::8",
                           .id = "1023",
                           .session = "3",
                           .direction = "egress"};
    g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
    ck_assert_ptr_nonnull(mirror);
    ck_assert_uint_eq(g_strv_length(mirror->from), 2);
    ck_assert_str_eq(mirror->from[1], "eth1");
    ck_assert_int_eq(mirror->direction, BB_MIRROR_EGRESS);
    ck_assert_int_eq(mirror->target, BB_MIRROR_TO_ERSPAN);
    ck_assert_str_eq(mirror->to, "2001:db8::7");
    ck_assert_str_eq(mirror->local, "2001:db8::8");
    ck_assert(mirror->is_ipv6 && mirror->has_id);
    ck_assert_uint_eq(mirror->id, 1023);
    ck_assert_uint_eq(mirror->session, 3);
}
END_TEST

START_TEST(what_nobody_said)
{
    static const char *const from[] = {"eth0", NULL};
    BbMirrorWords words = words_of(from, "eth9");
    g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
    ck_assert_int_eq(mirror->direction, BB_MIRROR_BOTH);
    ck_assert(!mirror->has_id && !mirror->local && !mirror->is_ipv6);
    ck_assert_uint_eq(mirror->session, 1);
}
END_TEST

// Nothing that a shell or a switch takes for more than a name, and no option.
START_TEST(names)
{
    static const char *const bad[] = {"a b", "a;b", "$(x)", "-x", "a\nb", "a\"b",
                                      "a'b", "a`b", "a|b",  "é",  "a,,b"};
    static const char *const good[] = {
        "e", "GigabitEthernet1/0/1", "ge-0/0/1.0", "eni-0a", "br0", "eth0:1", "arn:aws:x/y", "a@b"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *const from[] = {bad[i], NULL};
        BbMirrorWords words = words_of(from, "eth9");
        check_usage(&words, "is no name of an interface");
    }
    for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
        const char *const from[] = {good[i], NULL};
        BbMirrorWords words = words_of(from, "eth9");
        g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
        ck_assert_msg(mirror != NULL, "%s", good[i]);
    }
    check_usage(&(BbMirrorWords){.from = (const char *const[]){"", NULL}, .to = "eth9"},
                "which interfaces?");
    g_autofree char *much = g_strnfill(BB_MIRROR_NAME_MAX + 1, 'x');
    const char *const from[] = {much, NULL};
    BbMirrorWords words = words_of(from, "eth9");
    check_usage(&words, "is no name of an interface");
}
END_TEST

START_TEST(too_many_interfaces)
{
    g_autoptr(GString) list = g_string_new("eth0");
    for (guint i = 1; i < BB_MIRROR_FROM_MAX; i++)
        g_string_append_printf(list, ",eth%u", i);
    const char *from[] = {list->str, NULL};
    BbMirrorWords words = words_of(from, "to");
    g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
    ck_assert_uint_eq(g_strv_length(mirror->from), BB_MIRROR_FROM_MAX);
    g_string_append(list, ",more");
    from[0] = list->str;
    words.from = from;
    check_usage(&words, "more than 128 interfaces");
}
END_TEST

START_TEST(what_is_no_description)
{
    static const char *const from[] = {"eth0", NULL};
    const struct {
        BbMirrorWords words;
        const char *said;
    } cases[] = {
        {{.to = "eth9"}, "which interfaces?"},
        {{.from = from}, "where to?"},
        {{.from = from, .to = "a", .to_gre = "10.0.0.1"}, "where to?"},
        {{.from = from, .to_gre = "10.0.0.1", .to_vxlan = "10.0.0.1"}, "where to?"},
        {{.from = from, .to = "eth9", .direction = "in"}, "not 'in'"},
        {{.from = from, .to = "eth9", .local = "10.0.0.1"}, "--local is where a tunnel"},
        {{.from = from, .to_gre = "10.0.0"}, "'10.0.0' is no IPv4 or IPv6 address"},
        {{.from = from, .to_gre = "host"}, "'host' is no IPv4"},
        {{.from = from, .to_gre = "0.0.0.0"}, "of another host"},
        {{.from = from, .to_gre = "::1"}, "of another host"},
        {{.from = from, .to_gre = "10.0.0.1", .local = "x"}, "--local: 'x' is no"},
        {{.from = from, .to_gre = "10.0.0.1", .local = "fd00::1"}, "of one family"},
        {{.from = from, .to_gre = "10.0.0.1", .local = "10.0.0.1"}, "cannot go from 10.0.0.1"},
        {{.from = from, .to_vxlan = "10.0.0.1", .id = "0"}, "from 1 to 16777215, not '0'"},
        {{.from = from, .to_vxlan = "10.0.0.1", .id = "16777216"}, "not '16777216'"},
        {{.from = from, .to_erspan = "10.0.0.1", .id = "1024"}, "from 1 to 1023"},
        {{.from = from, .to_gre = "10.0.0.1", .id = "4294967296"}, "from 1 to 4294967295"},
        {{.from = from, .to_gre = "10.0.0.1", .id = "-1"}, "not '-1'"},
        {{.from = from, .to = "eth9", .session = "x"}, "--session is a number"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        check_usage(&cases[i].words, cases[i].said);
}
END_TEST

START_TEST(addresses)
{
    bool is_ipv6 = false;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = bb_mirror_parse_address("--to-gre", "2001:DB8::00:1", &is_ipv6, &error);
    ck_assert_str_eq(text, "2001:db8::1");
    ck_assert(is_ipv6);
    ck_assert_ptr_null(bb_mirror_parse_address("--to-gre", "10.0.0", &is_ipv6, &error));
    ck_assert(g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE));
    ck_assert_ptr_nonnull(strstr(error->message, "--to-gre"));
}
END_TEST

START_TEST(to_itself)
{
    static const char *const from[] = {"eth0", "eth1", NULL};
    GQuark domain;
    BbMirrorWords words = words_of(from, "eth1");
    g_autofree char *text = error_of(&words, &domain);
    ck_assert_msg(g_str_has_prefix(text, "eth1 cannot be mirrored to itself"), "%s", text);
    ck_assert_uint_eq(domain, G_IO_ERROR);
}
END_TEST

// ---- vendors -----------------------------------------------------------------------------------

typedef struct Case {
    const char *idea, *from;
    BbMirrorWords words;
} Case;

#define ENI "eni-0123456789abcdef0"
#define AZURE "/subscriptions/s-1/resourceGroups/shop/providers/Microsoft.Network"

// What every vendor is asked; names as it calls its interfaces are put in place of these.
static const Case cases[] = {
    {"two interfaces to a third, both directions", "FROM1,FROM2", {.to = "TO"}},
    {"what one receives", "FROM1", {.to = "TO", .direction = "ingress"}},
    {"what one sends", "FROM1", {.to = "TO", .direction = "egress"}},
    {"with an id, to an interface", "FROM1", {.to = "TO", .id = "5"}},
    {"to a collector, ERSPAN",
     "FROM1,FROM2",
     {.to_erspan = "10.0.0.9", .local = "10.0.0.1", .id = "101", .direction = "ingress"}},
    {"ERSPAN, nothing said", "FROM1", {.to_erspan = "10.0.0.9"}},
    {"ERSPAN over IPv6", "FROM1", {.to_erspan = "fd00::9", .local = "fd00::1"}},
    {"to a collector, GRE", "FROM1", {.to_gre = "10.0.0.9", .local = "10.0.0.1"}},
    {"GRE, nothing said", "FROM1", {.to_gre = "10.0.0.9"}},
    {"GRE with a key", "FROM1", {.to_gre = "10.0.0.9", .local = "10.0.0.1", .id = "7"}},
    {"GRE over IPv6", "FROM1", {.to_gre = "fd00::9", .local = "fd00::1"}},
    {"to a collector, VXLAN", "FROM1", {.to_vxlan = "10.0.0.9", .id = "5000"}},
    {"VXLAN over IPv6", "FROM1", {.to_vxlan = "fd00::9", .direction = "egress"}},
    {"the seventh session", "FROM1", {.to = "TO", .session = "7"}},
    {"a session that may be none", "FROM1", {.to = "TO", .session = "32766"}},
    {"interfaces of others", "x", {.to = "y"}},
};

static const struct {
    const char *vendor, *from1, *from2, *to;
} names_of[] = {
    {"arista", "Ethernet1", "Ethernet2", "Ethernet48"},
    {"aws", ENI, "eni-0fedcba9876543210", "eni-00000000000000009"},
    {"azure", AZURE "/networkInterfaces/web", AZURE "/networkInterfaces/db",
     AZURE "/networkInterfaces/collector/ipConfigurations/ipconfig1"},
    {"cisco-ios", "GigabitEthernet1/0/1", "GigabitEthernet1/0/2", "GigabitEthernet1/0/48"},
    {"cisco-nxos", "ethernet1/1", "ethernet1/2", "ethernet1/48"},
    {"juniper", "ge-0/0/1.0", "ge-0/0/2.0", "ge-0/0/47.0"},
    {"linux", "eth0", "eth1", "eth9"},
    {"ovs", "eth0", "tap1", "eth9"},
};

static char *with_names(const char *text, guint vendor)
{
    GString *out = g_string_new(text);
    g_string_replace(out, "FROM1", names_of[vendor].from1, 0);
    g_string_replace(out, "FROM2", names_of[vendor].from2, 0);
    g_string_replace(out, "TO", names_of[vendor].to, 0);
    return g_string_free(out, FALSE);
}

static void append_case(const Case *test, guint which, const BbMirrorVendor *vendor, GString *out)
{
    g_autofree char *from = with_names(test->from, which);
    g_autofree char *to = test->words.to ? with_names(test->words.to, which) : NULL;
    const char *const list[] = {from, NULL};
    BbMirrorWords words = test->words;
    words.from = list;
    words.to = to;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbMirror) mirror = bb_mirror_new(&words, &error);
    ck_assert_msg(mirror != NULL, "%s", error ? error->message : "no reason");
    g_autofree char *text = bb_mirror_plan_vendor(mirror, vendor, &error);
    ck_assert_int_eq(text == NULL, error != NULL);
    g_string_append_printf(out, "---- %s\n%s%s%s", test->idea,
                           text ? text : "refused: ", error ? error->message : "",
                           error ? "\n" : "");
}

START_TEST(golden)
{
    for (guint i = 0; i < G_N_ELEMENTS(names_of); i++) {
        const BbMirrorVendor *vendor = bb_mirror_find_vendor(names_of[i].vendor, NULL);
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *file = g_strdup_printf("mirror/%s.txt", names_of[i].vendor);
        for (gsize j = 0; j < G_N_ELEMENTS(cases); j++)
            append_case(&cases[j], i, vendor, out);
        golden_check(file, out->str, out->len);
    }
}
END_TEST

START_TEST(all_vendors_are_tested)
{
    guint count = 0;
    for (; bb_mirror_vendors[count]; count++)
        ck_assert_str_eq(bb_mirror_vendors[count]->name, names_of[count].vendor);
    ck_assert_uint_eq(count, G_N_ELEMENTS(names_of));
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_mirror_find_vendor("nobody", &error));
    ck_assert_str_eq(error->message, "--vendor is arista, aws, azure, cisco-ios, cisco-nxos, "
                                     "juniper, linux or ovs, not 'nobody'");
}
END_TEST

// The ids of Azure that are none of what they should be, and the three kinds of targets of AWS.
START_TEST(names_of_clouds)
{
    static const struct {
        const char *vendor, *from, *to, *said;
    } tests[] = {
        {"azure", AZURE "/networkInterfaces/", AZURE "/networkInterfaces/c/ipConfigurations/i",
         "--from takes ids"},
        {"azure", AZURE "/virtualMachines/web", AZURE "/networkInterfaces/c/ipConfigurations/i",
         "--from takes ids"},
        {"azure", AZURE "/networkInterfaces/web", AZURE "/networkInterfaces/c",
         "--to takes the id"},
        {"aws", "eth0", "eni-2", "--from takes network interfaces"},
        {"aws", "eni-1", "10.0.0.1", "--to takes eni-"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
        const char *const from[] = {tests[i].from, NULL};
        BbMirrorWords words = words_of(from, tests[i].to);
        g_autoptr(GError) error = NULL;
        g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
        const BbMirrorVendor *vendor = bb_mirror_find_vendor(tests[i].vendor, NULL);
        ck_assert_ptr_null(bb_mirror_plan_vendor(mirror, vendor, &error));
        ck_assert_msg(strstr(error->message, tests[i].said) != NULL, "%s", error->message);
    }
    static const char *const targets[][2] = {
        {"eni-2", "--network-interface-id eni-2"},
        {"vpce-3", "--gateway-load-balancer-endpoint-id vpce-3"},
        {"arn:aws:elasticloadbalancing:x:1:loadbalancer/net/n/1",
         "--network-load-balancer-arn arn:aws"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(targets); i++) {
        static const char *const from[] = {"eni-1", NULL};
        BbMirrorWords words = words_of(from, targets[i][0]);
        g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
        g_autofree char *text = bb_mirror_plan_vendor(mirror, &bb_mirror_aws, NULL);
        ck_assert_ptr_nonnull(strstr(text, targets[i][1]));
    }
}
END_TEST

TEST_MAIN("mirror", a_description, what_nobody_said, names, too_many_interfaces,
          what_is_no_description, addresses, to_itself, golden, all_vendors_are_tested,
          names_of_clouds)
