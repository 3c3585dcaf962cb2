// SPDX-License-Identifier: Apache-2.0
// The convolution algorithm as the paper prints it (section 5.2, figure 6): `--explain=paper`.
// Where the paper leaves a choice:
// - Signals are followed by zeros, so that nothing that is late is taken for a cause of what is
//   early. Correlations are taken at lags from 0 to max_delay; their mean and deviation are those
//   of these lags (17 of them at least, or nothing is 4 deviations above).
// - Times are compared in quanta since the trace's first one: a message follows another at d when
//   its quantum is the other's, as seen by the receiver, plus d +- v. So with d < v it may even be
//   earlier.
// - There is no least number of messages, and a message may be in any number of vertices.
// - Vertices with the most messages are looked at first: a limit cuts what is rarest.
#pragma once

#include "convolution/traffic.h"
#include "data/census.h"
#include "data/globs.h"

typedef struct BbFigure6Options {
    gint64 quantum_ns;   // mu; > 0
    gint64 max_delay_ns; // lags of the correlation; 0: the whole trace
    double spike;        // N: a spike is so many standard deviations above the mean; 4
    double valley;       // S: and below so many between two spikes; 3
    gint64 tolerance;    // v: quanta around a spike's delay; 1
    guint depth_max;     // edges of a path; 32. At most BB_PATHS_DEPTH_MAX holds
    guint vertices_max;  // 100,000
    const BbGlobs *root; // only these nodes' messages begin paths; NULL: all roots. Lent
    bool all_roots;      // every node that sends begins paths; otherwise those that nobody sends to
} BbFigure6Options;

BbFigure6Options bb_figure6_options_default(void);

// Memory: of signals and spectra in bytes, of spectra that are kept to be used again, and messages
// of vertices whose effects are still to be looked for (4 bytes each).
#define BB_FIGURE6_SIGNALS ((gsize)2 << 30)
#define BB_FIGURE6_SPECTRA ((gsize)256 << 20)
#define BB_FIGURE6_PENDING ((gsize)1 << 26)

// What was cut, for the end of the run.
typedef struct BbFigure6Limits {
    guint64 deep;     // vertices whose effects were not looked for because of depth_max
    guint64 vertices; // vertices that were not made because of vertices_max, and those whose
                      // effects were not looked for because of it or of BB_FIGURE6_PENDING
    guint64 made;     // vertices, before those of equal chain become one
    double fft_s;     // CPU seconds in FFTs alone
    guint64 ffts;
} BbFigure6Limits;

// The paths found, as patterns (data/chains.h): vertices of equal chain are one, with the delays of
// all; a chain that goes no further is a pattern with the messages of its last vertices. limits may
// be NULL. Fails (G_FILE_ERROR_NOMEM) where the signals do not fit into memory: the error says how
// coarse a quantum would.
BbPatterns *bb_figure6_run(const BbTraffic *traffic, const BbFigure6Options *options,
                           BbFigure6Limits *limits, GError **error);
