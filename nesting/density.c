// SPDX-License-Identifier: Apache-2.0
// In: samples of gaps in bins. Out: the log of their density.
//
// Kernels of six widths come from one cascade of small filters with growing holes: each step
// smooths what the step before left, so that all six cost a few sums a bin. Where samples are few,
// as in tails, wider kernels are used: a lone sample would otherwise vouch for itself.
#include "nesting/density.h"

#include <math.h>
#include <string.h>

#define LEVELS BB_GAP_KERNELS
#define FEW 2.0       // samples within a kernel: fewer, and a wider one takes its place
#define NEARLY 0.9999 // of that: what rounding leaves of two samples in one bin are two
#define COUNTS 0.01   // of the mass in a bin: a sample that has less is not worth leaving out
#define LEAST 1e-6    // samples: what is less than that is none, and rounding
#define REACH BB_GAP_KERNEL_REACH

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

void bb_density_make_kernels(BbGapScale *scale)
{
    float sample[2 * REACH + 1] = {0};
    sample[REACH] = 1;
    for (guint l = 0; l < LEVELS; l++)
        smooth(l == 0 ? sample : scale->kernel[l - 1], scale->kernel[l], 2 * REACH + 1, steps[l]);
}

// What a sample in one bin gives another, by way of the mirrors at the ends too.
static float given(const float *kernel, guint from, guint to)
{
    guint apart = from > to ? from - to : to - from;
    guint low = from + to + 1, high = 2 * BB_GAP_BINS - 1 - from - to;
    return (apart <= REACH ? kernel[REACH + apart] : 0) + (low <= REACH ? kernel[REACH + low] : 0) +
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
        double left = MAX(smoothed[i] - given(kernel, from + i, from + i), 0) / others;
        double mass = (1 - BB_DENSITY_FLOOR) * left + BB_DENSITY_FLOOR / BB_GAP_BINS;
        sum += (double)count * ((double)logf((float)mass) - (double)scale->log_width[from + i]);
    }
    return sum;
}

// Outside of the n bins from the first one on lies what is spread over all.
static void write_below(BbDensity *density, const float *smoothed, guint from, guint n)
{
    float share = (float)((1 - BB_DENSITY_FLOOR) / density->n), sum = 0;
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        float mass = (float)(BB_DENSITY_FLOOR / BB_GAP_BINS);
        if (b >= from && b < from + n)
            mass += share * smoothed[b - from];
        density->below[b] = sum + mass / 2;
        sum += mass;
    }
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
    memset(density->few, 0, sizeof density->few);
    if (density->n <= 0)
        return;
    guint from = density->first > REACH ? density->first - REACH : 0;
    guint to = MIN(density->last + REACH + 1, BB_GAP_BINS), n = to - from, best = 0;
    float level[LEVELS][BB_GAP_BINS];
    for (guint l = 0; l < LEVELS; l++) {
        smooth(l == 0 ? density->count + from : level[l - 1], level[l], (gint)n, steps[l]);
        double loo = leave_one_out(density, level[l], from, n, scale->kernel[l], scale);
        if (l == 0 || loo > density->loo) {
            density->loo = loo;
            best = l;
        }
    }
    double sum = 0;
    for (guint i = 0; i < n; i++) {
        guint l = best;
        while (l + 1 < LEVELS &&
               (double)level[l][i] < NEARLY * FEW * (double)scale->kernel[l][REACH])
            l++;
        density->few[from + i] = (guint8)(1 + l);
        level[best][i] = level[l][i];
        sum += (double)level[l][i];
    }
    density->scaled = (float)(density->n / sum);
    for (guint i = 0; i < n; i++) {
        if (COUNTS * (double)level[best][i] >
            (double)scale->kernel[density->few[from + i] - 1][REACH])
            density->few[from + i] = 0;
        level[best][i] *= density->scaled;
    }
    write_logs(density, level[best], from, n, scale);
    write_below(density, level[best], from, n);
}

// What the samples give a bin at a level.
static double given_by_all(const BbDensity *density, const BbGapScale *scale, guint level,
                           guint bin)
{
    const float *kernel = scale->kernel[level];
    guint reach = 2u << level, from = MAX(density->first, bin > reach ? bin - reach : 0);
    double sum = 0;
    for (guint b = from; b <= MIN(density->last, bin + reach); b++)
        if (density->count[b] > 0)
            sum += (double)(density->count[b] * given(kernel, b, bin));
    return sum;
}

static double given_by_some(const BbGapScale *scale, guint level, guint bin, const guint16 *bins,
                            guint n, double weight)
{
    double sum = 0;
    for (guint i = 0; i < n; i++)
        sum += weight * (double)given(scale->kernel[level], bins[i], bin);
    return sum;
}

double bb_density_without(const BbDensity *density, const BbGapScale *scale, guint bin,
                          const guint16 *bins, guint n, double weight)
{
    double left = density->n - n * weight, floor = BB_DENSITY_FLOOR / BB_GAP_BINS;
    if (left < LEAST)
        return floor / (double)scale->width[bin];
    guint level = density->few[bin] - 1u;
    double share = exp((double)density->log[bin] + (double)scale->log_width[bin]) - floor;
    double sum = share / (1 - BB_DENSITY_FLOOR) * density->n / (double)density->scaled -
                 given_by_some(scale, level, bin, bins, n, weight);
    while (sum < NEARLY * FEW * (double)scale->kernel[level][REACH] && level + 1 < LEVELS) {
        level++;
        sum = given_by_all(density, scale, level, bin) -
              given_by_some(scale, level, bin, bins, n, weight);
    }
    double mass = (1 - BB_DENSITY_FLOOR) * (double)density->scaled * MAX(sum, 0) / left + floor;
    return mass / (double)scale->width[bin];
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

double bb_density_mean_below(const BbDensity *density, const BbGapScale *scale, guint bin)
{
    double sum = 0, masses = 0, edge = 0;
    for (guint b = 0; b <= bin; b++) {
        double part = b < bin ? 1 : 0.5, width = (double)scale->width[b];
        double mass = part * exp((double)density->log[b] + (double)scale->log_width[b]);
        sum += mass * (edge + part * width / 2);
        masses += mass;
        edge += width;
    }
    return masses > 0 ? sum / masses : 0;
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
