// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's calls. Out: densities of gaps, from the excess of their
// cross-correlation over what independent events would give.
#include "nesting/onset.h"

#include "nesting/lags.h"

#include <math.h>

#define PAIRS_OF_SITE 2000000.0 // lags looked at in all
#define PAIRS_LEAST 20000.0     // for one pair of kinds of events
#define LATE_PAIRS 200000.0     // of one kind that may be late
#define EXCESS_LEAST 0.01       // share of events that must be due to others for a density
#define SHARPEN 16              // counts weigh more than they are, so that narrow kernels win

static BbDensity *flat_density(const BbLags *lags)
{
    BbDensity *density = bb_density_new();
    double all = (double)lags->reach + 1, sum = 0;
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        double width = (double)lags->scale->width[b];
        density->log[b] = (float)-log(all);
        density->below[b] = (float)MIN((sum + width / 2) / all, 1);
        sum += width;
    }
    return density;
}

// flat: what it is where nothing is due to anything. pairs: how many of them there are; may be
// NULL.
static BbDensity *excess_density(const BbLags *lags, const BbEvents *x, const BbEvents *y,
                                 BbDensity *flat, double *pairs)
{
    double count[BB_GAP_BINS], share = bb_lags_excess(lags, x, y, count);
    if (pairs)
        *pairs = MAX(0, share) * y->n;
    if (share < EXCESS_LEAST)
        return flat;
    BbDensity *density = bb_density_new();
    for (guint b = 0; b < BB_GAP_BINS; b++)
        if (count[b] > 0)
            bb_density_add(density, b, SHARPEN * count[b]);
    bb_density_fit(density, lags->scale);
    return density;
}

static BbDensity *durations(const BbSite *site, const BbGapScale *scale, guint type)
{
    BbDensity *density = bb_density_new();
    for (guint32 i = 0; i < site->n_parents; i++) {
        const BbSiteParent *parent = &site->parents[i];
        if (parent->type == type)
            bb_density_add(density, bb_gap_bin(scale, parent->e - bb_site_begun(site, parent)), 1);
    }
    bb_density_fit(density, scale);
    return density;
}

