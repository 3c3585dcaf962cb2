// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's calls. Out: how often one follows another at some lag, beyond chance.
#include "nesting/lags.h"

#include "nesting/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ASKED 256u // events that tell how many lags there are to look at
#define LENGTH_MAX (G_GINT64_CONSTANT(1) << 59) // in quanta: sums of times and lags never overflow

// Lists with room for n events each.
static BbEvents *events_new(const guint32 *n, guint n_lists)
{
    BbEvents *events = g_new0(BbEvents, n_lists);
    for (guint t = 0; t < n_lists; t++)
        events[t].at = g_new(gint64, n[t]);
    return events;
}

void bb_events_free(BbEvents *events, guint n_lists)
{
    for (guint t = 0; t < n_lists; t++)
        g_free(events[t].at);
    g_free(events);
}

static BbEvents *in_order(BbEvents *events, guint n_lists)
{
    for (guint t = 0; t < n_lists; t++)
        if (events[t].n > 0)
            qsort(events[t].at, events[t].n, sizeof(gint64), bb_times_compare);
    return events;
}

static void add(BbEvents *events, gint64 at)
{
    events->at[events->n++] = at;
}

BbEvents *bb_events_of_parents(const BbSite *site, bool arrivals, bool by_type)
{
    guint n_lists = by_type ? site->n_parent_types : 1;
    guint32 n[BB_SITE_TYPES] = {0};
    for (guint32 i = 0; i < site->n_parents; i++)
        n[by_type ? site->parents[i].type : 0]++;
    BbEvents *events = events_new(n, n_lists);
    for (guint32 i = 0; i < site->n_parents; i++) {
        const BbSiteParent *parent = &site->parents[i];
        add(&events[by_type ? parent->type : 0],
            arrivals ? bb_site_begun(site, parent) : parent->e);
    }
    return in_order(events, n_lists);
}

BbEvents *bb_events_of_children(const BbSite *site, bool calls, const bool *wanted)
{
    guint32 n[BB_SITE_TYPES] = {0};
    for (guint32 x = 0; x < site->n_children; x++)
        n[site->children[x].type] += !wanted || wanted[x];
    BbEvents *events = events_new(n, site->n_child_types);
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        if (!wanted || wanted[x])
            add(&events[child->type], calls ? child->s : child->e);
    }
    return in_order(events, site->n_child_types);
}

guint32 bb_events_from(const BbEvents *events, gint64 at)
{
    return bb_times_before(events->at, events->n, at);
}

// ---- lags --------------------------------------------------------------------------------------

gint64 bb_lags_longest(const BbSite *site)
{
    g_autofree gint64 *length = g_new(gint64, site->n_parents);
    for (guint32 i = 0; i < site->n_parents; i++)
        length[i] = site->parents[i].e - bb_site_begun(site, &site->parents[i]);
    qsort(length, site->n_parents, sizeof *length, bb_times_compare);
    return CLAMP(length[(gsize)(0.99 * (site->n_parents - 1))], 1, LENGTH_MAX);
}

BbLags bb_lags_of(const BbSite *site, const BbGapScale *scale, double pairs)
{
    return (BbLags){scale, bb_lags_longest(site), site->period, pairs};
}

// Smooths the first n bins with the weights of a scale, mirrored at 0; those behind are empty.
static void blur(const double *in, double *out, guint n, const double *weight)
{
    double edge[BB_GAP_BLUR + BB_GAP_BINS + BB_GAP_BLUR] = {0};
    for (guint i = 0; i < BB_GAP_BLUR; i++)
        edge[i] = in[BB_GAP_BLUR - 1 - i];
    memcpy(edge + BB_GAP_BLUR, in, n * sizeof *in);
    memset(out, 0, n * sizeof *out);
    for (guint d = 0; d <= 2 * BB_GAP_BLUR; d++)
        for (guint b = 0; b < n; b++)
            out[b] += weight[d] * edge[b + d];
}

// How many lags of an x are looked at, on the mean. Where events come in bursts, their number and
// the time from the first to the last do not tell.
static double lags_of_one(const BbLags *lags, const BbEvents *x, const BbEvents *y)
{
    guint32 step = x->n / ASKED + 1, asked = 0;
    double sum = 0;
    for (guint32 i = 0; i < x->n; i += step, asked++)
        sum += bb_events_from(y, x->at[i] + 2 * lags->reach + 1) -
               bb_events_from(y, x->at[i] - 2 * lags->reach);
    return sum / asked;
}

// Counts lags from x to y by bin, and how many lie where only chance puts them. Returns the share
// of x that was looked at.
static double count_lags(const BbLags *lags, const BbEvents *x, const BbEvents *y, double *count,
                         double *chance)
{
    memset(count, 0, BB_GAP_BINS * sizeof *count);
    *chance = 0;
    if (x->n == 0 || y->n == 0)
        return 0;
    double each = 1 + lags_of_one(lags, x, y);
    guint32 step = (guint32)CLAMP(x->n * each / lags->pairs, 1, x->n), used = 0;
    for (guint32 i = 0; i < x->n; i += step, used++) {
        gint64 at = x->at[i], to = at + 2 * lags->reach;
        for (guint32 j = bb_events_from(y, at - 2 * lags->reach); j < y->n && y->at[j] <= to; j++) {
            gint64 lag = y->at[j] - at;
            if (lag >= 0 && lag <= lags->reach)
                count[bb_gap_bin(lags->scale, lag)]++;
            else if (lag > lags->reach || lag < -lags->reach)
                ++*chance;
        }
    }
    return (double)used / x->n;
}

double bb_lags_excess(const BbLags *lags, const BbEvents *x, const BbEvents *y,
                      double count[BB_GAP_BINS])
{
    double flat[BB_GAP_BINS], seen[BB_GAP_BINS], due[BB_GAP_BINS], spread[BB_GAP_BINS];
    double chance, total = 0, share = count_lags(lags, x, y, count, &chance);
    double rate = chance / (2.0 * (double)lags->reach + 1);
    guint last = bb_gap_bin(lags->scale, lags->reach);
    guint n = MIN(last + 1 + BB_GAP_BLUR, BB_GAP_BINS); // where anything is
    for (guint b = 0; b < n; b++)
        flat[b] = b <= last ? rate * (double)lags->scale->width[b] : 0;
    blur(count, seen, n, lags->scale->blur);
    blur(flat, due, n, lags->scale->blur);
    blur(flat, spread, n, lags->scale->blur_squared);
    for (guint b = 0; b < n; b++)
        total += count[b] = MAX(0, seen[b] - due[b] - 2 * sqrt(spread[b] + 0.05));
    return share > 0 ? total / (share * y->n) : -1;
}
