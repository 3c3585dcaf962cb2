// SPDX-License-Identifier: Apache-2.0
// Whether stated confidences are kept: of what was said to be 0.9 sure, 9 in 10 must be right.
#pragma once

#include <glib.h>
#include <stdbool.h>

// [0, 0.1), [0.1, 0.2), ... [0.8, 0.9), [0.9, 0.99), [0.99, 1]
#define BB_CALIBRATION_BINS 11u

typedef struct BbCalibrationBin {
    guint64 count, right;
    double sum; // of the confidences
} BbCalibrationBin;

typedef struct BbCalibration {
    BbCalibrationBin bins[BB_CALIBRATION_BINS];
    guint64 stated, not_stated;
} BbCalibration;

// Adds one statement; a confidence below 0 is none. Above 1 counts as 1.
void bb_calibration_add(BbCalibration *calibration, double confidence, bool right);

// Lower end of a bin; that of the bin after the last is 1.
double bb_calibration_bound(guint bin);

// Expected calibration error: the mean over all statements of how far the mean confidence of their
// bin is from its share of right ones. NAN where nothing was stated.
double bb_calibration_error(const BbCalibration *calibration);
