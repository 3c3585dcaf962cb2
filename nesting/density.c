// SPDX-License-Identifier: Apache-2.0
// In: samples of gaps in bins. Out: the log of their density.
//
// Kernels of six widths come from one cascade of small filters with growing holes: each step
// smooths what the step before left, so that all six cost a few sums a bin. Where samples are few,
// as in tails, wider kernels are used: a lone sample would otherwise vouch for itself.
#include "nesting/density.h"

#include <math.h>
#include <string.h>

#define LEVELS 6u
#define FEW 2.0 // samples within a kernel: fewer, and a wider one takes its place
#define REACH (2u + 2 + 4 + 8 + 16 + 32) // bins to which the widest kernel carries a sample

BbDensity *bb_density_new(void)
{
    BbDensity *density = g_new0(BbDensity, 1);
    density->first = BB_GAP_BINS;
    return density;
}

void bb_density_reset(BbDensity *density)
{
    if (density->first <= density->last)
        memset(density->count + density->first, 0,
               (density->last - density->first + 1) * sizeof *density->count);
    density->n = 0;
    density->loo = 0;
    density->first = BB_GAP_BINS;
    density->last = 0;
}

// Filters in[] of n bins, mirrored at both ends, with holes of `step` bins. The kernel is
// (1 4 6 4 1) / 16, of variance step^2; step 0: (1 6 1) / 8, of variance 1/4.
static void smooth(const float *in, float *out, gint n, gint step)
{
    float edge[64 + BB_GAP_BINS + 64];
    gint pad = 2 * MAX(step, 1);
    for (gint i = 0; i < pad; i++) {
        edge[i] = in[MIN(pad - 1 - i, n - 1)];
        edge[pad + n + i] = in[MAX(n - 1 - i, 0)];
    }
    memcpy(edge + pad, in, (gsize)n * sizeof *in);
    const float *e = edge + pad;
    if (step == 0) {
        for (gint i = 0; i < n; i++)
            out[i] = 0.125f * (e[i - 1] + e[i + 1]) + 0.75f * e[i];
        return;
    }
    for (gint i = 0; i < n; i++)
        out[i] = 0.0625f * (e[i - 2 * step] + e[i + 2 * step]) +
                 0.25f * (e[i - step] + e[i + step]) + 0.375f * e[i];
}

static const gint steps[LEVELS] = {0, 1, 2, 4, 8, 16};

// What a sample gives the bins around it at each level: kernel[level][REACH + distance].
static void find_kernels(float kernel[LEVELS][2 * REACH + 1])
{
    float sample[2 * REACH + 1] = {0};
    sample[REACH] = 1;
    for (guint level = 0; level < LEVELS; level++)
        smooth(level == 0 ? sample : kernel[level - 1], kernel[level], 2 * REACH + 1, steps[level]);
}

// What a sample gives its own bin, by way of the mirrors at the ends too.
static float own(const float *kernel, guint bin)
{
    guint low = 2 * bin + 1, high = 2 * (BB_GAP_BINS - 1 - bin) + 1;
    return kernel[REACH] + (low <= REACH ? kernel[REACH + low] : 0) +
           (high <= REACH ? kernel[REACH + high] : 0);
}

// Sum over the samples of the log density that the others give them.
static double leave_one_out(const BbDensity *density, const float *smoothed, guint from, guint n,
                            const float *kernel, const BbGapScale *scale)
{
    double sum = 0, others = MAX(density->n - 1, 0.5);
    for (guint i = 0; i < n; i++) {
        float count = density->count[from + i];
        if (count <= 0)
            continue;
        double left = MAX(smoothed[i] - own(kernel, from + i), 0) / others;
        double mass = (1 - BB_DENSITY_FLOOR) * left + BB_DENSITY_FLOOR / BB_GAP_BINS;
        sum += (double)count * ((double)logf((float)mass) - (double)scale->log_width[from + i]);
    }
    return sum;
}

static void write_logs(BbDensity *density, const float *smoothed, guint from, guint n,
                       const BbGapScale *scale)
{
    memcpy(density->log, scale->floor_log, sizeof density->log);
    float share = (float)((1 - BB_DENSITY_FLOOR) / density->n);
    for (guint i = 0; i < n; i++) {
        float mass = share * smoothed[i] + (float)(BB_DENSITY_FLOOR / BB_GAP_BINS);
        density->log[from + i] = logf(mass) - scale->log_width[from + i];
    }
}

void bb_density_fit(BbDensity *density, const BbGapScale *scale)
{
    density->loo = 0;
    memcpy(density->log, scale->floor_log, sizeof density->log);
    if (density->n <= 0)
        return;
    float kernel[LEVELS][2 * REACH + 1];
    find_kernels(kernel);
    guint from = density->first > REACH ? density->first - REACH : 0;
    guint to = MIN(density->last + REACH + 1, BB_GAP_BINS), n = to - from, best = 0;
    float level[LEVELS][BB_GAP_BINS];
    for (guint l = 0; l < LEVELS; l++) {
        smooth(l == 0 ? density->count + from : level[l - 1], level[l], (gint)n, steps[l]);
        double loo = leave_one_out(density, level[l], from, n, kernel[l], scale);
        if (l == 0 || loo > density->loo) {
            density->loo = loo;
            best = l;
        }
    }
    double sum = 0;
    for (guint i = 0; i < n; i++) {
        guint l = best;
        while (l + 1 < LEVELS && (double)level[l][i] < FEW * (double)kernel[l][REACH])
            l++;
        level[best][i] = level[l][i];
        sum += (double)level[l][i];
    }
    for (guint i = 0; i < n; i++)
        level[best][i] *= (float)(density->n / sum);
    write_logs(density, level[best], from, n, scale);
}

// Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23: |error| < 4.5e-4.
static double normal_quantile(double p)
{
    double tail = MIN(p, 1 - p);
    if (tail < 0.00135)
        return p < 0.5 ? -3 : 3;
    double t = sqrt(-2 * log(tail));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    return p < 0.5 ? -x : x;
}

void bb_density_normal(const BbDensity *density, const BbGapScale *scale, float *z)
{
    double sum = 0, below = 0, mass[BB_GAP_BINS];
    for (guint b = 0; b < BB_GAP_BINS; b++)
        sum += mass[b] = exp((double)density->log[b] + (double)scale->log_width[b]);
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        z[b] = (float)normal_quantile((below + mass[b] / 2) / sum);
        below += mass[b];
    }
}
