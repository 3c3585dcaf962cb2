// SPDX-License-Identifier: Apache-2.0
// A file of text, line by line, for importers of formats that have lines.
#pragma once

#include "data/input.h"

// Bytes of a line, and of a record of several lines.
#define BB_LINE_MAX ((gsize)1 << 20)

typedef struct BbLines BbLines;

// Opens path; "-" is standard input; .gz, .xz and .zst are unpacked. Fails as
// bb_input_open_text does.
BbLines *bb_lines_open(const char *path, GError **error);
// The same of an input that is open already: takes it over.
BbLines *bb_lines_take(BbInput *input);
void bb_lines_free(BbLines *lines);

typedef enum {
    BB_LINE_GOOD,
    BB_LINE_BAD,    // longer than BB_LINE_MAX, or with a NUL byte: bb_lines_reason() says which
    BB_LINE_END,    // there are no more; the one that a packed file breaks off in is none
    BB_LINE_FAILED, // the operating system failed: error is set
} BbLineState;

// The next line without its line feed, lent until the next call; the caller may write into it.
BbLineState bb_lines_next(BbLines *lines, char **line, GError **error);

const char *bb_lines_reason(const BbLines *lines); // why the last line is bad
guint64 bb_lines_number(const BbLines *lines);     // of the last line, from 1
const char *bb_lines_name(const BbLines *lines);   // of the file, for messages; lent
// A sentence on where a compressed file broke off, NULL while it is whole. Lent.
const char *bb_lines_damage(const BbLines *lines);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLines, bb_lines_free)
