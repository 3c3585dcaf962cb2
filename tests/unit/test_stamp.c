// SPDX-License-Identifier: Apache-2.0
// Times of foreign records: every unit, every refusal.
#include "data/stamp.h"

#include <string.h>

#include "tests/unit/test.h"

static void assert_time(const char *text, BbStampUnit unit, gint64 wanted_ns)
{
    gint64 time_ns = -1;
    const char *reason = bb_stamp_parse(text, unit, &time_ns);
    ck_assert_msg(!reason, "%s: %s", text, reason);
    ck_assert_int_eq(time_ns, wanted_ns);
}

START_TEST(numbers_have_units)
{
    assert_time("1047680084", BB_STAMP_S, 1047680084000000000);
    assert_time("1047680084.482205", BB_STAMP_S, 1047680084482205000);
    assert_time("1047680084.482205123", BB_STAMP_ANY, 1047680084482205123);
    assert_time("1047680084.4822051239", BB_STAMP_S, 1047680084482205123); // cut, not rounded
    assert_time("1047680084482.25", BB_STAMP_MS, 1047680084482250000);
    assert_time("1047680084482205.5", BB_STAMP_US, 1047680084482205500);
    assert_time("1047680084482205.5999", BB_STAMP_US, 1047680084482205599);
    assert_time("1047680084482205123", BB_STAMP_NS, 1047680084482205123);
    assert_time("7.9", BB_STAMP_NS, 7);
    assert_time("9223372036854775807", BB_STAMP_NS, G_MAXINT64);
    assert_time("9223372036.854775807", BB_STAMP_S, G_MAXINT64);
    assert_time("0", BB_STAMP_ANY, 0);
}
END_TEST

START_TEST(iso_8601)
{
    assert_time("2003-03-14T22:14:44Z", BB_STAMP_ISO, 1047680084000000000);
    assert_time("2003-03-14T22:14:44.482205123Z", BB_STAMP_ANY, 1047680084482205123);
    assert_time("2003-03-14 22:14:44,5", BB_STAMP_ANY, 1047680084500000000); // UTC without zone
    assert_time("2003-03-15T00:14:44.5+02:00", BB_STAMP_ISO, 1047680084500000000);
    assert_time("20030314T221444Z", BB_STAMP_ISO, 1047680084000000000);
    assert_time("1970-01-01T00:00:00Z", BB_STAMP_ISO, 0);
    assert_time("2003-03-14 22:14:44.482 UTC", BB_STAMP_ANY, 1047680084482000000);
    assert_time("2003-03-14T22:14:44z", BB_STAMP_ANY, 1047680084000000000);
    assert_time("2003-03-14T22:14", BB_STAMP_ANY, 1047680040000000000);
    assert_time("2003-03-15T00:14+02:00", BB_STAMP_ANY, 1047680040000000000);
    assert_time("2003-03-14 22:14 UTC", BB_STAMP_ANY, 1047680040000000000);
    assert_time("2003-03-14", BB_STAMP_ANY, 1047600000000000000);
}
END_TEST

START_TEST(what_is_no_time)
{
    static const struct {
        const char *text;
        BbStampUnit unit;
        const char *reason;
    } cases[] = {
        {"-1", BB_STAMP_S, "negative"},
        {"-0.5", BB_STAMP_MS, "negative"},
        {"1e9", BB_STAMP_S, "no decimal number"},
        {"12s", BB_STAMP_S, "no decimal number"},
        {".5", BB_STAMP_S, "no decimal number"},
        {"1.2.3", BB_STAMP_ANY, "no decimal number"},
        {" 1", BB_STAMP_NS, "no decimal number"},
        {"2003-03-14T22:14:44Z", BB_STAMP_S, "no decimal number"},
        {"9223372037", BB_STAMP_S, "after the year 2262"},
        {"9223372036.854775808", BB_STAMP_S, "after the year 2262"},
        {"9223372036854775808", BB_STAMP_NS, "after the year 2262"},
        {"99999999999999999999999", BB_STAMP_NS, "after the year 2262"},
        {"1047680084482205123", BB_STAMP_MS, "after the year 2262"},
        {"2300-01-01T00:00:00Z", BB_STAMP_ISO, "after the year 2262"},
        {"1969-12-31T23:59:59Z", BB_STAMP_ISO, "before 1970"},
        {"2003-02-30T22:14:44Z", BB_STAMP_ISO, "not of ISO 8601"},
        {"yesterday", BB_STAMP_ANY, "not of ISO 8601"},
        {"2003-03-14T22:14:44.5.5Z", BB_STAMP_ISO, "not of ISO 8601"},
        {"2003-03-14T22:14:44.0000000000000000000000000000000000000000000000Z", BB_STAMP_ISO,
         "longer"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 time_ns = 0;
        const char *reason = bb_stamp_parse(cases[i].text, cases[i].unit, &time_ns);
        ck_assert_msg(reason && strstr(reason, cases[i].reason), "%s: %s", cases[i].text,
                      reason ? reason : "taken");
    }
}
END_TEST

START_TEST(words_of_units)
{
    static const char *const words[] = {"s", "ms", "us", "ns", "iso"};
    BbStampUnit unit = BB_STAMP_ANY;
    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        ck_assert(bb_stamp_unit_find(words[i], &unit));
        ck_assert_int_eq(unit, BB_STAMP_S + (int)i);
    }
    ck_assert(!bb_stamp_unit_find("min", &unit));
    ck_assert(!bb_stamp_unit_find("", &unit));
}
END_TEST

TEST_MAIN("stamp", numbers_have_units, iso_8601, what_is_no_time, words_of_units)
