// SPDX-License-Identifier: Apache-2.0
// Foreign records of who sent what to whom, turned into messages: one row of a table a format.
#pragma once

#include "data/counters.h"
#include "data/message.h"
#include "data/network.h"
#include "data/order.h"

#define BB_IMPORT_LABEL_MAX 96

typedef struct BbImport {
    BbNames *names;       // lent
    BbCounters *counters; // what could not be used, by reason; lent
    BbNetwork *network;   // what TCP told, where the input has it; lent
    GPtrArray *notes;     // of char *: sentences on how a trace came about; lent; NULL: not wanted
    BbMessageSink sink;   // takes the messages, in any order
    gpointer user;        // of sink
    void (*warn)(const char *sentence); // told what is damaged or was left out of an input
    bool skip_bad;                      // count malformed lines instead of failing
    bool may_be_empty;                  // a file without a byte: a trace that was not written yet
    const char *const *settings;        // "name=value", ends with NULL; NULL for none; lent
    // Writes the label of an HTTP request, in which what varies from call to call is `*`: at most
    // BB_IMPORT_LABEL_MAX bytes and a NUL. Returns its length. NULL: method and path as they are.
    gsize (*label_http)(char *out, const guint8 *method, gsize method_length, const guint8 *path,
                        gsize path_length);
} BbImport;

// A counter of an importer and its sentence for people.
typedef struct BbImportCount {
    const char *name, *meaning;
} BbImportCount;

typedef struct BbImporter {
    const char *name;            // of --from
    const char *about;           // one line for --help
    const BbImportCount *counts; // told at the end; ends with a row without name; NULL for none
    // Names of the settings it reads; ends with NULL; NULL for none.
    const char *const *settings;
    // What is wrong with the settings, NULL if nothing. The caller frees. NULL: nothing can be.
    char *(*check)(const BbImport *import);
    // What is kept from one input to the next. import is lent, and outlives it.
    gpointer (*begin)(const BbImport *import);
    // Reads all of path (a file, a directory where the format has such, or "-"). Fails when the
    // input cannot be read, is of another form, or the sink fails; what cannot be used of a good
    // input is counted. After a failure other inputs may follow, unless it was the sink's.
    bool (*read)(gpointer reading, const char *path, GError **error);
    // Hands over what waited for the last input. Fails when the sink does.
    bool (*finish)(gpointer reading, GError **error);
    void (*end)(gpointer reading);
} BbImporter;

const BbImporter *bb_importer_at(gsize index);        // of the table; NULL behind its end
const BbImporter *bb_importer_find(const char *name); // NULL if there is none

// Whether importer reads the setting of that name.
bool bb_importer_has_setting(const BbImporter *importer, const char *name);
// The value of a setting, NULL if it was not given. Lent.
const char *bb_import_setting(const BbImport *import, const char *name);

// The sentence of a counter of any importer, NULL if none has it. Lent.
const char *bb_importer_meaning(const char *counter);

// The rows of the table, each in a file of its name.
extern const BbImporter bb_importer_text;
extern const BbImporter bb_importer_received;
extern const BbImporter bb_importer_jaeger;
extern const BbImporter bb_importer_zipkin;
extern const BbImporter bb_importer_otlp;
extern const BbImporter bb_importer_jsonl;
extern const BbImporter bb_importer_csv;
extern const BbImporter bb_importer_chrome;
extern const BbImporter bb_importer_zeek;
extern const BbImporter bb_importer_events;
