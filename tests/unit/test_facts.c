// SPDX-License-Identifier: Apache-2.0
// Facts of parts of a trace add up.
#include "data/facts.h"

#include "tests/unit/test.h"

START_TEST(everything_adds_up)
{
    BbFacts sum = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1.5, 100, 200};
    const BbFacts part = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 7, 2.5, 50, 150};
    bb_facts_add(&sum, &part);
    const BbFacts wanted = {11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121, 132, 13, 2.5, 50, 200};
    ck_assert_mem_eq(&sum, &wanted, sizeof sum);
}
END_TEST

START_TEST(times_are_those_of_all)
{
    BbFacts sum = BB_FACTS_EMPTY;
    const BbFacts empty = BB_FACTS_EMPTY, first = {.start_ns = -5, .end_ns = -5};
    bb_facts_add(&sum, &empty);
    ck_assert_int_eq(sum.start_ns, BB_TIME_NONE);
    ck_assert_int_eq(sum.end_ns, BB_TIME_NONE);
    bb_facts_add(&sum, &first);
    ck_assert_int_eq(sum.start_ns, -5);
    ck_assert_int_eq(sum.end_ns, -5);
    bb_facts_add(&sum, &empty);
    ck_assert_int_eq(sum.start_ns, -5);
    const BbFacts later = {.start_ns = 3, .end_ns = 9};
    bb_facts_add(&sum, &later);
    ck_assert_int_eq(sum.start_ns, -5);
    ck_assert_int_eq(sum.end_ns, 9);
}
END_TEST

TEST_MAIN("facts", everything_adds_up, times_are_those_of_all)
