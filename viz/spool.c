// SPDX-License-Identifier: Apache-2.0
// In: bytes. Out: the same, later.
#include "viz/spool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct BbSpool {
    GByteArray *head;
    FILE *file; // NULL as long as the head holds all
    gsize read; // of the head
};

BbSpool *bb_spool_new(void)
{
    BbSpool *spool = g_new0(BbSpool, 1);
    spool->head = g_byte_array_new();
    return spool;
}

void bb_spool_free(BbSpool *spool)
{
    if (!spool)
        return;
    g_byte_array_unref(spool->head);
    if (spool->file)
        fclose(spool->file);
    g_free(spool);
}

static bool fail(const char *what, int code, GError **error)
{
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
                "cannot %s a temporary file in %s: %s: free space there, or set TMPDIR", what,
                g_get_tmp_dir(), g_strerror(code));
    return false;
}

static bool open_file(BbSpool *spool, GError **error)
{
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "bbpaths-XXXXXX", NULL);
    int fd = g_mkstemp(path);
    if (fd < 0)
        return fail("make", errno, error);
    unlink(path);
    spool->file = fdopen(fd, "w+");
    return spool->file || fail("make", errno, error);
}

bool bb_spool_push(BbSpool *spool, gconstpointer bytes, gsize length, GError **error)
{
    if (!spool->file && spool->head->len + length <= BB_SPOOL_MEMORY) {
        g_byte_array_append(spool->head, bytes, (guint)length);
        return true;
    }
    if (!spool->file && !open_file(spool, error))
        return false;
    return fwrite(bytes, 1, length, spool->file) == length || fail("write", errno, error);
}

bool bb_spool_rewind(BbSpool *spool, GError **error)
{
    if (spool->file && (fflush(spool->file) != 0 || fseeko(spool->file, 0, SEEK_SET) != 0))
        return fail("write", errno, error);
    return true;
}

bool bb_spool_next(BbSpool *spool, gpointer bytes, gsize length, GError **error)
{
    if (spool->read < spool->head->len) {
        memcpy(bytes, spool->head->data + spool->read, length); // pushed in one piece
        spool->read += length;
        return true;
    }
    if (!spool->file || fread(bytes, 1, length, spool->file) == length)
        return spool->file != NULL;
    if (ferror(spool->file))
        fail("read", errno, error);
    return false;
}
