// SPDX-License-Identifier: Apache-2.0
// The paper's choice of parents (section 5.1, steps 3 and 4), node by node. Another way to choose
// takes its place and shares the candidates before it and the paths after it.
#pragma once

#include "nesting/nesting.h"
#include "nesting/scoreboard.h"
#include "nesting/sweep.h"

typedef struct BbChoice BbChoice;

// The board is lent.
BbChoice *bb_choice_new(const BbNestingOptions *options, BbScoreboard *board);
void bb_choice_free(BbChoice *choice);

// Writes the parent of each child that has one, of the node at which the sweep stands, into
// parent[index of the call]; leaves the others as they are. Adds to the numbers of children with
// candidates and of candidates.
void bb_choice_run(BbChoice *choice, BbSweep *sweep, guint32 *parent, guint64 *n_children,
                   guint64 *n_candidates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbChoice, bb_choice_free)
