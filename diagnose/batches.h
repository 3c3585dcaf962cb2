// SPDX-License-Identifier: Apache-2.0
// Means of many figures over the same requests, and how far chance may have put them off: by the
// means of batches of requests that follow one another (Schmeiser, Batch size effects in the
// analysis of simulation output, Operations Research 30, 1982). So a slow minute counts as one
// event, not as many requests.
#pragma once

#include <glib.h>

// 16 to 32, of equal length, from 16 requests on. Memory: 256 bytes a figure.
#define BB_BATCHES 32u

typedef struct BbBatches BbBatches;

BbBatches *bb_batches_new(void);
void bb_batches_free(BbBatches *batches);

// The next request; what is added then is of it. Figures that are not added to are 0.
void bb_batches_begin(BbBatches *batches);
void bb_batches_add(BbBatches *batches, guint figure, gint64 value);

guint64 bb_batches_requests(const BbBatches *batches);

// Mean of a figure, and standard error of the mean of a sum of figures; infinite where there are
// not two batches.
double bb_batches_mean(const BbBatches *batches, guint figure);
double bb_batches_error(const BbBatches *batches, const guint *figures, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbBatches, bb_batches_free)
