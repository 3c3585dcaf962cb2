// SPDX-License-Identifier: Apache-2.0
// Disks that fail: system calls that this program makes itself and that fail when told to.
#include "data/output.h"
#include "data/trace_files.h"
#include "tests/unit/scratch.h"
#include "tests/unit/traces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// What fails next, how often, and with what.
typedef enum { NOTHING, OPEN, WRITE, SYNC } Call;
static struct {
    Call call;
    guint times;
    int reason;
} fault;

static bool fails(Call call)
{
    if (fault.call != call || fault.times == 0)
        return false;
    fault.times--;
    errno = fault.reason;
    return true;
}

static void let_fail(Call call, guint times, int reason)
{
    fault.call = call;
    fault.times = times;
    fault.reason = reason;
}

// These stand before those of the C library.
int open(const char *path, int flags, ...);
int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (flags & O_CREAT && fails(OPEN))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fsync(int fd)
{
    return fails(SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    return fd > 2 && fails(WRITE) ? -1 : (ssize_t)syscall(SYS_write, fd, bytes, size);
}

// A quota is a full disk to its user.
START_TEST(a_quota_is_a_full_disk)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) opening = NULL, writing = NULL;
    const char *path = scratch_path(scratch, "x");
    let_fail(OPEN, 1, EDQUOT);
    ck_assert_ptr_null(bb_output_open(path, NULL, &opening));
    ck_assert(g_error_matches(opening, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    ck_assert_ptr_nonnull(strstr(opening->message, "Disk quota exceeded"));
    g_autoptr(BbOutput) output = bb_output_open(path, NULL, NULL);
    bb_output_put(output, "x", 1);
    let_fail(WRITE, 1, EDQUOT);
    ck_assert(bb_output_part(output, NULL) && !bb_output_flush(output, &writing));
    ck_assert(g_error_matches(writing, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
}
END_TEST

static Messages *some_messages(void)
{
    return read_text("# bbtrace text 1\n1.0 CALL_SENT a b 1\n2.0 RET_SENT b a 1\n"
                     "3.0 CALL_SENT a b 2\n4.0 RET_SENT b a 2\n5.0 MSG_SENT a b -\n"
                     "6.0 MSG_SENT a b -\n");
}

// A ring makes room where a new file finds none, by quota as by disk.
START_TEST(a_ring_gives_way_to_a_quota)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = some_messages();
    g_autoptr(GError) error = NULL;
    const BbTraceFilesOptions options = {
        .path = scratch_path(scratch, "t.bbt"), .file_ns = 1000000000, .ring_files = 20};
    g_autoptr(BbTraceFiles) files = bb_trace_files_open(&options, all->names, NULL);
    for (guint i = 0; i < all->messages->len; i++) {
        if (i == 4)
            let_fail(OPEN, 2, EDQUOT);
        ck_assert_msg(bb_trace_files_push(files, message_at(all, i), &error), "%s",
                      error ? error->message : "");
    }
    ck_assert(bb_trace_files_finish(files, NULL, NULL, NULL));
    ck_assert_uint_eq(bb_trace_files_early(files) + bb_trace_files_deleted(files), 2);
    for (guint i = 1; i <= 8; i++) {
        g_autofree char *name = bb_trace_files_name("t.bbt", (gint64)i * 1000000000, i);
        (void)scratch_path(scratch, name); // to be removed
        g_autofree char *late = bb_trace_files_name("t.bbt", (gint64)i * 1000000000, i + 2);
        (void)scratch_path(scratch, late);
    }
}
END_TEST

// The bytes of a trace whose end the disk (or its folder) did not confirm.
static char *bytes_of_end(const Messages *all, guint sync_fails, gsize *size)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbCounters) counters = bb_counters_new();
    char *bytes = NULL;
    const char *path = scratch_path(scratch, "t.bbt");
    const BbTraceWriterOptions options = {.form = BB_TRACE_BBT, .sync = BB_TRACE_SYNC_FILE};
    bb_counters_add(counters, "frames", 7);
    BbTraceWriter *writer = bb_trace_writer_open_with(path, &options, all->names, NULL);
    for (guint i = 0; i < all->messages->len; i++)
        ck_assert(bb_trace_writer_push(writer, message_at(all, i), NULL));
    let_fail(SYNC, sync_fails ? 1 : 0, EIO);
    bool good = bb_trace_writer_finish(writer, counters, &error);
    ck_assert_int_eq(good, sync_fails == 0);
    if (!good) {
        ck_assert_ptr_nonnull(strstr(error->message, "cannot bring it to the disk"));
        ck_assert(bb_trace_writer_salvage(writer, counters, NULL));
    }
    ck_assert_uint_eq(bb_trace_writer_kept(writer), all->messages->len);
    bb_trace_writer_free(writer);
    ck_assert(g_file_get_contents(path, &bytes, size, NULL));
    return bytes;
}

START_TEST(one_end_where_the_disk_does_not_confirm_it)
{
    g_autoptr(Messages) all = some_messages();
    gsize whole_size = 0, failed_size = 0;
    g_autofree char *whole = bytes_of_end(all, 0, &whole_size);
    g_autofree char *failed = bytes_of_end(all, 1, &failed_size);
    ck_assert_uint_eq(whole_size, failed_size);
    ck_assert_mem_eq(whole, failed, whole_size);
}
END_TEST

TEST_MAIN("output_faults", a_quota_is_a_full_disk, a_ring_gives_way_to_a_quota,
          one_end_where_the_disk_does_not_confirm_it)
