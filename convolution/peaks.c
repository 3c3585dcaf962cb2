// SPDX-License-Identifier: Apache-2.0
// In: a correlogram. Out: its significant peaks.
#include "convolution/peaks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MIRROR_WIDTH 8 // from here on the mirror is a fair judge: it has enough pairs
#define PAIRS_LEAST 2  // in a window
#define AROUND_LEAST 8 // pairs in the bins around a window that tell what chance is there
#define GROW 0.15      // of the peak's density: as far as a peak reaches

typedef struct {
    const guint32 *counts;
    guint64 *sums, *mirrored; // of the bins before each; mirrored may be NULL
    guint32 bins;
    guint32 end; // of the bins that peaks lie in
    const BbPeakTest *test;
} Search;

static guint64 *sum_up(const guint32 *counts, guint32 bins)
{
    guint64 *sums = g_new(guint64, (gsize)bins + 1);
    sums[0] = 0;
    for (guint32 i = 0; i < bins; i++)
        sums[i + 1] = sums[i] + counts[i];
    return sums;
}

static double between(const guint64 *sums, guint32 low, guint32 high)
{
    return (double)(sums[high] - sums[low]);
}

// Deviations of some pairs above others that fill 1 / share times as many bins:
// the likelihood ratio of two Poisson means, none of which is known (Li and Ma,
// Astrophysical Journal 272, 1983, equation 17).
static double judge(double pairs, double others, double share)
{
    if (pairs <= others * share)
        return 0;
    double all = pairs + others, ratio = pairs * log((1 + share) / share * pairs / all);
    if (others > 0)
        ratio += others * log((1 + share) * others / all);
    return sqrt(2 * MAX(0, ratio));
}

// What a window would hold by chance: its share of the bins on both sides of
// it, so many of them that they tell something; or of the mirror. z: deviations
// of what it holds above that.
static double expect(const Search *search, guint32 low, guint32 high, double *z)
{
    guint32 width = high - low, bins = 0;
    double around = 0, pairs = between(search->sums, low, high);
    for (guint64 ring = 3 * (guint64)width + 2; around < AROUND_LEAST; ring *= 2) {
        guint32 left = low > ring ? low - (guint32)ring : 0;
        guint32 right = (guint32)MIN(search->bins, high + ring);
        around = between(search->sums, left, low) + between(search->sums, high, right);
        bins = low - left + right - high;
        if (bins + width == search->bins)
            break;
    }
    double share = bins ? (double)width / bins : 1, expected = around * share;
    *z = judge(pairs, around, share);
    if (search->mirrored && width >= MIRROR_WIDTH) {
        double mirror = between(search->mirrored, low, high);
        expected = MAX(expected, mirror);
        *z = MIN(*z, judge(pairs, mirror, 1));
    }
    return expected;
}

static gint compare_peaks(gconstpointer left, gconstpointer right)
{
    const BbPeak *a = left, *b = right;
    if (a->z != b->z)
        return a->z > b->z ? -1 : 1;
    return a->low < b->low ? -1 : a->low > b->low;
}

// The window's deviations above what is expected; 0 where it has too few pairs.
static double try_window(const Search *search, guint32 low, guint32 width, double *excess)
{
    double pairs = between(search->sums, low, low + width);
    if (pairs < PAIRS_LEAST)
        return 0;
    double z;
    *excess = pairs - expect(search, low, low + width, &z);
    return z / sqrt(1 + width * search->test->crowd);
}

static GArray *try_windows(const Search *search)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(BbPeak));
    for (guint32 width = 1; width <= MAX(1, search->bins / 8); width *= 2) {
        guint32 step = MAX(1, width / 2);
        for (guint32 low = 0; low + width <= search->end; low += step) {
            BbPeak peak = {low, low + width, 0, 0};
            peak.z = try_window(search, low, width, &peak.excess);
            if (peak.z > search->test->z_least)
                g_array_append_val(found, peak);
        }
    }
    g_array_sort(found, compare_peaks);
    return found;
}

// Bins on both sides that are dense enough belong to the peak.
static void grow(const Search *search, BbPeak *peak, const bool *taken)
{
    double z, base = expect(search, peak->low, peak->high, &z) / (peak->high - peak->low);
    double least = GROW * peak->excess / (peak->high - peak->low);
    while (peak->low > 0 && !taken[peak->low - 1] && search->counts[peak->low - 1] - base > least)
        peak->low--;
    while (peak->high < search->end && !taken[peak->high] &&
           search->counts[peak->high] - base > least)
        peak->high++;
    peak->excess = between(search->sums, peak->low, peak->high) - base * (peak->high - peak->low);
}

static gint compare_lags(gconstpointer left, gconstpointer right)
{
    const BbPeak *a = left, *b = right;
    return a->low < b->low ? -1 : a->low > b->low;
}

// The best windows that do not overlap.
static GArray *choose(const Search *search, const GArray *found)
{
    GArray *peaks = g_array_new(FALSE, FALSE, sizeof(BbPeak));
    g_autofree bool *taken = g_new0(bool, search->bins);
    for (guint i = 0; i < found->len; i++) {
        BbPeak peak = g_array_index(found, BbPeak, i);
        bool vacant = true;
        for (guint32 bin = peak.low; bin < peak.high && vacant; bin++)
            vacant = !taken[bin];
        if (!vacant)
            continue;
        grow(search, &peak, taken);
        for (guint32 bin = peak.low; bin < peak.high; bin++)
            taken[bin] = true;
        if (peak.excess >= search->test->excess_least)
            g_array_append_val(peaks, peak);
    }
    g_array_sort(peaks, compare_lags);
    return peaks;
}

GArray *bb_peaks_find(const guint32 *counts, const guint32 *mirror, guint32 bins,
                      const BbPeakTest *test)
{
    g_autofree guint64 *sums = sum_up(counts, bins);
    g_autofree guint64 *mirrored = mirror ? sum_up(mirror, bins) : NULL;
    Search search = {counts, sums, mirrored, bins, bins - test->beyond, test};
    g_autoptr(GArray) found = try_windows(&search);
    return choose(&search, found);
}

double bb_peaks_best(const guint32 *counts, const guint32 *mirror, guint32 bins,
                     const BbPeakTest *test)
{
    g_autofree guint64 *sums = sum_up(counts, bins);
    g_autofree guint64 *mirrored = mirror ? sum_up(mirror, bins) : NULL;
    Search search = {counts, sums, mirrored, bins, bins - test->beyond, test};
    double best = 0, excess;
    for (guint32 width = 1; width <= MAX(1, bins / 8); width *= 2)
        for (guint32 low = 0; low + width <= search.end; low += MAX(1, width / 2))
            best = MAX(best, try_window(&search, low, width, &excess));
    return best;
}

double bb_peaks_tried(guint32 bins)
{
    double tried = 0;
    for (guint32 width = 1; width <= MAX(1, bins / 8); width *= 2)
        tried += floor((double)(bins - width) / MAX(1, width / 2)) + 1;
    return tried;
}

double bb_peaks_rate(double deviations)
{
    return 0.5 * erfc(deviations / G_SQRT2);
}

double bb_peaks_deviations(double rate)
{
    double low = 0, high = 38;
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        if (bb_peaks_rate(z) > rate)
            low = z;
        else
            high = z;
    }
    return high;
}
