// SPDX-License-Identifier: Apache-2.0
// In: a path, and what FFTW has measured in this process.
// Out: a file of it, or more of it from a file.
#include "convolution/wisdom.h"

#include <fcntl.h>
#include <fftw3.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *bb_wisdom_path(void)
{
    return g_build_filename(g_get_user_cache_dir(), "bbtrace", "fftw-wisdom", NULL);
}

// Up to the limit, as a string; NULL if there is more, or it has a NUL.
static char *text_of(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > BB_WISDOM_LIMIT)
        return NULL;
    gsize size = (gsize)status.st_size, done = 0;
    g_autofree char *text = g_malloc0(size + 1);
    while (done < size) {
        gssize got = read(fd, text + done, size - done);
        if (got <= 0)
            return NULL;
        done += (gsize)got;
    }
    return strlen(text) == size ? g_steal_pointer(&text) : NULL;
}

bool bb_wisdom_load(const char *path)
{
    // Not blocking: somebody may have put a FIFO there.
    int fd = g_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return false;
    g_autofree char *text = text_of(fd);
    close(fd);
    return text && fftw_import_wisdom_from_string(text);
}

bool bb_wisdom_save(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    if (g_mkdir_with_parents(folder, 0700) != 0)
        return false;
    char *text = fftw_export_wisdom_to_string();
    bool saved =
        text && strlen(text) <= BB_WISDOM_LIMIT &&
        g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
    free(text); // FFTW's is malloc's
    return saved;
}
