// SPDX-License-Identifier: Apache-2.0
// What an inference publishes: calls, each with its parent; the path instances (trees) they form;
// the patterns of equal shape. One unchanging value, read by every view.
#pragma once

#include "data/call.h"
#include "data/pattern.h"

#define BB_CONFIDENCE_NONE (-1.0f)

// One path instance: calls[first .. first + count) of BbPaths.order, the root first, each call
// after its parent.
typedef struct BbInstance {
    guint32 first, count;
    guint32 pattern; // index into BbPaths.patterns before any ranking; BB_PATTERN_NONE for a call
                     // without return, which is an instance of its own
} BbInstance;

#define BB_PATTERN_NONE G_MAXUINT32

// Levels of calls in one instance. A deeper chain (nothing but damage or malice makes one) is cut:
// what is below is an instance of its own. So whoever walks a pattern may do it by recursion.
#define BB_PATHS_DEPTH_MAX 512u

typedef struct BbPaths {
    const char *algorithm; // "nesting", static
    BbCall *calls;         // all calls with or without return, in order of call_ns
    guint32 *parent;       // index of the parent, BB_CALL_NO_PARENT for roots
    float *confidence;     // of the choice of parent; BB_CONFIDENCE_NONE where not estimated
    guint32 n_calls;
    guint32 *order;        // call indices grouped by instance
    BbInstance *instances; // in order of the root's start
    guint32 n_instances;
    GPtrArray *patterns; // of BbPattern*, owned; by falling total latency, ties by shape's text

    // The trace they came from.
    guint64 messages;         // read, of every kind
    guint64 free_messages;    // neither call nor return
    guint64 calls_unreturned; // calls without return
    guint64 returns_orphaned; // returns without call
    guint64 deep_calls;       // calls that became roots because of BB_PATHS_DEPTH_MAX
    guint64 children;         // calls with at least one candidate parent, and how many candidates
    guint64 candidates;       // they have in all: candidates / children is the parallelism
    gint64 start_ns, end_ns;  // first and last time seen; BB_TIME_NONE if empty
} BbPaths;

BbPaths *bb_paths_new(void);
void bb_paths_free(BbPaths *paths);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPaths, bb_paths_free)
