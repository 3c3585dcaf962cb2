// SPDX-License-Identifier: Apache-2.0
// In: links that are half learned. Out: which of them others explain.
#include "convolution/derived.h"

#include <math.h>
#include <string.h>

#define DOUBTFUL 1.2   // gain in log likelihood for each message explained: as little is no proof
#define TRIES_MOST 32u // of a stream: each takes some rounds over all links of it
#define KEPT_ENOUGH 4u // in a row, from the weakest on: the others are worth more
#define REFITTING 2    // rounds in which the others may take over what a doubtful link explains

// ---- by what a link gains ----------------------------------------------------------------------

// By how much the messages are less likely without the link.
static double gain_of(const BbFit *fit, const BbLink *link)
{
    g_autofree double *rate = g_new0(double, fit->out->count);
    double gain = 0;
    bb_fit_add_rates(fit, link, rate);
    for (guint32 n = 0; n < fit->out->count; n++)
        if (rate[n] > 0)
            gain -= log(MAX(1e-9, 1 - rate[n] / fit->rate[n]));
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

// ---- by what is lost without it ----------------------------------------------------------------

// What was learned.
typedef struct {
    double spontaneous;
    BbLink *links; // kernel, left and spans are copies
    guint n;
} State;

static State save_state(const BbFit *fit)
{
    guint n = fit->links->len;
    gsize kernel = ((gsize)fit->grid->bins + 1) * sizeof(float);
    State state = {fit->spontaneous, g_new(BbLink, n), n};
    for (guint l = 0; l < n; l++) {
        BbLink *link = &state.links[l];
        *link = *(const BbLink *)g_ptr_array_index(fit->links, l);
        link->kernel = g_memdup2(link->kernel, kernel);
        link->left = g_memdup2(link->left, fit->streams->in[link->in].count * sizeof(float));
        link->spans = g_array_copy(link->spans);
    }
    return state;
}

static void restore_state(BbFit *fit, const State *state)
{
    gsize kernel = ((gsize)fit->grid->bins + 1) * sizeof(float);
    fit->spontaneous = state->spontaneous;
    for (guint l = 0; l < state->n; l++) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        const BbLink *saved = &state->links[l];
        memcpy(link->kernel, saved->kernel, kernel);
        memcpy(link->left, saved->left, fit->streams->in[link->in].count * sizeof(float));
        g_array_set_size(link->spans, 0);
        g_array_append_vals(link->spans, saved->spans->data, saved->spans->len);
        link->mass = saved->mass;
        link->cap = saved->cap;
        link->derived = saved->derived;
    }
}

static void clear_state(State *state)
{
    for (guint l = 0; l < state->n; l++) {
        g_free(state->links[l].kernel);
        g_free(state->links[l].left);
        g_array_unref(state->links[l].spans);
    }
    g_free(state->links);
}

// Parameters of a kernel: bins that are smoothed together are one.
static double count_parameters(const BbFit *fit, const BbLink *link)
{
    double parameters = 0;
    for (guint32 i = 0; i < fit->grid->bins; i++)
        if (link->kernel[i] > 0)
            parameters += 1 / (3 + 2 * fit->widening * fabs((double)i - fit->grid->before));
    return parameters;
}

// The likelihood that some more rounds lead to.
static double refit(BbFit *fit)
{
    for (guint i = 0; i < REFITTING; i++) {
        bb_fit_expect(fit);
        bb_fit_learn(fit, BB_FIT_DROP_NONE);
    }
    bb_fit_expect(fit);
    return bb_fit_likelihood(fit);
}

// A link must be worth its parameters: each must add 1 to the log likelihood (Akaike, IEEE
// Transactions on Automatic Control 19, 1974). Both ways are learned as long, since rounds change
// the likelihood by themselves.
static void try_without(BbFit *fit, BbLink *link)
{
    State state = save_state(fit);
    double worth = count_parameters(fit, link);
    double with = refit(fit);
    restore_state(fit, &state);
    link->derived = true;
    double lost = with - refit(fit);
    g_debug("doubtful link: %u messages explain %.0f of %u: %.1f lost without it, %.1f parameters",
            fit->streams->in[link->in].count, link->mass, fit->out->count, lost, worth);
    if (lost > worth) {
        restore_state(fit, &state);
        bb_fit_expect(fit);
    }
    clear_state(&state);
}

// The doubtful link that gains least, by index; the number of links if there is none.
static guint find_doubtful(const BbFit *fit, const double *sure)
{
    guint least = fit->links->len;
    for (guint l = 0; l < fit->links->len; l++)
        if (sure[l] < DOUBTFUL && (least == fit->links->len || sure[l] < sure[least]))
            least = l;
    return least;
}

void bb_derived_drop(BbFit *fit)
{
    guint n = fit->links->len, counting = 0;
    g_autofree double *sure = g_new(double, n);
    for (guint l = 0; l < n; l++) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        double gain = link->derived ? 0 : gain_of(fit, link);
        link->derived = link->derived || is_derived(link, gain);
        sure[l] = link->derived ? G_MAXDOUBLE : gain / link->mass;
        counting += !link->derived;
    }
    bb_fit_expect(fit);
    guint tries = 0, kept = 0; // in a row
    for (guint l; counting > 1 && tries < TRIES_MOST && kept < KEPT_ENOUGH &&
                  (l = find_doubtful(fit, sure)) < n;
         tries++, sure[l] = G_MAXDOUBLE) {
        BbLink *link = g_ptr_array_index(fit->links, l);
        try_without(fit, link);
        counting -= link->derived;
        kept = link->derived ? 0 : kept + 1;
    }
}
