// SPDX-License-Identifier: Apache-2.0
// How right the causes, delays and paths of convolution are, against the ground truth in a trace.
//
//     g_autoptr(BbEffects) effects = bb_effects_new();
//     for every message:  bb_effects_push(effects, &message);
//     for every window:   bb_effects_add(effects, paths);
//     g_autoptr(BbChainScore) score = bb_chain_score_new(effects, patterns, true, names);
//     bb_chain_score_write_text(score, names, stdout);
#pragma once

#include <stdio.h>

#include "data/census.h"
#include "diagnose/effects.h"
#include "diagnose/score.h"

// Least numbers of messages: what is rarer is left out. The share is of the true roots.
typedef struct BbTier {
    const char *name, *key; // for people, and for JSON
    guint64 count;
    double share;
} BbTier;

#define BB_TIERS 5u

extern const BbTier bb_tiers[BB_TIERS];

// Of what was found so often, what exists at all; of what exists so often, what was found at least
// half so often: of the tier, not of its own number.
typedef struct BbFidelity {
    BbRight found, real;
} BbFidelity;

typedef enum {
    BB_CHAIN_PAIRS,    // i -> j => j -> k
    BB_CHAIN_VERTICES, // chains of edges from a root, each with the messages at its end
    BB_CHAIN_DEEP,     // of them, those of two edges or more
    BB_CHAIN_PATHS,    // complete paths: chains whose last message causes nothing
    BB_CHAIN_KINDS,
} BbChainKind;

// What inferred numbers are too high by, of all that were inferred.
typedef struct BbExcess {
    guint64 too_many, found;
} BbExcess;

// Delays of messages on j -> k that messages on i -> j caused, in ns; BB_TIME_NONE where there are
// none.
typedef struct BbChainPair {
    guint32 from, via, to;
    guint64 found, real;              // messages
    gint64 stated_mean_ns;            // by the delays that the inference states
    gint64 found_p50_ns;              // between the messages and their inferred causes
    gint64 real_mean_ns, real_p50_ns; // and their true ones
} BbChainPair;

// How far delays are from the true ones; pairs that really make BB_DELAYS_LEAST of the roots, and
// were found.
typedef struct BbDelayError {
    guint32 compared;
    gint64 mean_ns, largest_ns; // of the absolute differences
    double largest;             // of the same as shares of the true delay; NAN without
} BbDelayError;

#define BB_DELAYS_LEAST 0.005

#define BB_CHAIN_PATHS_TOLD 50u

typedef struct BbChainPath {
    guint64 found, real;
    char *caption;
} BbChainPath;

typedef struct BbChainScore {
    // What was looked at: messages whose truth is told. The others are left out.
    guint64 messages, untold, circular;
    guint64 true_roots; // messages that nothing in the trace caused

    // Messages; nothing, and has_causes false, where there are only patterns (--explain=paper).
    bool has_causes;
    BbRight caused, roots, lost;       // by their truth: found what it should be
    BbRight found_causes, found_roots; // by what was found: that is right
    BbCalibration confidence;

    BbFidelity fidelity[BB_CHAIN_KINDS][BB_TIERS];
    BbExcess deep_excess, path_excess;

    BbDelayError mean_delay, median_delay; // stated mean, and median of what was found
    GArray *pairs;                         // of BbChainPair, the most frequent first
    GArray *paths; // of BbChainPath, found and true numbers farthest apart first;
                   // BB_CHAIN_PATHS_TOLD at most
} BbChainScore;

// Settles effects. patterns: what the inference ended with. Where it has no instances
// (has_causes false), they tell vertices, pairs and delays too.
BbChainScore *bb_chain_score_new(BbEffects *effects, const BbPatterns *patterns, bool has_causes,
                                 const BbNames *names);
void bb_chain_score_free(BbChainScore *score);

// Writers. The caller looks at ferror.
void bb_chain_score_write_text(const BbChainScore *score, const BbNames *names, FILE *out);
void bb_chain_score_write_json(const BbChainScore *score, const BbNames *names, FILE *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbChainScore, bb_chain_score_free)
