// SPDX-License-Identifier: Apache-2.0
// What import and cat share: foreign records in, one trace out, in order of time.
#pragma once

#include "cli/command.h"
#include "merge/importer.h"

typedef struct BbImportJob {
    const BbImporter *importer;
    char **paths;                // end with NULL
    const char *out;             // "-" is standard output
    BbTraceForm form;            // of out
    const char *const *settings; // as BbImport has them; were checked; may be NULL
    bool skip_bad, may_be_empty; // likewise
    bool quiet;                  // no progress, and no summary
} BbImportJob;

// Reads the paths and writes the trace. An input that fails is said, and the others are read
// nevertheless. Returns an exit status.
int bb_import_run(const BbImportJob *job);
