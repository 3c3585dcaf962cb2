// SPDX-License-Identifier: Apache-2.0
// What `bbtrace merge` was told to do.
#pragma once

#include "merge/join.h"

typedef enum {
    BB_MERGE_CLOCKS_CORRECT,
    BB_MERGE_CLOCKS_REPORT,
    BB_MERGE_CLOCKS_AS_IS,
} BbMergeClocks;

typedef enum { BB_MERGE_NAT_HINT, BB_MERGE_NAT_JOIN, BB_MERGE_NAT_OFF } BbMergeNat;

typedef struct BbMergeOptions {
    char *out, *clocks_word, *window_word, *join_word, *observers_word, *names_by, *nat_word;
    char **names_files, **alias_files;
    char **paths; // lent
    gboolean skip_bad_lines, quiet;
    BbMergeClocks clocks;
    BbMergeNat nat;
    bool by_folder, by_service;
    BbJoinOptions join;
} BbMergeOptions;

// Fills options, which are empty, from a command line, which lends the paths. Returns an exit
// status, or -1 to go on.
int bb_merge_options_parse(BbMergeOptions *options, int argc, char **argv);
void bb_merge_options_clear(BbMergeOptions *options);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbMergeOptions, bb_merge_options_clear)
