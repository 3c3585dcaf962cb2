// SPDX-License-Identifier: Apache-2.0
// Errors by pattern, instance and call, and what is missing in the top N (paper, section 7.5.1).
#include "diagnose/mismatch.h"
#include "tests/unit/test.h"

static void check_errors(BbErrors errors, guint64 found, guint64 false_positives, guint64 real,
                         guint64 false_negatives)
{
    ck_assert_uint_eq(errors.found, found);
    ck_assert_uint_eq(errors.false_positives, false_positives);
    ck_assert_uint_eq(errors.real, real);
    ck_assert_uint_eq(errors.false_negatives, false_negatives);
}

// A->B->C->D ran twice; found were one A->B->C->D, one A->B and one C->D.
START_TEST(the_example_of_the_paper)
{
    const BbPatternPair pairs[] = {
        {.real = 2, .found = 1, .size = 3},
        {.real = 0, .found = 1, .size = 1},
        {.real = 0, .found = 1, .size = 1},
    };
    BbMismatch mismatch = bb_mismatch_of(pairs, G_N_ELEMENTS(pairs));
    check_errors(mismatch.patterns, 3, 2, 1, 0);
    check_errors(mismatch.instances, 3, 2, 2, 1);
    check_errors(mismatch.calls, 5, 2, 6, 3);
}
END_TEST

START_TEST(nothing_is_no_error)
{
    BbMismatch mismatch = bb_mismatch_of(NULL, 0);
    check_errors(mismatch.patterns, 0, 0, 0, 0);
    check_errors(mismatch.instances, 0, 0, 0, 0);
    check_errors(mismatch.calls, 0, 0, 0, 0);
    ck_assert_uint_eq(bb_omitted_of(NULL, 0, BB_OMITTED_BY_COUNT).n, 0);
}
END_TEST

static void check_missing(const BbOmitted *omitted, guint n, guint exactly, guint two, guint six)
{
    ck_assert_uint_eq(omitted->missing[n - 1][0], exactly);
    ck_assert_uint_eq(omitted->missing[n - 1][1], two);
    ck_assert_uint_eq(omitted->missing[n - 1][2], six);
}

// True order: 0 1 2 3. Found order: 0 (1000), 4 (950, false), 1 (940), 2 (900), 3 not at all.
START_TEST(missing_in_the_top)
{
    const BbPatternPair pairs[] = {
        {.real = 1000, .found = 1000, .real_ns = 1, .found_ns = 1},
        {.real = 990, .found = 940, .real_ns = 9, .found_ns = 9},
        {.real = 980, .found = 900, .real_ns = 5, .found_ns = 5},
        {.real = 10, .found = 0, .real_ns = 7, .found_ns = 0},
        {.real = 0, .found = 950, .real_ns = 0, .found_ns = 2},
    };
    BbOmitted count = bb_omitted_of(pairs, G_N_ELEMENTS(pairs), BB_OMITTED_BY_COUNT);
    ck_assert_uint_eq(count.n, 4);
    check_missing(&count, 1, 0, 0, 0);
    check_missing(&count, 2, 1, 0, 0); // 940 of 950 is 1.1 % short
    check_missing(&count, 3, 1, 1, 0); // 900 of 940 is 4.3 % short
    check_missing(&count, 4, 1, 1, 1); // what was not found is never forgiven
    BbOmitted latency = bb_omitted_of(pairs, G_N_ELEMENTS(pairs), BB_OMITTED_BY_LATENCY);
    check_missing(&latency, 1, 0, 0, 0); // 9
    check_missing(&latency, 2, 1, 1, 1); // 9 7: the latter was not found
    check_missing(&latency, 4, 1, 1, 1); // 9 7 5 1: found are 9 5 2 1
}
END_TEST

// A pattern that ties with the last of the found top N is in it.
START_TEST(ties_are_no_omission)
{
    const BbPatternPair pairs[] = {
        {.real = 5, .found = 5},
        {.real = 5, .found = 5},
        {.real = 6, .found = 5},
    };
    BbOmitted omitted = bb_omitted_of(pairs, G_N_ELEMENTS(pairs), BB_OMITTED_BY_COUNT);
    for (guint n = 1; n <= 3; n++)
        check_missing(&omitted, n, 0, 0, 0);
}
END_TEST

START_TEST(lists_have_an_end)
{
    BbPatternPair pairs[BB_OMITTED_MAX + 10];
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
        pairs[i] = (BbPatternPair){.real = 1000 - i, .found = i == 3 ? 0 : 1000 - i};
    BbOmitted omitted = bb_omitted_of(pairs, G_N_ELEMENTS(pairs), BB_OMITTED_BY_COUNT);
    ck_assert_uint_eq(omitted.n, BB_OMITTED_MAX);
    check_missing(&omitted, 3, 0, 0, 0);
    check_missing(&omitted, BB_OMITTED_MAX, 1, 1, 1);
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
        pairs[i].found = 0; // no found list at all
    omitted = bb_omitted_of(pairs, G_N_ELEMENTS(pairs), BB_OMITTED_BY_COUNT);
    check_missing(&omitted, 7, 7, 7, 7);
}
END_TEST

TEST_MAIN("mismatch", the_example_of_the_paper, nothing_is_no_error, missing_in_the_top,
          ties_are_no_omission, lists_have_an_end)
