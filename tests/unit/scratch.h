// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, removed with them at its end.
#pragma once

#include "tests/unit/test.h"

#include <glib/gstdio.h>

typedef struct Scratch {
    char *folder;
    GPtrArray *paths; // handed out so far; owns them
} Scratch;

static inline Scratch *scratch_new(void)
{
    Scratch *scratch = g_new(Scratch, 1);
    *scratch = (Scratch){g_dir_make_tmp("bbtrace-test-XXXXXX", NULL),
                         g_ptr_array_new_with_free_func(g_free)};
    ck_assert_ptr_nonnull(scratch->folder);
    return scratch;
}

// A path in the folder, lent until scratch_free.
static inline const char *scratch_path(Scratch *scratch, const char *name)
{
    char *path = g_build_filename(scratch->folder, name, NULL);
    g_ptr_array_add(scratch->paths, path);
    return path;
}

// The same, with a file in it.
static inline const char *scratch_file(Scratch *scratch, const char *name, const void *bytes,
                                       gsize size)
{
    const char *path = scratch_path(scratch, name);
    ck_assert(g_file_set_contents(path, bytes, (gssize)size, NULL));
    return path;
}

static inline void scratch_free(Scratch *scratch)
{
    for (guint i = 0; i < scratch->paths->len; i++)
        (void)g_remove(g_ptr_array_index(scratch->paths, i));
    (void)g_rmdir(scratch->folder);
    g_ptr_array_unref(scratch->paths);
    g_free(scratch->folder);
    g_free(scratch);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scratch, scratch_free)
