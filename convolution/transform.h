// SPDX-License-Identifier: Apache-2.0
// Real discrete Fourier transforms of one size by FFTW, in double precision.
//
// FFTW's planner is one for the process and not thread-safe: bb_transform_new* and
// bb_transform_free are for the main thread, while no other thread plans. Everything else may run
// in any.
#pragma once

#include <complex.h>
#include <glib.h>
#include <stdbool.h>

typedef struct BbTransform BbTransform;

// The least size >= least that FFTW is quick at (2^a 3^b 5^c 7^d).
gsize bb_transform_size(gsize least);

// size: numbers of a signal, > 0. NULL where memory does not suffice. The plan is estimated: made
// in milliseconds, and the same in every run on a machine, as are the last bits of what it
// computes.
BbTransform *bb_transform_new(gsize size);

// The same with the plan that an earlier run measured (FFTW's wisdom, kept in
// $XDG_CACHE_HOME/bbtrace/fftw-wisdom, else ~/.cache). Where none is kept: measure = true measures
// and keeps one, which takes some 0.1 ms a number for sizes up to BB_TRANSFORM_MEASURED and makes
// transforms up to twice as fast; otherwise the plan is estimated. A cache that cannot be read or
// written does no harm. The last bits of results depend on it: for callers that round them away.
#define BB_TRANSFORM_MEASURED 32768
BbTransform *bb_transform_new_remembered(gsize size, bool measure);

void bb_transform_free(BbTransform *transform);

gsize bb_transform_signal_size(const BbTransform *transform);   // doubles
gsize bb_transform_spectrum_size(const BbTransform *transform); // complex doubles: size / 2 + 1

// Aligned memory for signals and spectra of this transform, not set to anything; NULL where there
// is none. Freed by bb_transform_release.
double *bb_transform_signal(const BbTransform *transform);
double complex *bb_transform_spectrum(const BbTransform *transform);
void bb_transform_release(gpointer memory);

// signal -> spectrum, and back (not normalised: size times the signal; backward overwrites the
// spectrum too). Both of bb_transform_signal/spectrum. Several threads may run one transform at
// once.
void bb_transform_forward(const BbTransform *transform, double *signal, double complex *spectrum);
void bb_transform_backward(const BbTransform *transform, double complex *spectrum, double *signal);

// Bound of the relative error (2-norm) of one transform, whatever the plan, for sizes that
// bb_transform_size returns (Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2:
// log2(size) times a few units in the last place).
double bb_transform_error(gsize size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTransform, bb_transform_free)
