// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's calls. Out: which kinds of them follow others more than chance has it.
#include "nesting/caused.h"

#include <math.h>
#include <stdlib.h>

#define PAIRS_OF_KIND 1000000.0 // lags looked at of one kind of events and another,
#define PAIRS_OF_ONE 4000000.0  // and of one and all others, but
#define PAIRS_LEAST 20000.0
#define PAIRS_LATER 250000.0 // up to a longer reach
#define CAUSED_LEAST 0.1     // share of calls, and 1/sqrt of their number, that must follow others
#define CALLS_IN_QUANTUM 1.0 // more of them, and times of calls tell nothing
#define QUARTERS 8 // quarters of the longest lag, before and after, that tell what chance does
#define OPEN_MOST \
    0.9 // share of the time that a call to the node is open, of which a share of calls tells
#define CHANCE_MOST 0.3 // share that chance alone may make, where more than that is looked for

// Whether y is known around a time as far as lags are looked at: at the ends of a trace lags are
// missing that chance would make, and each replica's times have their own ends.
static bool is_inside(const BbLags *lags, const BbEvents *y, gint64 at, gint64 moved)
{
    gint64 margin = 2 * lags->reach, half = lags->period / 2;
    guint32 first = 0, end = y->n;
    if (half > 0) {
        gint64 begin = (at + half) / lags->period * lags->period;
        first = bb_events_from(y, begin - half);
        end = bb_events_from(y, begin + half);
    }
    return first < end && at - moved >= y->at[first] + margin &&
           at - moved <= y->at[end - 1] - margin;
}

// Those of x around which y, moved by some time, is known.
static BbEvents inside_of(const BbLags *lags, const BbEvents *x, const BbEvents *y, gint64 moved,
                          gint64 *room)
{
    BbEvents inside = {room, 0};
    for (guint32 i = 0; i < x->n; i++)
        if (is_inside(lags, y, x->at[i], moved))
            room[inside.n++] = x->at[i];
    return inside;
}

// Of how many of y all lags are known; 0 where these are too few to tell anything.
static guint32 count_known(const BbLags *lags, const BbEvents *y)
{
    g_autofree gint64 *room = g_new(gint64, (gsize)y->n + 1);
    guint32 known = inside_of(lags, y, y, 0, room).n;
    return known < y->n / 4 + 1 ? 0 : known;
}

// Share of y that follows x if both are as they are, or y is moved by some time, and is as `there`
// then. known: of y. NAN: the trace is too short to tell.
static double share_found(const BbLags *lags, const BbEvents *x, const BbEvents *y, guint32 known,
                          gint64 moved, const BbEvents *there)
{
    double count[BB_GAP_BINS];
    if (x->n == 0 || there->n == 0)
        return 0;
    if (known == 0)
        return (double)NAN;
    g_autofree gint64 *room = g_new(gint64, x->n);
    BbEvents inside = inside_of(lags, x, y, moved, room);
    return inside.n == 0 ? (double)NAN : bb_lags_excess(lags, &inside, there, count) * y->n / known;
}

// Share of y that follows x, beyond the most that the same count finds at lags where nothing
// follows: where events are many, chance alone makes some of their lags frequent. NAN: the trace is
// too short to tell, or chance may make most of what is found.
static double net_share(const BbLags *lags, const BbEvents *x, const BbEvents *y)
{
    static const gint elsewhere[] = {-3, 3}; // lags up to 2 tell what chance makes
    double chance = 0;
    if (x->n == 0 || y->n == 0)
        return 0;
    guint32 known = count_known(lags, y);
    g_autofree gint64 *at = g_new(gint64, y->n);
    for (guint k = 0; k < G_N_ELEMENTS(elsewhere); k++) {
        gint64 moved = elsewhere[k] * lags->reach;
        for (guint32 i = 0; i < y->n; i++)
            at[i] = y->at[i] + moved;
        double found = share_found(lags, x, y, known, moved, &(BbEvents){at, y->n});
        if (isnan(found))
            return found;
        chance = fmax(chance, found);
    }
    return chance > CHANCE_MOST ? (double)NAN : share_found(lags, x, y, known, 0, y) - chance;
}

// ---- what happens at a site --------------------------------------------------------------------

struct BbCaused {
    const BbSite *site;
    BbLags lags; // up to the longest
    BbEvents *arrivals, *replies;
    // When calls to the node are open: for each arrival when the last of it and those before it
    // replies; and the share of the trace in which any is.
    gint64 *until;
    double open;
};

typedef struct {
    gint64 from, to;
} Span;

