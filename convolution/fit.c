// SPDX-License-Identifier: Apache-2.0
// In: links with kernels, and the messages that they may explain. Out: what they explain best.
#include "convolution/fit.h"

#include <math.h>
#include <string.h>

#define SPONTANEOUS_MOST 0.9 // at the beginning
#define SPONTANEOUS_FLOOR 0.005
#define SPARE 0.1        // of an effect a message: how much more than its cap is no reason for more
#define STEADY_BLOCKS 10 // longest lags over which background is averaged, at least
#define STEADY_PARTS 50  // or so many parts of the trace
#define MASS_LEAST 0.01  // of the smaller stream's messages: a link with less is none

// ---- expectation -------------------------------------------------------------------------------

// How many messages of the stream a quantum holds around each.
static void measure_background(BbFit *fit)
{
    const BbStream *out = fit->out;
    const BbLagGrid *grid = fit->grid;
    double quantum = (double)grid->quantum_ns;
    double start = (double)fit->options->start_ns, end = (double)fit->options->end_ns;
    double window = MAX(STEADY_BLOCKS * quantum * grid->bins, (end - start) / STEADY_PARTS);
    guint32 first = 0, last = 0;
    for (guint32 n = 0; n < out->count; n++) {
        double now = (double)out->ns[n];
        while (now - (double)out->ns[first] > window)
            first++;
        while (last < out->count && (double)out->ns[last] - now <= window)
            last++;
        double length = MIN(now + window, end) - MAX(now - window, start);
        fit->background[n] = (float)((last - first) / MAX(length, quantum) * quantum);
    }
}

void bb_fit_add_rates(const BbFit *fit, const BbLink *link, double *rate)
{
    const BbLagGrid *grid = fit->grid;
    const BbStream *out = fit->out;
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        BbSweep sweep = bb_sweep_start(grid, span, &fit->streams->in[link->in]);
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

void bb_fit_expect(BbFit *fit)
{
    for (guint32 n = 0; n < fit->out->count; n++)
        fit->rate[n] = fit->spontaneous * fit->background[n];
    for (guint l = 0; l < fit->links->len; l++) {
        const BbLink *link = g_ptr_array_index(fit->links, l);
        if (!link->derived)
            bb_fit_add_rates(fit, link, fit->rate);
    }
}

// ---- maximisation ------------------------------------------------------------------------------

static void share_out(BbFit *fit, const BbLink *link)
{
    const BbStream *out = fit->out;
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        BbSweep sweep = bb_sweep_start(fit->grid, span, &fit->streams->in[link->in]);
        for (guint32 n = 0; n < out->count; n++) {
            bb_sweep_to(&sweep, out->ns[n]);
            if (sweep.first == sweep.end)
                continue;
            double share = 1 / fit->rate[n];
            for (guint32 m = sweep.first; m < sweep.end; m++) {
                guint32 bin = bb_sweep_bin(&sweep, m);
                double chance = link->kernel[bin] * link->left[m] * share;
                fit->explained[bin] += chance;
                fit->use[m] += chance;
            }
        }
    }
}

// A message that explains more than its cap has less left for each, one that has less explains more
// again.
static void limit_uses(const BbFit *fit, BbLink *link, guint32 count)
{
    link->cap = MAX(1, ceil(link->mass / count - SPARE));
    for (guint32 m = 0; m < count; m++)
        if (fit->use[m] > link->cap || link->left[m] < 1)
            link->left[m] =
                fit->use[m] > 0 ? (float)MIN(1, link->left[m] * link->cap / fit->use[m]) : 1;
}

static void learn_link(BbFit *fit, BbLink *link)
{
    const BbLagGrid *grid = fit->grid;
    guint32 count = fit->streams->in[link->in].count;
    memset(fit->explained, 0, (grid->bins + 1) * sizeof *fit->explained);
    memset(fit->use, 0, count * sizeof *fit->use);
    share_out(fit, link);
    link->mass = 0;
    for (guint32 i = 0; i < grid->bins; i++)
        link->mass += fit->explained[i];
    // Not to tell delays: at the ends of a burst it would shift them.
    if (fit->widening == BB_LINK_WIDE)
        limit_uses(fit, link, count);
    bb_link_learn(link, grid, fit->explained, count, fit->widening);
}

