// SPDX-License-Identifier: Apache-2.0
// A way from messages to patterns: one file, and a row of the table in cli/algorithm.c. What it
// makes of a run, and of the counting of patterns, only its own functions look into.
#pragma once

#include "cli/inference.h"

typedef struct BbAlgorithm {
    const char *algo; // of --algo
    const char
        *explain; // of --explain, the first of an algorithm being its default; NULL: has none
    bool calls;   // its paths are of calls with returns

    // Understands the options that not all have, and refuses those of the others. As
    // bb_inference_check.
    int (*check)(BbInference *inference, const char *program);

    // From messages to path instances, window after window.
    gpointer (*start)(BbInference *inference, BbNames *names, GError **error);
    void (*stop)(gpointer run); // frees it; may be NULL there
    // Takes a message; false, and takes nothing, where `next` has to be called first.
    bool (*push)(gpointer run, const BbMessage *message);
    void (*end)(gpointer run); // no message comes any more
    // The window that is due, the caller's; NULL where none is, or on failure.
    BbPaths *(*next)(gpointer run, GError **error);
    guint64 (*late)(gpointer run); // messages that came after their window

    // Patterns of path instances. All NULL in those that find patterns only.
    gpointer (*count_new)(const BbInference *inference, const BbNames *names);
    void (*count_free)(gpointer counts); // may be NULL there
    void (*count_add)(gpointer counts, BbPaths *paths);
    bool (*count_is_kept)(gpointer counts, guint32 pattern);
    BbPatterns *(*count_finish)(gpointer counts);

    // Patterns at the end of the run, the caller's; NULL in those that find instances.
    BbPatterns *(*patterns)(gpointer run, GError **error);

    // What is to be known of the run at its end, and, where that is asked for, what it found and
    // chose. May be NULL.
    void (*tell)(gpointer run, bool verbose);
} BbAlgorithm;

extern const BbAlgorithm bb_algorithm_nesting;
extern const BbAlgorithm bb_algorithm_convolution;
extern const BbAlgorithm bb_algorithm_figure6;

// By the words of --algo and --explain, either of which may be NULL. Where there is none, NULL, and
// *status is that of wrong usage, which was said.
const BbAlgorithm *bb_algorithm_find(const char *algo, const char *explain, const char *program,
                                     int *status);

// An option, and whether it was given.
typedef struct BbGiven {
    const char *option; // "--assign"
    bool given;
} BbGiven;

static inline bool bb_is_said(double number)
{
    return number != BB_UNSAID;
}

// A number as it was given, or what counts otherwise.
static inline double bb_said_or(double number, double otherwise)
{
    return bb_is_said(number) ? number : otherwise;
}

// Refuses the first that was given: "--assign is for --algo=nesting". As bb_inference_check.
int bb_refuse_given(const BbGiven *options, gsize count, const char *program, const char *what);

// Refuse what belongs to them, for the others to call.
int bb_refuse_nesting(const BbInference *inference, const char *program);
int bb_refuse_convolution(const BbInference *inference, const char *program);
int bb_refuse_messages(const BbInference *inference, const char *program);
int bb_refuse_figure6(const BbInference *inference, const char *program);

// A duration of more than 0, if there is a text. As bb_inference_check.
int bb_check_span(const char *program, const char *option, const char *text, const char *example,
                  gint64 *ns);

// For the run: the instances of a window; patterns (taken) of an algorithm that finds only them.
void bb_counting_add(BbCounting *counting, BbPaths *paths);
void bb_counting_take(BbCounting *counting, BbPatterns *patterns);
