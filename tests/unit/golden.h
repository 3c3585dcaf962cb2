// SPDX-License-Identifier: Apache-2.0
// Golden files: what a view wrote must be the bytes of tests/golden/<name>. With BB_UPDATE=1 in the
// environment the file is rewritten instead; look at the difference before you commit it.
#pragma once

#include <check.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

static inline void golden_check(const char *name, const char *actual, gsize length)
{
    g_autofree char *path = g_build_filename(TEST_DATA, "golden", name, NULL);
    if (g_strcmp0(g_getenv("BB_UPDATE"), "1") == 0) {
        ck_assert(g_file_set_contents(path, actual, (gssize)length, NULL));
        return;
    }
    g_autofree char *expected = NULL;
    gsize expected_length = 0;
    ck_assert_msg(g_file_get_contents(path, &expected, &expected_length, NULL), "no %s", path);
    gsize same = 0;
    while (same < length && same < expected_length && actual[same] == expected[same])
        same++;
    ck_assert_msg(same == length && same == expected_length,
                  "%s: differs from byte %zu on: expected \"%.60s\", got \"%.60s\"", path, same,
                  expected + same, actual + same);
}
