// SPDX-License-Identifier: Apache-2.0
// For tests of exports and imports: messages into a file and back.
#pragma once

#include "merge/exporter.h"
#include "merge/importer.h"
#include "tests/unit/scratch.h"
#include "tests/unit/traces.h"

static inline void export_path(const char *form, const char *path, const Messages *all)
{
    const BbExporter *exporter = bb_exporter_find(form);
    g_autoptr(GError) error = NULL;
    gpointer writing = exporter->open(path, all->names, &error);
    ck_assert_msg(writing, "%s", error ? error->message : "");
    for (guint i = 0; i < all->messages->len; i++)
        ck_assert(exporter->push(writing, message_at(all, i), &error));
    if (exporter->network)
        ck_assert(exporter->network(writing, all->network, &error));
    ck_assert_msg(exporter->finish(writing, all->counters, &error), "%s",
                  error ? error->message : "");
    exporter->free(writing);
}

// The bytes of the file that an export makes.
static inline char *export_text(const char *form, const Messages *all)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "out");
    char *text = NULL;
    export_path(form, path, all);
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

static inline bool keep_message(const BbMessage *message, gpointer user, GError **error)
{
    messages_keep(user, *message);
    return true;
}

static inline void ignore_warning(const char *sentence)
{
    ck_assert(sentence[0]);
}

// What an importer makes of a file; what went wrong is in the result.
static inline Messages *import_path(const char *form, const char *path, const char *columns,
                                    bool skip_bad)
{
    Messages *all = messages_new();
    const BbImporter *importer = bb_importer_find(form);
    const char *const settings[] = {columns, NULL};
    BbImport import = {.names = all->names,
                       .counters = all->counters,
                       .network = all->network,
                       .sink = keep_message,
                       .user = all,
                       .warn = ignore_warning,
                       .skip_bad = skip_bad,
                       .settings = settings};
    gpointer reading = importer->begin(&import);
    bool good = importer->read(reading, path, &all->error);
    ck_assert(good == !all->error);
    ck_assert(importer->finish(reading, NULL));
    importer->end(reading);
    return all;
}

static inline Messages *import_text(const char *form, const char *text, const char *columns,
                                    bool skip_bad)
{
    g_autoptr(Scratch) scratch = scratch_new();
    return import_path(form, scratch_file(scratch, "in", text, strlen(text)), columns, skip_bad);
}

// The import as a text trace, or its error.
static inline char *import_as_text(const char *form, const char *text, const char *columns,
                                   bool skip_bad)
{
    g_autoptr(Messages) all = import_text(form, text, columns, skip_bad);
    return all->error ? g_strdup(all->error->message) : export_text("text", all);
}
