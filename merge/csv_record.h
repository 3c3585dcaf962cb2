// SPDX-License-Identifier: Apache-2.0
// Records of a CSV file (RFC 4180). Line feeds alone end lines, too; empty lines count for nothing.
#pragma once

#include "merge/lines.h"

typedef struct BbCsv BbCsv;

// As bb_lines_open.
BbCsv *bb_csv_open(const char *path, GError **error);
void bb_csv_free(BbCsv *csv);

// The next record. Its fields (char *) replace those in fields, and are lent until the next call.
// A record is bad that has a bad line or more than BB_LINE_MAX bytes, quotes that are not closed or
// stand within a field, or text behind a closing quote. Of several lines, only the first one is:
// the next record begins behind it.
BbLineState bb_csv_next(BbCsv *csv, GPtrArray *fields, GError **error);

const char *bb_csv_reason(const BbCsv *csv); // why the last record is bad
guint64 bb_csv_number(const BbCsv *csv);     // line that it begins with, from 1
const char *bb_csv_name(const BbCsv *csv);   // of the file, for messages; lent
const char *bb_csv_damage(const BbCsv *csv); // as bb_lines_damage

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCsv, bb_csv_free)
