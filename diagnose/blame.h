// SPDX-License-Identifier: Apache-2.0
// Which node costs the system most, doing what, called by whom: the critical paths of all
// instances (data/critical_path.h), summed by calling context. A server may be slow only when it is
// called from one place.
#pragma once

#include <stdio.h>

#include "data/chosen.h"
#include "data/network.h"
#include "data/path.h"
#include "data/stats.h"
#include "diagnose/changes.h"

typedef struct BbBlameOptions {
    bool labels;     // operation labels tell contexts apart
    bool last_byte;  // a call lasts until the last byte of its return
    bool any_client; // clients are one
    guint limit;     // of rows. When there are more, clients become one; if there are as many even
                     // then, what is new is left out, and counted. 0: BB_BLAME_LIMIT
} BbBlameOptions;

#define BB_BLAME_LIMIT 8192u // some 10 KB each

// Where latency goes. Times stop at the end of gint64.
typedef struct BbBlameCost {
    guint64 instances, calls;
    guint64 errors;     // calls whose return tells of a failure (data/status.h)
    gint64 critical_ns; // own work that the root's caller waited for
    gint64 wire_ns;     // on the way to it and back, waited for likewise
    gint64 slack_ns;    // of calls that nobody waited for: how much later they could have returned
    guint64 off_path;   // calls that nobody waited for
} BbBlameCost;

// A node and operation with its callers.
typedef struct BbBlameRow {
    guint32 node, op;
    bool unanswered;  // calls without return: work is how long they were waited for
    guint32 *callers; // nodes: the direct caller first, the client of the root's call last;
                      // BB_NAME_NONE where clients are one
    guint n_callers;
    BbBlameCost cost;
    BbStats *self; // own work of each call, waited for or not (BbPaths.self_ns)
} BbBlameRow;

typedef struct BbBlameNode {
    guint32 node;
    guint rows; // contexts that were not left out
    BbBlameCost cost;
} BbBlameNode;

// A node that works longer for one caller than for another at the same operation. Told where both
// have BB_BLAME_CALLS calls or more, the means of own work differ by more than BB_BLAME_RATIO times
// and by more than BB_BLAME_ERRORS standard errors, and the difference over all calls of the slower
// one makes BB_BLAME_SHARE of all latency. The other is the fastest of those with enough calls.
typedef struct BbBlameHint {
    guint32 node, op;
    const guint32 *slow, *fast; // callers, the direct one first; lent from rows. Or a replica
    guint n_callers;            // so many of them tell the difference: as few as will
    guint64 slow_calls, fast_calls;
    gint64 slow_ns, fast_ns; // mean own work
    gint64 excess_ns;        // (slow - fast) * slow_calls
} BbBlameHint;

#define BB_BLAME_CALLS 30u
#define BB_BLAME_RATIO 2.0
#define BB_BLAME_ERRORS 5.0
#define BB_BLAME_SHARE 0.01
#define BB_BLAME_CALLERS 4u // longest chain of callers that is compared

// Calls of which hardly ever more than a number are under way at once, and others wait. Those of a
// node to another one: a pool of connections is used up, and who waits makes no call meanwhile. All
// that a node gets: its workers (processes, threads) are busy; or all of one operation: it has a
// lock. Whoever they wait at seems to work. Of last bytes that callers waited for there is no
// limit.
typedef struct BbBlameWaits {
    guint32 caller, callee; // BB_NAME_NONE: whoever calls
    guint32 op;             // BB_NAME_NONE: any
    guint32 limit;          // of windows that differ, the most
    guint32 lines;          // of each of so many groups of connections; 0: of all together
    bool keep;              // each has an outgoing connection of its own, in all windows
    bool replicas;          // caller or callee are: limit and lines are those of the one (of a pair
                            // of them) that has most
    guint64 calls;
    double waited;    // expected number of those that waited,
    gint64 waited_ns; // and for how long, as far as requests waited for that (part of critical_ns)
} BbBlameWaits;

typedef struct BbBlameFindings {
    guint64 instances;
    gint64 latency_ns; // of the roots' calls = critical_ns + wire_ns of all nodes
    double wrong;      // expected share of the instances with a wrong link or without one that they
                       // should have; < 0: not estimated
    GArray *nodes;     // of BbBlameNode, by falling critical time + wire, then by name
    GArray *rows;      // of BbBlameRow, likewise; then by names of callers
    GArray *hints;     // of BbBlameHint, by falling excess
    GArray *pools;     // of BbBlameWaits, by falling time, then by names
    GArray *turns;     // likewise, of nodes where that makes BB_BLAME_SHARE of all latency
    GArray *rests;     // likewise, of returns whose last bytes callers waited for
    GArray *changes;   // of BbChange: first calls that take longer, or shorter, from some time on
    bool any_client;   // clients are one, as was asked for or as there were too many
    guint64 left_out;  // calls that are in no row, and their critical time and wire
    gint64 left_out_ns;
    // Where replicas count as one node, else NULL: of BbBlameRow, own work by role and operation of
    // each replica, which has the place of the caller; as hints, that one works longer than
    // another.
    GArray *replicas, *replica_hints;
    const BbChosen *chosen;   // which instances they are of; lent; NULL: all
    const BbNetwork *network; // of the whole trace: who waits for a connection that is not opened,
                              // or for data that is sent again, makes no call, and seems to work;
                              // lent; NULL: not known
} BbBlameFindings;

typedef struct BbBlame BbBlame;

// names is lent.
BbBlame *bb_blame_new(const BbBlameOptions *options, const BbNames *names);
void bb_blame_free(BbBlame *blame);

// Adds the instances of a window; those without return are passed over.
void bb_blame_add(BbBlame *blame, const BbPaths *paths);

// The caller frees. After it, only free.
BbBlameFindings *bb_blame_finish(BbBlame *blame);
void bb_blame_findings_free(BbBlameFindings *findings);

// Text for a terminal, with so many rows of each table (0: all); one JSON object with all of them.
void bb_blame_write_text(const BbBlameFindings *findings, const BbNames *names, guint top,
                         FILE *out);
void bb_blame_write_json(const BbBlameFindings *findings, const BbNames *names, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbBlame, bb_blame_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbBlameFindings, bb_blame_findings_free)
