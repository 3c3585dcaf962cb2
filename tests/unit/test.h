// SPDX-License-Identifier: Apache-2.0
// The frame of a unit test program: START_TEST functions of check, listed once in TEST_MAIN.
#pragma once

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

#define TEST_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return test_run(name, tests, G_N_ELEMENTS(tests));                                         \
    }
