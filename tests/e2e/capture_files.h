// SPDX-License-Identifier: Apache-2.0
// Files below folders, for programs that try all captures that there are.
#pragma once

#include <glib.h>
#include <string.h>

// Adds path, or all files below it, whose path has part in it (NULL: all) to files (of char*,
// owned).
static inline void capture_files_collect(const char *path, const char *part, GPtrArray *files)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name = dir ? g_dir_read_name(dir) : NULL; name; name = g_dir_read_name(dir)) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        capture_files_collect(child, part, files);
    }
    if (!dir && (!part || strstr(path, part)) && g_file_test(path, G_FILE_TEST_IS_REGULAR))
        g_ptr_array_add(files, g_strdup(path));
}

static inline gint capture_files_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The same order on every machine.
static inline void capture_files_sort(GPtrArray *files)
{
    g_ptr_array_sort(files, capture_files_compare);
}
