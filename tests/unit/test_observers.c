// SPDX-License-Identifier: Apache-2.0
// What observers are called after their files.
#include "merge/observers.h"

#include "tests/unit/test.h"

static void expect(bool by_folder, const char *const *paths, const char *const *names)
{
    g_autoptr(GPtrArray) found = bb_observers_name(paths, by_folder);
    for (guint i = 0; names[i]; i++) {
        ck_assert_uint_lt(i, found->len);
        ck_assert_str_eq(found->pdata[i], names[i]);
    }
    ck_assert_uint_eq(found->len, g_strv_length((char **)paths));
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(files_without_folders_and_endings)
{
    expect(false,
           LIST("/x/web1.bbt", "db.txt.gz", "-", "plain", "a.b.bbt", ".bbt", "dir/.trace.xz"),
           LIST("web1", "db", "stdin", "plain", "a.b", ".bbt", ".trace"));
}
END_TEST

START_TEST(folders_tell_them_apart)
{
    expect(false, LIST("h1/t.bbt", "h2/t.bbt", "u.bbt"), LIST("h1/t", "h2/t", "u"));
    expect(false, LIST("a/x/t.bbt", "b/x/t.bbt", "b/y/t.bbt"), LIST("a/x/t", "b/x/t", "y/t"));
    expect(false, LIST("t.bbt", "h/t.bbt"), LIST("t", "h/t"));
}
END_TEST

START_TEST(one_file_twice)
{
    expect(false, LIST("t.bbt", "t.bbt", "t.txt"), LIST("t", "t#2", "t#3"));
}
END_TEST

START_TEST(folders_as_observers)
{
    expect(true, LIST("h1/0.bbt", "h2/0.bbt", "h1/1.bbt"), LIST("h1", "h2", "h1"));
    expect(true, LIST("a/cap/0.bbt", "b/cap/0.bbt", "a/cap/1.bbt"),
           LIST("a/cap", "b/cap", "a/cap"));
}
END_TEST

START_TEST(files_of_a_series_are_one_observer)
{
    expect(false,
           LIST("a/t_20261122T200403Z_00001.bbt", "a/t_20261122T200503Z_00002.bbt.zst", "u.bbt",
                "b/t_20261122T200403Z_00001.bbt", "b/t_20261122T200503Z_00002.bbt"),
           LIST("a/t", "a/t", "u", "b/t", "b/t"));
    expect(false, LIST("t_20261122T200403Z_00001.bbt", "t.bbt"), LIST("t", "t#2"));
    expect(false, LIST("x/_20261122T200403Z_00001.bbt", "t_1.bbt", "t_2.bbt"),
           LIST("_20261122T200403Z_00001", "t_1", "t_2"));
}
END_TEST

TEST_MAIN("observers", files_without_folders_and_endings, folders_tell_them_apart, one_file_twice,
          folders_as_observers, files_of_a_series_are_one_observer)
