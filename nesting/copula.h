// SPDX-License-Identifier: Apache-2.0
// Gaps of one request go together: what is slow once is slow again. A Gaussian copula over the
// slots of one type of parent says how likely the gaps are together, given how likely each is.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_COPULA_MOST 16u    // slots of one parent that it looks at; a parent with more has none
#define BB_COPULA_PARENTS 30u // of fewer there is nothing to be learned

typedef struct BbCopula BbCopula;

// Slots are numbered below n_slots.
BbCopula *bb_copula_new(guint n_slots);
void bb_copula_free(BbCopula *copula);

void bb_copula_reset(BbCopula *copula);

// Takes the gaps of one parent, as standard normal quantiles of their slots' densities.
void bb_copula_count(BbCopula *copula, const guint16 *slots, const float *z, guint n);

// Estimates the correlations. False: there are none worth a thought.
bool bb_copula_fit(BbCopula *copula);

// log density of the gaps together, over that of each alone. No slot twice, in any order.
double bb_copula_log(BbCopula *copula, const guint16 *slots, const float *z, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCopula, bb_copula_free)
