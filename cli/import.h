// SPDX-License-Identifier: Apache-2.0
// What import and cat share: foreign records in, one trace out, in order of time.
#pragma once

#include "cli/command.h"
#include "merge/importer.h"

// Reads paths (ends with NULL) and writes the trace to out. An input that fails is said, and the
// others are read nevertheless. settings (as BbImport has them; may be NULL) were checked. Returns
// an exit status.
int bb_import_files(const BbImporter *importer, char **paths, const char *out, BbTraceForm form,
                    bool skip_bad, const char *const *settings);
