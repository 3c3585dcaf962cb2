// SPDX-License-Identifier: Apache-2.0
// What one request asks for and how slow it is shows in all that is done for it: in the gaps of the
// node that serves it, and in how long the calls last that it makes. A Gaussian copula over these
// variables of one type of parent says how likely they are together, given how likely each is.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Of 4,096 sets of variables that occur together it keeps what it has worked out; for the next one
// it forgets them all, which costs time and changes no score.
#define BB_COPULA_MOST 31u    // variables of one parent that it looks at
#define BB_COPULA_PARENTS 30u // of fewer there is nothing to be learned

typedef struct BbCopula BbCopula;

// Variables are numbered below n_variables, 256 at most.
BbCopula *bb_copula_new(guint n_variables);
void bb_copula_free(BbCopula *copula);

void bb_copula_reset(BbCopula *copula);

// Takes the variables of one parent, as standard normal quantiles of their densities.
void bb_copula_count(BbCopula *copula, const guint16 *which, const float *z, guint n);

// Estimates the correlations. False: there are none, or they tell next to nothing of any variable.
bool bb_copula_fit(BbCopula *copula);

// log density of the variables together, over that of each alone; 0 of more than BB_COPULA_MOST. No
// variable twice, in any order.
double bb_copula_log(BbCopula *copula, const guint16 *which, const float *z, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCopula, bb_copula_free)
