// SPDX-License-Identifier: Apache-2.0
// In: a correlogram, and what is explained of it. Out: a link's kernel and its delays.
#include "convolution/link.h"

#include "convolution/load.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SHARP_LEAST 0.02      // of a peak's mean density: what a bin of it has at least
#define TRIM 1e-3             // of the kernel's peak: what is less does not count
#define TRIMS_MAX 160u        // steps of a factor of 2: from the least float to any
#define CANDIDATES_MAX 1000.0 // of a message, on average: what costs more is trimmed more
#define BETWEEN_LEAST 1.0     // candidates of a message between two spans that are walked apart
#define CLOSE 4               // parts of the longest lag over which messages crowd
#define CORE 0.15             // of a core's highest bin: as far as the core reaches
#define CORE_WIDENING 0.02    // of the lag: smoothing before cores are looked for
#define CORES_MAX 8           // delays of a link
#define CORE_LEAST 0.03       // of the link's mass: a delay of its own
#define RISE 2                // times the lowest bin so far: where the slope of a core ends

// ---- smoothing ---------------------------------------------------------------------------------

// Mean over a box around each bin, wider for longer lags: there is as much to see of a delay of 1 s
// in 100 ms as of one of 10 ms in 1 ms. widening: half the width, as a share of the lag.
static void smooth(const BbLagGrid *grid, const double *values, double widening, double *out)
{
    g_autofree double *sums = g_new(double, (gsize)grid->bins + 1);
    sums[0] = 0;
    for (guint32 i = 0; i < grid->bins; i++)
        sums[i + 1] = sums[i] + values[i];
    for (guint32 i = 0; i < grid->bins; i++) {
        guint32 half = (guint32)(1 + widening * fabs((double)i - grid->before));
        guint32 low = i > half ? i - half : 0, high = MIN(grid->bins, i + half + 1);
        out[i] = (sums[high] - sums[low]) / (high - low);
    }
}

// The sum of the values before an end between two bins, by sums[] before each.
static double sum_before(const double *sums, guint32 bins, double end)
{
    guint32 whole = MIN((guint32)end, bins - 1);
    return sums[whole] + (end - whole) * (sums[whole + 1] - sums[whole]);
}

// The same without moving what is smoothed. A value counts in more boxes above it than below, as
// boxes grow; each round of learning would move the mean by the growth of a box's variance, were
// boxes not as much further out. Their ends lie between bins: boxes that grow by whole bins do so
// in steps, and what is near one is moved.
static void smooth_in_place(const BbLagGrid *grid, const double *values, double widening,
                            double *out)
{
    g_autofree double *sums = g_new(double, (gsize)grid->bins + 1);
    sums[0] = 0;
    for (guint32 i = 0; i < grid->bins; i++)
        sums[i + 1] = sums[i] + values[i];
    for (guint32 i = 0; i < grid->bins; i++) {
        double lag = i + 0.5 - grid->before, half = 1.5 + widening * fabs(lag);
        double centre = i + 0.5 + copysign(2.0 / 3 * widening * half, lag);
        double low = MAX(0, centre - half), high = MIN(grid->bins, centre + half);
        out[i] =
            (sum_before(sums, grid->bins, high) - sum_before(sums, grid->bins, low)) / (high - low);
    }
}

// Bins of the kernel above some density, in all.
static guint32 count_bins(const BbLink *link, const BbLagGrid *grid, float least)
{
    guint32 bins = 0;
    for (guint32 i = 0; i < grid->bins; i++)
        bins += link->kernel[i] > least;
    return bins;
}

// What the kernel must be above to count: a small part of the peak; the first of steps above it
// that is enough where a message would have too many candidates, or the last that leaves any.
static float least_density(const BbLink *link, const BbLagGrid *grid)
{
    float peak = 0, steps[TRIMS_MAX + 1];
    for (guint32 i = 0; i < grid->bins; i++)
        peak = MAX(peak, link->kernel[i]);
    steps[0] = peak * (float)TRIM;
    if (count_bins(link, grid, steps[0]) * link->rate <= CANDIDATES_MAX)
        return steps[0];
    for (guint i = 0; i < TRIMS_MAX; i++)
        steps[i + 1] = steps[i] > 0 ? MIN(2 * steps[i], (steps[i] + peak) / 2) : FLT_MIN;
    guint low = 0, high = TRIMS_MAX;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (count_bins(link, grid, steps[middle]) * link->rate <= CANDIDATES_MAX ||
            count_bins(link, grid, steps[middle + 1]) == 0)
            high = middle;
        else
            low = middle + 1;
    }
    return steps[low];
}

