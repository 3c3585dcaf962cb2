// SPDX-License-Identifier: Apache-2.0
// In: the messages that a node sends on one edge, and the links they may have. Out: what may have
// caused each.
#include "convolution/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 12
#define SHARPENING 5         // more of them, to tell the delays
#define SETTLED 8            // iterations after which derived links are told from others
#define SPONTANEOUS_MOST 0.9 // at the beginning
#define SPONTANEOUS_FLOOR 0.005
#define CHANCE_LEAST 0.01 // of a cause that is listed
#define SPARE 0.1        // of an effect a message: how much more than its cap is no reason for more
#define STEADY_BLOCKS 10 // longest lags over which background is averaged, at least
#define STEADY_PARTS 50  // or so many parts of the trace
#define MASS_LEAST 0.01  // of the smaller stream's messages: a link with less is none

typedef struct {
    const BbStreams *streams;
    const BbStream *out;
    const BbLinkOptions *options;
    BbExplanation *result;
    double *rate;      // by message out: effects a bin of all causes and of none
    float *background; // by message out: of none, were all spontaneous
    double *explained; // by bin, of one link
    double *use;       // by message in, of one link
    double widening;   // of kernels that are learned
} Work;

// ---- expectation -------------------------------------------------------------------------------

// How many messages of the stream a quantum holds around each.
static void measure_background(Work *work)
{
    const BbStream *out = work->out;
    const BbLagGrid *grid = &work->result->grid;
    double quantum = (double)grid->quantum_ns;
    double start = (double)work->options->start_ns, end = (double)work->options->end_ns;
    double window = MAX(STEADY_BLOCKS * quantum * grid->bins, (end - start) / STEADY_PARTS);
    guint32 first = 0, last = 0;
    for (guint32 n = 0; n < out->count; n++) {
        double now = (double)out->ns[n];
        while (now - (double)out->ns[first] > window)
            first++;
        while (last < out->count && (double)out->ns[last] - now <= window)
            last++;
        double length = MIN(now + window, end) - MAX(now - window, start);
        work->background[n] = (float)((last - first) / MAX(length, quantum) * quantum);
    }
}

static void add_rates(const Work *work, const BbLink *link, double *rate)
{
    const BbLagGrid *grid = &work->result->grid;
    const BbStream *out = work->out;
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        BbSweep sweep = bb_sweep_start(grid, span, &work->streams->in[link->in]);
        for (guint32 n = 0; n < out->count; n++) {
            bb_sweep_to(&sweep, out->ns[n]);
            if (sweep.first == sweep.end)
                continue;
            double sum = 0;
            for (guint32 m = sweep.first; m < sweep.end; m++)
                sum += link->kernel[bb_sweep_bin(&sweep, m)] * link->left[m];
            rate[n] += sum;
        }
    }
}

static void expect(Work *work)
{
    const BbExplanation *result = work->result;
    for (guint32 n = 0; n < work->out->count; n++)
        work->rate[n] = result->spontaneous * work->background[n];
    for (guint l = 0; l < result->links->len; l++) {
        const BbLink *link = g_ptr_array_index(result->links, l);
        if (!link->derived)
            add_rates(work, link, work->rate);
    }
}

// ---- maximisation ------------------------------------------------------------------------------

static void share_out(Work *work, const BbLink *link)
{
    const BbStream *out = work->out;
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        BbSweep sweep = bb_sweep_start(&work->result->grid, span, &work->streams->in[link->in]);
        for (guint32 n = 0; n < out->count; n++) {
            bb_sweep_to(&sweep, out->ns[n]);
            if (sweep.first == sweep.end)
                continue;
            double share = 1 / work->rate[n];
            for (guint32 m = sweep.first; m < sweep.end; m++) {
                guint32 bin = bb_sweep_bin(&sweep, m);
                double chance = link->kernel[bin] * link->left[m] * share;
                work->explained[bin] += chance;
                work->use[m] += chance;
            }
        }
    }
}

