// SPDX-License-Identifier: Apache-2.0
// In: the folder of a Maildir. Out: the paths of its messages, in one order.
#include "merge/maildir.h"

#include <stdbool.h>
#include <string.h>

static gint compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool list_folder(GPtrArray *paths, const char *folder, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    if (!dir)
        return false;
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir))
        if (name[0] != '.')
            g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, compare);
    for (guint i = 0; i < names->len; i++)
        g_ptr_array_add(paths, g_steal_pointer(&names->pdata[i]));
    return true;
}

GPtrArray *bb_maildir_list(const char *path, GError **error)
{
    static const char *const folders[] = {"cur", "new"};
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    guint found = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *folder = g_build_filename(path, folders[i], NULL);
        if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
            continue;
        found++;
        if (!list_folder(paths, folder, error)) {
            g_prefix_error(error, "cannot read the Maildir %s: ", path);
            return NULL;
        }
    }
    if (found)
        return g_steal_pointer(&paths);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ISDIR,
                "%s is a directory, but no Maildir: it has neither cur nor new; name the files in "
                "it",
                path);
    return NULL;
}
