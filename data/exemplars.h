// SPDX-License-Identifier: Apache-2.0
// Instances that stand for their pattern: the fastest, the slowest, and one in the middle.
#pragma once

#include "data/stats.h"

// Of each pattern so many instances are kept, an even sample of those seen, to choose the one in
// the middle from: as long as the median is exact, so is the one chosen for it. Memory: 16 to 32
// bytes for each of them, and 64 a pattern.
#define BB_EXEMPLARS_SAMPLE BB_STATS_EXACT

typedef struct BbExemplar {
    guint64 number;    // bb_instance_number
    gint64 latency_ns; // of the root's call
} BbExemplar;

typedef struct BbExemplars BbExemplars;

BbExemplars *bb_exemplars_new(void);
void bb_exemplars_free(BbExemplars *exemplars);

// Counts an instance of a pattern. The same instances in the same order give the same exemplars.
void bb_exemplars_note(BbExemplars *exemplars, guint32 pattern, BbExemplar instance);

// False, and nothing written, where no instance of the pattern was seen. Of equals the first seen.
bool bb_exemplars_extremes(const BbExemplars *exemplars, guint32 pattern, BbExemplar *fastest,
                           BbExemplar *slowest);

// Likewise the one in the middle of the sample by latency, of two the faster, of equals the first
// number. It is the median (that of bb_stats_quantile) where the sample holds all: exact; else near
// it.
bool bb_exemplars_median(const BbExemplars *exemplars, guint32 pattern, BbExemplar *median,
                         bool *exact);

// Patterns that were ever seen are below it.
guint32 bb_exemplars_patterns(const BbExemplars *exemplars);

// Forgets a pattern.
void bb_exemplars_drop(BbExemplars *exemplars, guint32 pattern);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbExemplars, bb_exemplars_free)