// A message that explains more than its cap has less left for each, one that has less explains more
// again.
static void limit_uses(const Work *work, BbLink *link, guint32 count)
{
    link->cap = MAX(1, ceil(link->mass / count - SPARE));
    for (guint32 m = 0; m < count; m++)
        if (work->use[m] > link->cap || link->left[m] < 1)
            link->left[m] =
                work->use[m] > 0 ? (float)MIN(1, link->left[m] * link->cap / work->use[m]) : 1;
}

static void learn_link(Work *work, BbLink *link)
{
    const BbLagGrid *grid = &work->result->grid;
    guint32 count = work->streams->in[link->in].count;
    memset(work->explained, 0, (grid->bins + 1) * sizeof *work->explained);
    memset(work->use, 0, count * sizeof *work->use);
    share_out(work, link);
    link->mass = 0;
    for (guint32 i = 0; i < grid->bins; i++)
        link->mass += work->explained[i];
    // Not to tell delays: at the ends of a burst it would shift them.
    if (work->widening == BB_LINK_WIDE)
        limit_uses(work, link, count);
    bb_link_learn(link, grid, work->explained, count, work->widening);
}

static void learn_links(Work *work)
{
    for (guint l = 0; l < work->result->links->len; l++) {
        BbLink *link = g_ptr_array_index(work->result->links, l);
        if (!link->derived)
            learn_link(work, link);
    }
}

// Links that explain next to nothing.
static void drop_weak(Work *work, guint iteration)
{
    for (guint l = 0; l < work->result->links->len; l++) {
        BbLink *link = g_ptr_array_index(work->result->links, l);
        double least = MASS_LEAST * MIN(work->streams->in[link->in].count, work->out->count);
        if (link->mass < work->options->messages_least || (iteration >= 3 && link->mass < least))
            link->derived = true;
    }
}

// The correlograms say how many messages are explained at least; so many are not spontaneous. Where
// it may well be all of them, it is.
static void learn_spontaneous(Work *work)
{
    BbExplanation *result = work->result;
    double none = 0, explained = 0, pairs = 0, variance = 0, count = work->out->count;
    for (guint l = 0; l < result->links->len; l++) {
        const BbLink *link = g_ptr_array_index(result->links, l);
        if (!link->derived) {
            explained += link->excess;
            pairs += link->pairs;
            variance += link->noise * link->noise;
        }
    }
    for (guint32 n = 0; n < work->out->count; n++)
        none += result->spontaneous * work->background[n] / work->rate[n];
    double most = 1 - (explained - sqrt(pairs)) / count;
    double least = 1 - (explained + sqrt(variance)) / count;
    most = MAX(least < BB_SPONTANEOUS_LEAST ? least : most, SPONTANEOUS_FLOOR);
    result->spontaneous = CLAMP(none / count, 1e-6, most);
}

static void maximise(Work *work, guint iteration)
{
    learn_links(work);
    drop_weak(work, iteration);
    learn_spontaneous(work);
}

// ---- derived links -----------------------------------------------------------------------------

// By how much the messages are less likely without the link.
static double gain_of(const Work *work, const BbLink *link)
{
    g_autofree double *rate = g_new0(double, work->out->count);
    double gain = 0;
    add_rates(work, link, rate);
    for (guint32 n = 0; n < work->out->count; n++)
        if (rate[n] > 0)
            gain -= log(MAX(1e-9, 1 - rate[n] / work->rate[n]));
    return gain;
}

// A link that is real explains most of the pairs it was found by, and some messages surely: then
// each message it explains gains a lot. A derived one has kept a small share of its pairs, spread
// over messages that others explain as well: a gain of 1 a message is that of no evidence at all.
static bool is_derived(const BbLink *link, double gain)
{
    double sure = gain / link->mass, share = link->mass / MAX(1, link->excess);
    return sure < 1 || (share < 0.4 && sure < 1.2) || (share < 0.1 && sure < 2.5);
}

static void drop_derived(Work *work)
{
    for (guint l = 0; l < work->result->links->len; l++) {
        BbLink *link = g_ptr_array_index(work->result->links, l);
        if (!link->derived)
            link->derived = is_derived(link, gain_of(work, link));
    }
    expect(work);
}

// ---- results -----------------------------------------------------------------------------------