// Spans so close that a walk over each costs more than the pairs between them are one.
static void add_span(BbLink *link, BbSpan span)
{
    BbSpan *last =
        link->spans->len > 0 ? &g_array_index(link->spans, BbSpan, link->spans->len - 1) : NULL;
    if (last && (span.low - last->high) * link->rate < BETWEEN_LEAST)
        last->high = span.high;
    else
        g_array_append_val(link->spans, span);
}

static void find_spans(BbLink *link, const BbLagGrid *grid)
{
    for (guint32 i = grid->bins - grid->beyond; i < grid->bins; i++)
        link->kernel[i] = 0;
    float least = least_density(link, grid);
    g_array_set_size(link->spans, 0);
    for (guint32 i = 0; i < grid->bins;) {
        if (!(link->kernel[i] > least)) {
            link->kernel[i++] = 0;
            continue;
        }
        BbSpan span = {.low = i};
        while (i < grid->bins && link->kernel[i] > least)
            i++;
        span.high = i;
        add_span(link, span);
    }
}

void bb_link_learn(BbLink *link, const BbLagGrid *grid, const double *explained, guint32 n,
                   double widening)
{
    g_autofree double *smoothed = g_new(double, grid->bins);
    if (widening == BB_LINK_WIDE)
        smooth(grid, explained, widening, smoothed);
    else
        smooth_in_place(grid, explained, widening, smoothed);
    for (guint32 i = 0; i < grid->bins; i++)
        link->kernel[i] = (float)(smoothed[i] / n);
    find_spans(link, grid);
}

void bb_link_sharpen(BbLink *link, const BbLagGrid *grid)
{
    memcpy(link->kernel, link->sharp, grid->bins * sizeof *link->kernel);
    find_spans(link, grid);
}

// ---- finding -----------------------------------------------------------------------------------

// Parts of a correlogram.
enum { FAR, AROUND, WITHIN };

// Marks the peaks with their tails (WITHIN), and the bins further out that tell what chance is
// there (AROUND).
static guint8 *mark_parts(const BbLink *link, const BbLagGrid *grid)
{
    guint8 *part = g_new0(guint8, grid->bins);
    for (guint i = 0; i < link->peaks->len; i++) {
        const BbPeak *peak = &g_array_index(link->peaks, BbPeak, i);
        guint64 width = peak->high - peak->low;
        for (guint64 bin = peak->low - MIN(peak->low, 4 * width);
             bin < MIN(grid->bins, peak->high + 4 * width); bin++)
            if (bin + width >= peak->low && bin < peak->high + width)
                part[bin] = WITHIN;
            else
                part[bin] = MAX(part[bin], AROUND);
    }
    return part;
}

// What chance brings to bins [low, high): a line between the means of the bins on both sides.
typedef struct {
    double first, slope; // of the first bin, and how it changes from one to the next
} Chance;

// Bins before a span and after it that tell: what they hold, and how many they are.
typedef struct {
    double sum[2], n[2];
} Sides;

// The line only falls: where messages come in bursts chance falls with the lag, but what rises is
// the tail of a delay.
static Chance line_between(const Sides *sides, BbSpan span)
{
    const double *sum = sides->sum, *n = sides->n;
    if (n[0] == 0 || n[1] == 0)
        return (Chance){n[0] + n[1] > 0 ? (sum[0] + sum[1]) / (n[0] + n[1]) : 0, 0};
    double before = sum[0] / n[0], after = MIN(before, sum[1] / n[1]);
    double slope = (after - before) / (span.high - span.low + (n[0] + n[1]) / 2);
    return (Chance){before + slope * (n[0] / 2 + 0.5), slope};
}

// By as many bins on each side as the span has.
static Chance chance_beside(const double *values, BbSpan span, guint32 bins)
{
    guint32 reach = span.high - span.low;
    Sides sides = {0};
    for (guint32 i = span.low - MIN(span.low, reach); i < span.low; i++, sides.n[0]++)
        sides.sum[0] += values[i];
    for (guint32 i = span.high; i < MIN(bins, span.high + reach); i++, sides.n[1]++)
        sides.sum[1] += values[i];
    return line_between(&sides, span);
}

