// SPDX-License-Identifier: Apache-2.0
// Histograms of the delay between the entry into a parent and the call of a child, one for each
// (A, B, C) where A calls B and B calls C (paper, section 5.1, step 3). One board serves one B.
#pragma once

#include "nesting/sweep.h"

typedef struct BbScoreboard BbScoreboard;

// Bin 0 holds delays below floor_ns (at least 1), negative ones too; bin k those from
// floor_ns * 1.05^(k-1). The last bin starts where bin 339 of a floor of 1 ms does, at four hours.
// smoothing: the standard deviation, in bins, of the Gaussian for bb_scoreboard_smooth; 0 is none.
BbScoreboard *bb_scoreboard_new(gint64 floor_ns, double smoothing);
void bb_scoreboard_free(BbScoreboard *board);

// Empties all histograms.
void bb_scoreboard_reset(BbScoreboard *board);

// Adds the delay from each candidate (list: count indices into parents) to child, with a weight of
// 1/count. Weights are integers, so that their sums do not depend on the order; those of up to 24
// candidates are exact.
void bb_scoreboard_add(BbScoreboard *board, const BbChild *child, const BbParent *parents,
                       const guint32 *list, guint32 count);

// Replaces each histogram by its smoothed one; what would fall below bin 0 is reflected.
void bb_scoreboard_smooth(BbScoreboard *board);

// Writes the weight in the bin of each candidate's delay into values[0 .. count).
void bb_scoreboard_values(const BbScoreboard *board, const BbChild *child, const BbParent *parents,
                          const guint32 *list, guint32 count, double *values);

guint32 bb_scoreboard_bin(const BbScoreboard *board, gint64 delay_ns);
guint32 bb_scoreboard_bins(const BbScoreboard *board);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbScoreboard, bb_scoreboard_free)
