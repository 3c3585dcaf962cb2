// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a file of mail. Checks that reading ends, that what is given is a message
// between two hosts in order of time whose cause was given too, and that every header is counted
// once.
#include "merge/importer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

typedef struct Taken {
    GHashTable *ids, *parents; // numbers
    gint64 last_ns;
    guint64 count;
} Taken;

static bool take(const BbMessage *message, gpointer user, GError **error)
{
    Taken *taken = user;
    g_assert(message->time_ns >= 0 && message->time_ns >= taken->last_ns);
    g_assert(message->sender && message->receiver && message->sender != message->receiver);
    g_assert(bb_id_is_known(message->path) && bb_id_is_known(message->parent));
    g_assert(g_hash_table_add(taken->ids, GSIZE_TO_POINTER((gsize)message->id.number)));
    if (message->parent.form != BB_ID_DASH)
        g_hash_table_add(taken->parents, GSIZE_TO_POINTER((gsize)message->parent.number));
    taken->last_ns = message->time_ns;
    taken->count++;
    return true;
}

static void warn(const char *sentence)
{
    g_assert(sentence[0]);
}

// Headers that became no message, over all reasons.
static guint64 left_out(const BbCounters *counters)
{
    static const char *const reasons[] = {"mail_without_from", "mail_without_by", "mail_local",
                                          "mail_generic",      "mail_private",    "mail_self",
                                          "mail_bad_dates",    "mail_copies"};
    guint64 sum = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(reasons); i++)
        sum += bb_counters_get(counters, reasons[i]);
    return sum;
}

static void check(const Taken *taken, const BbCounters *counters)
{
    GHashTableIter iter;
    gpointer parent = NULL;
    g_hash_table_iter_init(&iter, taken->parents);
    while (g_hash_table_iter_next(&iter, &parent, NULL))
        g_assert(g_hash_table_contains(taken->ids, parent));
    g_assert(taken->count + left_out(counters) == bb_counters_get(counters, "mail_headers"));
}

// The bytes as a file that has no name elsewhere.
static char *make_file(const guint8 *data, gsize size, int *fd)
{
    *fd = memfd_create("mail", MFD_CLOEXEC);
    g_assert(*fd >= 0 && write(*fd, data, size) == (gssize)size);
    return g_strdup_printf("/proc/self/fd/%d", *fd);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    int fd = -1;
    g_autofree char *path = make_file(data, size, &fd);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbCounters) counters = bb_counters_new();
    g_autoptr(GHashTable) ids = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) parents = g_hash_table_new(NULL, NULL);
    Taken taken = {.ids = ids, .parents = parents};
    BbImport import = {
        .names = names, .counters = counters, .sink = take, .user = &taken, .warn = warn};
    const BbImporter *importer = bb_importer_find("received");
    g_autoptr(GError) error = NULL;
    gpointer reading = importer->begin(&import);
    bool good = importer->read(reading, path, &error);
    g_assert(good == (error == NULL));
    g_assert(importer->finish(reading, NULL));
    importer->end(reading);
    check(&taken, counters);
    close(fd);
    return 0;
}
