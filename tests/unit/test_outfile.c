// SPDX-License-Identifier: Apache-2.0
// Files that are written as a whole: what was there stays until the new one is complete, and
// nothing else is left.
#include "data/draft.h"
#include "data/outfile.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect(const char *path, const char *wanted)
{
    g_autofree char *found = NULL;
    ck_assert(g_file_get_contents(path, &found, NULL, NULL));
    ck_assert_str_eq(found, wanted);
}

static guint files_beside(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint n = 0;
    while (g_dir_read_name(dir))
        n++;
    return n;
}

static void write_whole(const char *path, const char *text)
{
    g_autoptr(BbOutfile) file = bb_outfile_open(path, NULL);
    ck_assert_ptr_nonnull(file);
    ck_assert(bb_outfile_put(file, text, strlen(text), NULL));
    ck_assert(bb_outfile_close(file, NULL));
}

START_TEST(a_file_is_there_once_it_is_whole)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "x");
    BbOutfile *file = bb_outfile_open(path, NULL);
    ck_assert_ptr_nonnull(file);
    ck_assert(bb_outfile_put(file, "new", 3, NULL));
    ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
    ck_assert(bb_outfile_close(file, NULL));
    bb_outfile_free(file);
    expect(path, "new");
    ck_assert_uint_eq(files_beside(path), 1);
}
END_TEST

START_TEST(what_was_there_stays_where_it_is_not)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "x", "old", 3);
    BbOutfile *file = bb_outfile_open(path, NULL);
    ck_assert(bb_outfile_put(file, "new", 3, NULL));
    (void)fflush(bb_outfile_stream(file));
    expect(path, "old");
    bb_outfile_free(file);
    expect(path, "old");
    BbDraft *draft = bb_draft_new(path, true);
    ck_assert_uint_eq(files_beside(path), 2);
    ck_assert(g_file_test(bb_draft_name(draft), G_FILE_TEST_IS_REGULAR));
    bb_draft_free(draft);
    ck_assert_uint_eq(files_beside(path), 1);
}
END_TEST

START_TEST(rights_and_links_stay)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "x", "old", 3), *link = scratch_path(scratch, "link");
    GStatBuf status;
    ck_assert_int_eq(g_chmod(path, 0640), 0);
    ck_assert_int_eq(symlink("x", link), 0);
    write_whole(link, "new");
    expect(path, "new");
    ck_assert(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    ck_assert_int_eq(g_stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
    write_whole(scratch_path(scratch, "fresh"), "new");
    mode_t mask = umask(0);
    (void)umask(mask);
    ck_assert_int_eq(g_stat(scratch_path(scratch, "fresh"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0666 & ~mask);
}
END_TEST

START_TEST(only_files_are_replaced)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *pipe = scratch_path(scratch, "pipe"), *dangling = scratch_path(scratch, "dangling");
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_assert_int_eq(symlink("target", dangling), 0);
    ck_assert(!bb_draft_may_replace(pipe));
    ck_assert(!bb_draft_may_replace("/dev/null"));
    ck_assert(!bb_draft_may_replace("/dev/stdout"));
    ck_assert(!bb_draft_may_replace("/proc/self/fd/1"));
    ck_assert(!bb_draft_may_replace(dangling));
    ck_assert(bb_draft_may_replace(scratch_path(scratch, "none")));
    write_whole("/dev/null", "new");
    write_whole(dangling, "new");
    expect(scratch_path(scratch, "target"), "new");
    ck_assert(g_file_test(dangling, G_FILE_TEST_IS_SYMLINK));
}
END_TEST

// A name that leaves no room for a longer one beside it is written in place.
START_TEST(a_long_name_is_written_in_place)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autofree char *name = g_strnfill(255, 'x');
    const char *path = scratch_path(scratch, name);
    write_whole(path, "one");
    write_whole(path, "other");
    expect(path, "other");
    ck_assert_uint_eq(files_beside(path), 1);
}
END_TEST

START_TEST(a_place_that_is_not_there_is_told)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_outfile_open(scratch_path(scratch, "no/x"), &error));
    ck_assert_ptr_nonnull(strstr(error->message, "no/x: cannot write: No such file or directory"));
}
END_TEST

TEST_MAIN("outfile", a_file_is_there_once_it_is_whole, what_was_there_stays_where_it_is_not,
          rights_and_links_stay, only_files_are_replaced, a_long_name_is_written_in_place,
          a_place_that_is_not_there_is_told)
