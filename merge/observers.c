// SPDX-License-Identifier: Apache-2.0
// In: paths of traces. Out: names of observers, all different.
#include "merge/observers.h"

#include "data/keys.h"
#include "data/trace_files.h"

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
    GHashTable *counts = g_hash_table_new(bb_text_key_hash, g_str_equal);
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
    g_autoptr(GHashTable) taken = g_hash_table_new(bb_text_key_hash, g_str_equal);
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

// What files of one series share: their path without time, number and endings. NULL for others.
static char *series_of(const char *path)
{
    char *name = strip_endings(path);
    gsize stem = bb_trace_files_stem(name);
    bool series = name[stem] && stem && name[stem - 1] != '/';
    name[stem] = '\0';
    if (!series)
        g_clear_pointer(&name, g_free);
    return name;
}

// What files of one observer share; the files themselves are told apart even if one is given twice.
static char *group_of(const char *path, bool by_folder, bool *shared)
{
    char *group = by_folder ? g_path_get_dirname(path) : series_of(path);
    *shared = group;
    return group ? group : g_strdup(path);
}

GPtrArray *bb_observers_name(const char *const *paths, bool by_folder)
{
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) known = g_hash_table_new(bb_text_key_hash, g_str_equal); // -> 1 + place
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint));
    for (; *paths; paths++) {
        bool shared;
        char *group = group_of(*paths, by_folder, &shared);
        guint place = shared ? GPOINTER_TO_UINT(g_hash_table_lookup(known, group)) : 0;
        if (place) {
            g_free(group);
        } else {
            g_ptr_array_add(groups, group);
            place = groups->len;
            if (shared)
                g_hash_table_insert(known, group, GUINT_TO_POINTER(place));
        }
        place--;
        g_array_append_val(places, place);
    }
    g_ptr_array_add(groups, NULL);
    g_autoptr(GPtrArray) names = name_all((const char *const *)(gpointer)groups->pdata);
    GPtrArray *result = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < places->len; i++)
        g_ptr_array_add(result, g_strdup(names->pdata[g_array_index(places, guint, i)]));
    return result;
}
