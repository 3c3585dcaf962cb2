// SPDX-License-Identifier: Apache-2.0
// Which addresses are nobody's, this host's own, or those of a group.
#include "data/address.h"
#include "tests/unit/test.h"

static const struct {
    const char *text;
    bool any, loopback, group, host;
} kinds[] = {
    {"0.0.0.0", true, false, false, false},
    {"0.0.0.1", false, false, false, false}, // 0/8
    {"0.255.255.255", false, false, false, false},
    {"1.0.0.0", false, false, false, true},
    {"10.0.0.1", false, false, false, true},
    {"126.255.255.255", false, false, false, true},
    {"127.0.0.0", false, true, false, true},
    {"127.255.255.255", false, true, false, true},
    {"128.0.0.0", false, false, false, true},
    {"223.255.255.255", false, false, false, true},
    {"224.0.0.0", false, false, true, false},
    {"239.255.255.255", false, false, true, false},
    {"240.0.0.0", false, false, true, false},
    {"255.255.255.255", false, false, true, false},
    {"::", true, false, false, false},
    {"::1", false, true, false, true},
    {"::2", false, false, false, true},
    {"1::1", false, false, false, true},
    {"2001:db8::1", false, false, false, true},
    {"::7f00:1", false, false, false, true}, // neither 127.0.0.1 nor ::1
    {"fe80::1", false, false, false, true},
    {"feff:ffff::", false, false, false, true},
    {"ff00::", false, false, true, false},
    {"ff02::1", false, false, true, false},
};

START_TEST(kinds_of_addresses)
{
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        BbAddress address;
        ck_assert(bb_address_parse(kinds[i].text, &address));
        ck_assert_msg(bb_address_is_any(&address) == kinds[i].any, "%s", kinds[i].text);
        ck_assert_msg(bb_address_is_loopback(&address) == kinds[i].loopback, "%s", kinds[i].text);
        ck_assert_msg(bb_address_is_group(&address) == kinds[i].group, "%s", kinds[i].text);
        ck_assert_msg(bb_address_is_host(&address) == kinds[i].host, "%s", kinds[i].text);
    }
}
END_TEST

START_TEST(any_address_of_both_families)
{
    BbAddress v4, v6;
    ck_assert(bb_address_parse("0.0.0.0", &v4) && bb_address_parse("::", &v6));
    ck_assert(bb_address_equal(&v4, &bb_address_any_v4));
    ck_assert(bb_address_equal(&v6, &bb_address_any_v6));
}
END_TEST

TEST_MAIN("address", kinds_of_addresses, any_address_of_both_families)
