// SPDX-License-Identifier: Apache-2.0
// Hosts of mail headers: one form for each, and which kinds are of use.
#include "merge/mail_host.h"
#include "tests/unit/test.h"

#include <string.h>

static BbMailHost read_host(const char *text)
{
    g_autofree char *exact = g_memdup2(text, strlen(text) + 1);
    return bb_mail_host_read(exact, strlen(text));
}

START_TEST(kinds_and_forms)
{
    static const struct {
        const char *text;
        BbMailHostKind kind;
        const char *form;
    } hosts[] = {
        {"Mail.Example.ORG", BB_MAIL_HOST_NAME, "mail.example.org"},
        {"mail.example.org.", BB_MAIL_HOST_NAME, "mail.example.org"},
        {"mail.example.org,", BB_MAIL_HOST_NAME, "mail.example.org"},
        {"user@mail.example.org", BB_MAIL_HOST_NAME, "mail.example.org"},
        {"a_b.example.x2y", BB_MAIL_HOST_NAME, "a_b.example.x2y"},
        {"192.0.2.1", BB_MAIL_HOST_ADDRESS, "192.0.2.1"},
        {"[192.0.2.1]", BB_MAIL_HOST_ADDRESS, "192.0.2.1"},
        {"[192.0.2.1]:2525", BB_MAIL_HOST_ADDRESS, "192.0.2.1"},
        {"[192.0.2.1", BB_MAIL_HOST_ADDRESS, "192.0.2.1"},
        {"user@[192.0.2.1]", BB_MAIL_HOST_ADDRESS, "192.0.2.1"},
        {"[::ffff:192.0.2.1]", BB_MAIL_HOST_ADDRESS, "192.0.2.1"},
        {"[IPv6:2001:DB8:0::9]", BB_MAIL_HOST_ADDRESS, "2001:db8::9"},
        {"ipv6:2001:db8::", BB_MAIL_HOST_ADDRESS, "2001:db8::"},
        {"10.1.2.3", BB_MAIL_HOST_PRIVATE, "10.1.2.3"},
        {"172.16.0.1", BB_MAIL_HOST_PRIVATE, "172.16.0.1"},
        {"172.31.255.255", BB_MAIL_HOST_PRIVATE, "172.31.255.255"},
        {"172.32.0.1", BB_MAIL_HOST_ADDRESS, "172.32.0.1"},
        {"192.168.1.1", BB_MAIL_HOST_PRIVATE, "192.168.1.1"},
        {"169.254.1.1", BB_MAIL_HOST_PRIVATE, "169.254.1.1"},
        {"100.127.0.1", BB_MAIL_HOST_PRIVATE, "100.127.0.1"},
        {"100.128.0.1", BB_MAIL_HOST_ADDRESS, "100.128.0.1"},
        {"fd00::1", BB_MAIL_HOST_PRIVATE, "fd00::1"},
        {"fe80::1", BB_MAIL_HOST_PRIVATE, "fe80::1"},
        {"127.0.0.1", BB_MAIL_HOST_LOCAL, "127.0.0.1"},
        {"127.9.9.9", BB_MAIL_HOST_LOCAL, "127.9.9.9"},
        {"[::1]", BB_MAIL_HOST_LOCAL, "::1"},
        {"localhost", BB_MAIL_HOST_LOCAL, "localhost"},
        {"LOCALHOST.localdomain", BB_MAIL_HOST_LOCAL, "localhost.localdomain"},
        {"box.localdomain", BB_MAIL_HOST_LOCAL, "box.localdomain"},
        {"0.0.0.0", BB_MAIL_HOST_NONE, ""},
        {"255.255.255.255", BB_MAIL_HOST_NONE, ""},
        {"::", BB_MAIL_HOST_NONE, ""},
        {"ff02::1", BB_MAIL_HOST_NONE, ""},
        {"unknown", BB_MAIL_HOST_NONE, ""},
        {"Unknown", BB_MAIL_HOST_NONE, ""},
        {"", BB_MAIL_HOST_NONE, ""},
        {".", BB_MAIL_HOST_NONE, ""},
        {"[]", BB_MAIL_HOST_NONE, ""},
        {"[", BB_MAIL_HOST_NONE, ""},
        {"user@", BB_MAIL_HOST_NONE, ""},
        {"phobos", BB_MAIL_HOST_SHORT, "phobos"},
        {"0", BB_MAIL_HOST_ODD, ""},
        {"5.06.0016", BB_MAIL_HOST_ODD, ""},
        {"300.1.1.1", BB_MAIL_HOST_ODD, ""},
        {"a..b", BB_MAIL_HOST_ODD, ""},
        {".example.org", BB_MAIL_HOST_ODD, ""},
        {"what?.example.org", BB_MAIL_HOST_ODD, ""},
        {"SRV0/SpoolDir", BB_MAIL_HOST_ODD, ""},
        {"m\xc3\xbcll.example.org", BB_MAIL_HOST_ODD, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(hosts); i++) {
        BbMailHost host = read_host(hosts[i].text);
        ck_assert_msg(host.kind == hosts[i].kind, "%s: %d", hosts[i].text, (int)host.kind);
        ck_assert_msg(strcmp(host.text, hosts[i].form) == 0, "%s: %s", hosts[i].text, host.text);
    }
}
END_TEST

START_TEST(addresses_are_told_from_names)
{
    static const char *const addresses[] = {"127.0.0.1", "::1", "10.0.0.1", "192.0.2.1", "fe80::1"};
    static const char *const others[] = {"localhost", "unknown", "a.example.org", "short", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(addresses); i++) {
        BbMailHost address = read_host(addresses[i]), other = read_host(others[i]);
        ck_assert_msg(bb_mail_host_is_address(&address), "%s", addresses[i]);
        ck_assert_msg(!bb_mail_host_is_address(&other), "%s", others[i]);
    }
}
END_TEST

START_TEST(lengths)
{
    g_autofree char *label = g_strnfill(63, 'a');
    g_autofree char *longest = g_strdup_printf("%s.%s.%s.%.61s", label, label, label, label);
    g_autofree char *longer = g_strdup_printf("%sa", longest);
    g_autofree char *wide = g_strdup_printf("a%s.example.org", label);
    g_autofree char *huge = g_strnfill(100000, '.');
    ck_assert_uint_eq(strlen(longest), 253);
    ck_assert_int_eq(read_host(longest).kind, BB_MAIL_HOST_NAME);
    ck_assert_int_eq(read_host(longer).kind, BB_MAIL_HOST_ODD);
    ck_assert_int_eq(read_host(wide).kind, BB_MAIL_HOST_ODD);
    ck_assert_int_eq(read_host(huge).kind, BB_MAIL_HOST_NONE);
    ck_assert_int_eq(bb_mail_host_read("a.b\0c.d", 7).kind, BB_MAIL_HOST_ODD);
}
END_TEST

TEST_MAIN("mail_host", kinds_and_forms, addresses_are_told_from_names, lengths)
