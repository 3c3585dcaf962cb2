// SPDX-License-Identifier: Apache-2.0
// In: confidences, and whether what they stood for was right. Out: both compared, bin by bin.
#include "diagnose/calibration.h"

#include <math.h>

static const double bounds[BB_CALIBRATION_BINS + 1] = {0,   0.1, 0.2, 0.3, 0.4,  0.5,
                                                       0.6, 0.7, 0.8, 0.9, 0.99, 1};

double bb_calibration_bound(guint bin)
{
    return bounds[bin];
}

void bb_calibration_add(BbCalibration *calibration, double confidence, bool right)
{
    if (!(confidence >= 0)) {
        calibration->not_stated++;
        return;
    }
    guint bin = BB_CALIBRATION_BINS - 1;
    // As floats, which links have: 0.9f is less than 0.9, but is meant to be in its bin.
    while (bin > 0 && (float)confidence < (float)bounds[bin])
        bin--;
    calibration->stated++;
    calibration->bins[bin].count++;
    calibration->bins[bin].right += right;
    calibration->bins[bin].sum += fmin(confidence, 1);
}

double bb_calibration_error(const BbCalibration *calibration)
{
    double error = 0;
    for (guint i = 0; i < BB_CALIBRATION_BINS; i++)
        error += fabs(calibration->bins[i].sum - (double)calibration->bins[i].right);
    return calibration->stated ? error / (double)calibration->stated : NAN;
}
