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

// Correlograms made so far, by counting pairs one by one and by blocks of FFTs.
typedef struct BbEvidenceWork {
    guint64 counted, transformed;
} BbEvidenceWork;
BbEvidenceWork bb_evidence_work(const BbEvidence *evidence);

// Two streams at a node that may belong together.
typedef struct BbSuspect {
    guint32 in, out; // streams
    double chance;   // that they correlate so much though they have nothing to do with each other
} BbSuspect;

#define BB_SUSPECT_MOST 0.2 // pairs of a larger chance are none

// Appends the suspects among streams out [first, first + n), which are of one node, to suspects, by
// stream out, then in. Returns how many pairs it looked at.
guint64 bb_evidence_survey(BbEvidence *evidence, guint32 first, guint32 n, GArray *suspects);

// The links to streams out [first, first + n): links[i] of BbLink by stream in, owned by the
// caller. Only suspects of up to that chance can have one.
void bb_evidence_find(BbEvidence *evidence, guint32 first, guint32 n, const GArray *suspects,
                      double chance, GPtrArray **links);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTrains, bb_trains_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbEvidence, bb_evidence_free)
