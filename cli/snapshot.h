// SPDX-License-Identifier: Apache-2.0
// A snapshot: what a flight recorder's ring holds, as a trace of its own.
#pragma once

#include "data/counters.h"
#include "data/network.h"

typedef struct BbSnapshot {
    const char *ring; // a file; also while it is being recorded
    const char *out;  // trace to be made, which appears under this name when it is whole
    const char *const *notes;
    bool stops;                 // a signal ends it, as a failure
    const BbCounters *counters; // may be NULL
    const BbNetwork *network;   // may be NULL; its nodes are names of network_names
    const BbNames *network_names;
} BbSnapshot;

// Writes it, in order of time. *messages is how many there are; *damage, the caller's, a sentence
// on what of the ring could not be read, or NULL. Fails where the ring cannot be read at all, or
// the trace not be written: then no file is left behind.
bool bb_snapshot_write(const BbSnapshot *snapshot, guint64 *messages, char **damage,
                       GError **error);
