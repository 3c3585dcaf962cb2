// SPDX-License-Identifier: Apache-2.0
// A table of text for a terminal: columns as wide as what is in them, flush right but the last.
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct BbSheet BbSheet;

// heads end with NULL; lent, static.
BbSheet *bb_sheet_new(const char *const *heads);
void bb_sheet_free(BbSheet *sheet);

// The next cell, row by row, to append to; lent until the next one.
GString *bb_sheet_cell(BbSheet *sheet);

void bb_sheet_write(const BbSheet *sheet, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSheet, bb_sheet_free)
