// SPDX-License-Identifier: Apache-2.0
// In: the messages that a node sends on one edge, and the links they may have. Out: what may have
// caused each.
#include "convolution/explain.h"

#include "convolution/derived.h"

#include <stdlib.h>
#include <string.h>

#define ITERATIONS 12
#define SETTLED 8         // iterations after which derived links are told from others
#define WEAK 3            // and those that explain next to nothing
#define SHARPENING 5      // more iterations, to tell the delays
#define CHANCE_LEAST 0.01 // of a cause that is listed

// ---- results -----------------------------------------------------------------------------------

static void list_link(BbExplanation *result, const BbFit *fit, guint32 l, const double *scale)
{
    BbLink *link = g_ptr_array_index(result->links, l);
    const BbStream *out = fit->out, *in = &fit->streams->in[link->in];
    for (guint s = 0; s < link->spans->len; s++) {
        BbSweep sweep = bb_sweep_start(fit->grid, g_array_index(link->spans, BbSpan, s), in);
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

static void list_causes(BbExplanation *result, const BbFit *fit)
{
    g_autofree double *scale = g_new(double, MAX(1, fit->out->count));
    bool all = result->spontaneous < BB_SPONTANEOUS_LEAST;
    for (guint32 n = 0; n < fit->out->count; n++) {
        double none = result->spontaneous * fit->background[n];
        result->none[n] = fit->rate[n] > 0 ? (float)(none / fit->rate[n]) : 1;
        double caused = all ? fit->rate[n] - none : fit->rate[n];
        scale[n] = caused > 1e-9 * fit->rate[n] ? 1 / caused : 0;
    }
    for (guint l = 0; l < result->links->len; l++)
        if (!((const BbLink *)g_ptr_array_index(result->links, l))->derived)
            list_link(result, fit, l, scale);
    sort_causes(result);
}

// ---- delays ------------------------------------------------------------------------------------

// Of a link's pairs by bin: how many, and sums of their lags and of the squares.
typedef struct {
    double *masses, *lags, *squares;
} Delays;

static void measure_link(const BbFit *fit, const BbLink *link, Delays *delays)
{
    const BbStream *out = fit->out, *in = &fit->streams->in[link->in];
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        BbSweep sweep = bb_sweep_start(fit->grid, span, in);
        for (guint32 n = 0; n < out->count; n++) {
            bb_sweep_to(&sweep, out->ns[n]);
            for (guint32 m = sweep.first; m < sweep.end; m++) {
                guint32 bin = bb_sweep_bin(&sweep, m);
                double chance = link->kernel[bin] * link->left[m] / fit->rate[n];
                double lag = (double)(out->ns[n] - in->ns[m]);
                delays->masses[bin] += chance;
                delays->lags[bin] += chance * lag;
                delays->squares[bin] += chance * lag * lag;
            }
        }
    }
}

// With kernels that are learned anew: wide ones blur delays where there is much traffic. What was
// listed stays.
static void find_delays(BbFit *fit)
{
    gsize bins = (gsize)fit->grid->bins + 1;
    g_autofree double *sums = g_new(double, 3 * bins);
    Delays delays = {sums, sums + bins, sums + 2 * bins};
    fit->widening = BB_LINK_SHARP;
    for (guint l = 0; l < fit->links->len; l++) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        bb_link_sharpen(link, fit->grid);
        for (guint32 m = 0; m < fit->streams->in[link->in].count; m++)
            link->left[m] = 1;
    }
    for (guint i = 0; i < SHARPENING; i++) {
        bb_fit_expect(fit);
        bb_fit_learn(fit, BB_FIT_DROP_NONE);
    }
    bb_fit_expect(fit);
    for (guint l = 0; l < fit->links->len; l++) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        if (link->derived)
            continue;
        memset(sums, 0, 3 * bins * sizeof *sums);
        measure_link(fit, link, &delays);
        bb_link_find_cores(link, fit->grid, delays.masses, delays.lags, delays.squares);
    }
    for (guint l = 0; l < fit->links->len; l++)
        bb_link_settle(g_ptr_array_index(fit->links, l));
}

// ---- the whole ---------------------------------------------------------------------------------

static void learn(BbExplanation *result, BbFit *fit)
{
    for (guint i = 0; i < ITERATIONS; i++) {
        bb_fit_expect(fit);
        if (i == SETTLED)
            bb_derived_drop(fit);
        bb_fit_learn(fit, i < WEAK ? BB_FIT_DROP_EMPTY : BB_FIT_DROP_WEAK);
    }
    bb_fit_expect(fit);
    result->spontaneous = fit->spontaneous;
    list_causes(result, fit);
    find_delays(fit);
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
    g_autoptr(BbFit) fit = bb_fit_new(streams, out, links, grid, options);
    learn(result, fit);
    return result;
}

bool bb_explanation_explains(const BbExplanation *explanation)
{
    for (guint l = 0; l < explanation->links->len; l++)
        if (!((const BbLink *)g_ptr_array_index(explanation->links, l))->derived)
            return true;
    return false;
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
