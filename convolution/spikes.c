// SPDX-License-Identifier: Apache-2.0
// In: a correlation. Out: its spikes.
#include "convolution/spikes.h"

#include <math.h>

// From 2^52 on, doubles are whole numbers: adding and taking away 1.5 * 2^52 steps of the grid
// rounds to it, to even where it is a toss, and is quick in vectors. Kept from folding by the
// language: the compiler may not reorder sums of doubles.
static double on_grid(double value)
{
    const double shift = 6755399441055744.0 / BB_SPIKES_GRID;
    return value + shift - shift;
}

typedef struct {
    double mean, deviation;
} Moments;

// Eight sums at a time, for no addition then waits for another. Sums of multiples of the grid are
// exact (below 2^53 steps), so that their order makes no difference.
static Moments measure(const double *values, gsize count)
{
    double sums[8] = {0}, squares[8] = {0};
    gsize whole = count & ~(gsize)7;
    for (gsize i = 0; i < whole; i += 8)
        for (gsize k = 0; k < 8; k++) {
            double value = on_grid(values[i + k]);
            sums[k] += value;
            squares[k] += value * value;
        }
    double sum = 0, square = 0;
    for (gsize k = 0; k < 8; k++) {
        sum += sums[k];
        square += squares[k];
    }
    for (gsize i = whole; i < count; i++) {
        double value = on_grid(values[i]);
        sum += value;
        square += value * value;
    }
    double mean = sum / (double)count, variance = square / (double)count - mean * mean;
    return (Moments){mean, variance > 0 ? sqrt(variance) : 0};
}

// The first index from i on whose value is at least low. Most are not: eight are compared at once.
static gsize skip(const double *values, gsize i, gsize count, double low)
{
    for (; i + 8 <= count; i += 8) {
        gint any = 0;
        for (gsize k = 0; k < 8; k++)
            any |= values[i + k] >= low;
        if (any)
            break;
    }
    while (i < count && values[i] < low)
        i++;
    return i;
}

// Lags [first, end) are the ones around a spike.
static BbSpike describe(const double *values, gsize first, gsize end, gsize lag, double mean)
{
    double mass = 0, moment = 0, square = 0;
    for (gsize i = first; i < end; i++) {
        double weight = on_grid(values[i]) - mean, at = (double)i - (double)lag;
        mass += weight;
        moment += weight * at;
        square += weight * at * at;
    }
    if (end - first == 1 || mass <= 0)
        return (BbSpike){lag, 0};
    double centre = moment / mass, variance = square / mass - centre * centre;
    return (BbSpike){lag, variance > 0 ? sqrt(variance) : 0};
}

GArray *bb_spikes_find(const double *values, gsize count, const BbSpikeRule *rule)
{
    GArray *spikes = g_array_new(FALSE, FALSE, sizeof(BbSpike));
    if (count == 0)
        return spikes;
    Moments moments = measure(values, count);
    if (moments.deviation <= 0)
        return spikes;
    double spike = moments.mean + rule->spike * moments.deviation;
    double valley = moments.mean + MIN(rule->valley, rule->spike) * moments.deviation;
    double low = valley - 1 / BB_SPIKES_GRID; // no value below it is rounded to the valley's level
    for (gsize i = 0, end; i < count; i = end + 1) {
        i = skip(values, i, count, low);
        while (i < count && on_grid(values[i]) < valley)
            i = skip(values, i + 1, count, low);
        gsize best = i;
        for (end = i; end < count && on_grid(values[end]) >= valley; end++)
            if (on_grid(values[end]) > on_grid(values[best]))
                best = end;
        if (i < end && on_grid(values[best]) >= spike) {
            BbSpike found = describe(values, i, end, best, moments.mean);
            g_array_append_val(spikes, found);
        }
    }
    return spikes;
}
