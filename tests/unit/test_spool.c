// SPDX-License-Identifier: Apache-2.0
// What is put aside comes back, from memory and from a file; a full or missing folder is told.
#include "viz/spool.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static void fill(guint8 *piece, gsize length, guint number)
{
    for (gsize i = 0; i < length; i++)
        piece[i] = (guint8)(number * 31 + i);
}

static void check_round_trip(guint pieces, gsize length)
{
    g_autoptr(BbSpool) spool = bb_spool_new();
    g_autoptr(GError) error = NULL;
    g_autofree guint8 *piece = g_malloc(length), *back = g_malloc(length);
    for (guint i = 0; i < pieces; i++) {
        fill(piece, length, i);
        ck_assert(bb_spool_push(spool, piece, length, &error));
    }
    ck_assert(bb_spool_rewind(spool, &error));
    for (guint i = 0; i < pieces; i++) {
        fill(piece, length, i);
        ck_assert(bb_spool_next(spool, back, length, &error));
        ck_assert_mem_eq(back, piece, length);
    }
    ck_assert(!bb_spool_next(spool, back, length, &error));
    ck_assert_ptr_null(error);
}

START_TEST(comes_back)
{
    check_round_trip(0, 8);
    check_round_trip(1000, 24);
    check_round_trip(BB_SPOOL_MEMORY / 4096, 4096); // just in memory
    check_round_trip(2 * BB_SPOOL_MEMORY / 4000, 4000);
    check_round_trip(2, BB_SPOOL_MEMORY + 1);
}
END_TEST

START_TEST(a_missing_folder_is_told)
{
    g_autoptr(BbSpool) spool = bb_spool_new();
    g_autoptr(GError) error = NULL;
    g_autofree guint8 *piece = g_malloc0(BB_SPOOL_MEMORY);
    ck_assert(bb_spool_push(spool, piece, BB_SPOOL_MEMORY, &error));
    ck_assert(!bb_spool_push(spool, piece, 1, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at/all"));
    ck_assert_ptr_nonnull(strstr(error->message, "TMPDIR"));
}
END_TEST

// GLib asks for TMPDIR once, so the second program of a test run sees the other value.
int main(int argc, char **argv)
{
    const TTest *const tests[] = {comes_back};
    const TTest *const missing[] = {a_missing_folder_is_told};
    int status = test_run("spool", tests, G_N_ELEMENTS(tests));
    g_setenv("TMPDIR", "/nowhere/at/all", TRUE);
    return test_run("spool_missing", missing, G_N_ELEMENTS(missing)) | status;
}
