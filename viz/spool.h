// SPDX-License-Identifier: Apache-2.0
// Bytes put aside to be read once, in the same order: the first ones in memory, the others in a
// temporary file without name ($TMPDIR, else /tmp).
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_SPOOL_MEMORY (8u << 20) // bytes

typedef struct BbSpool BbSpool;

BbSpool *bb_spool_new(void);
void bb_spool_free(BbSpool *spool);

// Puts length bytes aside. Fails (G_FILE_ERROR) when there is no room for a temporary file.
bool bb_spool_push(BbSpool *spool, gconstpointer bytes, gsize length, GError **error);

// Turns from writing to reading.
bool bb_spool_rewind(BbSpool *spool, GError **error);

// The next length bytes. Returns false at the end, and, with error set, when the file cannot be
// read.
bool bb_spool_next(BbSpool *spool, gpointer bytes, gsize length, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSpool, bb_spool_free)
