// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's calls. Out: densities of gaps, from the excess of their
// cross-correlation over what independent events would give.
#include "nesting/onset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_OF_SITE 2000000.0 // lags looked at in all
#define PAIRS_LEAST 20000.0     // for one pair of kinds of events
#define PAIRS_ASKED 100000.0    // where it is asked whether there is any excess at all
#define EXCESS_LEAST 0.01       // share of events that must be due to others for a density
#define CAUSED_LEAST 0.1 // share of calls, and 1/sqrt of their number, that must follow others
#define CHANCE_MOST 0.3  // share that chance alone may make, where more than that is looked for
#define SHARPEN 16       // counts weigh more than they are, so that narrow kernels win
#define ASKED 256u       // events that tell how many lags there are to look at
#define LENGTH_MAX (G_GINT64_CONSTANT(1) << 59) // in quanta: sums of times and lags never overflow

// Events of one kind on each node of the site, in order of time.
typedef struct {
    gint64 *at;
    guint32 n;
} Events;

static int by_time(const void *a, const void *b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

// start: of the calls, else their returns. n_types lists.
static Events *parent_events(const BbSite *site, bool start)
{
    Events *events = g_new0(Events, site->n_parent_types);
    for (guint32 i = 0; i < site->n_parents; i++)
        events[site->parents[i].type].n++;
    for (guint t = 0; t < site->n_parent_types; t++) {
        events[t].at = g_new(gint64, events[t].n);
        events[t].n = 0;
    }
    for (guint32 i = 0; i < site->n_parents; i++) {
        Events *of = &events[site->parents[i].type];
        of->at[of->n++] = start ? site->parents[i].s : site->parents[i].e;
    }
    for (guint t = 0; t < site->n_parent_types; t++)
        if (events[t].n > 0)
            qsort(events[t].at, events[t].n, sizeof(gint64), by_time);
    return events;
}

static Events *child_events(const BbSite *site, bool start)
{
    Events *events = g_new0(Events, site->n_child_types);
    for (guint32 i = 0; i < site->n_children; i++)
        events[site->children[i].type].n++;
    for (guint t = 0; t < site->n_child_types; t++) {
        events[t].at = g_new(gint64, events[t].n);
        events[t].n = 0;
    }
    for (guint32 i = 0; i < site->n_children; i++) {
        Events *of = &events[site->children[i].type];
        of->at[of->n++] = start ? site->children[i].s : site->children[i].e;
    }
    for (guint t = 0; t < site->n_child_types; t++)
        if (events[t].n > 0)
            qsort(events[t].at, events[t].n, sizeof(gint64), by_time);
    return events;
}

static void events_free(Events *events, guint n)
{
    for (guint t = 0; t < n; t++)
        g_free(events[t].at);
    g_free(events);
}

static guint32 first_from(const Events *events, gint64 at)
{
    guint32 low = 0, high = events->n;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (events->at[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef struct {
    const BbGapScale *scale;
    gint64 reach;  // the longest lag that counts
    gint64 period; // of replicas (site.h)
    double pairs;  // budget for one pair of kinds
} Lags;

// Smooths with a Gaussian of 1.2 bins; squares: with the squares of its weights.
static void blur(const double *in, double *out, bool squares)
{
    double weight[9], sum = 0;
    for (gint d = -4; d <= 4; d++)
        sum += weight[d + 4] = exp(-0.5 * d * d / 1.44);
    for (guint d = 0; d < 9; d++) {
        weight[d] /= sum;
        if (squares)
            weight[d] *= weight[d];
    }
    for (gint b = 0; b < (gint)BB_GAP_BINS; b++) {
        out[b] = 0;
        for (gint d = -4; d <= 4; d++) {
            gint from = b + d < 0 ? -1 - b - d : b + d;
            if (from < (gint)BB_GAP_BINS)
                out[b] += weight[d + 4] * in[from];
        }
    }
}

// How many lags of an x are looked at, on the mean. Where events come in bursts, their number and
// the time from the first to the last do not tell.
static double lags_of_one(const Lags *lags, const Events *x, const Events *y)
{
    guint32 step = x->n / ASKED + 1, asked = 0;
    double sum = 0;
    for (guint32 i = 0; i < x->n; i += step, asked++)
        sum += first_from(y, x->at[i] + 2 * lags->reach + 1) -
               first_from(y, x->at[i] - 2 * lags->reach);
    return sum / asked;
}

// Counts lags from x to y by bin, and how many lie where only chance puts them. Returns the share
// of x that was looked at.
static double count_lags(const Lags *lags, const Events *x, const Events *y, double *count,
                         double *chance)
{
    memset(count, 0, BB_GAP_BINS * sizeof *count);
    *chance = 0;
    if (x->n == 0 || y->n == 0)
        return 0;
    double each = 1 + lags_of_one(lags, x, y);
    guint32 step = (guint32)MAX(1, x->n * each / lags->pairs), used = 0;
    for (guint32 i = 0; i < x->n; i += step, used++) {
        gint64 at = x->at[i], to = at + 2 * lags->reach;
        for (guint32 j = first_from(y, at - 2 * lags->reach); j < y->n && y->at[j] <= to; j++) {
            gint64 lag = y->at[j] - at;
            if (lag >= 0 && lag <= lags->reach)
                count[bb_gap_bin(lags->scale, lag)]++;
            else if (lag > lags->reach || lag < -lags->reach)
                ++*chance;
        }
    }
    return (double)used / x->n;
}

static BbDensity *flat_density(const Lags *lags)
{
    BbDensity *density = bb_density_new();
    float level = (float)-log((double)lags->reach + 1);
    for (guint b = 0; b < BB_GAP_BINS; b++)
        density->log[b] = level;
    return density;
}

// By how much each lag from x to y is more frequent than chance would have it. Returns the share of
// y that this is; below 0 where there is nothing to compare.
static double find_excess(const Lags *lags, const Events *x, const Events *y, double *count)
{
    double flat[BB_GAP_BINS], seen[BB_GAP_BINS], due[BB_GAP_BINS], spread[BB_GAP_BINS];
    double chance, total = 0, share = count_lags(lags, x, y, count, &chance);
    double rate = chance / (2.0 * (double)lags->reach + 1);
    guint last = bb_gap_bin(lags->scale, lags->reach);
    for (guint b = 0; b < BB_GAP_BINS; b++)
        flat[b] = b <= last ? rate * (double)lags->scale->width[b] : 0;
    blur(count, seen, false);
    blur(flat, due, false);
    blur(flat, spread, true);
    for (guint b = 0; b < BB_GAP_BINS; b++)
        total += count[b] = MAX(0, seen[b] - due[b] - 2 * sqrt(spread[b] + 0.05));
    return share > 0 ? total / (share * y->n) : -1;
}

// pairs: how many of them there are; may be NULL.
static BbDensity *excess_density(const Lags *lags, const Events *x, const Events *y, double *pairs)
{
    double count[BB_GAP_BINS], share = find_excess(lags, x, y, count);
    if (pairs)
        *pairs = MAX(0, share) * y->n;
    if (share < EXCESS_LEAST)
        return flat_density(lags);
    BbDensity *density = bb_density_new();
    for (guint b = 0; b < BB_GAP_BINS; b++)
        if (count[b] > 0)
            bb_density_add(density, b, SHARPEN * count[b]);
    bb_density_fit(density, lags->scale);
    return density;
}

static gint64 ninety_ninth(const BbSite *site)
{
    g_autofree gint64 *length = g_new(gint64, site->n_parents);
    for (guint32 i = 0; i < site->n_parents; i++)
        length[i] = site->parents[i].e - site->parents[i].s;
    qsort(length, site->n_parents, sizeof *length, by_time);
    return CLAMP(length[(gsize)(0.99 * (site->n_parents - 1))], 1, LENGTH_MAX);
}

static BbDensity *durations(const BbSite *site, const BbGapScale *scale, guint type)
{
    BbDensity *density = bb_density_new();
    for (guint32 i = 0; i < site->n_parents; i++) {
        const BbSiteParent *parent = &site->parents[i];
        if (parent->type == type)
            bb_density_add(density, bb_gap_bin(scale, parent->e - parent->s), 1);
    }
    bb_density_fit(density, scale);
    return density;
}

BbOnset *bb_onset_new(const BbSite *site, const BbGapScale *scale)
{
    BbOnset *onset = g_new0(BbOnset, 1);
    guint np = onset->np = site->n_parent_types, nc = onset->nc = site->n_child_types;
    Lags lags = {scale, ninety_ninth(site), site->period,
                 PAIRS_OF_SITE / ((double)nc * (2 * np + nc))};
    lags.pairs = MAX(lags.pairs, PAIRS_LEAST);
    Events *arrivals = parent_events(site, true), *replies = parent_events(site, false);
    Events *calls = child_events(site, true), *returns = child_events(site, false);
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
            onset->start[p * nc + c] = excess_density(&lags, &arrivals[p], &calls[c], NULL);
            onset->end[p * nc + c] = excess_density(&lags, &returns[c], &replies[p], NULL);
        }
    }
    for (guint d = 0; d < nc; d++)
        for (guint c = 0; c < nc; c++)
            onset->next[d * nc + c] = excess_density(&lags, &returns[d], &calls[c], NULL);
    events_free(arrivals, np);
    events_free(replies, np);
    events_free(calls, nc);
    events_free(returns, nc);
    return onset;
}

void bb_onset_free(BbOnset *onset)
{
    if (!onset)
        return;
    for (guint i = 0; i < onset->np * onset->nc; i++) {
        g_free(onset->start[i]);
        g_free(onset->end[i]);
    }
    for (guint i = 0; i < onset->nc * onset->nc; i++)
        g_free(onset->next[i]);
    for (guint i = 0; i < onset->np; i++)
        g_free(onset->whole[i]);
    for (guint i = 0; i < onset->nc; i++) {
        g_free(onset->before[i]);
        g_free(onset->after[i]);
    }
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

// ---- what follows what at all ------------------------------------------------------------------

// Arrivals or returns of all calls to the node.
static Events all_parent_events(const BbSite *site, bool start)
{
    Events events = {g_new(gint64, site->n_parents), site->n_parents};
    for (guint32 i = 0; i < site->n_parents; i++)
        events.at[i] = start ? site->parents[i].s : site->parents[i].e;
    qsort(events.at, events.n, sizeof(gint64), by_time);
    return events;
}

// Returns to the node of its calls of a type that have candidates (n_candidates: of each child).
static Events nested_returns(const BbSite *site, guint type, const guint32 *n_candidates)
{
    Events events = {g_new(gint64, site->n_children), 0};
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->children[x].type == type && n_candidates[x] > 0)
            events.at[events.n++] = site->children[x].e;
    qsort(events.at, events.n, sizeof(gint64), by_time);
    return events;
}

// Calls of a type; n_candidates: of those that have none.
static Events calls_of(const BbSite *site, guint type, const guint32 *n_candidates)
{
    Events events = {g_new(gint64, site->n_children), 0};
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->children[x].type == type && (!n_candidates || n_candidates[x] == 0))
            events.at[events.n++] = site->children[x].s;
    return events;
}

// Whether y, moved by some time, is known around a time as far as lags are looked at: at the ends
// of a trace lags are missing that chance would make, and each replica's times have their own ends.
static bool is_inside(const Lags *lags, const Events *y, gint64 moved, gint64 at)
{
    gint64 margin = 2 * lags->reach, period = lags->period;
    if (period == 0)
        return at - moved >= y->at[0] + margin && at - moved <= y->at[y->n - 1] - margin;
    // A replica's times lie in the first quarter of its period.
    gint64 own = at - moved - (at + period / 2) / period * period;
    return own >= margin && own <= period / 4 - margin;
}

// Those of x where y, moved, is known.
static Events inside_of(const Lags *lags, const Events *x, const Events *y, gint64 moved,
                        gint64 *room)
{
    Events inside = {room, 0};
    for (guint32 i = 0; i < x->n; i++)
        if (is_inside(lags, y, moved, x->at[i]))
            room[inside.n++] = x->at[i];
    return inside;
}

// Share of y that follows x, beyond the most that the same count finds at lags where nothing
// follows: where events are many, chance alone makes some of their lags frequent. NAN: the trace is
// too short to tell, or chance may make most of what is found.
static double net_share(const Lags *lags, const Events *x, const Events *y)
{
    static const gint elsewhere[] = {0, -3, 3}; // lags up to 2 tell what chance makes
    double count[BB_GAP_BINS], found[G_N_ELEMENTS(elsewhere)];
    if (x->n == 0 || y->n == 0)
        return 0;
    g_autofree gint64 *at = g_new(gint64, y->n), *room = g_new(gint64, x->n);
    const Events other = {at, y->n};
    for (guint k = 0; k < G_N_ELEMENTS(elsewhere); k++) {
        gint64 moved = elsewhere[k] * lags->reach;
        guint32 known = 0; // of y
        for (guint32 i = 0; i < y->n; i++) {
            at[i] = y->at[i] + moved;
            known += is_inside(lags, y, moved, at[i]);
        }
        Events inside = inside_of(lags, x, y, moved, room);
        if (known < y->n / 4 + 1 || inside.n == 0)
            return (double)NAN;
        found[k] = find_excess(lags, &inside, &other, count) * y->n / known;
    }
    double chance = MAX(0, MAX(found[1], found[2]));
    return chance > CHANCE_MOST ? (double)NAN : found[0] - chance;
}

// Frees x.
static double net_share_of(const Lags *lags, Events x, const Events *y)
{
    double share = net_share(lags, &x, y);
    g_free(x.at);
    return share;
}

double bb_onset_due(const BbSite *site, const BbGapScale *scale, guint type,
                    const guint32 *n_candidates, gint64 *reach)
{
    Lags lags = {scale, ninety_ninth(site), site->period, PAIRS_ASKED};
    Events lone = calls_of(site, type, n_candidates);
    double best = fmax(net_share_of(&lags, all_parent_events(site, true), &lone),
                       net_share_of(&lags, all_parent_events(site, false), &lone));
    for (guint c = 0; c < site->n_child_types; c++)
        best = fmax(best, net_share_of(&lags, nested_returns(site, c, n_candidates), &lone));
    *reach = 2 * lags.reach;
    g_free(lone.at);
    return isnan(best) ? 0 : best;
}

static double share_wanted(const Events *calls)
{
    return CAUSED_LEAST + 1 / sqrt(MAX(calls->n, 1));
}

// Calls that follow the returns of those that are caused are caused as well. Such as follow returns
// of their own kind only are a loop's.
static void spread_caused(BbOnset *onset, const Lags *lags, const Events *calls,
                          const Events *returns)
{
    guint nc = onset->nc, done = 0, n = 0;
    g_autofree guint *queue = g_new(guint, nc);
    for (guint c = 0; c < nc; c++)
        if (onset->is_caused[c])
            queue[n++] = c;
    for (; done < n; done++) {
        const Events *by = &returns[queue[done]];
        for (guint c = 0; c < nc; c++) {
            if (onset->is_caused[c] || by->n < CAUSED_LEAST * calls[c].n)
                continue;
            onset->is_caused[c] = net_share(lags, by, &calls[c]) > share_wanted(&calls[c]);
            if (onset->is_caused[c])
                queue[n++] = c;
        }
    }
}

void bb_onset_find_caused(BbOnset *onset, const BbSite *site, const BbGapScale *scale)
{
    guint nc = site->n_child_types;
    Lags lags = {scale, ninety_ninth(site), site->period, PAIRS_ASKED};
    lags.pairs = MAX(PAIRS_LEAST, MIN(PAIRS_ASKED, PAIRS_OF_SITE / nc));
    Events arrivals = all_parent_events(site, true), replies = all_parent_events(site, false);
    Events *calls = child_events(site, true), *returns = child_events(site, false);
    for (guint c = 0; c < nc; c++) {
        double share = net_share(&lags, &arrivals, &calls[c]);
        onset->is_caused[c] = isnan(share) || share > share_wanted(&calls[c]) ||
                              net_share(&lags, &replies, &calls[c]) > share_wanted(&calls[c]);
    }
    spread_caused(onset, &lags, calls, returns);
    events_free(calls, nc);
    events_free(returns, nc);
    g_free(arrivals.at);
    g_free(replies.at);
}

void bb_onset_add_late(BbOnset *onset, const BbSite *site, const BbGapScale *scale, guint type)
{
    Lags lags = {scale, ninety_ninth(site), site->period, PAIRS_LEAST};
    Events calls = calls_of(site, type, NULL), replies = all_parent_events(site, false);
    double before, after;
    onset->before[type] = excess_density(&lags, &calls, &replies, &before);
    onset->after[type] = excess_density(&lags, &replies, &calls, &after);
    onset->is_before[type] = (1 + before) / (2 + before + after);
    g_free(calls.at);
    g_free(replies.at);
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

double bb_onset_log(const BbOnset *onset, const BbGapScale *scale, const BbSiteParent *parent,
                    const BbSiteChild *child)
{
    guint at = parent->type * onset->nc + child->type;
    double start = (double)onset->start[at]->log[bb_gap_bin(scale, child->s - parent->s)];
    if (onset->before[child->type])
        return start + late_log(onset, scale, parent, child);
    return start + (double)onset->end[at]->log[bb_gap_bin(scale, parent->e - child->e)];
}
