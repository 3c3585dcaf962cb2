// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of csv and jsonl share: any bytes are imported, with and without bad lines,
// and what was found is exported and imported again: nothing may change.
#pragma once

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "merge/exporter.h"
#include "merge/fields.h"
#include "merge/importer.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

// What is taken goes to an exporter, and is noted as text.
typedef struct Taken {
    const BbExporter *exporter;
    gpointer writing; // NULL: nothing is written
    BbNames *names;
    BbCounters *counters;
    GString *text;
} Taken;

static inline bool table_take(const BbMessage *message, gpointer user, GError **error)
{
    Taken *taken = user;
    const BbField *field = NULL;
    g_assert(message->time_ns >= 0);
    for (gsize i = 0; (field = bb_field_at(i)); i++) {
        (void)bb_field_append(field, message, taken->names, taken->text);
        g_string_append_c(taken->text, '\n');
    }
    return !taken->writing || taken->exporter->push(taken->writing, message, error);
}

static inline void table_warn(const char *sentence)
{
    g_assert(sentence[0]);
}

// Returns whether all of fd was read.
static inline bool table_import(const char *form, int fd, bool skip_bad, Taken *taken)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    const BbImporter *importer = bb_importer_find(form);
    g_autoptr(GError) error = NULL;
    BbImport import = {.names = taken->names,
                       .counters = taken->counters,
                       .sink = table_take,
                       .user = taken,
                       .warn = table_warn,
                       .skip_bad = skip_bad};
    gpointer reading = importer->begin(&import);
    bool good = importer->read(reading, path, &error);
    g_assert(good == !error);
    g_assert(importer->finish(reading, NULL));
    importer->end(reading);
    return good;
}

static inline Taken table_begin(const char *form, int out)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", out);
    Taken taken = {.exporter = bb_exporter_find(form),
                   .names = bb_names_new(),
                   .counters = bb_counters_new(),
                   .text = g_string_new(NULL)};
    if (out >= 0)
        taken.writing = taken.exporter->open(path, taken.names, NULL);
    g_assert(out < 0 || taken.writing);
    return taken;
}

static inline void table_end(Taken *taken)
{
    if (taken->writing)
        taken->exporter->free(taken->writing);
    bb_names_free(taken->names);
    bb_counters_free(taken->counters);
    g_string_free(taken->text, TRUE);
}

static inline void fuzz_table(const char *form, const guint8 *data, gsize size)
{
    int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
    g_assert(in >= 0 && out >= 0 && write(in, data, size) == (gssize)size);
    Taken first = table_begin(form, out), strict = table_begin(form, -1);
    Taken second = table_begin(form, -1);
    (void)table_import(form, in, true, &first);
    (void)table_import(form, in, false, &strict);
    g_assert(g_str_has_prefix(first.text->str, strict.text->str));
    g_assert(first.exporter->finish(first.writing, first.counters, NULL));
    g_assert(table_import(form, out, false, &second));
    g_assert(g_string_equal(first.text, second.text));
    table_end(&first);
    table_end(&strict);
    table_end(&second);
    close(in);
    close(out);
}
