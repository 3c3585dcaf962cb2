// SPDX-License-Identifier: Apache-2.0
// In: parents with so many children. Out: how likely a parent is to have so many.
#include "nesting/counts.h"

#include <math.h>
#include <string.h>

#define FEW 8u    // children; of parents with more
#define LENT 0.02 // so much of each count goes to either side

static gsize size_of(const BbCounts *counts)
{
    return (gsize)counts->np * counts->nc * BB_COUNTS_EACH;
}

BbCounts *bb_counts_new(guint np, guint nc)
{
    BbCounts *counts = g_new0(BbCounts, 1);
    counts->np = np;
    counts->nc = nc;
    counts->n = g_new0(double, np);
    counts->seen = g_new0(double, size_of(counts));
    counts->log = g_new0(float, size_of(counts));
    counts->more = g_new0(float, size_of(counts));
    counts->nothing = g_new0(float, np);
    return counts;
}

void bb_counts_free(BbCounts *counts)
{
    if (!counts)
        return;
    g_free(counts->n);
    g_free(counts->seen);
    g_free(counts->log);
    g_free(counts->more);
    g_free(counts->nothing);
    g_free(counts);
}

void bb_counts_reset(BbCounts *counts)
{
    memset(counts->n, 0, counts->np * sizeof *counts->n);
    memset(counts->seen, 0, size_of(counts) * sizeof *counts->seen);
}

void bb_counts_add(BbCounts *counts, guint p, const guint32 *each, double weight)
{
    for (guint c = 0; c < counts->nc; c++)
        counts->seen[bb_counts_at(counts, p, c) + MIN(each[c], BB_COUNTS_MOST)] += weight;
    counts->n[p] += weight;
}

// How often one more child follows when there are k, from how often there are how many.
static void find_more(const float *log_of, float *more)
{
    double beyond = exp((double)log_of[BB_COUNTS_MOST]);
    more[BB_COUNTS_MOST] = 0;
    for (guint k = BB_COUNTS_MOST; k-- > 0;) {
        double here = exp((double)log_of[k]);
        more[k] = (float)log(beyond / (beyond + here));
        beyond += here;
    }
}

// What follows from counts->log of all types.
static void sum_nothing(BbCounts *counts)
{
    for (guint p = 0; p < counts->np; p++) {
        counts->nothing[p] = 0;
        for (guint c = 0; c < counts->nc; c++)
            counts->nothing[p] += counts->log[bb_counts_at(counts, p, c)];
    }
}

// Parents that are taken to have k children. Who has many hardly ever has just so many: what has
// one more or less lends a part.
static double lent(const double *seen, guint k)
{
    double n = seen[k];
    if (k > FEW + 1 && k < BB_COUNTS_MOST)
        n += LENT * (seen[k - 1] - seen[k]);
    if (k > FEW && k + 1 < BB_COUNTS_MOST)
        n += LENT * (seen[k + 1] - seen[k]);
    return n;
}

static void fit_row(const double *seen, double n, float *log_of, float *more)
{
    for (guint k = 0; k < BB_COUNTS_EACH; k++)
        log_of[k] = (float)log((lent(seen, k) + ldexp(0.5, -(int)k - 1)) / (n + 0.5));
    find_more(log_of, more);
}

static bool has_none(const double *seen)
{
    bool none = true;
    for (guint k = 1; k < BB_COUNTS_EACH; k++)
        none &= seen[k] == 0;
    return none;
}

// Types that a parent never has are most, and alike.
void bb_counts_fit(BbCounts *counts)
{
    for (guint p = 0; p < counts->np; p++) {
        double none[BB_COUNTS_EACH] = {counts->n[p]};
        float log_of[BB_COUNTS_EACH], more[BB_COUNTS_EACH];
        fit_row(none, counts->n[p], log_of, more);
        for (guint c = 0; c < counts->nc; c++) {
            guint at = bb_counts_at(counts, p, c);
            if (has_none(counts->seen + at)) {
                memcpy(counts->log + at, log_of, sizeof log_of);
                memcpy(counts->more + at, more, sizeof more);
            } else {
                fit_row(counts->seen + at, counts->n[p], counts->log + at, counts->more + at);
            }
        }
    }
    sum_nothing(counts);
}

static double expected(double mean, guint k, bool poisson)
{
    int sign; // lgamma writes it where all threads see it
    double chance = exp(k * log(MAX(mean, 1e-9)) - mean - lgamma_r(k + 1.0, &sign));
    double low = floor(mean), near = 0;
    if (k == low)
        near = 1 - (mean - low);
    if (k == low + 1)
        near = mean - low;
    return MAX(poisson ? chance : 0.5 * near + 0.5 * chance, 1e-6);
}

void bb_counts_expect(BbCounts *counts, const double *mean, bool poisson)
{
    for (gsize i = 0; i < size_of(counts); i++)
        counts->log[i] =
            (float)log(expected(mean[i / BB_COUNTS_EACH], i % BB_COUNTS_EACH, poisson));
    for (gsize i = 0; i < size_of(counts); i += BB_COUNTS_EACH)
        find_more(counts->log + i, counts->more + i);
    sum_nothing(counts);
}
