// SPDX-License-Identifier: Apache-2.0
// Instances that stand for their pattern: the fastest, the slowest, and one in the middle.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Of each pattern so many instances are kept, an even sample of those seen, to choose the one in
// the middle from. Memory: 16 bytes for each of them, and 64 a pattern.
#define BB_EXEMPLARS_SAMPLE 32u

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

// Of the sample, the instance whose latency is nearest. With no more instances than the sample
// holds it is the nearest of all.
bool bb_exemplars_nearest(const BbExemplars *exemplars, guint32 pattern, gint64 latency_ns,
                          BbExemplar *nearest);

// Patterns that were ever seen are below it.
guint32 bb_exemplars_patterns(const BbExemplars *exemplars);

// Forgets a pattern.
void bb_exemplars_drop(BbExemplars *exemplars, guint32 pattern);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbExemplars, bb_exemplars_free)
