// SPDX-License-Identifier: Apache-2.0
// What caused the messages that a node sends on one edge? Candidates are the messages that it got
// shortly before, on each of its edges in. Each message has one cause or none:
// expectation-maximisation learns for each edge in how many effects a message has after how long,
// so that what merely correlates (derived paths) gives way to what explains best.
#pragma once

#include "convolution/fit.h"

// One possible cause of a message.
typedef struct BbCause {
    guint32 effect, cause; // indices into BbTraffic.messages
    guint32 link;          // index into BbExplanation.links
    float chance;          // posterior probability
} BbCause;

typedef struct BbExplanation {
    const BbStream *out; // what is explained; lent
    BbLagGrid grid;
    GPtrArray *links;   // of BbLink, by stream
    GArray *causes;     // of BbCause: by effect, in the stream's order, then by falling chance
    guint32 *first;     // by effect: of its causes; one more at the end
    float *none;        // by effect: probability that it has no cause
    double spontaneous; // share of the messages that have none
    bool unknown;       // nothing that the node gets correlates with them: it may be that none has
                        // a cause, or that it was not seen. The caller's
} BbExplanation;

// Explains the messages of a stream. links: what was found between the streams in and it
// (convolution/evidence.h), of BbLink, by stream in; taken. The caller frees the result. Time: some
// passes over all pairs of messages that lie within a kernel.
BbExplanation *bb_explain(const BbStreams *streams, const BbStream *out, GPtrArray *links,
                          const BbLagGrid *grid, const BbLinkOptions *options);

// Whether any link of it counts.
bool bb_explanation_explains(const BbExplanation *explanation);
void bb_explanation_free(BbExplanation *explanation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbExplanation, bb_explanation_free)
