// SPDX-License-Identifier: Apache-2.0
// A file that is written from its beginning, or standard output, with words for what fails.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct BbOutfile BbOutfile;

// "-" is standard output. An existing file is replaced.
BbOutfile *bb_outfile_open(const char *path, GError **error);
void bb_outfile_free(BbOutfile *file); // without close, what was written may be lost

FILE *bb_outfile_stream(BbOutfile *file); // lent
bool bb_outfile_put(BbOutfile *file, const char *bytes, gsize size, GError **error);
// Sets the error of a write to the stream that failed: errno says why. Returns false.
bool bb_outfile_fail(const BbOutfile *file, GError **error);
// Brings everything out. After it, only free.
bool bb_outfile_close(BbOutfile *file, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOutfile, bb_outfile_free)
