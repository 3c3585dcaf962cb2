// SPDX-License-Identifier: Apache-2.0
// What was asked of a flight recorder: options of bbtrace capture, and what they mean.
#pragma once

#include "cli/command.h"

typedef struct BbRecorderOptions {
    char *size_word, *after_word, *pause_word, *keep_word;
    char *socket;    // path, or NULL for that in the folder
    char **triggers; // texts, NULL-terminated; or NULL
    guint64 size;    // of the ring; 0: there is no flight recorder
    gint64 after_ns, pause_ns;
    guint64 keep_bytes; // of snapshots; 0: any
    guint keep_files;   // 0: any
} BbRecorderOptions;

// Reads the words, and fills in what nobody asked for; folder is what -w says (NULL for nothing).
// Returns an exit status where that was wrong usage, which was said, or -1 to go on.
int bb_recorder_options_parse(BbRecorderOptions *options, const char *program, const char *folder);
void bb_recorder_options_clear(BbRecorderOptions *options);

// Files of a recorder in its folder. The results are yours.
char *bb_recorder_ring_path(const char *folder);
char *bb_recorder_socket_path(const char *folder);
