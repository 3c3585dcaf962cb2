// SPDX-License-Identifier: Apache-2.0
// In what the requests of one kind differ from others of it, and how much of the difference of
// their mean latencies each point makes.
//
// A mean latency is the sum of the means of all contexts' times on the critical path; so the
// difference of two is the sum of the contexts' differences.
#pragma once

#include <math.h>
#include <stdbool.h>

#include "data/json.h"
#include "data/names.h"
#include "diagnose/contexts.h"
#include "diagnose/request_time.h"

// What makes the ones longer than the others. Over all differences the sum is the excess; those of
// times that make next to nothing are not told.
typedef enum {
    BB_DIFFERENCE_EXTRA,    // a call that the others seldom make, and all that it leads to
    BB_DIFFERENCE_MISSING,  // a call that the others make, likewise
    BB_DIFFERENCE_REPEATED, // a call that they make more often than the others (a retry), likewise
    BB_DIFFERENCE_FEWER,    // a call that they make less often, likewise
    BB_DIFFERENCE_TIMES,    // the first of the times of a call (BbRequestTime), by its number
    BB_DIFFERENCE_GAP = BB_DIFFERENCE_TIMES + BB_REQUEST_GAP,
    BB_DIFFERENCE_POOL = BB_DIFFERENCE_TIMES + BB_REQUEST_POOL,
    BB_DIFFERENCE_OWN = BB_DIFFERENCE_TIMES + BB_REQUEST_OWN,
    BB_DIFFERENCE_TURN = BB_DIFFERENCE_TIMES + BB_REQUEST_TURN,
    BB_DIFFERENCE_WIRE = BB_DIFFERENCE_TIMES + BB_REQUEST_WIRE,
} BbDifferenceKind;

// A figure of the ones and the same of the others.
typedef struct BbPair {
    double one, other;
} BbPair;

static inline double bb_pair_gain(BbPair pair)
{
    return pair.one - pair.other;
}

// Means are doubles of sums far below what would not fit.
static inline gint64 bb_mean_ns(double ns)
{
    return (gint64)llround(CLAMP(ns, -0x1p62, 0x1p62));
}

// For a sort: the greater one first.
static inline gint bb_compare_falling(double a, double b)
{
    return (a < b) - (a > b);
}

// What requests do in a context, mean of all of them. Times are on the critical path.
typedef struct BbContextMeans {
    double present; // share of the requests with such a call
    double calls;   // of all requests
    double errors;  // share of the requests with an error of it
    double ns[BB_REQUEST_TIMES];
} BbContextMeans;

typedef struct BbDifference {
    BbDifferenceKind kind;
    guint32 context;
    guint32 node, op;
    bool unanswered;  // calls without return: own work is how long they were waited for
    guint32 *callers; // nodes, the direct caller first, the client last
    guint n_callers;
    BbPair ns;        // on the critical path, mean of all requests
    BbPair present;   // share of the requests with such a call
    BbPair calls;     // mean of those requests
    double excess_ns; // ns.one - ns.other
    double error_ns;  // by chance (standard error); 0 where nobody looked
    // Of a call that differs as such: what makes most of the excess within it.
    BbDifferenceKind most_kind;
    guint32 most_node, most_op;
    bool most_unanswered;
    double most_ns;
} BbDifference;

// Errors of a call. Told where they are in more of the ones than of the others; or in fewer, if
// that is asked for.
typedef struct BbErrorDifference {
    guint32 context;
    guint32 node, op;
    guint32 *callers;
    guint n_callers;
    BbPair present;
} BbErrorDifference;

typedef struct BbDifferences {
    GArray *causes; // of BbDifference, by falling excess
    GArray *errors; // of BbErrorDifference, by falling difference
} BbDifferences;

// The requests of both sides, all of the same first call.
typedef struct BbSides {
    const BbContexts *contexts;
    const BbNames *names;
    const guint32 *list; // contexts of the requests, each after the one above it; first: the first
                         // call
    guint32 n;
    const BbContextMeans *one, *other; // in order of the list
    double requests;                   // of the side that has fewer: what few of them do is chance
    bool fewer_errors;
    double least_ns; // an excess, either way, that is too little to be told
} BbSides;

BbDifferences bb_differences_find(const BbSides *sides);
void bb_differences_clear(BbDifferences *differences);

// Whether a share is beyond chance so much greater on one side that it is worth a word.
bool bb_differences_is_more(BbPair present, double requests);

// A mean as people read it: "24.7 ms".
void bb_mean_append(GString *out, double ns);

// "extra call"; and the word of JSON.
const char *bb_difference_kind_text(BbDifferenceKind kind);
const char *bb_difference_kind_word(BbDifferenceKind kind);

// "extra call: lb -> app2 -> postgres SELECT item, mostly own work: disk READ"
void bb_difference_append(GString *out, const BbNames *names, const BbDifference *cause);
// "  errors of lb -> app2: in "
void bb_difference_append_errors(GString *out, const BbNames *names,
                                 const BbErrorDifference *errors);
// How JSON tells of both sides.
typedef struct BbSideWords {
    const char *one, *other;
    bool other_first;
    bool clients; // callers begin with the client
} BbSideWords;

// key: {"one": X, "other": X}; of times in seconds, and of shares and counts.
void bb_pair_write_ns(BbJson *json, const char *key, BbPair ns, const BbSideWords *words);
void bb_pair_write(BbJson *json, const char *key, BbPair pair, const BbSideWords *words);

// "what": WORD, and the call with its callers. What it costs is the caller's to write, between this
// and bb_difference_write_rest: figures of both sides, and "mostly": {...}, where it is a call that
// differs as such.
void bb_difference_write(BbJson *json, const BbNames *names, const BbDifference *cause,
                         const BbSideWords *words);
void bb_difference_write_rest(BbJson *json, const BbNames *names, const BbDifference *cause,
                              const BbSideWords *words);

// "errors": [...]
void bb_differences_write_errors(BbJson *json, const BbNames *names,
                                 const BbDifferences *differences, const BbSideWords *words);
