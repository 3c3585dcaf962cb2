// SPDX-License-Identifier: Apache-2.0
// Which path instances are wanted.
#pragma once

#include "data/chosen.h"
#include "data/globs.h"
#include "data/path.h"

// All conditions hold at once; those not given hold always. Pointers are lent.
typedef struct BbSelectionOptions {
    const BbGlobs *root;    // a node that the root's call enters, or that makes it
    const BbGlobs *through; // a node that some call enters or leaves
    const char *const *ops; // operation of some call: patterns with * and ?, one of which matches;
                            // NULL ends them, and is none of them
    gint64 slower_ns;       // the instance takes longer (bb_instance_latency); 0 = any
    bool errors;            // some call returned an error
    gint64 from_ns, to_ns;  // the root's call starts in [from, to); BB_TIME_NONE = open
    bool last_byte;         // a call lasts until the last byte of its return
} BbSelectionOptions;

#define BB_SELECTION_ALL ((BbSelectionOptions){.from_ns = BB_TIME_NONE, .to_ns = BB_TIME_NONE})

typedef struct BbSelection BbSelection;

// names is lent; what options point to likewise.
BbSelection *bb_selection_new(const BbSelectionOptions *options, const BbNames *names);
void bb_selection_free(BbSelection *selection);

// Takes the instances that are not wanted out of paths->instances; returns how many.
guint32 bb_selection_apply(BbSelection *selection, BbPaths *paths);

// Whether it could leave anything out.
bool bb_selection_chooses(const BbSelectionOptions *options);

// At the end of a run: how many instances there were, and were wanted; by (lent) is what says so.
BbChosen bb_selection_chosen(const BbSelection *selection, const char *by);
// A sentence on operations that were asked for and that no call had; on a time
// in which no instance begins, though there are some. NULL where there is nothing to say. The
// caller frees.
char *bb_selection_hint_ops(const BbSelection *selection);
char *bb_selection_hint_time(const BbSelection *selection);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSelection, bb_selection_free)
