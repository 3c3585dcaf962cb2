// SPDX-License-Identifier: Apache-2.0
// From a trace to path instances, as all commands of bbpaths have it: the options of inference and
// of the choice of instances, and the run over the windows of a trace.
#pragma once

#include "cli/command.h"

#include "convolution/convolution.h"
#include "convolution/figure6.h"
#include "data/census.h"
#include "data/selection.h"
#include "nesting/windows.h"

// One way from messages to patterns (cli/algorithm.h).
typedef struct BbAlgorithm BbAlgorithm;

#define BB_UNSAID G_MININT // a number that was not given on the command line

// Zero-initialised by the command, parsed by bb_inference_check.
typedef struct BbInference {
    // As given on the command line.
    char *algo, *assign, *floor, *skew, *latency, *window, *step, *roles;
    char *explain, *quantum, *max_delay;
    char **root, **through, **ops; // each may be given several times
    char *slower, *from, *to;
    double overlap, same, any, smoothing, spike, valley;
    gint threads, rare, tolerance, max_depth, max_vertices;
    gboolean no_labels, no_connections, merge_replicas, errors, skip_bad_lines, quiet;
    gboolean all_roots, keep_derived, verbose;
    // As understood.
    const BbAlgorithm *algorithm; // by --algo and --explain
    BbNestingOptions nesting;     // owns its roles
    BbConvolutionOptions convolution;
    BbFigure6Options figure6;
    BbWindowOptions windows;
    BbGlobs *roots, *throughs; // NULL where not given
    BbSelectionOptions selection;
    char *conditions; // the options that choose instances; NULL where none does
    BbCensusOptions census;
} BbInference;

void bb_inference_init(BbInference *inference);
void bb_inference_clear(BbInference *inference);

// Entries of a command followed by those of inference; the caller frees the array.
GOptionEntry *bb_inference_join(const GOptionEntry *own, BbInference *inference);

// Says what is wrong with the options. Returns an exit status, or -1 to go on.
int bb_inference_check(BbInference *inference, const char *program);

// Likewise, of commands that tell who waits for whom: only calls with returns do.
int bb_inference_check_calls(BbInference *inference, const char *program);

// Refuses an output (NULL: none) that would go over the trace or the roles. Likewise.
int bb_inference_check_output(const BbInference *inference, const char *program, const char *trace,
                              const char *path);

// Whether there will be path instances; if not, there are only patterns (--explain=paper).
bool bb_inference_has_instances(const BbInference *inference);

// Whether paths are of calls with returns; if not, every message is a call without return.
bool bb_inference_has_calls(const BbInference *inference);

// Patterns, counted as the algorithm of a run has them.
typedef struct BbCounting BbCounting;

// For options that were checked; inference and names are lent.
BbCounting *bb_counting_new(const BbInference *inference, const BbNames *names);
void bb_counting_free(BbCounting *counting);
// Whether the pattern of that index is not forgotten.
bool bb_counting_is_kept(const BbCounting *counting, guint32 pattern);
// The patterns at the end of a run, the caller's. After it, only free.
BbPatterns *bb_counting_finish(BbCounting *counting);

// What a command does with the run. Each may be NULL.
typedef struct BbInferenceUse {
    void (*message)(const BbMessage *message, gpointer user); // every message as it is read
    // The instances of a window; paths is lent. Instances that the selection leaves out are not
    // there.
    bool (*paths)(BbPaths *paths, gpointer user, GError **error);
    gpointer user;
    BbCounting *counting; // counts the instances before `paths` gets them; lent
    BbNetwork *network;   // gets what the trace tells of the network; lent; NULL: not wanted
    BbFacts *facts;       // gets what is known of the messages; likewise
    BbChosen *chosen;     // gets which instances were chosen; likewise. Lends from inference
} BbInferenceUse;

// Reads the trace and infers. Says damage of the trace on stderr. names is filled. Where replicas
// are merged, the roles that a first run has found are those of the next, with the same names.
bool bb_inference_run(BbInference *inference, const char *trace, BbNames *names,
                      const BbInferenceUse *use, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCounting, bb_counting_free)
