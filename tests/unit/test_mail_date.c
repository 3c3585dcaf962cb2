// SPDX-License-Identifier: Apache-2.0
// Dates of mail: what RFC 5322 has, what it had once, what servers write; and what is no date.
#include "merge/mail_date.h"
#include "tests/unit/test.h"

#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NOON G_GINT64_CONSTANT(1030017600) // Thu, 22 Aug 2002 12:00:00 UTC

static BbMailDate read_date(const char *text, gint64 *time_ns)
{
    g_autofree char *exact = g_memdup2(text, strlen(text) + 1); // so that a sanitizer sees its end
    *time_ns = -1;
    return bb_mail_date_read(exact, strlen(text), time_ns);
}

static void assert_date(const char *text, BbMailDate date, gint64 seconds)
{
    gint64 time_ns = 0;
    ck_assert_msg(read_date(text, &time_ns) == date, "%s", text);
    ck_assert_msg(time_ns == seconds * NS_PER_S, "%s: %" G_GINT64_FORMAT, text, time_ns / NS_PER_S);
}

static void assert_bad(const char *text)
{
    gint64 time_ns = 0;
    ck_assert_msg(read_date(text, &time_ns) == BB_MAIL_DATE_BAD, "%s", text);
    ck_assert_int_eq(time_ns, -1);
}

START_TEST(same_moment_in_every_form)
{
    static const char *const forms[] = {
        "Thu, 22 Aug 2002 12:00:00 +0000",
        " Thu, 22 Aug 2002 08:00:00 -0400 (EDT)",
        "22 Aug 2002 12:00:00 -0000",
        "22 Aug 02 12:00:00 +0000",
        "22 Aug 102 12:00:00 +0000",
        "Thu, 22 Aug 2002 12:00 GMT",
        "Thu,22 Aug 2002 12:00:00 UT",
        "thu, 22 AUG 2002 12:00:00 z",
        "Thursday, 22 August 2002 12:00:00 +0000",
        "22-Aug-2002 12:00:00 +0000",
        "22-Aug-02 8:00 EDT",
        "Thu Aug 22 12:00:00 2002 +0000",
        "Aug, 22 2002 12:00:00 PM +0000",
        "Aug, 22 2002 3:00:00 PM +0300",
        "Thu, 22 Aug 2002 04:00:00 -08:00",
        "Thu, 22 Aug 2002 13:00:00 +100",
        "Thu, 22 Aug 2002 14:00:00 CEST",
        "Thu, 22 Aug 2002 13:00:00 BST",
        "Thu, 22 Aug 2002 07:00:00 EST",
        "Thu, 22 Aug 2002 21:00:00 JST",
        "Thu, 22 (the (nested) day) Aug 2002 12:00:00 (noon) +0000 (UTC) (again)",
        "Thu, 22 Aug 2002 08:00:00 -0400 EDT",
        "Thu, 22 Aug 2002 08:00:00 -0400 (EDT)]",
        "Fri, 22 Aug 2002 12:00:00 +0000", // the name of the day is not asked
        "Thu, 22 Aug 2002 12:00:00+0000",
        "(Scanned by a filter)22 Aug 2002 12:00:00 -0000",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++)
        assert_date(forms[i], BB_MAIL_DATE_GOOD, NOON);
}
END_TEST

START_TEST(unclear_zones_are_utc_and_told)
{
    static const char *const forms[] = {
        "Thu, 22 Aug 2002 12:00:00",       "Thu, 22 Aug 2002 12:00:00 IST",
        "Thu, 22 Aug 2002 12:00:00 XYZZY", "Thu, 22 Aug 2002 12:00:00 A",
        "Thu, 22 Aug 2002 12:00:00 0200",  "Thu, 22 Aug 2002 12:00:00 (CEST)",
        "Thu Aug 22 12:00:00 2002",        "Thu, 22 Aug 2002 12:00:00 PDTX",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++)
        assert_date(forms[i], BB_MAIL_DATE_ZONE, NOON);
}
END_TEST

START_TEST(limits_of_each_field)
{
    assert_date("1 Jan 1970 00:00:00 +0000", BB_MAIL_DATE_GOOD, 0);
    assert_date("31 Dec 2261 23:59:59 +0000", BB_MAIL_DATE_GOOD, G_GINT64_CONSTANT(9214646399));
    assert_date("29 Feb 2000 00:00:00 +0000", BB_MAIL_DATE_GOOD, 951782400);
    assert_date("31 Dec 1998 23:59:60 +0000", BB_MAIL_DATE_GOOD, 915148800);
    assert_date("1 Jan 49 00:00:00 +0000", BB_MAIL_DATE_GOOD, G_GINT64_CONSTANT(2493072000));
    assert_date("1 Jan 99 00:00:00 +0000", BB_MAIL_DATE_GOOD, 915148800);
    assert_date("22 Aug 2002 12:00:00 AM +0000", BB_MAIL_DATE_GOOD, NOON - 43200);
    assert_date("22 Aug 2002 12:00:00 +2359", BB_MAIL_DATE_GOOD, NOON - 86340);
}
END_TEST

START_TEST(fractions)
{
    gint64 time_ns = 0;
    ck_assert(read_date("22 Aug 2002 12:00:00.25 +0000", &time_ns) == BB_MAIL_DATE_GOOD);
    ck_assert_int_eq(time_ns, NOON * NS_PER_S + 250000000);
    ck_assert(read_date("22 Aug 2002 12:00:00.1234567899 +0000", &time_ns) == BB_MAIL_DATE_GOOD);
    ck_assert_int_eq(time_ns, NOON * NS_PER_S + 123456789);
}
END_TEST

START_TEST(no_dates)
{
    static const char *const forms[] = {
        "",
        "   ",
        "(comment)",
        "id XA00251",
        "22/08/2002 10:25:57",
        "2002-08-22T12:00:00Z",
        "29 Feb 2001 00:00:00 +0000",
        "31 Apr 2002 00:00:00 +0000",
        "0 Jan 2002 00:00:00 +0000",
        "32 Jan 2002 00:00:00 +0000",
        "22 Aug 2002 24:00:00 +0000",
        "22 Aug 2002 12:60:00 +0000",
        "22 Aug 2002 12:00:61 +0000",
        "22 Aug 2002 12:00:0",
        "22 Aug 2002 12:",
        "22 Aug 2002 12:00:00 +-0500",
        "22 Aug 2002 12:00:00 +2400",
        "22 Aug 2002 12:00:00 +0060",
        "22 Aug 2002 12:00:00 +1",
        "22 Aug 2002 12:00:00 +99999",
        "22 Aug 2002 12:00:00 +05:0",
        "22 Aug 2002 12:00:00 +",
        "22 Aug 0102 12:00:00 +0000",
        "22 Aug 1969 12:00:00 +0000",
        "1 Jan 1970 00:00:00 +0100",
        "22 Aug 2262 12:00:00 +0000",
        "22 Aug 20002 12:00:00 +0000",
        "22 Foo 2002 12:00:00 +0000",
        "22 Au 2002 12:00:00 +0000",
        "Aug 2002 12:00:00 +0000",
        "22 Aug 12:00:00 +0000",
        "22 2002 12:00:00 +0000",
        "22 Aug 2002",
        "22 Aug 2002 \xc0\x80 12:00:00",
        "1 2 3 4",
        "22 Aug 2002 99999999999999999999:00",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++)
        assert_bad(forms[i]);
}
END_TEST

TEST_MAIN("mail_date", same_moment_in_every_form, unclear_zones_are_utc_and_told,
          limits_of_each_field, fractions, no_dates)
