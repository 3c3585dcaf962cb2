// SPDX-License-Identifier: Apache-2.0
// How right an inference is, against the ground truth in its trace. The stage's public header.
//
//     g_autoptr(BbTruth) truth = bb_truth_new();
//     g_autoptr(BbScoring) scoring = bb_scoring_new(names, &options);
//     for every message:  bb_truth_push(truth, &message);
//     for every window:   bb_scoring_add(scoring, paths, truth);
//     g_autoptr(BbScore) score = bb_scoring_finish(scoring);
//     bb_score_write_text(score, names, stdout);
#pragma once

#include <stdio.h>

#include "diagnose/calibration.h"
#include "diagnose/forest.h"
#include "diagnose/mismatch.h"

// right of all; no share where all is 0.
typedef struct BbRight {
    guint64 right, all;
} BbRight;

// NAN where there is nothing.
double bb_right_share(BbRight right);

typedef struct BbScoreEdge {
    guint32 caller, callee;
    BbRight links;
} BbScoreEdge;

typedef struct BbScoreNode {
    guint32 node;
    bool calls;    // some call that the node answered really caused another
    BbRight links; // the node's own calls that were caused by one to it: parent right
    BbRight steps; // calls to the node: exactly the true ones were found below
    gint64 found_self_ns, real_self_ns; // mean per call
} BbScoreNode;

// How far inferred means are from true ones, as shares of the true ones.
typedef struct BbDeviation {
    guint32 compared;
    double mean, largest; // NAN where nothing was compared
} BbDeviation;

#define BB_SCORE_PAIRS 50u

typedef struct BbScore {
    // What was looked at: calls with return whose truth is told. The others are left out.
    guint64 calls, unreturned, untold, circular;

    // Links.
    BbRight links, roots, children, lost; // lost: the true parent is not in the trace
    BbRight unanswered;                   // calls without return, in none of the other figures
    double unanswered_stated;             // mean confidence of their links; NAN if not stated
    BbRight beneath;                      // calls that were given to one of them
    GArray *edges; // of BbScoreEdge, the most wrong links first, then by name

    // Requests.
    BbRight requests;              // exactly its calls, each with its true parent
    BbRight instances;             // found ones that are exactly a true one
    double node_links, node_steps; // mean of the nodes that call; NAN without
    GArray *nodes;                 // of BbScoreNode, by name

    // Patterns.
    GArray *pairs;   // of BbPatternPair, found and true numbers farthest apart first, then the most
                     // frequent; BB_SCORE_PAIRS at most
    char **captions; // of pairs
    BbMismatch mismatch;
    BbOmitted omitted[2];        // by BbOmittedKey
    BbDeviation pattern_latency; // of patterns on both sides, mean latency
    BbDeviation node_self;       // of nodes

    // Confidence. An instance's is the product of those of its links, the root's included, and of
    // how likely no call of it lacks another; it is right when it has all its calls, by the right
    // links.
    BbCalibration link_confidence, instance_confidence;
    double stated_wrong, actual_wrong; // share of instances with a wrong link, or that lack one;
                                       // NAN if not stated
    double pattern_gap; // mean over instances of how far both are apart in their pattern
} BbScore;

// Collects. Memory: 128 bytes a call, some 50 a request, and for finish some 90 more a call.
typedef struct BbScoring BbScoring;

// names is lent.
BbScoring *bb_scoring_new(const BbNames *names, const BbForestOptions *options);
void bb_scoring_free(BbScoring *scoring);

// Adds a window. What truth holds of its calls is taken.
void bb_scoring_add(BbScoring *scoring, const BbPaths *paths, BbTruth *truth);

// The score of all windows. After it, only free.
BbScore *bb_scoring_finish(BbScoring *scoring);
void bb_score_free(BbScore *score);

// Writers. The caller looks at ferror.
void bb_score_write_text(const BbScore *score, const BbNames *names, FILE *out);
void bb_score_write_json(const BbScore *score, const BbNames *names, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbScoring, bb_scoring_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbScore, bb_score_free)
