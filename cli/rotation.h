// SPDX-License-Identifier: Apache-2.0
// How the trace of a capture is put into files: options, and what they mean.
#pragma once

#include "cli/command.h"
#include "data/trace_files.h"

typedef struct BbRotation {
    char *size_word, *time_word, *ring_word, *flush_word, *sync_word;
    guint64 bytes, ring_bytes;
    gint64 ns, flush_ns; // flush_ns 0: never before the end
    guint ring_files;
    BbTraceSync sync;
} BbRotation;

// Reads the words, and fills in what nobody asked for; live is a capture of an interface, out where
// it goes (NULL for standard output). Returns an exit status where that was wrong usage, which was
// said, or -1 to go on.
int bb_rotation_parse(BbRotation *rotation, const char *program, const char *out, bool live);
void bb_rotation_clear(BbRotation *rotation);

// For bb_trace_files_open.
BbTraceFilesOptions bb_rotation_options(const BbRotation *rotation, const char *out);
