// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of chrome, events and zeek share: any bytes are imported, as one input and
// cut in two, with and without bad lines. Checks that reading ends and that what is given are
// messages between two nodes; what the counters must add up to is the target's.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "merge/importer.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

typedef struct Taken {
    guint64 calls, returns, others;
} Taken;

static bool take(const BbMessage *message, gpointer user, GError **error)
{
    Taken *taken = user;
    g_assert(message->time_ns >= 0);
    g_assert(message->recv_ns == BB_TIME_NONE || (message->recv_ns >= 0 && !message->at_receiver));
    g_assert(message->sender && message->receiver && bb_id_is_known(message->id));
    taken->calls += message->kind == BB_CALL;
    taken->returns += message->kind == BB_RETURN;
    taken->others += message->kind == BB_FREE;
    return true;
}

static void warn(const char *sentence)
{
    g_assert(sentence[0]);
}

static int put(const guint8 *data, gsize size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    g_assert(fd >= 0 && write(fd, data, size) == (gssize)size);
    return fd;
}

typedef void (*Check)(const Taken *taken, const BbCounters *counters);

static void import_files(const char *form, const int *files, guint count, bool skip_bad,
                         Check check)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbCounters) counters = bb_counters_new();
    Taken taken = {0};
    BbImport import = {.names = names,
                       .counters = counters,
                       .sink = take,
                       .user = &taken,
                       .warn = warn,
                       .skip_bad = skip_bad};
    const BbImporter *importer = bb_importer_find(form);
    gpointer reading = importer->begin(&import);
    for (guint i = 0; i < count; i++) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", files[i]);
        g_autoptr(GError) error = NULL;
        bool good = importer->read(reading, path, &error);
        g_assert(good == !error);
    }
    g_assert(importer->finish(reading, NULL));
    importer->end(reading);
    for (guint i = 0; i < bb_counters_count(counters); i++)
        g_assert(bb_importer_meaning(bb_counters_name(counters, i)));
    check(&taken, counters);
}

static void fuzz_import(const char *form, const guint8 *data, gsize size, Check check)
{
    gsize middle = size / 2;
    const int files[] = {put(data, size), put(data, middle), put(data + middle, size - middle)};
    import_files(form, files, 1, false, check);
    import_files(form, files, 1, true, check);
    import_files(form, files + 1, 2, true, check);
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
        close(files[i]);
}
