// SPDX-License-Identifier: Apache-2.0
// From a trace to path instances, as all commands of bbpaths have it: the options of inference and
// of the choice of instances, and the run over the windows of a trace.
#pragma once

#include "cli/command.h"

#include "data/census.h"
#include "data/selection.h"
#include "nesting/windows.h"

// Zero-initialised by the command, parsed by bb_inference_check.
typedef struct BbInference {
    // As given on the command line.
    char *algo, *assign, *floor, *skew, *latency, *window, *step, *roles;
    char *root, *through, *op, *slower, *from, *to;
    double overlap, same, any, smoothing;
    gint threads;
    gboolean no_labels, merge_replicas, errors, skip_bad_lines, quiet;
    // As understood.
    BbNestingOptions nesting;
    BbWindowOptions windows;
    BbSelectionOptions selection;
    BbCensusOptions census;
} BbInference;

void bb_inference_init(BbInference *inference);
void bb_inference_clear(BbInference *inference);

// The entries of these options, terminated; point into inference. The caller frees the array.
GOptionEntry *bb_inference_entries(BbInference *inference);

// Entries of a command followed by those of inference; the caller frees the array.
GOptionEntry *bb_inference_join(const GOptionEntry *own, BbInference *inference);

// Says what is wrong with the options. Returns an exit status, or -1 to go on.
int bb_inference_check(BbInference *inference, const char *program);

// What a command does with the run. Each may be NULL.
typedef struct BbInferenceUse {
    void (*message)(const BbMessage *message, gpointer user); // every message as it is read
    // The instances of a window; paths is lent. Instances that the selection leaves out are not
    // there.
    bool (*paths)(BbPaths *paths, gpointer user, GError **error);
    gpointer user;
} BbInferenceUse;

// Reads the trace and infers. Says damage of the trace on stderr. names is filled.
bool bb_inference_run(const BbInference *inference, const char *trace, BbNames *names,
                      const BbInferenceUse *use, GError **error);
