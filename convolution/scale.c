// SPDX-License-Identifier: Apache-2.0
// In: streams. Out: a quantum and a longest delay that suit what they have in common.
#include "convolution/scale.h"

#include "convolution/load.h"
#include "data/divisor.h"

#include <math.h>
#include <stdlib.h>

#define LAG_LEAST_NS 1000.0 // 1 us: what clocks of captures tell apart
#define GROWTH 1.12         // from one bin to the next
#define GROWTH_MOST 4.0     // where nothing shows at smaller ones
#define BINS_MAX 300u
#define PAIRS_MAX 400u // of streams: the busiest
#define STEPS 2e8      // over all pairs: what a sample may cost
#define SAMPLE_LEAST 1000.0
#define SAMPLE_MOST 40000.0
#define SECTIONS 64u // parts of the trace in a sample: so that load that comes and goes evens out
#define RING 4u      // bins on each side of one that tell what chance is there
#define GAP 2u       // bins between them and it
#define DEVIATIONS 5.0
#define EFFECTS 0.95      // of all effects: so many must come within the longest delay
#define EXCESS_LEAST 5.0  // pairs
#define PARTS 5           // quanta in the width of a delay
#define REACH 4           // longest delays in the longest lag
#define FEW 16            // quanta in the longest lag, at least
#define BINS_OF_GRID 4096 // and at most

typedef struct {
    const BbStream *in, *out;
    gint64 step_ns; // that all lags are multiples of
    double end;     // where its effects end, in ns; 0: none show
    bool peaked;    // some bin stands out from those around it
} Pair;

typedef struct {
    double longest, growth;     // of lags, in ns; of a bin to the one before
    gint64 edges[BINS_MAX + 1]; // of lags, in ns, of the pair at hand
    guint32 bins;
    guint32 sample;  // messages of a stream out
    double shortest; // deviation of the narrowest delay; 0: none was found
} Search;

// ---- pairs -------------------------------------------------------------------------------------

static double size_of(const Pair *pair)
{
    return MIN(pair->in->count, pair->out->count);
}

static gint compare_pairs(gconstpointer left, gconstpointer right)
{
    const Pair *a = left, *b = right;
    double size_a = size_of(a), size_b = size_of(b);
    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    if (a->out != b->out)
        return a->out < b->out ? -1 : 1;
    return a->in < b->in ? -1 : a->in > b->in;
}

// What all times of a stream are apart is a multiple of it; 0 where they are equal.
static guint64 step_of(const BbStream *stream)
{
    guint64 step = 0;
    for (guint32 i = 1; i < stream->count && step != 1; i++)
        step = bb_common_divisor((guint64)(stream->ns[i] - stream->ns[i - 1]), step);
    return step;
}

// Sets the step of each pair: that of its clocks, where they are coarser than 1 ns. (Messages whose
// times have nothing in common have one of 1 ns after a few of them.)
static void find_steps(const BbStreams *streams, GArray *pairs)
{
    g_autofree guint64 *in = g_new(guint64, MAX(1, streams->n_in));
    g_autofree guint64 *out = g_new(guint64, MAX(1, streams->n_out));
    for (guint32 i = 0; i < streams->n_in; i++)
        in[i] = step_of(&streams->in[i]);
    for (guint32 i = 0; i < streams->n_out; i++)
        out[i] = step_of(&streams->out[i]);
    for (guint i = 0; i < pairs->len; i++) {
        Pair *pair = &g_array_index(pairs, Pair, i);
        guint64 step = bb_common_divisor(in[pair->in - streams->in], out[pair->out - streams->out]);
        step = bb_common_divisor((guint64)ABS(pair->in->ns[0] - pair->out->ns[0]), step);
        pair->step_ns = (gint64)MAX(1, step);
    }
}

static GArray *busiest_pairs(const BbStreams *streams)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
    for (guint32 f = 0; f < streams->n_out; f++) {
        guint32 in, n_in = bb_streams_into(streams, streams->out[f].node, &in);
        for (guint32 e = in; e < in + n_in; e++) {
            Pair pair = {&streams->in[e], &streams->out[f], 1, 0, false};
            if (size_of(&pair) >= EXCESS_LEAST)
                g_array_append_val(pairs, pair);
        }
    }
    g_array_sort(pairs, compare_pairs);
    g_array_set_size(pairs, MIN(pairs->len, PAIRS_MAX));
    find_steps(streams, pairs);
    return pairs;
}

// ---- lags --------------------------------------------------------------------------------------

// Bins of lags that are multiples of a step have their edges half way between two of them: else
// some would have more of them than others of their width. Those of equal stamps are in none, since
// nothing tells which one was first.
static void set_edges(Search *search, gint64 step_ns)
{
    search->bins = 0;
    search->edges[0] = step_ns / 2; // 0 of a step of 1 ns
    for (double edge = MAX(LAG_LEAST_NS, (double)step_ns);
         edge < search->longest && search->bins < BINS_MAX; edge *= search->growth) {
        gint64 next = (gint64)edge / step_ns * step_ns + step_ns / 2;
        if (next > search->edges[search->bins])
            search->edges[++search->bins] = next;
    }
}