// Which children began by themselves; NULL: all. What waited for a pool follows the return of
// whatever was before it.
static bool *by_themselves(const BbSite *site)
{
    if (!site->freed)
        return NULL;
    bool *own = g_new(bool, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        own[x] = site->freed[x].at == G_MININT64;
    return own;
}

BbOnset *bb_onset_new(const BbSite *site, const BbGapScale *scale)
{
    BbOnset *onset = g_new0(BbOnset, 1);
    guint np = onset->np = site->n_parent_types, nc = onset->nc = site->n_child_types;
    double pairs = PAIRS_OF_SITE / ((double)nc * (2 * np + nc));
    BbLags lags = bb_lags_of(site, scale, MAX(pairs, PAIRS_LEAST));
    BbEvents *arrivals = bb_events_of_parents(site, true, true),
             *replies = bb_events_of_parents(site, false, true);
    g_autofree bool *own = by_themselves(site);
    BbEvents *calls = bb_events_of_children(site, true, own),
             *returns = bb_events_of_children(site, false, NULL);
    onset->flat = flat_density(&lags);
    onset->flat_of = g_new(BbDensity *, nc);
    for (guint c = 0; c < nc; c++)
        onset->flat_of[c] = onset->flat;
    onset->start = g_new(BbDensity *, np * nc);
    onset->end = g_new(BbDensity *, np * nc);
    onset->next = g_new(BbDensity *, nc * nc);
    onset->whole = g_new(BbDensity *, np);
    onset->before = g_new0(BbDensity *, nc);
    onset->after = g_new0(BbDensity *, nc);
    onset->is_before = g_new0(double, nc);
    onset->is_caused = g_new0(bool, nc);
    onset->mean = g_new0(double, site->n_parent_types * site->n_child_types);
    for (guint p = 0; p < np; p++) {
        onset->whole[p] = durations(site, scale, p);
        for (guint c = 0; c < nc; c++) {
            onset->start[p * nc + c] =
                excess_density(&lags, &arrivals[p], &calls[c], onset->flat, NULL);
            onset->end[p * nc + c] =
                excess_density(&lags, &returns[c], &replies[p], onset->flat, NULL);
        }
    }
    for (guint d = 0; d < nc; d++)
        for (guint c = 0; c < nc; c++)
            onset->next[d * nc + c] =
                excess_density(&lags, &returns[d], &calls[c], onset->flat, NULL);
    bb_events_free(arrivals, np);
    bb_events_free(replies, np);
    bb_events_free(calls, nc);
    bb_events_free(returns, nc);
    return onset;
}

static void free_density(const BbOnset *onset, BbDensity *density)
{
    bool is_flat = density == onset->flat;
    for (guint c = 0; c < onset->nc; c++)
        is_flat |= density == onset->flat_of[c];
    if (!is_flat)
        g_free(density);
}

void bb_onset_free(BbOnset *onset)
{
    if (!onset)
        return;
    for (guint i = 0; i < onset->np * onset->nc; i++) {
        free_density(onset, onset->start[i]);
        free_density(onset, onset->end[i]);
    }
    for (guint i = 0; i < onset->nc * onset->nc; i++)
        free_density(onset, onset->next[i]);
    for (guint i = 0; i < onset->np; i++)
        g_free(onset->whole[i]);
    for (guint i = 0; i < onset->nc; i++) {
        free_density(onset, onset->before[i]);
        free_density(onset, onset->after[i]);
    }
    for (guint c = 0; c < onset->nc; c++)
        if (onset->flat_of[c] != onset->flat)
            g_free(onset->flat_of[c]);
    g_free(onset->flat_of);
    g_free(onset->flat);
    g_free(onset->before);
    g_free(onset->after);
    g_free(onset->is_before);
    g_free(onset->is_caused);
    g_free(onset->start);
    g_free(onset->end);
    g_free(onset->next);
    g_free(onset->whole);
    g_free(onset->mean);
    g_free(onset);
}

// Densities from each of n kinds of events to calls of a type, anew.
static void renew(const BbOnset *onset, BbDensity **densities, const BbLags *lags,
                  const BbEvents *events, guint n, const BbEvents *calls, guint type)
{
    for (guint i = 0; i < n; i++) {
        BbDensity **density = &densities[i * onset->nc + type];
        free_density(onset, *density);
        *density = excess_density(lags, &events[i], calls, onset->flat_of[type], NULL);
    }
}

void bb_onset_add_late(BbOnset *onset, const BbSite *site, const BbGapScale *scale, guint type,
                       gint64 reach)
{
    BbLags lags = {scale, reach, site->period, LATE_PAIRS};
    g_autofree bool *own = by_themselves(site);
    BbEvents *calls = bb_events_of_children(site, true, own);
    BbEvents *replies = bb_events_of_parents(site, false, false);
    double before, after;
    g_return_if_fail(!onset->before[type]);
    BbDensity *flat = onset->flat_of[type] = flat_density(&lags);
    onset->before[type] = excess_density(&lags, &calls[type], replies, flat, &before);
    onset->after[type] = excess_density(&lags, replies, &calls[type], flat, &after);
    onset->is_before[type] = (1 + before) / (2 + before + after);
    BbEvents *arrivals = bb_events_of_parents(site, true, true),
             *returns = bb_events_of_children(site, false, NULL);
    renew(onset, onset->start, &lags, arrivals, onset->np, &calls[type], type);
    renew(onset, onset->next, &lags, returns, onset->nc, &calls[type], type);
    bb_events_free(arrivals, onset->np);
    bb_events_free(returns, onset->nc);
    bb_events_free(calls, site->n_child_types);
    bb_events_free(replies, 1);
}

static double late_log(const BbOnset *onset, const BbGapScale *scale, const BbSiteParent *parent,
                       const BbSiteChild *child)
{
    guint c = child->type;
    if (child->s <= parent->e)
        return log(onset->is_before[c]) +
               (double)onset->before[c]->log[bb_gap_bin(scale, parent->e - child->s)];
    return log(1 - onset->is_before[c]) +
           (double)onset->after[c]->log[bb_gap_bin(scale, child->s - parent->e)];
}

double bb_onset_log(const BbOnset *onset, const BbSite *site, const BbGapScale *scale,
                    const BbSiteParent *parent, const BbSiteChild *child)
{
    guint at = parent->type * onset->nc + child->type;
    gint64 begun = bb_site_begun(site, parent), from = begun <= child->s ? begun : parent->s;
    double start = (double)onset->start[at]->log[bb_gap_bin(scale, child->s - from)];
    if (onset->before[child->type])
        return start + late_log(onset, scale, parent, child);
    return start + (double)onset->end[at]->log[bb_gap_bin(scale, parent->e - child->e)];
}