static int by_from(const void *a, const void *b)
{
    const Span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void find_open(BbCaused *caused)
{
    const BbSite *site = caused->site;
    g_autofree Span *spans = g_new(Span, site->n_parents);
    double time = 0;
    for (guint32 p = 0; p < site->n_parents; p++)
        spans[p] = (Span){bb_site_begun(site, &site->parents[p]), site->parents[p].e};
    if (site->n_parents > 0)
        qsort(spans, site->n_parents, sizeof *spans, by_from);
    for (guint32 p = 0; p < site->n_parents; p++) {
        gint64 before = p > 0 ? caused->until[p - 1] : G_MININT64;
        caused->until[p] = MAX(spans[p].to, before);
        if (caused->until[p] > before)
            time += (double)caused->until[p] - (double)MAX(spans[p].from, before);
    }
    caused->open = time / site->span;
}

BbCaused *bb_caused_new(const BbSite *site, const BbGapScale *scale)
{
    BbCaused *caused = g_new(BbCaused, 1);
    *caused = (BbCaused){.site = site,
                         .lags = bb_lags_of(site, scale, PAIRS_OF_KIND),
                         .arrivals = bb_events_of_parents(site, true, false),
                         .replies = bb_events_of_parents(site, false, false),
                         .until = g_new(gint64, site->n_parents)};
    find_open(caused);
    return caused;
}

void bb_caused_free(BbCaused *caused)
{
    if (!caused)
        return;
    bb_events_free(caused->arrivals, 1);
    bb_events_free(caused->replies, 1);
    g_free(caused->until);
    g_free(caused);
}

// Calls of a type, which are in order, but for those that are not wanted ([child]; NULL: all are).
static BbEvents calls_of(const BbSite *site, guint type, const bool *unwanted)
{
    BbEvents calls = {g_new(gint64, (gsize)site->n_children + 1), 0};
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->children[x].type == type && !(unwanted && unwanted[x]))
            calls.at[calls.n++] = site->children[x].s;
    return calls;
}

// ---- calls that are made while others are open -------------------------------------------------

// Whether a call to the node that began at `from` or before is open until `to` or longer.
static bool is_open(const BbCaused *caused, gint64 from, gint64 to)
{
    guint32 p = bb_events_from(caused->arrivals, from + 1);
    return p > 0 && caused->until[p - 1] >= to;
}

// Share of some times, moved, at which a call to the node is open.
static double open_share(const BbCaused *caused, const BbEvents *times, gint64 moved)
{
    guint32 open = 0;
    for (guint32 i = 0; i < times->n; i++)
        open += is_open(caused, times->at[i] + moved, times->at[i] + moved);
    return (double)open / times->n;
}

// Share of calls that are made while a call to the node is open, what is so a while before and
// after on the mean, and two standard deviations of the two if calls are made one by one. NAN: the
// trace is too short to tell.
typedef struct {
    double share, chance, spread;
} Within;

static Within within_of(const BbCaused *caused, const BbEvents *calls)
{
    const BbLags *lags = &caused->lags;
    Within within = {0, 0, 0};
    g_autofree gint64 *room = g_new(gint64, (gsize)calls->n + 1);
    BbEvents inside = inside_of(lags, calls, caused->arrivals, 0, room);
    if (inside.n < calls->n / 4 + 1)
        return (Within){(double)NAN, (double)NAN, (double)NAN};
    for (gint k = 1; k <= QUARTERS; k++)
        for (gint side = -1; side <= 1; side += 2)
            within.chance += open_share(caused, &inside, side * k * lags->reach / 4);
    within.chance /= 2 * QUARTERS;
    // Chance may have made so many more, and where it made none, one call or two.
    within.spread = 2 * sqrt(MAX(within.chance * (1 - within.chance), 1.0 / inside.n) / inside.n);
    within.share = open_share(caused, &inside, 0);
    return within;
}

// How many of the calls are made while one is open, beyond chance. Where a client asks again as
// soon as it has its answer, everything follows everything at the same lags, and only this tells.
static double open_excess(const BbCaused *caused, const BbEvents *calls)
{
    if (caused->arrivals->n == 0 || calls->n == 0)
        return 0;
    Within within = within_of(caused, calls);
    return within.share - within.chance - within.spread;
}

BbCausedWithin bb_caused_within(const BbCaused *caused, guint type)
{
    BbEvents calls = calls_of(caused->site, type, NULL);
    Within within = within_of(caused, &calls);
    double follow = net_share(&caused->lags, caused->arrivals, &calls) * calls.n;
    g_free(calls.at);
    // What lasts longer than is looked at before and after is open then as well.
    double chance = fmin(within.chance, caused->open);
    if (isnan(chance) || chance > OPEN_MOST || isnan(follow))
        return (BbCausedWithin){1, 1, calls.n};
    double beyond = (within.share - chance) / (1 - chance);
    return (BbCausedWithin){.of_all = beyond + within.spread / (1 - chance),
                            .of_open = beyond / fmax(within.share, 1.0 / calls.n),
                            .follow = follow};
}

// ---- calls that are nested in none -------------------------------------------------------------

