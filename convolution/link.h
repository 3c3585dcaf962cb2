// SPDX-License-Identifier: Apache-2.0
// Does one stream into a node cause messages of a stream out of it? Found in their correlogram, and
// described by a kernel: how many effects a message is expected to have after each lag.
#pragma once

#include "convolution/lag_grid.h"
#include "convolution/peaks.h"
#include "data/path.h"

// A delay of a link: a core of bins around one of its peaks.
typedef struct BbCore {
    BbSpan span;
    BbMode mode;
} BbCore;

typedef struct BbLink {
    guint32 in;     // index into BbStreams.in
    GArray *peaks;  // of BbPeak, by lag: by which it was found
    double excess;  // pairs of the peaks and their tails beyond chance,
    double pairs;   // and with it
    double noise;   // of excess: standard deviation by chance
    float *kernel;  // by bin: expected effects of one message after so long; 0 at the end
    float *sharp;   // the same, of the peaks alone
    GArray *spans;  // of BbSpan: kernel is 0 outside of them
    double mass;    // effects of all messages that are explained by it
    double rate;    // messages in, a bin
    double cap;     // effects that one message has at most
    float *left;    // by message in: what is left of it for another effect, 0 to 1
    float *effects; // by message in: expected number of its effects
    GArray *cores;  // of BbCore, by falling mass
    bool derived;   // other links explain it: does not count any more
} BbLink;

// How links are found and learned.
typedef struct BbLinkOptions {
    gint64 start_ns, end_ns; // of the trace
    double chance;           // of a link that is none: at most; for bb_link_find
    guint messages_least;    // of a stream, and of a link's excess and mass
} BbLinkOptions;

// The chance that streams which have nothing to do with each other correlate as much as these
// somewhere, by their correlogram (see bb_link_find).
double bb_link_chance(const BbLagGrid *grid, const BbStream *in, const BbStream *out,
                      const guint32 *counts, const guint32 *mirror, const BbLinkOptions *options);

// counts, mirror: the streams' correlogram; mirror NULL where lags may be negative. Returns NULL
// where nothing is significant.
BbLink *bb_link_find(const BbLagGrid *grid, const BbStream *in, const BbStream *out,
                     const guint32 *counts, const guint32 *mirror, const BbLinkOptions *options);
void bb_link_free(BbLink *link);

// How far a kernel is smoothed, as a share of the lag: wide to tell causes, which must not miss the
// rare delays; sharp to tell delays, which a wide kernel blurs where there is much traffic.
#define BB_LINK_WIDE 0.1
#define BB_LINK_SHARP 0.02

// Learns the kernel from explained[], expected effects at each lag of the n messages of the stream.
void bb_link_learn(BbLink *link, const BbLagGrid *grid, const double *explained, guint32 n,
                   double widening);

// All is learned: frees what was learned by, kernel, sharp and left.
void bb_link_settle(BbLink *link);

// Goes back to the peaks alone, to begin to tell the delays.
void bb_link_sharpen(BbLink *link, const BbLagGrid *grid);

// Finds the delays: masses, sums of lags and of their squares (in ns) by bin.
void bb_link_find_cores(BbLink *link, const BbLagGrid *grid, const double *masses,
                        const double *lags, const double *squares);

// Index into cores of the delay that a lag in that bin belongs to.
guint bb_link_core_of(const BbLink *link, guint32 bin);
