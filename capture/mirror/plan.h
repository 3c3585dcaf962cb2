// SPDX-License-Identifier: Apache-2.0
// What is to be done: a list of commands for tc(8) and ip(8), each with what takes it back.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbMirrorCommand {
    char **run;         // argument vector, its program first
    char **instead;     // what to run where run fails for another reason than rights; or NULL
    char **undo;        // or NULL
    bool optional;      // its failure does no harm
    const char *remedy; // what to do where the kernel cannot; static, or NULL
} BbMirrorCommand;

typedef struct BbMirrorPlan {
    GPtrArray *commands; // of BbMirrorCommand, in order
    GPtrArray *notes;    // sentences to say, char *
} BbMirrorPlan;

BbMirrorPlan *bb_mirror_plan_new(void);
void bb_mirror_plan_free(BbMirrorPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbMirrorPlan, bb_mirror_plan_free)

// Appends "program words": words are parted by blanks, so none may hold one. The command is the
// plan's; fill in the rest.
BbMirrorCommand *bb_mirror_plan_add(BbMirrorPlan *plan, const char *format, ...)
    G_GNUC_PRINTF(2, 3);
// As an argument vector, yours to free.
char **bb_mirror_argv(const char *format, ...) G_GNUC_PRINTF(1, 2);
void bb_mirror_plan_note(BbMirrorPlan *plan, const char *format, ...) G_GNUC_PRINTF(2, 3);

// The command as a line for a shell, without line end; quoted where a shell would take it apart.
void bb_mirror_append_command(GString *out, const char *const *argv);
// All commands, a line each; what is run instead as a comment behind it.
void bb_mirror_append_plan(GString *out, const BbMirrorPlan *plan);
