// SPDX-License-Identifier: Apache-2.0
// Figures for people: three digits, units, carries from one to the next.
#include "data/quantity.h"
#include "tests/unit/test.h"

static void expect_duration(gint64 ns, const char *expected)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_duration(text, ns);
    ck_assert_str_eq(text->str, expected);
}

START_TEST(durations)
{
    expect_duration(0, "0 s");
    expect_duration(1, "1 ns");
    expect_duration(999, "999 ns");
    expect_duration(1000, "1.00 us");
    expect_duration(420000, "420 us");
    expect_duration(12345678, "12.3 ms");
    expect_duration(98700000000, "98.7 s");
    expect_duration(999499999999, "999 s");
    expect_duration(1000000000000, "1,000 s");
    expect_duration(G_MAXINT64, "9,223,372,037 s");
    expect_duration(-2663, "-2.66 us");
    expect_duration(G_MININT64, "-9,223,372,037 s");
}
END_TEST

START_TEST(spans)
{
    static const struct {
        gint64 s;
        const char *text;
    } cases[] = {{50, "50.0 s"},        {3569, "3,569 s"},           {3570, "1 h 0 min"},
                 {82860, "23 h 1 min"}, {172770, "2 d 0 h"},         {172769, "47 h 59 min"},
                 {266400, "3 d 2 h"},   {86400 * 1000, "1000 d 0 h"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        bb_quantity_append_span(text, cases[i].s * 1000000000);
        ck_assert_str_eq(text->str, cases[i].text);
    }
}
END_TEST

START_TEST(rounding_carries)
{
    expect_duration(9994, "9.99 us");
    expect_duration(9995, "10.0 us");
    expect_duration(99949, "99.9 us");
    expect_duration(99950, "100 us");
    expect_duration(999499, "999 us");
    expect_duration(999500, "1.00 ms");
    expect_duration(999999999, "1.00 s");
}
END_TEST

START_TEST(counts)
{
    static const struct {
        guint64 count;
        const char *text;
    } cases[] = {{0, "0"},
                 {7, "7"},
                 {999, "999"},
                 {1000, "1,000"},
                 {123456, "123,456"},
                 {1234567, "1,234,567"},
                 {G_MAXUINT64, "18,446,744,073,709,551,615"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new("x");
        bb_quantity_append_count(text, cases[i].count);
        ck_assert_str_eq(text->str + 1, cases[i].text);
    }
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_counted(text, 1, "error");
    bb_quantity_append_counted(text, 2000, "error");
    bb_quantity_append_counted(text, 0, "error");
    ck_assert_str_eq(text->str, "1 error2,000 errors0 errors");
}
END_TEST

START_TEST(shares)
{
    static const struct {
        double share;
        const char *text;
    } cases[] = {{0, "0 %"},       {-1, "0 %"},       {0.0004, "<0.1 %"}, {0.0006, "0.1 %"},
                 {0.031, "3.1 %"}, {0.0994, "9.9 %"}, {0.0996, "10 %"},   {0.62, "62 %"},
                 {1, "100 %"},     {2.5, "250 %"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        bb_quantity_append_share(text, cases[i].share);
        ck_assert_str_eq(text->str, cases[i].text);
    }
    ck_assert(bb_quantity_share(1, 0) <= 0);
    ck_assert(bb_quantity_share(1, -5) <= 0);
    ck_assert(bb_quantity_share(1, 4) > 0.2499 && bb_quantity_share(1, 4) < 0.2501);
}
END_TEST

START_TEST(times)
{
    static const struct {
        gint64 ns;
        const char *text;
    } cases[] = {{0, "1970-01-01 00:00:00.000 UTC"},
                 {1047680084482205000, "2003-03-14 22:14:44.482 UTC"},
                 {-1, "1969-12-31 23:59:59.999 UTC"},
                 {G_MAXINT64, "2262-04-11 23:47:16.854 UTC"},
                 {G_MININT64 + 1, "1677-09-21 00:12:43.145 UTC"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        bb_quantity_append_time(text, cases[i].ns);
        ck_assert_str_eq(text->str, cases[i].text);
    }
}
END_TEST

TEST_MAIN("quantity", durations, spans, rounding_carries, counts, shares, times)