double bb_caused_share(const BbCaused *caused, guint type, const bool *nested)
{
    const BbSite *site = caused->site;
    const BbLags *lags = &caused->lags;
    BbEvents lone = calls_of(site, type, nested);
    BbEvents *returns = bb_events_of_children(site, false, nested);
    double best = net_share(lags, caused->arrivals, &lone);
    best = fmax(best, open_excess(caused, &lone));
    best = fmax(best, net_share(lags, caused->replies, &lone));
    for (guint c = 0; c < site->n_child_types; c++)
        best = fmax(best, net_share(lags, &returns[c], &lone));
    bb_events_free(returns, site->n_child_types);
    g_free(lone.at);
    return isnan(best) ? 0 : best;
}

// Calls of a type, moved by some time, that are within no call to the node there.
static BbEvents moved_lone(const BbCaused *caused, guint type, gint64 moved, gint64 *room)
{
    const BbSite *site = caused->site;
    BbEvents lone = {room, 0};
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        if (child->type == type && !is_open(caused, child->s + moved, child->e + moved))
            lone.at[lone.n++] = child->s + moved;
    }
    return lone;
}

// What chance makes of calls of a type that are within no call to the node. Where load comes and
// goes, such are in its pauses, and so follow it all. known: of these.
static double lone_by_chance(const BbCaused *caused, const BbLags *lags, const BbEvents *x,
                             const BbEvents *lone, guint32 known, guint type)
{
    static const gint elsewhere[] = {-9, -7, -5, -3, 3, 5, 7, 9};
    double chance = 0;
    g_autofree gint64 *room = g_new(gint64, caused->site->n_children);
    for (guint k = 0; k < G_N_ELEMENTS(elsewhere); k++) {
        gint64 moved = elsewhere[k] * lags->reach;
        BbEvents there = moved_lone(caused, type, moved, room);
        double found = share_found(lags, x, lone, known, moved, &there);
        if (isnan(found))
            return found;
        chance = fmax(chance, found);
    }
    return chance;
}

double bb_caused_later(const BbCaused *caused, gint64 reach, guint type, const bool *nested,
                       double due)
{
    BbLags lags = caused->lags;
    lags.reach = reach;
    lags.pairs = PAIRS_LATER;
    BbEvents lone = calls_of(caused->site, type, nested);
    guint32 known = count_known(&lags, &lone);
    const BbEvents *of[] = {caused->arrivals, caused->replies};
    double best = 0;
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        double found = share_found(&lags, of[i], &lone, known, 0, &lone);
        if (!(found >= due)) // or cannot be told
            continue;
        double chance = lone_by_chance(caused, &lags, of[i], &lone, known, type);
        if (chance <= CHANCE_MOST) // nor is it NAN
            best = fmax(best, found - chance);
    }
    g_free(lone.at);
    return best >= due ? best : 0;
}

// ---- all kinds ---------------------------------------------------------------------------------

static double share_wanted(const BbEvents *calls)
{
    return CAUSED_LEAST + 1 / sqrt(MAX(calls->n, 1));
}

// Calls that follow the returns of those that are caused are caused as well. Such as follow returns
// of their own kind only are a loop's.
static void spread_caused(const BbLags *lags, const BbEvents *calls, const BbEvents *returns,
                          guint nc, bool *is_caused)
{
    guint done = 0, n = 0;
    g_autofree guint *queue = g_new(guint, nc);
    for (guint c = 0; c < nc; c++)
        if (is_caused[c])
            queue[n++] = c;
    for (; done < n; done++) {
        const BbEvents *by = &returns[queue[done]];
        for (guint c = 0; c < nc; c++) {
            if (is_caused[c] || by->n < CAUSED_LEAST * calls[c].n)
                continue;
            is_caused[c] = net_share(lags, by, &calls[c]) > share_wanted(&calls[c]);
            if (is_caused[c])
                queue[n++] = c;
        }
    }
}

void bb_caused_find(const BbCaused *caused, bool *is_caused)
{
    const BbSite *site = caused->site;
    guint nc = site->n_child_types;
    BbLags lags = caused->lags;
    lags.pairs = CLAMP(PAIRS_OF_ONE / nc, PAIRS_LEAST, PAIRS_OF_KIND);
    BbEvents *calls = bb_events_of_children(site, true, NULL);
    BbEvents *returns = bb_events_of_children(site, false, NULL);
    for (guint c = 0; c < nc; c++) {
        double share = net_share(&lags, caused->arrivals, &calls[c]);
        double wanted = share_wanted(&calls[c]);
        bool is_coarse = calls[c].n > CALLS_IN_QUANTUM * site->span;
        is_caused[c] = is_coarse || isnan(share) || share > wanted ||
                       net_share(&lags, caused->replies, &calls[c]) > wanted;
    }
    spread_caused(&lags, calls, returns, nc, is_caused);
    bb_events_free(calls, nc);
    bb_events_free(returns, nc);
}