// The next bins of a part, after span; false at the end.
static bool next_span(const guint8 *part, guint32 bins, BbSpan *span)
{
    for (span->low = span->high; span->low < bins && part[span->low] != WITHIN;)
        span->low++;
    for (span->high = span->low; span->high < bins && part[span->high] == WITHIN;)
        span->high++;
    return span->low < bins;
}

// Adds the bins of [low, high) that are around peaks to a side.
static void add_side(const double *pairs, const guint8 *part, BbSpan bins, double *sum, double *n)
{
    for (guint32 bin = bins.low; bin < bins.high; bin++)
        if (part[bin] == AROUND) {
            *sum += pairs[bin];
            ++*n;
        }
}

// What chance brings to each bin within peaks: by all bins around them, and where there are none
// before the first one, by lags below 0 (the mirror; NULL where there is none). A message has one
// cause: where there are more pairs above that than the n messages out, chance brings so much more
// to all.
static double *expect_chance(const BbLagGrid *grid, const double *pairs, const guint8 *part,
                             const guint32 *mirror, guint32 n)
{
    double *chance = g_new0(double, grid->bins), excess = 0, within = 0;
    Sides all = {0}, sides = {0};
    add_side(pairs, part, (BbSpan){0, grid->bins}, &all.sum[0], &all.n[0]);
    guint32 before = 0;
    for (BbSpan span = {0}; next_span(part, grid->bins, &span); before = span.high) {
        add_side(pairs, part, (BbSpan){before, span.low}, &sides.sum[0], &sides.n[0]);
        sides.sum[1] = all.sum[0] - sides.sum[0];
        sides.n[1] = all.n[0] - sides.n[0];
        Sides told = sides;
        for (guint32 i = 0; sides.n[0] == 0 && mirror && i < span.high; i++)
            told.sum[0] += (double)mirror[i] / span.high;
        if (sides.n[0] == 0 && mirror)
            told.n[0] = 1;
        Chance line = line_between(&told, span);
        for (guint32 bin = span.low; bin < span.high; bin++) {
            chance[bin] = line.first + line.slope * (bin - span.low);
            excess += pairs[bin] - chance[bin];
            within++;
        }
    }
    for (guint32 bin = 0; bin < grid->bins && excess > n; bin++)
        if (part[bin] == WITHIN)
            chance[bin] += (excess - n) / within;
    return chance;
}

// A correlogram counts by the quanta of both messages: pairs of bin i have lags of i - 1 to i + 1
// quanta. As many in bins of lags from i to i + 1.
static double *bins_of_lags(const double *pairs, guint32 bins)
{
    double *lags = g_new(double, bins);
    for (guint32 i = 0; i < bins; i++)
        lags[i] = i + 1 < bins ? (pairs[i] + pairs[i + 1]) / 2 : pairs[i];
    return lags;
}

// How many pairs are there for a reason, above those that chance brings; and the kernel of these
// alone.
static void measure_peaks(BbLink *link, const BbLagGrid *grid, const guint32 *counts,
                          const guint32 *mirror, const BbStream *in, const BbStream *out,
                          double crowd)
{
    g_autofree guint8 *part = mark_parts(link, grid);
    g_autofree double *raw = g_new(double, grid->bins), *smoothed = g_new(double, grid->bins);
    for (guint32 bin = 0; bin < grid->bins; bin++)
        raw[bin] = counts[bin];
    g_autofree double *lags = bins_of_lags(raw, grid->bins);
    smooth_in_place(grid, lags, BB_LINK_SHARP, smoothed);
    g_autofree double *chance = expect_chance(grid, raw, part, mirror, out->count);
    double within = 0;
    for (guint32 bin = 0; bin < grid->bins; bin++)
        if (part[bin] == WITHIN) {
            link->pairs += raw[bin];
            link->excess += raw[bin] - chance[bin];
            within++;
        }
    link->excess = MAX(0, link->excess);
    link->noise = sqrt(link->pairs * (1 + crowd * within));
    double least = SHARP_LEAST * link->excess / MAX(1, within);
    for (guint32 bin = 0; bin < grid->bins; bin++)
        if (part[bin] == WITHIN)
            link->sharp[bin] = (float)(MAX(smoothed[bin] - chance[bin], least) / in->count);
}

