// SPDX-License-Identifier: Apache-2.0
// Which column of a foreign table, or key of a foreign object, is which field of a message.
#pragma once

#include "merge/fields.h"
#include "merge/importer.h"

// The setting of importers that read columns: "FIELD=COLUMN[:UNIT],...", as "time=ts:ms,from=src".
// A field that is not in the map is found by its own name: that of BbField.column; times also by
// name with another unit behind it (time_s, time_ms, time_us), or by name alone, which is seconds
// or ISO 8601.
#define BB_COLUMNS_SETTING "columns"

typedef struct BbColumn {
    const BbField *field;
    BbStampUnit unit; // of a time
} BbColumn;

typedef struct BbColumns BbColumns;

// map may be NULL. Returns NULL with *problem, a sentence that is the caller's, if it is no map.
BbColumns *bb_columns_new(const char *map, char **problem);
void bb_columns_free(BbColumns *columns);

// BbImporter.check of who reads that setting.
char *bb_columns_check(const BbImport *import);

// The column that the map names for a field, NULL where it names none. Lent.
const char *bb_columns_mapped(const BbColumns *columns, const BbField *field);

// Returns false for a column of no use.
bool bb_columns_find(const BbColumns *columns, const char *name, BbColumn *column);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbColumns, bb_columns_free)
