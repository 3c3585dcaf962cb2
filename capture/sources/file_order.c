// SPDX-License-Identifier: Apache-2.0
// In: names of capture files as they were given. Out: each once, in the order of their packets.
#include "capture/sources/file_order.h"

#include "capture/sources/savefile.h"

#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *name;
    bool is_file; // and no pipe
    dev_t device;
    ino_t inode;
    gint64 first_ns; // its first packet; that of the file before it where there is none
    guint given;     // its place
} Place;

// Where there is none it stays. What is wrong with the file is told when it is read.
static void find_first(const char *name, gint64 *first_ns)
{
    BbLoss loss = {0};
    GQueue unsaid = G_QUEUE_INIT;
    g_autoptr(BbSavefile) file = bb_savefile_open(name, NULL, &loss, &unsaid, NULL);
    BbFrame frame;
    if (file && bb_savefile_next(file, &frame) == BB_SAVEFILE_FRAME)
        *first_ns = frame.time_ns;
    g_queue_clear_full(&unsaid, g_free);
}

static Place look(const char *name, const Place *before)
{
    Place place = {.name = name,
                   .first_ns = before ? before->first_ns : G_MININT64,
                   .given = before ? before->given + 1 : 0};
    struct stat about;
    if (strcmp(name, "-") == 0 || stat(name, &about) < 0 || !S_ISREG(about.st_mode))
        return place;
    place.is_file = true;
    place.device = about.st_dev;
    place.inode = about.st_ino;
    find_first(name, &place.first_ns);
    return place;
}

static guint hash(gconstpointer of)
{
    const Place *place = of;
    return (guint)(place->inode * 31u + place->device);
}

static gboolean is_same(gconstpointer a, gconstpointer b)
{
    const Place *one = a, *other = b;
    return one->device == other->device && one->inode == other->inode;
}

static int compare(gconstpointer a, gconstpointer b)
{
    const Place *one = a, *other = b;
    if (one->first_ns != other->first_ns)
        return one->first_ns < other->first_ns ? -1 : 1;
    return one->given < other->given ? -1 : one->given > other->given;
}

static void say_order(const GArray *places, GQueue *warnings)
{
    for (guint i = 1; i < places->len; i++) {
        const Place *place = &g_array_index(places, Place, i), *before = place - 1;
        if (place->given > before->given)
            continue;
        g_queue_push_tail(warnings,
                          g_strdup_printf("the files were not given in the order of their packets, "
                                          "and are read in that: %s before %s, and so on",
                                          before->name, place->name));
        return;
    }
}

const char **bb_file_order(const char *const *files, GQueue *warnings)
{
    guint count = g_strv_length((char **)files);
    g_autoptr(GArray) places = g_array_sized_new(FALSE, FALSE, sizeof(Place), count);
    g_autoptr(GHashTable) seen = g_hash_table_new(hash, is_same);
    for (const char *const *file = files; *file; file++) {
        const Place *before = places->len ? &g_array_index(places, Place, places->len - 1) : NULL;
        Place place = count > 1 ? look(*file, before) : (Place){.name = *file};
        if (place.is_file && g_hash_table_contains(seen, &place)) {
            g_queue_push_tail(warnings, g_strdup_printf("%s is given twice, and read once", *file));
            continue;
        }
        g_array_append_val(places, place);
        if (place.is_file) // the array has room for all of them, so none moves
            g_hash_table_add(seen, &g_array_index(places, Place, places->len - 1));
    }
    g_array_sort(places, compare);
    say_order(places, warnings);
    const char **names = g_new0(const char *, count + 1);
    for (guint i = 0; i < places->len; i++)
        names[i] = g_array_index(places, Place, i).name;
    return names;
}
