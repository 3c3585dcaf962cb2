// SPDX-License-Identifier: Apache-2.0
// What the collection of requests (tail.c) hands to their comparison (tail_findings.c).
#pragma once

#include "data/groups.h"
#include "data/tally.h"
#include "diagnose/requests.h"
#include "diagnose/tail.h"

// An instance among the slowest.
typedef struct BbTailRecord {
    gint64 latency_ns, start_ns;
    guint64 number;
    guint64 place; // in its group
    guint32 pattern, open;
    guint32 n_entries;
    BbRequestEntry entries[];
} BbTailRecord;

// Requests with the same first call.
typedef struct BbTailGroup {
    guint32 context; // of the first call
    guint64 instances;
    double latency_ns, open; // sums: far below what a double holds exactly, or too large to matter
    guint level;             // every 2^level-th instance is taken for the heap
    guint64 taken;           // so many were, or would have been
    guint64 by_zeros[65];    // instances by the zeros at the end of their hash
    GPtrArray *slowest;      // of BbTailRecord*: a heap, the fastest on top
    BbTailInstance named[BB_TAIL_NAMED]; // the slowest of all, taken or not; the slowest first
} BbTailGroup;

struct BbTail {
    BbTailOptions options;
    const BbNames *names;
    BbRequests *requests;
    BbContexts *contexts; // the client, then the calls
    GArray *sums;         // of BbRequestSums, by context: of all instances
    GPtrArray *groups;    // of BbTailGroup*, in order of first appearance
    BbTally group_index;  // context -> group + 1
    GArray *patterns;     // of guint64, by pattern: instances
    GArray *ends;         // of gint64: of the requests under way, a heap, the first on top
    guint64 n_entries;    // of all records
    guint64 forgotten, forgotten_instances;
};

// So many of the taken instances are slow.
guint64 bb_tail_slow(const BbTail *tail, guint64 taken);

// The contexts by the first call that they are under, itself included, in order; clients are under
// none. The caller's to clear.
BbGroups bb_tail_by_first_call(const BbTail *tail);
