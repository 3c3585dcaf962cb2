// SPDX-License-Identifier: Apache-2.0
// A file that is written as a whole, or standard output, with words for what fails. A file that is
// there stays until the new one is complete (data/draft.h); pipes and devices are written to.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct BbOutfile BbOutfile;

// "-" is standard output. Where nothing can be written beside an existing file, it is written to as
// well, and what was there is lost.
BbOutfile *bb_outfile_open(const char *path, GError **error);
void bb_outfile_free(BbOutfile *file); // without close, nothing of it is left beside path

const char *bb_outfile_name(const BbOutfile *file); // for messages; lent

FILE *bb_outfile_stream(BbOutfile *file); // lent
bool bb_outfile_put(BbOutfile *file, const char *bytes, gsize size, GError **error);
// Sets the error of a write to the stream that failed: errno says why. Returns false.
bool bb_outfile_fail(const BbOutfile *file, GError **error);
// Brings everything out, and replaces what was there. After it, only free.
bool bb_outfile_close(BbOutfile *file, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOutfile, bb_outfile_free)
