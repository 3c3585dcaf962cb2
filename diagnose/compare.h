// SPDX-License-Identifier: Apache-2.0
// Two traces of one system, before and after: what takes longer now, and what is done that was not.
// Requests are compared with those of the same first call, node and operation, whoever the client
// is: its address is rarely the same on two days.
#pragma once

#include <stdio.h>

#include "data/chosen.h"
#include "data/path.h"
#include "diagnose/differences.h"

typedef struct BbCompareOptions {
    bool labels;    // operation labels tell first calls and calls apart
    bool last_byte; // a call lasts until the last byte of its return
    guint contexts; // different calls of all; requests that have others are left out, and counted.
                    // 0: BB_COMPARE_CONTEXTS
} BbCompareOptions;

#define BB_COMPARE_CONTEXTS 16384u // of 4.2 KB each, and 20 KB more for each first call
#define BB_COMPARE_LEAST 20u       // requests on either side, or they are not compared
#define BB_COMPARE_ERRORS \
    3.0 // standard errors: what differs by less may be chance, and is not told

typedef enum { BB_COMPARE_BEFORE, BB_COMPARE_AFTER, BB_COMPARE_SIDES } BbCompareSide;

// The requests of one first call on one side. Times in nanoseconds.
typedef struct BbCompareFigures {
    guint64 requests;
    double mean_ns;
    gint64 p50_ns, p90_ns, p99_ns;
} BbCompareFigures;

typedef struct BbCompareRoot {
    guint32 node, op;
    BbCompareFigures side[BB_COMPARE_SIDES];
    double excess_ns, error_ns; // after - before, and the standard error of that
    BbDifferences differences;  // of after (one) from before (other): those beyond chance
    guint by_chance;            // those that may be chance
} BbCompareRoot;

// All requests of one side.
typedef struct BbCompareTotal {
    guint64 requests;
    guint64 unanswered; // first calls without return, which are no requests here
    guint64 left_out;   // requests that were not compared, as there were too many different calls
    double mean_ns;
    gint64 start_ns, end_ns; // of the first call and of the last return; BB_TIME_NONE: none
} BbCompareTotal;

typedef struct BbCompareFindings {
    BbCompareTotal total[BB_COMPARE_SIDES];
    GPtrArray *compared; // of BbCompareRoot*, those that cost or save most by far first
    GPtrArray *rare;     // likewise, those of fewer than BB_COMPARE_LEAST requests on a side: their
                         // differences were not looked for. By falling number of requests
    const char *trace[BB_COMPARE_SIDES]; // names; lent
    gint64 at_ns; // of one trace: it is parted here; BB_TIME_NONE: two traces
    const BbChosen *chosen[BB_COMPARE_SIDES]; // which requests they are of; lent; NULL: all
} BbCompareFindings;

typedef struct BbCompare BbCompare;

// names, of both traces, is lent.
BbCompare *bb_compare_new(const BbCompareOptions *options, const BbNames *names);
void bb_compare_free(BbCompare *compare);

// Adds the instances of a window of one side, in order of time.
void bb_compare_add(BbCompare *compare, BbCompareSide side, const BbPaths *paths);
// Likewise, where one trace is both: what begins before at_ns is before.
void bb_compare_add_at(BbCompare *compare, gint64 at_ns, const BbPaths *paths);

// The caller frees.
BbCompareFindings *bb_compare_finish(BbCompare *compare);
void bb_compare_findings_free(BbCompareFindings *findings);

// "before" and "after".
const char *bb_compare_side_word(BbCompareSide side);

// Whether chance alone would hardly make such a difference.
bool bb_compare_is_sure(const BbCompareRoot *root);

// Text for a terminal, with so many first calls (0: all) of ten differences each at most; one JSON
// object with all.
void bb_compare_write_text(const BbCompareFindings *findings, const BbNames *names, guint top,
                           FILE *out);
void bb_compare_write_json(const BbCompareFindings *findings, const BbNames *names, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCompare, bb_compare_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCompareFindings, bb_compare_findings_free)
