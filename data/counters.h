// SPDX-License-Identifier: Apache-2.0
// What was lost or damaged on the way, by name: packets dropped, gaps, evictions, bad checksums.
// Counters are printed at the end of a command and travel in the trace file.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbCounters BbCounters;

BbCounters *bb_counters_new(void);
void bb_counters_free(BbCounters *counters);

// Adds value to the counter of that name, made when new. name: [a-z0-9_.]+, copied.
void bb_counters_add(BbCounters *counters, const char *name, guint64 value);

// Whether a text can be the name of a counter.
bool bb_counters_is_name(const char *text);

// Value of a counter, 0 when there is none.
guint64 bb_counters_get(const BbCounters *counters, const char *name);

// Counters in order of first use: index < bb_counters_count(). The name is lent.
guint bb_counters_count(const BbCounters *counters);
const char *bb_counters_name(const BbCounters *counters, guint index);
guint64 bb_counters_value(const BbCounters *counters, guint index);

// Adds every counter of other.
void bb_counters_merge(BbCounters *counters, const BbCounters *other);

// What was counted between two moments of one run: those of now, less those of then, without what
// has not grown. NULL stands for no counter. The result is yours.
BbCounters *bb_counters_since(const BbCounters *now, const BbCounters *then);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCounters, bb_counters_free)