// The first message of a stream, from one on, that is later than some time: steps that double, then
// halves, as the other stream may have few messages.
static guint32 find_after(const BbStream *stream, guint32 from, gint64 ns)
{
    gsize at = from, step = 1;
    while (at + step <= stream->count && stream->ns[at + step - 1] <= ns) {
        at += step;
        step *= 2;
    }
    gsize end = MIN(at + step - 1, stream->count);
    while (at < end) {
        gsize middle = at + (end - at) / 2;
        if (stream->ns[middle] <= ns)
            at = middle + 1;
        else
            end = middle;
    }
    return (guint32)at;
}

// Counts the pairs of messages out [first, end) by lag, both ways: after[] where the message out is
// the later one, before[] where it is the earlier. Every message looks at all bins, so that the
// cost does not depend on how many pairs a bin has.
static void count_section(const Search *search, const Pair *pair, guint32 first, guint32 end,
                          double *after, double *before)
{
    const BbStream *in = pair->in, *out = pair->out;
    guint32 behind[BINS_MAX + 1] = {0}, ahead[BINS_MAX + 1] = {0}, n = search->bins;
    for (guint32 i = first; i < end; i++) {
        gint64 now = out->ns[i];
        for (guint32 k = 0; k <= n; k++) {
            behind[k] = find_after(in, behind[k], now - search->edges[k]);
            ahead[k] = find_after(in, ahead[k], now + search->edges[k]);
        }
        for (guint32 k = 0; k < n; k++) {
            after[k] += behind[k] - behind[k + 1];
            before[k] += ahead[k + 1] - ahead[k];
        }
    }
}

// The same of a sample of the messages out.
static void count_lags(const Search *search, const Pair *pair, double *after, double *before)
{
    guint32 count = pair->out->count;
    if (count <= search->sample) {
        count_section(search, pair, 0, count, after, before);
        return;
    }
    guint32 length = search->sample / SECTIONS;
    for (guint32 i = 0; i < SECTIONS; i++) {
        guint32 first = (guint32)((guint64)(count - length) * (2 * i + 1) / (2 * SECTIONS));
        count_section(search, pair, first, first + length, after, before);
    }
}

// Pairs that chance brings to a bin: as dense as in the bins around it, or as the other way round.
static double expect(const Search *search, const double *after, const double *before, guint32 bin)
{
    double pairs = 0, width = 0, own = (double)(search->edges[bin + 1] - search->edges[bin]);
    for (guint32 k = bin > RING + GAP ? bin - RING - GAP : 0;
         k <= MIN(search->bins - 1, bin + RING + GAP); k++)
        if (k + GAP < bin || k > bin + GAP) {
            pairs += after[k];
            width += (double)(search->edges[k + 1] - search->edges[k]);
        }
    double around = width > 0 ? pairs / width * own : 0;
    return MAX(MAX(around, before[bin]), 0.05);
}

static bool stands_out(const Search *search, const double *after, const double *before, guint32 bin,
                       double crowd)
{
    double expected = expect(search, after, before, bin);
    double width = (double)(search->edges[bin + 1] - search->edges[bin]);
    if (after[bin] < expected + EXCESS_LEAST)
        return false;
    double z = sqrt(2 * (after[bin] * log(after[bin] / expected) - (after[bin] - expected)));
    return z > DEVIATIONS * sqrt(2 * (1 + crowd * width));
}

// How far the effects of a pair reach: to where most of what comes after messages in, and not
// before them as often, has come. 0 where that is nothing.
static guint32 end_of_effects(const Search *search, const double *after, const double *before,
                              double crowd)
{
    double excess = 0, pairs = 0, most = 0;
    g_autofree double *sums = g_new(double, search->bins);
    for (guint32 k = 0; k < search->bins; k++) {
        excess += after[k] - before[k];
        pairs += after[k] + before[k];
        sums[k] = excess;
        double noise = sqrt(pairs * (1 + crowd * (double)search->edges[k + 1]));
        if (excess > DEVIATIONS * noise)
            most = MAX(most, excess);
    }
    for (guint32 k = 0; k < search->bins && most > 0; k++)
        if (sums[k] >= EFFECTS * most)
            return k + 1;
    return 0;
}