// All pairs that neither the load nor the mirror explains, at whatever lag.
static void first_kernel(BbLink *link, const BbLagGrid *grid, const guint32 *counts,
                         const guint32 *mirror, double chance, guint32 n)
{
    g_autofree double *raw = g_new(double, grid->bins), *pairs = g_new(double, grid->bins);
    g_autofree double *mirrored = g_new0(double, grid->bins);
    for (guint32 i = 0; i < grid->bins; i++)
        raw[i] = counts[i];
    smooth(grid, raw, BB_LINK_WIDE, pairs);
    if (mirror) {
        for (guint32 i = 0; i < grid->bins; i++)
            raw[i] = mirror[i];
        smooth(grid, raw, BB_LINK_WIDE, mirrored);
    }
    for (guint32 i = 0; i < grid->bins; i++)
        link->kernel[i] = (float)(MAX(0, pairs[i] - MAX(chance, mirrored[i])) / n);
    find_spans(link, grid);
}

static BbPeakTest make_test(const BbLagGrid *grid, const BbStream *in, const BbStream *out,
                            const BbLinkOptions *options)
{
    double quantum_ns = (double)grid->quantum_ns;
    BbTrafficLoad load =
        bb_load_measure(in, out, options->start_ns, grid->bins * quantum_ns / CLOSE);
    return (BbPeakTest){0, options->messages_least, load.crowd * quantum_ns, grid->beyond};
}

// Windows in which a peak could have been found: not more than pairs to begin one at, each of so
// many widths.
static double count_tries(const guint32 *counts, const BbLagGrid *grid)
{
    guint32 bins = grid->bins - grid->beyond; // no peak is looked for further on
    double pairs = 0;
    for (guint32 i = 0; i < bins; i++)
        pairs += counts[i];
    return MAX(1, MIN(bb_peaks_tried(bins), pairs * (1 + log2(MAX(8, bins) / 8.0))));
}

double bb_link_chance(const BbLagGrid *grid, const BbStream *in, const BbStream *out,
                      const guint32 *counts, const guint32 *mirror, const BbLinkOptions *options)
{
    BbPeakTest test = make_test(grid, in, out, options);
    double best = bb_peaks_best(counts, mirror, grid->bins, &test);
    return MIN(1, count_tries(counts, grid) * bb_peaks_rate(best));
}

BbLink *bb_link_find(const BbLagGrid *grid, const BbStream *in, const BbStream *out,
                     const guint32 *counts, const guint32 *mirror, const BbLinkOptions *options)
{
    BbPeakTest test = make_test(grid, in, out, options);
    test.z_least = bb_peaks_deviations(options->chance / count_tries(counts, grid));
    g_autoptr(GArray) peaks = bb_peaks_find(counts, mirror, grid->bins, &test);
    if (peaks->len == 0)
        return NULL;
    double longest_ns = (double)grid->bins * (double)grid->quantum_ns;
    double trace_ns = (double)options->end_ns - (double)options->start_ns;
    BbTrafficLoad load =
        bb_load_measure(in, out, options->start_ns, bb_load_calm_ns(longest_ns, trace_ns));
    BbLink *link = g_new0(BbLink, 1);
    link->peaks = g_steal_pointer(&peaks);
    link->spans = g_array_new(FALSE, FALSE, sizeof(BbSpan));
    link->cores = g_array_new(FALSE, FALSE, sizeof(BbCore));
    link->kernel = g_new0(float, (gsize)grid->bins + 1);
    link->sharp = g_new0(float, (gsize)grid->bins + 1);
    link->left = g_new(float, in->count);
    link->effects = g_new0(float, in->count);
    for (guint32 m = 0; m < in->count; m++)
        link->left[m] = 1;
    link->cap = 1;
    link->rate = in->count * (double)grid->quantum_ns / MAX(1, trace_ns);
    measure_peaks(link, grid, counts, mirror, in, out, test.crowd);
    link->mass = link->excess;
    first_kernel(link, grid, counts, mirror, load.pairs * (double)grid->quantum_ns, in->count);
    return link;
}

