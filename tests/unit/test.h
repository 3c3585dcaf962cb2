// SPDX-License-Identifier: Apache-2.0
// The frame of a unit test program: START_TEST functions of check, listed once in TEST_MAIN.
#pragma once

#include "tests/sanitized.h"

#include <check.h>
#include <glib.h>
#include <stdlib.h>

static inline int test_run(const char *name, const TTest *const *tests, gsize count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 60);
    for (gsize i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

// Seed of a random test, printed: the environment's BB_TEST_SEED, else another one each time that a
// test asks, but the same in each run (if check forks, as it does by itself), so that what passed
// once passes again. tools/soak tries many.
static inline guint32 test_seed(const char *name)
{
    static guint32 asked;
    const char *given = g_getenv("BB_TEST_SEED");
    guint32 seed = given ? (guint32)g_ascii_strtoull(given, NULL, 10) : g_str_hash(name) + asked++;
    g_printerr("%s: BB_TEST_SEED=%u\n", name, seed);
    return seed;
}

#define TEST_MAIN(name, ...)                               \
    int main(void)                                         \
    {                                                      \
        const TTest *const tests[] = {__VA_ARGS__};        \
        return test_run(name, tests, G_N_ELEMENTS(tests)); \
    }
