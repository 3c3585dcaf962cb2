// SPDX-License-Identifier: Apache-2.0
// What the importers of JSON documents share: a file read value by value, and what becomes of
// values that are malformed or of another form.
#pragma once

#include "merge/importer.h"
#include "merge/json_values.h"

typedef struct BbJsonForm {
    const char *const *lists; // see bb_json_values_open
    const char *wanted;       // a sentence for values that are not of the form
    bool open;                // brackets may be missing at the end
    // Takes a value. Returns false where it is not of the form (error not set) or reading cannot go
    // on (error set).
    bool (*take)(gpointer user, JsonObject *value, GError **error);
} BbJsonForm;

// A row for BbImporter.counts.
#define BB_JSON_READING_COUNTS                              \
    {                                                       \
        "json_bad_values", "malformed JSON values: skipped" \
    }

// Reads all of path. Fails as BbImporter.read does.
bool bb_json_reading_run(const BbImport *import, const BbJsonForm *form, gpointer user,
                         const char *path, GError **error);