void bb_link_settle(BbLink *link)
{
    g_clear_pointer(&link->kernel, g_free);
    g_clear_pointer(&link->sharp, g_free);
    g_clear_pointer(&link->left, g_free);
}

void bb_link_free(BbLink *link)
{
    if (!link)
        return;
    g_array_unref(link->peaks);
    g_array_unref(link->spans);
    g_array_unref(link->cores);
    g_free(link->kernel);
    g_free(link->sharp);
    g_free(link->left);
    g_free(link->effects);
    g_free(link);
}

// ---- delays ------------------------------------------------------------------------------------

// The highest bin that belongs to no core yet; bins if there is none.
static guint32 highest(const double *heights, const bool *taken, guint32 bins)
{
    guint32 best = bins;
    for (guint32 i = 0; i < bins; i++)
        if (!taken[i] && heights[i] > 0 && (best == bins || heights[i] > heights[best]))
            best = i;
    return best;
}

// The slopes of a core belong to it, down to where another one begins to rise.
static void take_slopes(BbSpan core, const double *heights, bool *taken, guint32 bins)
{
    for (guint32 i = core.low; i < core.high; i++)
        taken[i] = true;
    double least = heights[core.high - 1];
    for (guint32 i = core.high; i < bins && heights[i] <= RISE * least; i++) {
        least = MIN(least, heights[i]);
        taken[i] = true;
    }
    least = heights[core.low];
    for (guint32 i = core.low; i > 0 && heights[i - 1] <= RISE * least; i--) {
        least = MIN(least, heights[i - 1]);
        taken[i - 1] = true;
    }
}

static BbMode measure_core(BbSpan span, const double *masses, const double *lags,
                           const double *squares, const BbLagGrid *grid, double *mass)
{
    Chance line = chance_beside(masses, span, grid->bins);
    double quantum = (double)grid->quantum_ns;
    double sum = 0, square = 0;
    *mass = 0;
    for (guint32 i = span.low; i < span.high; i++) {
        double lag = (i + 0.5 - grid->before) * quantum;
        double chance = line.first + line.slope * (i - span.low);
        *mass += masses[i] - chance;
        sum += lags[i] - chance * lag;
        square += squares[i] - chance * lag * lag;
    }
    if (*mass <= 0)
        return (BbMode){0};
    // What is little above chance may have its centre and its width anywhere.
    double first = ((double)span.low - grid->before) * quantum;
    double width = (span.high - span.low) * quantum;
    double mean = CLAMP(sum / *mass, first, first + width);
    double variance = CLAMP(square / *mass - mean * mean, 0, width * width);
    return (BbMode){(gint64)llround(mean), (gint64)llround(sqrt(variance))};
}

void bb_link_find_cores(BbLink *link, const BbLagGrid *grid, const double *masses,
                        const double *lags, const double *squares)
{
    g_autofree double *heights = g_new(double, grid->bins);
    g_autofree bool *taken = g_new0(bool, grid->bins);
    double all = 0;
    smooth(grid, masses, CORE_WIDENING, heights);
    for (guint32 i = 0; i < grid->bins; i++)
        all += masses[i];
    while (link->cores->len < CORES_MAX) {
        guint32 top = highest(heights, taken, grid->bins);
        if (top == grid->bins)
            return;
        BbCore core = {.span = {top, top + 1}};
        double least = CORE * heights[top], mass;
        while (core.span.low > 0 && !taken[core.span.low - 1] && heights[core.span.low - 1] > least)
            core.span.low--;
        while (core.span.high < grid->bins && !taken[core.span.high] &&
               heights[core.span.high] > least)
            core.span.high++;
        take_slopes(core.span, heights, taken, grid->bins);
        core.mode = measure_core(core.span, masses, lags, squares, grid, &mass);
        if (mass < CORE_LEAST * all && link->cores->len > 0)
            return;
        if (mass > 0)
            g_array_append_val(link->cores, core);
    }
}

guint bb_link_core_of(const BbLink *link, guint32 bin)
{
    guint best = 0;
    guint32 best_distance = G_MAXUINT32;
    for (guint i = 0; i < link->cores->len; i++) {
        BbSpan span = g_array_index(link->cores, BbCore, i).span;
        guint32 distance = bin < span.low     ? span.low - bin
                           : bin >= span.high ? bin - span.high + 1
                                              : 0;
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}
