// SPDX-License-Identifier: Apache-2.0
// What the commands that tell findings of traces (blame, tail, compare) have in common: their
// options and their run.
#pragma once

#include "cli/inference.h"

// Of --any-client, where a command has it.
#define BB_FINDING_ANY_CLIENT "Take all clients for one: tell requests apart by what they ask"

// What is different: constants of a command.
typedef struct BbFindingAbout {
    const char *program, *summary;
    const char *format_about, *top_about; // of --format and --top
    guint top;                            // unless --top says otherwise
    bool two;                             // traces; or one that --at parts
} BbFindingAbout;

typedef struct BbFinding {
    BbInference inference;
    char *format, *top_text; // as given
    char *at_text;           // likewise; an option of a command of two
    gint64 at_ns;            // BB_TIME_NONE where it was not given
    bool json;
    guint top;
    const char *trace[2]; // the second one of those that compare two
    BbNames *names;
    BbChosen chosen; // after a run
    BbFacts facts;   // likewise
} BbFinding;

void bb_finding_init(BbFinding *finding);
void bb_finding_clear(BbFinding *finding);

// Parses argv; own are the command's further options (terminated). Returns an exit status where the
// command is over, or -1 to go on.
int bb_finding_parse(BbFinding *finding, const BbFindingAbout *about, const GOptionEntry *own,
                     int argc, char **argv);

// Reads a trace (0, 1), for use, which may change. Returns an exit status where that failed, or -1
// to go on and print.
int bb_finding_run(BbFinding *finding, guint trace, BbInferenceUse *use);

// Says on standard output why there are no requests, where there are none to tell of.
void bb_finding_print_none(const BbFinding *finding);
