// SPDX-License-Identifier: Apache-2.0
// Convolution (paper, section 5.2), made to explain messages rather than to find spikes: from the
// messages of a trace, or of a window of one, to what caused each. convolution/README.md tells how.
// The stage's public header; convolution/figure6.h is the algorithm as printed.
#pragma once

#include "convolution/traffic.h"
#include "data/globs.h"

// Quanta in a longest delay, at most; what is beyond is not looked at.
#define BB_CONVOLUTION_LAGS_MAX (1u << 19)

typedef struct BbConvolutionOptions {
    gint64 quantum_ns;   // mu, the resolution of delays; 0: found from the traffic
    gint64 max_delay_ns; // no message is caused by one that is older; 0: found likewise
    gint64 skew_ns;      // an effect's stamp may be earlier than its cause's by so much
    guint rare;          // edges with fewer messages share their statistics at a node
    bool derived;        // list what correlates but is explained otherwise (BbPaths.derived)
    const BbGlobs *root; // nodes whose messages have no cause; NULL: the traffic tells. Lent
    guint threads;       // that work at once; 0 = one a processor. Changes no result
} BbConvolutionOptions;

BbConvolutionOptions bb_convolution_options_default(void);

// What was done so far, over all windows, for those who want to know.
typedef struct BbConvolutionWork {
    guint64 pairs;                // streams into and out of a node that were looked at
    guint64 found, derived;       // links between them; of those, explained by others: dropped
    guint64 counted, transformed; // correlograms: pairs counted one by one; blocks of FFTs
    guint threads;                // that worked at once, at most
    // Wall time, in seconds: finding the scale, looking at pairs, explaining by the links, giving
    // causes (with vetoes), making paths.
    double scale_s, survey_s, explain_s, assign_s, publish_s;
} BbConvolutionWork;

// An inference over one or more windows of a trace.
typedef struct BbConvolution BbConvolution;

// names is lent.
BbConvolution *bb_convolution_new(const BbNames *names, const BbConvolutionOptions *options);
void bb_convolution_free(BbConvolution *convolution);

// Infers. Uses traffic (finished) up: after it, only free. The caller frees the result. Quantum and
// longest delay, where they are found, are found anew in each, and suit the last few.
BbPaths *bb_convolution_run(BbConvolution *convolution, BbTraffic *traffic);

// Quantum and longest delay of the last run; 0 where the traffic showed nothing.
bool bb_convolution_has_scale(const BbConvolution *convolution); // both are known
gint64 bb_convolution_quantum(const BbConvolution *convolution);
gint64 bb_convolution_max_delay(const BbConvolution *convolution);

BbConvolutionWork bb_convolution_work(const BbConvolution *convolution);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbConvolution, bb_convolution_free)
