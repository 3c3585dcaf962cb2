// SPDX-License-Identifier: Apache-2.0
// The paper's choice of parents (section 5.1, steps 3 and 4), node by node. Another way to choose
// takes its place and shares the candidates before it and the paths after it.
#pragma once

#include "nesting/candidates.h"
#include "nesting/nesting.h"
#include "nesting/scoreboard.h"

typedef struct BbChoice BbChoice;

// The board is lent.
BbChoice *bb_choice_new(const BbNestingOptions *options, BbScoreboard *board);
void bb_choice_free(BbChoice *choice);

// Writes the parent of each child of the current node of candidates that has one into
// parent[index of the call]; leaves the others as they are. Adds to the numbers of children with
// candidates and of candidates.
void bb_choice_run(BbChoice *choice, BbCandidates *candidates, guint32 *parent, guint64 *n_children,
                   guint64 *n_candidates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbChoice, bb_choice_free)