static void learn_links(BbFit *fit)
{
    for (guint l = 0; l < fit->links->len; l++) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        if (!link->derived)
            learn_link(fit, link);
    }
}

// Links that explain next to nothing.
static void drop_weak(BbFit *fit, BbFitDrop drop)
{
    for (guint l = 0; l < fit->links->len; l++) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        double least = MASS_LEAST * MIN(fit->streams->in[link->in].count, fit->out->count);
        if (link->mass < fit->options->messages_least ||
            (drop == BB_FIT_DROP_WEAK && link->mass < least))
            link->derived = true;
    }
}

// The correlograms say how many messages are explained at least; so many are not spontaneous. Where
// it may well be all of them, it is.
static void learn_spontaneous(BbFit *fit)
{
    double none = 0, explained = 0, pairs = 0, variance = 0, count = fit->out->count;
    for (guint l = 0; l < fit->links->len; l++) {
        const BbLink *link = g_ptr_array_index(fit->links, l);
        if (!link->derived) {
            explained += link->excess;
            pairs += link->pairs;
            variance += link->noise * link->noise;
        }
    }
    for (guint32 n = 0; n < fit->out->count; n++)
        none += fit->spontaneous * fit->background[n] / fit->rate[n];
    double most = 1 - (explained - sqrt(pairs)) / count;
    double least = 1 - (explained + sqrt(variance)) / count;
    most = MAX(least < BB_SPONTANEOUS_LEAST ? least : most, SPONTANEOUS_FLOOR);
    fit->spontaneous = CLAMP(none / count, 1e-6, most);
}

void bb_fit_learn(BbFit *fit, BbFitDrop drop)
{
    learn_links(fit);
    if (drop != BB_FIT_DROP_NONE)
        drop_weak(fit, drop);
    learn_spontaneous(fit);
}

// ---- likelihood --------------------------------------------------------------------------------

// Effects that a link lets all messages have.
static double effects_of(const BbFit *fit, const BbLink *link)
{
    double effects = 0, left = 0;
    for (guint32 i = 0; i < fit->grid->bins; i++)
        effects += link->kernel[i];
    for (guint32 m = 0; m < fit->streams->in[link->in].count; m++)
        left += link->left[m];
    return effects * left;
}

double bb_fit_likelihood(const BbFit *fit)
{
    double sum = -fit->spontaneous * fit->out->count;
    for (guint l = 0; l < fit->links->len; l++) {
        const BbLink *link = g_ptr_array_index(fit->links, l);
        if (!link->derived)
            sum -= effects_of(fit, link);
    }
    for (guint32 n = 0; n < fit->out->count; n++)
        sum += log(fit->rate[n]);
    return sum;
}

// ---- the beginning -----------------------------------------------------------------------------

BbFit *bb_fit_new(const BbStreams *streams, const BbStream *out, GPtrArray *links,
                  const BbLagGrid *grid, const BbLinkOptions *options)
{
    BbFit *fit = g_new0(BbFit, 1);
    *fit = (BbFit){.streams = streams, .out = out, .links = links, .grid = grid};
    fit->options = options;
    fit->widening = BB_LINK_WIDE;
    double excess = 0;
    guint32 most = 1;
    for (guint l = 0; l < links->len; l++) {
        const BbLink *link = g_ptr_array_index(links, l);
        excess += link->excess;
        most = MAX(most, streams->in[link->in].count);
    }
    fit->spontaneous = CLAMP(1 - excess / out->count, 0.02, SPONTANEOUS_MOST);
    fit->rate = g_new(double, out->count);
    fit->background = g_new(float, out->count);
    fit->explained = g_new(double, (gsize)grid->bins + 1);
    fit->use = g_new(double, most);
    measure_background(fit);
    return fit;
}

void bb_fit_free(BbFit *fit)
{
    if (!fit)
        return;
    g_free(fit->rate);
    g_free(fit->background);
    g_free(fit->explained);
    g_free(fit->use);
    g_free(fit);
}
