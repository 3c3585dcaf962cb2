// SPDX-License-Identifier: Apache-2.0
// Lines of an input that are no records: an error that names file and line or, where the user wants
// so, a count.
#pragma once

#include "merge/importer.h"
#include "merge/lines.h"

typedef struct BbBadLines {
    guint64 good, bad;
} BbBadLines;

// Counts the line (the first one of the file is 1) where import skips bad ones and returns true,
// else fails.
bool bb_bad_lines_add(BbBadLines *lines, const BbImport *import, const char *file, guint64 number,
                      const char *reason, GError **error);

// At the end of a file: warns of lines skipped, and of damage (NULL for none). Fails where lines
// were skipped and none was good: what is said to be wanted is not in the file.
bool bb_bad_lines_end(const BbBadLines *lines, const BbImport *import, const char *file,
                      const char *damage, GError **error);
