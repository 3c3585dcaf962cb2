// SPDX-License-Identifier: Apache-2.0
// In: parts of a file. Out: the file, which never ends within a part unless power or disk fail.
#include "data/output.h"

#include "data/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUT_BYTES ((gsize)64 << 10)

struct BbOutput {
    char *path;     // NULL for standard output
    int fd;         // -1 when closed
    BbDraft *draft; // that fd writes; NULL: written in place
    int replaced;   // what is there, to keep others from it; -1: nothing
    bool regular;
    BbOutputOptions options;
    gsize reserve; // 0 where the file system has no such thing
    bool aside;    // something was set aside
    GByteArray *buffer;
    gsize whole;     // bytes of buffer that are whole parts
    guint64 written; // bytes of the file
};

const char *bb_output_name(const BbOutput *output)
{
    return output->path ? output->path : "standard output";
}

const char *bb_output_remedy(int reason)
{
    if (reason == EISDIR)
        return "that is a folder: name a file in it";
    if (reason == EPIPE)
        return "let its reader read to the end";
    if (reason == EFBIG)
        return "raise the limit on the size of files (ulimit -f)";
    return reason == ENOENT ? "make the folder, which is not there" : "free space or rights there";
}

static bool is_room(int reason)
{
    return reason == ENOSPC || reason == EDQUOT;
}

// A quota that is used up is a full disk to its user; GLib has no code for it.
static bool fail(const char *name, const char *what, GError **error)
{
    int reason = errno;
    GFileError code = is_room(reason) ? G_FILE_ERROR_NOSPC : g_file_error_from_errno(reason);
    g_set_error(error, G_FILE_ERROR, (gint)code, "%s: cannot %s: %s: %s, or write to another place",
                name, what, g_strerror(reason), bb_output_remedy(reason));
    return false;
}

// What is open already is duplicated, so that close can close it and see every failure. Where
// nothing can be written beside a file, it is written to.
static int open_path(BbOutput *output)
{
    const char *path = output->path;
    if (!path)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (output->options.whole && !output->options.fresh && bb_draft_may_replace(path))
        output->draft = bb_draft_new(path, false);
    if (!output->draft)
        return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (output->options.fresh ? O_EXCL : 0),
                    0666);
    output->replaced = open(path, O_WRONLY | O_CLOEXEC);
    return fcntl(bb_draft_fd(output->draft), F_DUPFD_CLOEXEC, 0);
}

// A file that is there is emptied, or will be replaced, unless another program like this one writes
// it now; where the file system knows no locks, nobody can tell.
static bool take(const BbOutput *output, GError **error)
{
    int fd = output->draft ? output->replaced : output->fd;
    if (!output->regular || fd < 0)
        return true;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
                    "%s: another run of bbtrace or bbpaths writes this file now: end it, or write "
                    "to another place",
                    output->path);
        return false;
    }
    return output->draft || ftruncate(fd, 0) == 0 || fail(output->path, "empty it", error);
}

BbOutput *bb_output_open(const char *path, const BbOutputOptions *options, GError **error)
{
    struct stat status;
    g_autoptr(BbOutput) output = g_new0(BbOutput, 1);
    if (options)
        output->options = *options;
    output->path = strcmp(path, "-") == 0 ? NULL : g_strdup(path);
    output->buffer = g_byte_array_new();
    output->replaced = -1;
    output->fd = open_path(output);
    if (output->fd < 0 || fstat(output->fd, &status) != 0) {
        fail(bb_output_name(output), "open it to write", error);
        return NULL;
    }
    output->regular = output->path && S_ISREG(status.st_mode);
    if (!take(output, error))
        return NULL;
    output->reserve = output->regular ? output->options.reserve : 0;
    return g_steal_pointer(&output);
}

void bb_output_free(BbOutput *output)
{
    if (!output)
        return;
    if (output->fd >= 0)
        close(output->fd);
    if (output->replaced >= 0)
        close(output->replaced);
    bb_draft_free(output->draft);
    g_byte_array_unref(output->buffer);
    g_free(output->path);
    g_free(output);
}

