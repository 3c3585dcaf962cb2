// SPDX-License-Identifier: Apache-2.0
// In: bytes. Out: a file, or why there is none.
#include "merge/outfile.h"

#include "data/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((gsize)256 * 1024)

struct BbOutfile {
    char *name; // for messages
    FILE *stream;
};

bool bb_outfile_fail(const BbOutfile *file, GError **error)
{
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "%s: cannot write: %s: %s, or write to another place", file->name,
                g_strerror(reason), bb_output_remedy(reason));
    return false;
}

// Standard output is duplicated, so that close can see every failure.
static FILE *open_stream(const char *path)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (stream)
        setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
    else if (fd >= 0) {
        close(fd);
        errno = EBADF; // it is there, but not to be written
    }
    return stream;
}

BbOutfile *bb_outfile_open(const char *path, GError **error)
{
    g_autoptr(BbOutfile) file = g_new0(BbOutfile, 1);
    file->name = g_strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    file->stream = open_stream(path);
    if (!file->stream) {
        bb_outfile_fail(file, error);
        return NULL;
    }
    return g_steal_pointer(&file);
}

void bb_outfile_free(BbOutfile *file)
{
    if (!file)
        return;
    if (file->stream)
        (void)fclose(file->stream);
    g_free(file->name);
    g_free(file);
}

FILE *bb_outfile_stream(BbOutfile *file)
{
    return file->stream;
}

bool bb_outfile_put(BbOutfile *file, const char *bytes, gsize size, GError **error)
{
    return fwrite(bytes, 1, size, file->stream) == size || bb_outfile_fail(file, error);
}

bool bb_outfile_close(BbOutfile *file, GError **error)
{
    bool failed = ferror(file->stream);
    return (fclose(g_steal_pointer(&file->stream)) == 0 && !failed) || bb_outfile_fail(file, error);
}
