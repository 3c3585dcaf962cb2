// SPDX-License-Identifier: Apache-2.0
// In: a folder of snapshots, and how many are kept. Out: the folder without the oldest ones.
#include "cli/snapshots_kept.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAMP "snap-00000000T000000.000Z-" // 0: a digit
#define ENDING ".bbt"
#define PART ".part"

typedef struct {
    char *path;
    gint64 written_ns;
    guint64 size;
} Kept;

static void kept_clear(gpointer data)
{
    g_free(((Kept *)data)->path);
}

// All are in the same folder: the paths differ from the stamps on.
static gint by_age(gconstpointer a, gconstpointer b)
{
    const Kept *x = a, *y = b;
    gsize from = strlen(x->path) - strlen(strrchr(x->path, '/'));
    gint order = strncmp(x->path + from, y->path + from, 1 + strlen(STAMP));
    if (order == 0)
        order = (x->written_ns > y->written_ns) - (x->written_ns < y->written_ns);
    return order ? order : strcmp(x->path, y->path);
}

// Whether the first size bytes of name are a name that a snapshot is given.
static bool is_snapshot(const char *name, gsize size)
{
    gsize stamp = strlen(STAMP), ending = strlen(ENDING);
    if (size <= stamp + ending || memcmp(name + size - ending, ENDING, ending) != 0)
        return false;
    for (gsize i = 0; i < size - ending; i++) {
        bool good = g_ascii_isalnum(name[i]) || name[i] == '-';
        if (i < stamp)
            good = STAMP[i] == '0' ? g_ascii_isdigit(name[i]) : name[i] == STAMP[i];
        if (!good)
            return false;
    }
    return true;
}

// One that is being written (cli/snapshot.c): its name, perhaps a number, and .part.
static bool is_part(const char *name)
{
    if (!g_str_has_suffix(name, PART))
        return false;
    gsize size = strlen(name) - strlen(PART), bare = size;
    while (bare > 0 && g_ascii_isdigit(name[bare - 1]))
        bare--;
    if (bare < size && bare > 0 && name[bare - 1] == '.')
        size = bare - 1;
    return is_snapshot(name, size);
}

static GArray *list_kept(const char *folder)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Kept));
    g_array_set_clear_func(list, kept_clear);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name = NULL; dir && (name = g_dir_read_name(dir));) {
        struct stat info;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (!is_snapshot(name, strlen(name)) || lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        const Kept kept = {g_steal_pointer(&path),
                           (gint64)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec,
                           (guint64)info.st_size};
        g_array_append_val(list, kept);
    }
    g_array_sort(list, by_age);
    return list;
}

guint bb_snapshots_keep(const char *folder, const BbRecorderOptions *options, const char *newest)
{
    g_autoptr(GArray) list = list_kept(folder);
    guint64 bytes = 0, files = list->len;
    guint deleted = 0;
    for (guint i = 0; i < list->len; i++)
        bytes += g_array_index(list, Kept, i).size;
    for (guint i = 0; i < list->len; i++) {
        const Kept *kept = &g_array_index(list, Kept, i);
        bool over = (options->keep_files && files > options->keep_files) ||
                    (options->keep_bytes && bytes > options->keep_bytes);
        if (!over)
            break;
        if (strcmp(kept->path, newest) == 0 || unlink(kept->path) != 0)
            continue;
        files--;
        bytes -= kept->size;
        deleted++;
    }
    return deleted;
}

void bb_snapshots_clean(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name = NULL; dir && (name = g_dir_read_name(dir));) {
        struct stat info;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (is_part(name) && lstat(path, &info) == 0 && S_ISREG(info.st_mode))
            (void)unlink(path);
    }
}
