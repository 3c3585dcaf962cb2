// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: the table that takes a gap to its bin, and the widths of bins.
#include "nesting/gap.h"

#include "nesting/density.h"

#include <math.h>

#define LINEAR 25.0 // quanta up to which bins are one quantum wide; then each is 1/25 of its gap

static double cell_start(guint cell)
{
    if (cell < 128)
        return cell;
    guint shift = cell / 64 - 1;
    return ldexp(cell - 64.0 * shift, (int)shift);
}

static void make_blur(BbGapScale *scale)
{
    const gint reach = (gint)BB_GAP_BLUR;
    double sum = 0;
    for (gint d = -reach; d <= reach; d++)
        sum += scale->blur[d + reach] = exp(-0.5 * d * d / 1.44);
    for (guint d = 0; d <= 2 * BB_GAP_BLUR; d++) {
        scale->blur[d] /= sum;
        scale->blur_squared[d] = scale->blur[d] * scale->blur[d];
    }
}

BbGapScale *bb_gap_scale_new(void)
{
    BbGapScale *scale = g_new0(BbGapScale, 1);
    for (guint cell = 0; cell < BB_GAP_CELLS; cell++) {
        double start = cell_start(cell), end = cell_start(cell + 1);
        double middle = cell < 128 ? start : (start + end) / 2;
        guint bin = (guint)(LINEAR * asinh(middle / LINEAR) + 0.5);
        scale->bin[cell] = (guint16)MIN(bin, BB_GAP_BINS - 1);
        scale->width[scale->bin[cell]] += (float)(end - start);
    }
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        scale->width[b] = MAX(scale->width[b], 1);
        scale->log_width[b] = logf(scale->width[b]);
        scale->floor_log[b] = logf((float)(BB_DENSITY_FLOOR / BB_GAP_BINS)) - scale->log_width[b];
    }
    bb_density_make_kernels(scale);
    make_blur(scale);
    return scale;
}

void bb_gap_scale_free(BbGapScale *scale)
{
    g_free(scale);
}
