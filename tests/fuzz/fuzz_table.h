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
    BbNetwork *network;
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
                       .network = taken->network,
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
                   .network = bb_network_new(),
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
    bb_network_free(taken->network);
    g_string_free(taken->text, TRUE);
}

// Facts on the network and counters as text.
static inline void table_note_rest(Taken *taken)
{
    for (guint i = 0; i < bb_network_count(taken->network); i++) {
        const BbNetworkEdge *edge = bb_network_at(taken->network, i);
        g_string_append_printf(taken->text, "%s %s", bb_names_text(taken->names, edge->client),
                               bb_names_text(taken->names, edge->server));
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            g_string_append_printf(taken->text, " %" G_GUINT64_FORMAT,
                                   bb_network_field(edge, field));
    }
    for (guint i = 0; i < bb_counters_count(taken->counters); i++)
        g_string_append_printf(taken->text, "%s %" G_GUINT64_FORMAT "\n",
                               bb_counters_name(taken->counters, i),
                               bb_counters_value(taken->counters, i));
}

// Ends the file.
static inline bool table_finish(Taken *taken)
{
    const BbExporter *exporter = taken->exporter;
    return (!exporter->network || exporter->network(taken->writing, taken->network, NULL)) &&
           exporter->finish(taken->writing, taken->counters, NULL);
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
    g_assert(table_finish(&first));
    // A trace with nothing in it is a file with nothing in it, and that is refused.
    g_assert(table_import(form, out, false, &second) == (lseek(out, 0, SEEK_END) > 0));
    if (first.exporter->network) {
        table_note_rest(&first);
        table_note_rest(&second);
    }
    g_assert(g_string_equal(first.text, second.text));
    table_end(&first);
    table_end(&strict);
    table_end(&second);
    close(in);
    close(out);
}