static void list_link(Work *work, guint32 l, const double *scale)
{
    BbExplanation *result = work->result;
    BbLink *link = g_ptr_array_index(result->links, l);
    const BbStream *out = work->out, *in = &work->streams->in[link->in];
    for (guint s = 0; s < link->spans->len; s++) {
        BbSweep sweep = bb_sweep_start(&result->grid, g_array_index(link->spans, BbSpan, s), in);
        for (guint32 n = 0; n < out->count; n++) {
            bb_sweep_to(&sweep, out->ns[n]);
            for (guint32 m = sweep.first; m < sweep.end; m++) {
                float chance =
                    (float)(link->kernel[bb_sweep_bin(&sweep, m)] * link->left[m] * scale[n]);
                link->effects[m] += chance;
                if (chance < CHANCE_LEAST || out->message[n] == in->message[m])
                    continue;
                BbCause cause = {n, in->message[m], l, chance};
                g_array_append_val(result->causes, cause);
            }
        }
    }
}

static gint compare_chances(gconstpointer left, gconstpointer right)
{
    const BbCause *a = left, *b = right;
    if (a->chance != b->chance)
        return a->chance > b->chance ? -1 : 1;
    return a->cause < b->cause ? -1 : a->cause > b->cause;
}

// Puts causes in order of effects and chances, and turns positions of effects into messages.
static void sort_causes(BbExplanation *result)
{
    guint32 count = result->out->count, *first = result->first;
    const BbCause *causes = (const BbCause *)(gpointer)result->causes->data;
    g_autoptr(GArray) sorted =
        g_array_sized_new(FALSE, FALSE, sizeof(BbCause), result->causes->len);
    g_array_set_size(sorted, result->causes->len);
    BbCause *out = (BbCause *)(gpointer)sorted->data;
    for (guint i = 0; i < result->causes->len; i++)
        first[causes[i].effect + 1]++;
    for (guint32 n = 0; n < count; n++)
        first[n + 1] += first[n];
    g_autofree guint32 *next = g_memdup2(first, (count + 1) * sizeof *first);
    for (guint i = 0; i < result->causes->len; i++) {
        BbCause *cause = &out[next[causes[i].effect]++];
        *cause = causes[i];
        cause->effect = result->out->message[cause->effect];
    }
    for (guint32 n = 0; n < count; n++)
        if (first[n + 1] - first[n] > 1) // out is NULL where there are none
            qsort(out + first[n], first[n + 1] - first[n], sizeof *out, compare_chances);
    g_array_unref(result->causes);
    result->causes = g_steal_pointer(&sorted);
}

static void list_causes(Work *work)
{
    BbExplanation *result = work->result;
    g_autofree double *scale = g_new(double, MAX(1, work->out->count));
    bool all = result->spontaneous < BB_SPONTANEOUS_LEAST;
    for (guint32 n = 0; n < work->out->count; n++) {
        double none = result->spontaneous * work->background[n];
        result->none[n] = work->rate[n] > 0 ? (float)(none / work->rate[n]) : 1;
        double caused = all ? work->rate[n] - none : work->rate[n];
        scale[n] = caused > 1e-9 * work->rate[n] ? 1 / caused : 0;
    }
    for (guint l = 0; l < result->links->len; l++)
        if (!((const BbLink *)g_ptr_array_index(result->links, l))->derived)
            list_link(work, l, scale);
    sort_causes(result);
}

// ---- delays ------------------------------------------------------------------------------------

// Of a link's pairs by bin: how many, and sums of their lags and of the squares.
typedef struct {
    double *masses, *lags, *squares;
} Delays;

static void measure_link(const Work *work, const BbLink *link, Delays *delays)
{
    const BbStream *out = work->out, *in = &work->streams->in[link->in];
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        BbSweep sweep = bb_sweep_start(&work->result->grid, span, in);
        for (guint32 n = 0; n < out->count; n++) {
            bb_sweep_to(&sweep, out->ns[n]);
            for (guint32 m = sweep.first; m < sweep.end; m++) {
                guint32 bin = bb_sweep_bin(&sweep, m);
                double chance = link->kernel[bin] * link->left[m] / work->rate[n];
                double lag = (double)(out->ns[n] - in->ns[m]);
                delays->masses[bin] += chance;
                delays->lags[bin] += chance * lag;
                delays->squares[bin] += chance * lag * lag;
            }
        }
    }
}

