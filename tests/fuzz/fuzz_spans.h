// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a file of spans; FORM names the importer. Checks that reading ends, that what is
// given is a message between two nodes with times that can be, and that every span is counted once.
#pragma once

#include "merge/importer.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

typedef struct Taken {
    guint64 calls, returns, others;
} Taken;

static bool take(const BbMessage *message, gpointer user, GError **error)
{
    Taken *taken = user;
    g_assert(message->time_ns > 0 && (message->recv_ns == BB_TIME_NONE || message->recv_ns > 0));
    g_assert(message->recv_ns == BB_TIME_NONE || !message->at_receiver);
    g_assert(message->sender && message->receiver);
    g_assert(bb_id_is_known(message->id) && bb_id_is_known(message->path));
    taken->calls += message->kind == BB_CALL;
    taken->returns += message->kind == BB_RETURN;
    taken->others += message->kind == BB_FREE;
    return true;
}

static void warn(const char *sentence)
{
    g_assert(sentence[0]);
}

static void check(const Taken *taken, const BbCounters *counters)
{
    static const char *const reasons[] = {"spans_no_id",    "spans_duplicate", "spans_again",
                                          "spans_internal", "spans_joined",    "spans_unusable",
                                          "spans_parts"};
    guint64 sum = taken->calls + taken->others;
    for (gsize i = 0; i < G_N_ELEMENTS(reasons); i++)
        sum += bb_counters_get(counters, reasons[i]);
    g_assert(sum == bb_counters_get(counters, "spans"));
    g_assert(taken->returns + bb_counters_get(counters, "spans_without_end") == taken->calls);
}

static void import_file(const char *path, bool skip_bad)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbCounters) counters = bb_counters_new();
    g_autoptr(GError) error = NULL;
    Taken taken = {0};
    BbImport import = {.names = names,
                       .counters = counters,
                       .sink = take,
                       .user = &taken,
                       .warn = warn,
                       .skip_bad = skip_bad};
    const BbImporter *importer = bb_importer_find(FORM);
    gpointer reading = importer->begin(&import);
    bool good = importer->read(reading, path, &error);
    g_assert(good == (error == NULL));
    g_assert(importer->finish(reading, NULL));
    importer->end(reading);
    check(&taken, counters);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    int fd = memfd_create("spans", MFD_CLOEXEC);
    g_assert(fd >= 0 && write(fd, data, size) == (gssize)size);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    import_file(path, false);
    import_file(path, true);
    close(fd);
    return 0;
}
