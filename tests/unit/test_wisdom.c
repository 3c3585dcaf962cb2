// SPDX-License-Identifier: Apache-2.0
// The file of what FFTW measured: kept whole or not at all, and refused where it is not FFTW's.
#include "convolution/wisdom.h"
#include "tests/unit/scratch.h"

#include <fftw3.h>
#include <string.h>
#include <sys/stat.h>

// Makes FFTW learn something.
static void measure(void)
{
    double *signal = fftw_alloc_real(32);
    fftw_complex *spectrum = fftw_alloc_complex(17);
    fftw_plan plan = fftw_plan_dft_r2c_1d(32, signal, spectrum, FFTW_MEASURE);
    ck_assert_ptr_nonnull(plan);
    fftw_destroy_plan(plan);
    fftw_free(signal);
    fftw_free(spectrum);
}

static char *known(void)
{
    return fftw_export_wisdom_to_string();
}

START_TEST(what_was_saved_is_loaded)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "new/folder/wisdom");
    (void)scratch_path(scratch, "new/folder");
    (void)scratch_path(scratch, "new");
    g_autofree char *nothing = known();
    measure();
    g_autofree char *all = known();
    ck_assert(bb_wisdom_save(path));
    fftw_forget_wisdom();
    g_autofree char *forgotten = known();
    ck_assert_str_eq(forgotten, nothing);
    ck_assert(bb_wisdom_load(path));
    g_autofree char *loaded = known();
    ck_assert_uint_eq(strlen(loaded), strlen(all));
    ck_assert_str_ne(loaded, nothing);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
}
END_TEST

START_TEST(saving_replaces_whole_files)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "wisdom", "old", 3);
    measure();
    ck_assert(bb_wisdom_save(path));
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    ck_assert(g_str_has_prefix(text, "(fftw-"));
    g_autoptr(GDir) folder = g_dir_open(scratch->folder, 0, NULL);
    ck_assert_str_eq(g_dir_read_name(folder), "wisdom");
    ck_assert_ptr_null(g_dir_read_name(folder)); // no temporary file is left
}
END_TEST

static void check_refused(const char *path)
{
    g_autofree char *before = known();
    ck_assert(!bb_wisdom_load(path));
    g_autofree char *after = known();
    ck_assert_str_eq(after, before);
}

START_TEST(others_files_are_refused)
{
    g_autoptr(Scratch) scratch = scratch_new();
    measure();
    g_autofree char *good = known();
    const gsize size = strlen(good);
    fftw_forget_wisdom();
    check_refused(scratch_file(scratch, "empty", "", 0));
    check_refused(scratch_file(scratch, "garbage", "\xff\xfe(fftw((((%s%n", 15));
    check_refused(
        scratch_file(scratch, "version", "(fftw-2.0.0 fftw_wisdom #x0 #x0 #x0 #x0\n)", 42));
    for (gsize cut = 0; cut + 2 < size; cut++) // the last two are a bracket and the end of the line
        check_refused(scratch_file(scratch, "cut", good, cut));
    good[size / 2] = '\0';
    check_refused(scratch_file(scratch, "nul", good, size));
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    g_autoptr(Scratch) scratch = scratch_new();
    check_refused(scratch_path(scratch, "missing"));
    check_refused(scratch->folder);
    const char *fifo = scratch_path(scratch, "fifo");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    check_refused(fifo); // and does not wait for a writer
    const char *file = scratch_file(scratch, "file", "x", 1);
    g_autofree char *below = g_build_filename(file, "wisdom", NULL);
    check_refused(below);
    ck_assert(!bb_wisdom_save(below));
    ck_assert(!bb_wisdom_save(scratch->folder));
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(file, &text, NULL, NULL));
    ck_assert_str_eq(text, "x");
}
END_TEST

START_TEST(long_files_are_refused)
{
    g_autoptr(Scratch) scratch = scratch_new();
    measure();
    g_autofree char *good = known();
    fftw_forget_wisdom();
    g_autofree char *text = g_strnfill(BB_WISDOM_LIMIT + 1, ' ');
    memcpy(text, good, strlen(good));
    const char *path = scratch_file(scratch, "long", text, BB_WISDOM_LIMIT + 1);
    check_refused(path);
    (void)scratch_file(scratch, "long", text, BB_WISDOM_LIMIT);
    ck_assert(bb_wisdom_load(path));
}
END_TEST

TEST_MAIN("wisdom", what_was_saved_is_loaded, saving_replaces_whole_files, others_files_are_refused,
          what_is_no_file_is_refused, long_files_are_refused)
