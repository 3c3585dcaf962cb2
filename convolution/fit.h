// SPDX-License-Identifier: Apache-2.0
// Expectation-maximisation: the rate of the messages that a node sends on one edge is the sum of
// what each message it got lets expect after so long, and of a background. Each round shares the
// messages out to their possible causes by the rates of these, and learns kernels from the shares.
#pragma once

#include "convolution/link.h"

// Below it, messages without cause are taken for an error of the model: all have one.
#define BB_SPONTANEOUS_LEAST 0.1

typedef struct BbFit {
    const BbStreams *streams;
    const BbStream *out; // what is explained
    const BbLagGrid *grid;
    const BbLinkOptions *options;
    GPtrArray *links;   // of BbLink; lent, and learned. Derived ones do not count
    double spontaneous; // share of the messages that have no cause
    double widening;    // of kernels that are learned: BB_LINK_WIDE or BB_LINK_SHARP
    double *rate;       // by message out: effects a bin of all causes and of none
    float *background;  // by message out: of none, were all spontaneous
    double *explained;  // by bin, of one link: scratch
    double *use;        // by message in, of one link: scratch
} BbFit;

// Which links a round drops: none, those that explain less messages than options say, or those with
// less than 1 % of the smaller stream as well.
typedef enum { BB_FIT_DROP_NONE, BB_FIT_DROP_EMPTY, BB_FIT_DROP_WEAK } BbFitDrop;

// Begins with the kernels that the links have, which are one or more. All is lent; the caller frees
// the result.
BbFit *bb_fit_new(const BbStreams *streams, const BbStream *out, GPtrArray *links,
                  const BbLagGrid *grid, const BbLinkOptions *options);
void bb_fit_free(BbFit *fit);

// The two halves of a round: rates by what was learned, and what is learned from these rates.
void bb_fit_expect(BbFit *fit);
void bb_fit_learn(BbFit *fit, BbFitDrop drop);

// Adds what one link lets expect to rate[], by message out.
void bb_fit_add_rates(const BbFit *fit, const BbLink *link, double *rate);

// Log likelihood of the messages by what was learned and the rates of it: that of a Poisson
// process.
double bb_fit_likelihood(const BbFit *fit);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFit, bb_fit_free)