// What was listed stays: neither the share without cause, nor caps, nor which links count change by
// what the delays are told with.
static void find_delays(Work *work)
{
    BbExplanation *result = work->result;
    double spontaneous = result->spontaneous;
    g_autofree double *caps = g_new(double, MAX(1, result->links->len));
    for (guint l = 0; l < result->links->len; l++)
        caps[l] = ((const BbLink *)g_ptr_array_index(result->links, l))->cap;
    gsize bins = (gsize)result->grid.bins + 1;
    g_autofree double *sums = g_new(double, 3 * bins);
    Delays delays = {sums, sums + bins, sums + 2 * bins};
    work->widening = BB_LINK_SHARP;
    for (guint l = 0; l < result->links->len; l++) {
        BbLink *link = g_ptr_array_index(result->links, l);
        bb_link_sharpen(link, &result->grid);
        for (guint32 m = 0; m < work->streams->in[link->in].count; m++)
            link->left[m] = 1;
    }
    for (guint i = 0; i < SHARPENING; i++) {
        expect(work);
        learn_links(work);
        learn_spontaneous(work);
    }
    expect(work);
    for (guint l = 0; l < result->links->len; l++) {
        BbLink *link = g_ptr_array_index(result->links, l);
        if (link->derived)
            continue;
        memset(sums, 0, 3 * bins * sizeof *sums);
        measure_link(work, link, &delays);
        bb_link_find_cores(link, &result->grid, delays.masses, delays.lags, delays.squares);
    }
    for (guint l = 0; l < result->links->len; l++) {
        BbLink *link = g_ptr_array_index(result->links, l);
        link->cap = caps[l];
        bb_link_settle(link);
    }
    result->spontaneous = spontaneous;
}

// ---- the whole ---------------------------------------------------------------------------------

static void learn(Work *work)
{
    BbExplanation *result = work->result;
    double excess = 0;
    guint32 most = 1;
    for (guint l = 0; l < result->links->len; l++) {
        const BbLink *link = g_ptr_array_index(result->links, l);
        excess += link->excess;
        most = MAX(most, work->streams->in[link->in].count);
    }
    result->spontaneous = CLAMP(1 - excess / work->out->count, 0.02, SPONTANEOUS_MOST);
    g_autofree double *explained = g_new(double, (gsize)result->grid.bins + 1);
    g_autofree double *use = g_new(double, most);
    work->explained = explained;
    work->use = use;
    work->widening = BB_LINK_WIDE;
    measure_background(work);
    for (guint i = 0; i < ITERATIONS; i++) {
        expect(work);
        if (i == SETTLED)
            drop_derived(work);
        maximise(work, i);
    }
    expect(work);
    list_causes(work);
    find_delays(work);
}

BbExplanation *bb_explain(const BbStreams *streams, const BbStream *out, GPtrArray *links,
                          const BbLagGrid *grid, const BbLinkOptions *options)
{
    BbExplanation *result = g_new0(BbExplanation, 1);
    result->out = out;
    result->grid = *grid;
    result->links = links;
    result->causes = g_array_new(FALSE, FALSE, sizeof(BbCause));
    result->first = g_new0(guint32, (gsize)out->count + 1);
    result->none = g_new(float, MAX(1, out->count));
    result->spontaneous = 1;
    for (guint32 n = 0; n < out->count; n++)
        result->none[n] = 1;
    if (links->len == 0)
        return result;
    g_autofree double *rate = g_new(double, out->count);
    g_autofree float *background = g_new(float, out->count);
    Work work = {
        .streams = streams,
        .out = out,
        .options = options,
        .result = result,
        .rate = rate,
        .background = background,
    };
    learn(&work);
    return result;
}

void bb_explanation_free(BbExplanation *explanation)
{
    if (!explanation)
        return;
    g_ptr_array_unref(explanation->links);
    g_array_unref(explanation->causes);
    g_free(explanation->first);
    g_free(explanation->none);
    g_free(explanation);
}
