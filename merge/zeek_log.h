// SPDX-License-Identifier: Apache-2.0
// A log of Zeek, row by row: tab-separated values with a header (#separator, #fields, #unset_field
// ...), or JSON, an object a line. Headers may come again, as where logs were joined.
#pragma once

#include "merge/lines.h"

// Columns that are read, of conn.log and http.log.
typedef enum {
    BB_ZEEK_TS,
    BB_ZEEK_UID,
    BB_ZEEK_ORIG_HOST,
    BB_ZEEK_RESP_HOST,
    BB_ZEEK_RESP_PORT,
    BB_ZEEK_PROTO,
    BB_ZEEK_SERVICE,
    BB_ZEEK_DURATION,
    BB_ZEEK_ORIG_BYTES,
    BB_ZEEK_RESP_BYTES,
    BB_ZEEK_STATE,
    BB_ZEEK_DEPTH,
    BB_ZEEK_METHOD,
    BB_ZEEK_URI,
    BB_ZEEK_STATUS,
    BB_ZEEK_FIELDS
} BbZeekField;

typedef enum { BB_ZEEK_CONN, BB_ZEEK_HTTP } BbZeekKind;

typedef struct BbZeekRow {
    BbZeekKind kind;
    const char *fields[BB_ZEEK_FIELDS]; // lent by the log until the next row; NULL where unset
} BbZeekRow;

typedef struct BbZeekLog BbZeekLog;

BbZeekLog *bb_zeek_log_open(const char *path, GError **error);
void bb_zeek_log_free(BbZeekLog *log);

// The next row. A row that is none is BB_LINE_BAD; a log that is neither conn nor http, or whose
// header lacks what is needed, has failed (error set).
BbLineState bb_zeek_log_next(BbZeekLog *log, BbZeekRow *row, GError **error);

const char *bb_zeek_log_reason(const BbZeekLog *log); // why the last row is bad
guint64 bb_zeek_log_number(const BbZeekLog *log);     // of its line, from 1
const char *bb_zeek_log_name(const BbZeekLog *log);   // of the file; lent
const char *bb_zeek_log_damage(const BbZeekLog *log); // see bb_lines_damage

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbZeekLog, bb_zeek_log_free)
