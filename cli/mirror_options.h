// SPDX-License-Identifier: Apache-2.0
// The command line of bbtrace mirror: a verb and its options.
#pragma once

#include <glib.h>

#define BB_MIRROR_PROGRAM "bbtrace mirror"
#define BB_MIRROR_ARGUMENTS "add|del|show|plan"

// As they were said; NULL where they were not.
typedef struct BbMirrorOptions {
    char **from;
    char *direction, *to, *to_gre, *to_erspan, *to_vxlan, *local, *id, *session;
    char *vendor, *classifier;
    gboolean dry_run, all, gone, quiet;
} BbMirrorOptions;

typedef struct BbMirrorVerb {
    const char *name;
    const char *takes; // long options, a blank between
    int (*run)(const BbMirrorOptions *options);
} BbMirrorVerb;

// The verb that was said, of a table that ends with a NULL name. NULL where the command is over:
// *status is its exit status, and what is to be said was said.
const BbMirrorVerb *bb_mirror_options_parse(BbMirrorOptions *options, const BbMirrorVerb *verbs,
                                            int argc, char **argv, int *status);
void bb_mirror_options_clear(BbMirrorOptions *options);
