// SPDX-License-Identifier: Apache-2.0
// Running statistics of durations: count, mean, deviation, extremes, quantiles. Mergeable, bounded
// in memory, and independent of the order of pushes and merges to the last bit. Any gint64 may be
// pushed; count, sum, mean, deviation and extremes are exact whatever the values.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Quantiles are exact up to BB_STATS_EXACT values, then within 1 % of the value (64 buckets an
// octave; the idea of relative error is that of Masson, Rim and Lee: DDSketch, VLDB 2019). Memory:
// 16 bytes for one value, 8 to 16 more for each of the exact ones, then 8 a bucket between the
// least and the greatest value, at most 60 KB.
#define BB_STATS_EXACT 2048

typedef struct BbStats BbStats;

BbStats *bb_stats_new(void);
void bb_stats_free(BbStats *stats);

void bb_stats_push(BbStats *stats, gint64 value_ns);

// Says that a value will be pushed soon: where there are many, what that takes lies apart.
void bb_stats_fetch(const BbStats *stats);

void bb_stats_merge(BbStats *stats, const BbStats *other);

guint64 bb_stats_count(const BbStats *stats);
// All in nanoseconds, 0 when empty. The deviation is that of the sample (n - 1); 0 for one value.
gint64 bb_stats_sum(const BbStats *stats);  // saturates at the ends of gint64
gint64 bb_stats_mean(const BbStats *stats); // rounded half away from zero
gint64 bb_stats_stddev(const BbStats *stats);
gint64 bb_stats_min(const BbStats *stats);
gint64 bb_stats_max(const BbStats *stats);
// The value below which a share q (0 to 1) lies: nearest rank.
gint64 bb_stats_quantile(const BbStats *stats, double q);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStats, bb_stats_free)
