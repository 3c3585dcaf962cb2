// SPDX-License-Identifier: Apache-2.0
// Changes an assignment step by step towards what a model finds likely: a child moves to another
// parent, two children of a kind change places, two parents exchange the rest of their children.
#pragma once

#include "nesting/fifo.h"
#include "nesting/site.h"

typedef struct BbSearch BbSearch;

// site and model are lent and must outlive the value. seed: fixes every random choice.
BbSearch *bb_search_new(BbSite *site, const BbModel *model, guint64 seed);
void bb_search_free(BbSearch *search);

// The model has changed: what was remembered of it is void.
void bb_search_refresh(BbSearch *search);

// From here on order counts as fifo has learned it; NULL: it does not. Lent.
void bb_search_order(BbSearch *search, BbFifo *fifo);

// Which children are looked at from here on: all that have candidates (so it begins), or of those
// looked at in the last sweep the ones that another change would have suited nearly as well.
void bb_search_all(BbSearch *search);
void bb_search_doubtful(BbSearch *search);

// The children that are looked at; lent until that changes.
const guint32 *bb_search_list(const BbSearch *search, guint32 *count);

// Gives every child the parent that suits it best, or none, in order of time.
void bb_search_begin(BbSearch *search);

// Gives every child that has candidates the innermost of them, the latest of several
// (BbSite.inner).
void bb_search_begin_innermost(BbSearch *search);

// One look at every child. temperature 0: the best change, if it is one for the better; else a
// change drawn by its likelihood to the power of 1 / temperature. Returns by how much the log
// likelihood grew.
double bb_search_sweep(BbSearch *search, double temperature);

// Several looks at those children alone whose parent has kinds of children that are unusual for one
// of its type, or that have none: changes drawn at temperature 1. Where many calls are open, what
// one parent has too much must often go through many others to the one that lacks it; while all
// children are looked at it hardly moves. Where they are many they get fewer looks.
void bb_search_odd(BbSearch *search);

// Gives parents without children two at once where that is for the better (fill.h). Returns by how
// much the log likelihood grew, order apart.
double bb_search_fill(BbSearch *search);

// log likelihood ratio of the best other place for x, when it was last looked at by a sweep: 0
// where it moved, far below where there was no choice.
float bb_search_nearest(const BbSearch *search, guint32 x);

// A sweep that also adds to share[x] the probability that child x has parent final[x], given all
// other assignments.
void bb_search_sample(BbSearch *search, double temperature, const guint32 *final, float *share);

// log likelihood of the assignment.
double bb_search_total(const BbSearch *search);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSearch, bb_search_free)
