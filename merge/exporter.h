// SPDX-License-Identifier: Apache-2.0
// Traces in forms that other programs read: one row of a table a form. Messages in, a file out.
#pragma once

#include "data/counters.h"
#include "data/message.h"
#include "data/network.h"

typedef struct BbExporter {
    const char *name;       // of --to
    const char *about;      // one line for --help
    const char *endings[3]; // of files; what is not used is NULL
    bool file_only;         // cannot be written to standard output
    bool without_counters;  // has no place for them
    // Begins to write path ("-" is standard output), which is replaced. names is lent, and outlives
    // what is returned. Returns NULL with an error.
    gpointer (*open)(const char *path, const BbNames *names, GError **error);
    // Messages come in order of time.
    bool (*push)(gpointer writing, const BbMessage *message, GError **error);
    // Writes what TCP told of the network, once, before finish; NULL where the form has no place
    // for it.
    bool (*network)(gpointer writing, const BbNetwork *network, GError **error);
    // Writes a sentence on how the trace came about, before finish; NULL where the form has no
    // place for it.
    bool (*note)(gpointer writing, const char *text, GError **error);
    // Writes the counters and what remains. After it, or any failure, only free.
    bool (*finish)(gpointer writing, const BbCounters *counters, GError **error);
    void (*free)(gpointer writing);
} BbExporter;

const BbExporter *bb_exporter_at(gsize index);           // of the table; NULL behind its end
const BbExporter *bb_exporter_find(const char *name);    // NULL if there is none
const BbExporter *bb_exporter_of_file(const char *path); // by its ending; NULL if that names none

// The rows of the table, each in export_<name>.c.
extern const BbExporter bb_exporter_text;
extern const BbExporter bb_exporter_jsonl;
extern const BbExporter bb_exporter_csv;
extern const BbExporter bb_exporter_sqlite;
