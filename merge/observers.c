// SPDX-License-Identifier: Apache-2.0
// In: paths of traces. Out: names of observers, all different.
#include "merge/observers.h"

#include <string.h>

static const char *const endings[] = {".gz", ".xz", ".zst", ".bbt", ".txt", ".text", ".trace"};

static char *strip_endings(const char *path)
{
    char *name = g_strdup(strcmp(path, "-") == 0 ? "stdin" : path);
    for (bool again = true; again;) {
        again = false;
        for (gsize i = 0; i < G_N_ELEMENTS(endings); i++) {
            gsize length = strlen(name), ending = strlen(endings[i]);
            bool bare = length <= ending || name[length - ending - 1] == '/';
            if (bare || !g_str_has_suffix(name, endings[i]))
                continue;
            name[length - ending] = '\0';
            again = true;
        }
    }
    return name;
}

// The last count parts of a path.
static const char *last_parts(const char *path, guint count)
{
    const char *at = path + strlen(path);
    while (at > path && count) {
        at--;
        if (*at == '/' && at[1] && --count == 0)
            return at + 1;
    }
    return path;
}

static GHashTable *count_names(GPtrArray *names)
{
    GHashTable *counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < names->len; i++) {
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, names->pdata[i]));
        g_hash_table_insert(counts, names->pdata[i], GUINT_TO_POINTER(count + 1));
    }
    return counts;
}

// Takes one more part of those paths whose names are not alone. Returns whether any could.
static bool lengthen(GPtrArray *names, GPtrArray *paths, guint parts)
{
    g_autoptr(GHashTable) counts = count_names(names);
    bool longer = false;
    for (guint i = 0; i < names->len; i++) {
        const char *whole = paths->pdata[i], *more = last_parts(whole, parts);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(counts, names->pdata[i])) == 1 ||
            strcmp(more, names->pdata[i]) == 0)
            continue;
        names->pdata[i] = (gpointer)more;
        longer = true;
    }
    return longer;
}

static GPtrArray *name_all(const char *const *paths)
{
    g_autoptr(GPtrArray) stripped = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (; *paths; paths++) {
        g_ptr_array_add(stripped, strip_endings(*paths));
        g_ptr_array_add(names, (gpointer)last_parts(stripped->pdata[stripped->len - 1], 1));
    }
    for (guint parts = 2; lengthen(names, stripped, parts); parts++)
        continue;
    GPtrArray *result = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < names->len; i++) {
        char *name = g_strdup(names->pdata[i]);
        for (guint again = 2; g_hash_table_contains(taken, name); again++) {
            g_free(name);
            name = g_strdup_printf("%s#%u", (const char *)names->pdata[i], again);
        }
        g_hash_table_add(taken, name);
        g_ptr_array_add(result, name);
    }
    return result;
}

static GPtrArray *name_folders(const char *const *paths)
{
    g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free); // each once
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint));
    for (; *paths; paths++) {
        char *folder = g_path_get_dirname(*paths);
        guint place = 0;
        if (g_ptr_array_find_with_equal_func(folders, folder, g_str_equal, &place)) {
            g_free(folder);
        } else {
            place = folders->len;
            g_ptr_array_add(folders, folder);
        }
        g_array_append_val(places, place);
    }
    g_ptr_array_add(folders, NULL);
    g_autoptr(GPtrArray) names = name_all((const char *const *)(gpointer)folders->pdata);
    GPtrArray *result = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < places->len; i++)
        g_ptr_array_add(result, g_strdup(names->pdata[g_array_index(places, guint, i)]));
    return result;
}

GPtrArray *bb_observers_name(const char *const *paths, bool by_folder)
{
    return by_folder ? name_folders(paths) : name_all(paths);
}
