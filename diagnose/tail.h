// SPDX-License-Identifier: Apache-2.0
// Rare but slow: how the slowest requests of a group differ from the others of it. A group is what
// has the same first call: client, node and operation.
//
// In one pass: of all instances of a group there are sums, and of the slowest so far there are
// records (a heap). So the others are all less the slowest, and both are exact. Where a group has
// so many instances that its slowest do not fit, only every second instance (by a hash of its
// number) is still taken for the heap, then every fourth, and so on: the slowest of these stand for
// the slowest of all. Nothing depends on chance.
#pragma once

#include <stdio.h>

#include "data/chosen.h"
#include "data/path.h"
#include "diagnose/bursts.h"
#include "diagnose/differences.h"

typedef struct BbTailOptions {
    bool labels;     // operation labels tell groups and calls apart
    bool last_byte;  // a call lasts until the last byte of its return
    bool any_client; // clients are one
    double quantile; // slower than it is slow: 0.99. From 0.5 to below 1
    guint kept;      // records of each group. 0: BB_TAIL_KEPT
    guint contexts;  // different calls of all groups. When there are more, those with the fewest
                     // instances are forgotten, until half of them are left. 0: BB_TAIL_CONTEXTS
    guint64 entries; // different calls of all records together. When there are more, every second
                     // instance of every group is left out of the heaps. 0: BB_TAIL_ENTRIES
} BbTailOptions;

#define BB_TAIL_KEPT 1024u // as many entries of 72 bytes each as the instance has different calls
#define BB_TAIL_CONTEXTS 65536u
#define BB_TAIL_ENTRIES 4194304u
#define BB_TAIL_LEAST \
    20u                       // slow ones that are compared, even if they are more than asked for;
                              // groups with fewer than twice as many instances are passed over
#define BB_TAIL_OPEN 1048576u // requests that are counted as open at once

typedef struct BbTailPattern {
    guint32 pattern; // index into BbPatterns.patterns
    BbPair present;
} BbTailPattern;

typedef struct BbTailInstance {
    guint64 number;
    gint64 latency_ns;
} BbTailInstance;

#define BB_TAIL_NAMED 5u // slowest instances that are told

typedef struct BbTailRoot {
    guint32 client, node, op;
    guint64 instances, slow;   // slow: as many as were compared
    double sampled;            // share of the instances that could be among them; 1 mostly
    gint64 least_ns;           // latency of the fastest of the slow
    BbPair latency_ns;         // mean
    BbPair open;               // requests of any group under way when it began, mean
    BbDifferences differences; // of the slow from the others
    GArray *patterns;          // of BbTailPattern, likewise
    GArray *bursts;            // of BbBurst: when the slow come together
    BbTailInstance slowest[BB_TAIL_NAMED]; // of all, also where a sample was compared
} BbTailRoot;

typedef struct BbTailFindings {
    bool any_client; // clients are one: BB_NAME_NONE
    double quantile;
    guint64 roots;                          // groups seen and not forgotten
    GPtrArray *compared;                    // of BbTailRoot*, by falling excess over all slow ones
    guint64 forgotten, forgotten_instances; // groups
    const BbChosen *chosen;                 // which instances they are of; lent; NULL: all
} BbTailFindings;

typedef struct BbTail BbTail;

// names is lent.
BbTail *bb_tail_new(const BbTailOptions *options, const BbNames *names);
void bb_tail_free(BbTail *tail);

// Adds the instances of a window, in order of time; those without return are passed over.
void bb_tail_add(BbTail *tail, const BbPaths *paths);

// The caller frees.
BbTailFindings *bb_tail_finish(BbTail *tail);
void bb_tail_findings_free(BbTailFindings *findings);

// Ranks of patterns by index, 0 for none: what the other views number them by. Lent.
typedef struct BbTailRanks {
    const guint32 *rank;
    guint count;
} BbTailRanks;

// Text for a terminal, with so many groups (0: all) of ten causes each at most; one JSON object
// with all.
void bb_tail_write_text(const BbTailFindings *findings, const BbNames *names, BbTailRanks ranks,
                        guint top, FILE *out);
void bb_tail_write_json(const BbTailFindings *findings, const BbNames *names, BbTailRanks ranks,
                        FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTail, bb_tail_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTailFindings, bb_tail_findings_free)
