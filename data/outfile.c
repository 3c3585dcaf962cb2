// SPDX-License-Identifier: Apache-2.0
// In: bytes. Out: a file, or why there is none.
#include "data/outfile.h"

#include "data/draft.h"
#include "data/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((gsize)256 * 1024)

struct BbOutfile {
    char *name;     // for messages
    BbDraft *draft; // NULL: written in place
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

// What is open already is duplicated, so that close can see every failure.
static int open_fd(BbOutfile *file, const char *path)
{
    if (strcmp(path, "-") == 0)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (bb_draft_may_replace(path))
        file->draft = bb_draft_new(path, false);
    if (file->draft)
        return fcntl(bb_draft_fd(file->draft), F_DUPFD_CLOEXEC, 0);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static FILE *open_stream(int fd)
{
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
    file->stream = open_stream(open_fd(file, path));
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
    bb_draft_free(file->draft);
    g_free(file->name);
    g_free(file);
}

const char *bb_outfile_name(const BbOutfile *file)
{
    return file->name;
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
    bool whole = fclose(g_steal_pointer(&file->stream)) == 0 && !failed;
    return (whole && (!file->draft || bb_draft_publish(file->draft))) ||
           bb_outfile_fail(file, error);
}
