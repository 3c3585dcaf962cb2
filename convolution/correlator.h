// SPDX-License-Identifier: Apache-2.0
// Cross-correlation of whole signals (paper, section 5.2.1) of a trace by FFT: one set of messages
// after another against all that some node sends.
#pragma once

#include <glib.h>

typedef struct BbCorrelator BbCorrelator;

// Messages as quanta since the start of the trace, in order.
typedef struct BbQuanta {
    const guint32 *quanta; // lent
    gsize count;
} BbQuanta;

// Numbers in a transform of signals of `span` quanta that are correlated at `lags` lags from 0 on:
// so many zeros follow a signal that no lag wraps round to its beginning.
guint64 bb_correlator_points(guint64 span, guint64 lags);

// What a point takes: in a signal, its spectrum, another's spectrum, and FFTW's tables (at most as
// much as the three).
#define BB_CORRELATOR_BYTES_A_POINT 48u

// 1 <= lags <= span < 2^32. The spectra of what nodes send are computed once and kept as far as
// they fit into spectra_bytes (one in any case): the least recently used is forgotten. Returns NULL
// where there is no memory.
BbCorrelator *bb_correlator_new(guint64 span, guint64 lags, gsize spectra_bytes);
void bb_correlator_free(BbCorrelator *correlator);

// Sum over t of from[t] * to[t + lag], for each lag; lent until the next call. NULL where there is
// no memory. sender: the same for the same `to`, in all calls.
const double *bb_correlator_run(BbCorrelator *correlator, BbQuanta from, BbQuanta to,
                                guint32 sender);

// So far: how many transforms there were, and their CPU seconds.
guint64 bb_correlator_ffts(const BbCorrelator *correlator);
double bb_correlator_fft_seconds(const BbCorrelator *correlator);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCorrelator, bb_correlator_free)
