// SPDX-License-Identifier: Apache-2.0
// Counters: sums by name, in order of first use.
#include "data/counters.h"
#include "tests/unit/test.h"

START_TEST(sums_in_order_of_first_use)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    char name[] = "tcp.gaps";
    bb_counters_add(counters, name, 2);
    name[0] = 'x'; // the name was copied
    bb_counters_add(counters, "ip.bad_checksum", 0);
    bb_counters_add(counters, "tcp.gaps", 40);
    ck_assert_uint_eq(bb_counters_count(counters), 2);
    ck_assert_str_eq(bb_counters_name(counters, 0), "tcp.gaps");
    ck_assert_uint_eq(bb_counters_value(counters, 0), 42);
    ck_assert_str_eq(bb_counters_name(counters, 1), "ip.bad_checksum");
    ck_assert_uint_eq(bb_counters_value(counters, 1), 0);
    ck_assert_uint_eq(bb_counters_get(counters, "tcp.gaps"), 42);
    ck_assert_uint_eq(bb_counters_get(counters, "never"), 0);
    ck_assert_uint_eq(bb_counters_count(counters), 2);
}
END_TEST

START_TEST(saturates)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    bb_counters_add(counters, "a", G_MAXUINT64 - 1);
    bb_counters_add(counters, "a", 1);
    ck_assert_uint_eq(bb_counters_get(counters, "a"), G_MAXUINT64);
    bb_counters_add(counters, "a", 1);
    ck_assert_uint_eq(bb_counters_get(counters, "a"), G_MAXUINT64);
}
END_TEST

START_TEST(merges)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    g_autoptr(BbCounters) other = bb_counters_new();
    bb_counters_add(counters, "b", 1);
    bb_counters_add(other, "a", 10);
    bb_counters_add(other, "b", 20);
    bb_counters_merge(counters, other);
    ck_assert_str_eq(bb_counters_name(counters, 0), "b");
    ck_assert_uint_eq(bb_counters_get(counters, "b"), 21);
    ck_assert_uint_eq(bb_counters_get(counters, "a"), 10);
    ck_assert_uint_eq(bb_counters_get(other, "b"), 20);
    bb_counters_merge(counters, counters);
    ck_assert_uint_eq(bb_counters_get(counters, "b"), 42);
}
END_TEST

START_TEST(many)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    for (int round = 0; round < 2; round++) {
        for (guint i = 0; i < 1000; i++) {
            g_autofree char *name = g_strdup_printf("n%u", i);
            bb_counters_add(counters, name, i);
        }
    }
    ck_assert_uint_eq(bb_counters_count(counters), 1000);
    ck_assert_uint_eq(bb_counters_get(counters, "n999"), 1998);
    ck_assert_str_eq(bb_counters_name(counters, 500), "n500");
}
END_TEST

TEST_MAIN("counters", sums_in_order_of_first_use, saturates, merges, many)