// The first delay of a pair: others are more likely derived. A delay that spreads over as many bins
// as tell what chance is there stands out from none, but reaches as far as there are more effects
// after than before.
static void look_at(Search *search, Pair *pair, gint64 start_ns)
{
    double after[BINS_MAX] = {0}, before[BINS_MAX] = {0};
    set_edges(search, pair->step_ns);
    if (search->bins < 2)
        return;
    count_lags(search, pair, after, before);
    BbTrafficLoad load =
        bb_load_measure(pair->in, pair->out, start_ns, (double)search->edges[search->bins] / 8);
    guint32 first = 0, end;
    while (first < search->bins && !stands_out(search, after, before, first, load.crowd))
        first++;
    pair->peaked = first < search->bins;
    end = end_of_effects(search, after, before, load.crowd);
    pair->end = end > 0 ? (double)search->edges[end] : 0;
    if (!pair->peaked)
        return;
    double mass = 0, moment = 0, square = 0;
    for (end = first; end < search->bins && stands_out(search, after, before, end, load.crowd);
         end++) {
        double excess = after[end] - expect(search, after, before, end);
        double middle = (double)(search->edges[end] + search->edges[end + 1]) / 2;
        mass += excess;
        moment += excess * middle;
        square += excess * middle * middle;
    }
    double width = (double)(search->edges[end] - search->edges[first]), mean = moment / mass;
    double deviation = sqrt(MAX(square / mass - mean * mean, width * width / 12));
    search->shortest = search->shortest > 0 ? MIN(search->shortest, deviation) : deviation;
    pair->end = MAX(pair->end, (double)search->edges[end]);
}

static bool has_peak(const GArray *pairs, const BbStream *out)
{
    for (guint i = 0; i < pairs->len; i++) {
        const Pair *pair = &g_array_index(pairs, Pair, i);
        if (pair->out == out && pair->peaked)
            return true;
    }
    return false;
}

// A message has one cause: where one delay stands out, what else comes before a stream is derived.
static GArray *list_ends(const GArray *pairs)
{
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < pairs->len; i++) {
        const Pair *pair = &g_array_index(pairs, Pair, i);
        if (pair->end > 0 && (pair->peaked || !has_peak(pairs, pair->out)))
            g_array_append_val(ends, pair->end);
    }
    return ends;
}

static gint compare_doubles(gconstpointer left, gconstpointer right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

// The longest step that pairs with half of the messages have, or longer ones: those of messages
// that come at regular times may be far longer than that of the clock.
static gint64 usual_step(const GArray *pairs, double longest)
{
    gint64 usual = 1;
    for (guint i = 0; i < pairs->len; i++) {
        gint64 step = g_array_index(pairs, Pair, i).step_ns;
        double with = 0, without = 0;
        for (guint k = 0; k < pairs->len; k++) {
            const Pair *pair = &g_array_index(pairs, Pair, k);
            *(pair->step_ns >= step ? &with : &without) += size_of(pair);
        }
        if (with >= without && (double)step < longest)
            usual = MAX(usual, step);
    }
    return usual;
}

static gint64 round_up(double ns, gint64 step_ns)
{
    return (gint64)ceil(ns / (double)step_ns) * step_ns;
}

// With lags in bins that grow by `growth` from one to the next.
static BbScale guess(const BbStreams *streams, gint64 start_ns, gint64 end_ns, double growth)
{
    Search search = {.longest = ((double)end_ns - (double)start_ns) / 4, .growth = growth};
    set_edges(&search, 1);
    if (search.bins < 2)
        return (BbScale){0};
    g_autoptr(GArray) pairs = busiest_pairs(streams);
    search.sample =
        (guint32)CLAMP(STEPS / (4.0 * search.bins * MAX(1, pairs->len)), SAMPLE_LEAST, SAMPLE_MOST);
    for (guint i = 0; i < pairs->len; i++)
        look_at(&search, &g_array_index(pairs, Pair, i), start_ns);
    if (search.shortest <= 0)
        return (BbScale){0};
    g_autoptr(GArray) ends = list_ends(pairs);
    g_array_sort(ends, compare_doubles);
    double end = g_array_index(ends, double, ends->len - 1 - ends->len / 20);
    double max_delay = REACH * end;
    double quantum = CLAMP(search.shortest / PARTS, max_delay / BINS_OF_GRID, max_delay / FEW);
    gint64 step = usual_step(pairs, search.longest), quantum_ns = round_up(quantum, step);
    max_delay = MAX(max_delay, MIN(FEW * (double)quantum_ns, REACH * search.longest));
    return (BbScale){quantum_ns, (gint64)ceil(max_delay), step};
}

// Where little is to be seen, wider bins show more.
BbScale bb_scale_guess(const BbStreams *streams, gint64 start_ns, gint64 end_ns)
{
    BbScale scale = {0};
    for (double growth = GROWTH; scale.quantum_ns == 0 && growth < GROWTH_MOST;
         growth = 1 + 3 * (growth - 1))
        scale = guess(streams, start_ns, end_ns, growth);
    return scale;
}

BbScale bb_scale_widest(const BbScale *scales, guint n)
{
    BbScale widest = {0};
    for (guint i = 0; i < n; i++) {
        gint64 quantum_ns = scales[i].quantum_ns;
        widest.quantum_ns = i == 0 ? quantum_ns : MIN(widest.quantum_ns, quantum_ns);
        widest.max_delay_ns = MAX(widest.max_delay_ns, scales[i].max_delay_ns);
        widest.step_ns = MAX(widest.step_ns, scales[i].step_ns);
    }
    gint64 quantum_ns = MAX(widest.quantum_ns, widest.max_delay_ns / BINS_OF_GRID);
    widest.quantum_ns = round_up((double)quantum_ns, MAX(1, widest.step_ns));
    return widest;
}
