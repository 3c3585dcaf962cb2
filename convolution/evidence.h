// SPDX-License-Identifier: Apache-2.0
// Which streams into a node go together with which out of it: the correlograms of all pairs at a
// node, by counting or by FFT, whichever costs less, and the links that they show.
#pragma once

#include "convolution/correlogram.h"
#include "convolution/link.h"

// The streams as quanta since the start of the trace; empty where there are too few messages to
// tell anything.
typedef struct BbTrains {
    const BbStreams *streams; // lent
    BbLagGrid grid;
    BbLinkOptions options;
    BbTrain *in, *out; // by stream
} BbTrains;

BbTrains *bb_trains_new(const BbStreams *streams, const BbLagGrid *grid,
                        const BbLinkOptions *options);
void bb_trains_free(BbTrains *trains);

// Streams out that should be taken at once, beginning with that one: those of the same node, as far
// as memory suffices.
guint32 bb_trains_batch(const BbTrains *trains, guint32 first);

// Nanoseconds that FFTs are predicted to save for streams out [first, first + n) of one node; less
// than 0 where they do not.
double bb_trains_saved(const BbTrains *trains, guint32 first, guint32 n);

typedef struct BbEvidence BbEvidence;

// trains is lent. blocks: have FFTs at hand, where they pay. Each thread has one of its own; make
// and free them in the main thread.
BbEvidence *bb_evidence_new(const BbTrains *trains, bool blocks);
void bb_evidence_free(BbEvidence *evidence);

// The links to streams out [first, first + n), which are of one node: links[i] of BbLink by stream
// in, owned by the caller.
void bb_evidence_find(BbEvidence *evidence, guint32 first, guint32 n, GPtrArray **links);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTrains, bb_trains_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbEvidence, bb_evidence_free)
