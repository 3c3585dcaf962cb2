// SPDX-License-Identifier: Apache-2.0
// A file that grows by whole parts: what is written, when, and what happens where there is no room.
#include "data/output.h"
#include "tests/unit/scratch.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_part(BbOutput *output, char fill, gsize size)
{
    g_autofree char *bytes = g_malloc(size);
    memset(bytes, fill, size);
    bb_output_put(output, bytes, size);
}

static gsize size_of(const char *path)
{
    GStatBuf status;
    ck_assert_int_eq(g_stat(path, &status), 0);
    return (gsize)status.st_size;
}

static BbOutput *open_at(const char *path, const BbOutputOptions *options)
{
    GError *error = NULL;
    BbOutput *output = bb_output_open(path, options, &error);
    ck_assert_msg(output != NULL, "%s", error ? error->message : "");
    return output;
}

START_TEST(parts_go_out_whole)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "x");
    g_autoptr(BbOutput) output = open_at(path, NULL);
    ck_assert_str_eq(bb_output_name(output), path);
    put_part(output, 'a', 100);
    ck_assert(bb_output_part(output, NULL));
    ck_assert_uint_eq(size_of(path), 0); // collected
    put_part(output, 'b', 50);
    ck_assert_uint_eq(bb_output_size(output), 150);
    ck_assert(bb_output_flush(output, NULL));
    ck_assert_uint_eq(size_of(path), 100); // b is not whole
    ck_assert(!bb_output_is_flushed(output));
    put_part(output, 'b', 100000);
    ck_assert_uint_eq(size_of(path), 100);
    ck_assert(bb_output_part(output, NULL)); // enough
    ck_assert_uint_eq(size_of(path), 100150);
    ck_assert(bb_output_is_flushed(output));
    put_part(output, 'c', 1);
    ck_assert(bb_output_part(output, NULL));
    ck_assert(bb_output_close(output, true, NULL));
    ck_assert_uint_eq(size_of(path), 100151);
}
END_TEST

START_TEST(fresh_refuses_what_is_there)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    const char *path = scratch_file(scratch, "x", "old", 3);
    ck_assert_ptr_null(bb_output_open(path, &(BbOutputOptions){.fresh = true}, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_EXIST));
    ck_assert_uint_eq(size_of(path), 3);
    bb_output_free(open_at(path, NULL));
    ck_assert_uint_eq(size_of(path), 0);
}
END_TEST

START_TEST(what_is_there_stays_until_the_whole_is)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    const BbOutputOptions whole = {.whole = true};
    const char *path = scratch_file(scratch, "x", "old", 3);
    g_autoptr(BbOutput) output = open_at(path, &whole);
    put_part(output, 'a', 100000);
    ck_assert(bb_output_part(output, NULL) && bb_output_flush(output, NULL));
    ck_assert_uint_eq(size_of(path), 3);
    ck_assert_ptr_null(bb_output_open(path, &whole, &error)); // while another run writes it
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN));
    ck_assert(bb_output_close(output, true, NULL));
    ck_assert_uint_eq(size_of(path), 100000);
    BbOutput *second = open_at(path, &whole);
    put_part(second, 'b', 10);
    ck_assert(bb_output_part(second, NULL) && bb_output_flush(second, NULL));
    bb_output_free(second); // what was not closed
    ck_assert_uint_eq(size_of(path), 100000);
}
END_TEST

START_TEST(what_was_set_aside_is_given_back)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "x");
    g_autoptr(BbOutput) output = open_at(path, &(BbOutputOptions){.reserve = 1 << 20});
    put_part(output, 'a', 5000);
    ck_assert(bb_output_part(output, NULL) && bb_output_flush(output, NULL));
    GStatBuf open, closed;
    ck_assert_int_eq(g_stat(path, &open), 0);
    ck_assert_int_eq(open.st_size, 5000);
    ck_assert(bb_output_close(output, false, NULL));
    ck_assert_int_eq(g_stat(path, &closed), 0);
    ck_assert_int_eq(closed.st_size, 5000);
    ck_assert_int_le(closed.st_blocks, 16);
    if (open.st_blocks > 2000) // else the file system has no such thing
        ck_assert_int_lt(closed.st_blocks, open.st_blocks);
}
END_TEST

// No assertions while it holds: check writes to a file of its own.
static bool limit_files(rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    (void)signal(SIGXFSZ, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

START_TEST(a_part_that_finds_no_room_leaves_no_trace)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    const char *path = scratch_path(scratch, "x");
    g_autoptr(BbOutput) output = open_at(path, NULL);
    put_part(output, 'a', 100);
    ck_assert(bb_output_part(output, NULL) && bb_output_flush(output, NULL));
    put_part(output, 'b', 100); // the kernel takes 50 of it
    ck_assert(bb_output_part(output, NULL));
    bool limited = limit_files(150), failed = !bb_output_flush(output, &error);
    ck_assert(limit_files(RLIM_INFINITY) && limited);
    ck_assert(failed);
    ck_assert_ptr_nonnull(strstr(error->message, "x: cannot write: File too large"));
    ck_assert_uint_eq(size_of(path), 100);
    ck_assert(bb_output_cut_back(output));
    put_part(output, 'z', 50);
    ck_assert(bb_output_part(output, NULL) && bb_output_close(output, false, NULL));
    g_autofree char *bytes = NULL;
    ck_assert(g_file_get_contents(path, &bytes, NULL, NULL));
    ck_assert_uint_eq(strspn(bytes, "a"), 100);
    ck_assert_uint_eq(strspn(bytes + 100, "z"), 50);
}
END_TEST

typedef struct Room {
    guint asked, lacking, gives;
    gsize bytes;
} Room;

static bool give_room(gpointer user, gsize bytes, bool lacking)
{
    Room *room = user;
    room->bytes = bytes;
    room->asked += !lacking;
    room->lacking += lacking;
    return lacking && room->gives && room->gives--;
}

// A device that is always full asks for room until there is none.
START_TEST(room_is_asked_for)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    g_autoptr(GError) error = NULL;
    Room room = {.gives = 3};
    BbOutputOptions options = {.room = give_room, .user = &room};
    g_autoptr(BbOutput) output = open_at("/dev/full", &options);
    put_part(output, 'a', 100);
    ck_assert(bb_output_part(output, NULL));
    ck_assert(!bb_output_flush(output, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    ck_assert_uint_eq(room.asked, 1);
    ck_assert_uint_eq(room.lacking, 4);
    ck_assert_uint_eq(room.bytes, 100);
    ck_assert(!bb_output_cut_back(output)); // no regular file
}
END_TEST

START_TEST(folders_go_to_the_disk)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    ck_assert(bb_output_sync_folder(scratch_path(scratch, "x"), &error));
    ck_assert(bb_output_sync_folder("relative", &error));
    ck_assert(!bb_output_sync_folder("/nowhere/x", &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere: cannot bring it to the disk"));
}
END_TEST

TEST_MAIN("output", parts_go_out_whole, fresh_refuses_what_is_there,
          what_is_there_stays_until_the_whole_is, what_was_set_aside_is_given_back,
          a_part_that_finds_no_room_leaves_no_trace, room_is_asked_for, folders_go_to_the_disk)
