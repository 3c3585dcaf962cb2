// SPDX-License-Identifier: Apache-2.0
// Interned strings: every node name, operation label, status and protocol name of a run is a small
// integer after it was seen once. One table serves one run; integers of different tables never mix.
// One thread interns. Others may look up the text of names that were handed to them by something
// that orders memory (a queue, a lock), while it goes on.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbNames BbNames;

// The empty text, and "no name": every table holds it as 0.
#define BB_NAME_NONE 0u

BbNames *bb_names_new(void);
void bb_names_free(BbNames *names);

// Returns the integer of text, which is copied when new. Integers count up from 1 in order of first
// use. Text is any bytes without NUL; length is in bytes.
guint32 bb_names_intern(BbNames *names, const char *text);
guint32 bb_names_intern_len(BbNames *names, const char *text, gsize length);

// Returns the integer of text, or BB_NAME_NONE when it was never interned.
guint32 bb_names_find(const BbNames *names, const char *text);

// Returns the text of name, lent for the life of the table. name must be < bb_names_count().
const char *bb_names_text(const BbNames *names, guint32 name);

// For a sort: by texts, in the order of bytes.
gint bb_names_compare(const BbNames *names, guint32 a, guint32 b);

// Number of names, the empty one included; all names are below it.
guint32 bb_names_count(const BbNames *names);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNames, bb_names_free)