void bb_output_put(BbOutput *output, gconstpointer bytes, gsize size)
{
    g_byte_array_append(output->buffer, bytes, (guint)size);
}

// ---- writing ------------------------------------------------------------------------------------

// Sets aside room for what is written now and for the end of the file.
static bool reserve(BbOutput *output, gsize size)
{
    if (!output->reserve)
        return true;
    int failed = 0;
    do
        failed = fallocate(output->fd, FALLOC_FL_KEEP_SIZE, (off_t)output->written,
                           (off_t)(size + output->reserve));
    while (failed && errno == EINTR);
    if (failed && (is_room(errno) || errno == EFBIG))
        return false;
    if (failed)
        output->reserve = 0;
    output->aside |= !failed;
    return true;
}

// Writes bytes at the end of the file. Where that fails the file has the end that it had.
static bool append(BbOutput *output, const guint8 *bytes, gsize size)
{
    gsize done = 0;
    while (done < size) {
        ssize_t got = write(output->fd, bytes + done, size - done);
        if (got >= 0) {
            done += (gsize)got;
        } else if (errno != EINTR) {
            int reason = errno;
            if (output->regular && done && ftruncate(output->fd, (off_t)output->written) == 0)
                (void)lseek(output->fd, (off_t)output->written, SEEK_SET);
            errno = reason;
            return false;
        }
    }
    output->written += size;
    return true;
}

static bool make_room(const BbOutput *output, gsize bytes, bool lacking)
{
    return output->options.room && output->options.room(output->options.user, bytes, lacking);
}

bool bb_output_flush(BbOutput *output, GError **error)
{
    gsize size = output->whole;
    if (size == 0)
        return true;
    (void)make_room(output, size, false);
    while (!reserve(output, size) || !append(output, output->buffer->data, size)) {
        int reason = errno;
        if (is_room(reason) && make_room(output, size, true))
            continue;
        errno = reason;
        return fail(bb_output_name(output), "write", error);
    }
    g_byte_array_remove_range(output->buffer, 0, (guint)size);
    output->whole = 0;
    return true;
}

bool bb_output_part(BbOutput *output, GError **error)
{
    output->whole = output->buffer->len;
    return output->whole < OUT_BYTES || bb_output_flush(output, error);
}

bool bb_output_is_flushed(const BbOutput *output)
{
    return output->buffer->len == 0;
}

guint64 bb_output_size(const BbOutput *output)
{
    return output->written + output->buffer->len;
}

bool bb_output_cut_back(BbOutput *output)
{
    g_byte_array_set_size(output->buffer, 0);
    output->whole = 0;
    output->reserve = 0;
    output->options.room = NULL;
    return output->regular;
}

// ---- to the disk --------------------------------------------------------------------------------

// Pipes, devices and the like have no disk.
static bool sync_fd(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

bool bb_output_sync(BbOutput *output, GError **error)
{
    if (!bb_output_flush(output, error))
        return false;
    return !output->regular || sync_fd(output->fd) ||
           fail(bb_output_name(output), "bring it to the disk", error);
}

bool bb_output_sync_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && sync_fd(fd);
    if (!good && errno != EACCES) // a folder that may be written but not read
        fail(folder, "bring it to the disk", error);
    else
        good = true;
    if (fd >= 0)
        close(fd);
    return good;
}

bool bb_output_close(BbOutput *output, bool sync, GError **error)
{
    bool on_disk = sync && output->regular;
    if (!bb_output_flush(output, error))
        return false;
    if (output->aside && ftruncate(output->fd, (off_t)output->written) != 0)
        return fail(bb_output_name(output), "give back room behind its end", error);
    if (sync && !bb_output_sync(output, error))
        return false;
    int fd = output->fd;
    output->fd = -1;
    if (close(fd) != 0 || (output->draft && !bb_draft_publish(output->draft)))
        return fail(bb_output_name(output), "write", error);
    return !on_disk || bb_output_sync_folder(output->path, error);
}
