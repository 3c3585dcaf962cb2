// SPDX-License-Identifier: Apache-2.0
// In: chains of edges, with the messages they claim. Out: weights that hold false ones back.
#include "convolution/veto.h"

#include "convolution/load.h"

#include <math.h>
#include <stdlib.h>

#define SHARE_LEAST 0.002 // of all roots: a label that is looked at
#define MESSAGES_LEAST 5
#define LAG_MOST 2e18       // ns: with times of up to 2^62 within gint64
#define CLAIMS_MAX 2000000u // the rarest labels claim nothing beyond it
#define WIDTH 2.0           // deviations around a chain's delay in which its ends are counted
#define REACH 6.0           // deviations beyond which a claim holds nothing
#define NOISE_NS 1e6        // added to the deviation of any chain
#define SLACK 3.0           // deviations of chance that a chain is given
#define EXCESS 0.6          // of its claim: a chain that has less is held back,
#define PACE 0.7            // by this power of the share it has

// The delay between messages on two edges, one causing the other.
typedef struct {
    guint64 key; // edges
    double centre_ns, variance;
} Hop;

// What a label's messages and those of an edge further up its chain have in common.
typedef struct {
    bool known;
    double low_ns, high_ns; // delays that are looked at
    double pairs, chance;   // of messages at these delays
} Ends;

struct BbVeto {
    const BbTraffic *traffic;
    double calm_ns;
    GArray *hops;    // of Hop, by key
    GPtrArray *ends; // by label: of Ends by depth of the ancestor; NULL if never looked at
};

// ---- delays of hops ----------------------------------------------------------------------------

typedef struct {
    guint64 key;
    double lag_ns;
} Lag;

static gint compare_lags(gconstpointer left, gconstpointer right)
{
    const Lag *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->lag_ns < b->lag_ns ? -1 : a->lag_ns > b->lag_ns;
}

static guint64 hop_key(guint32 from, guint32 to)
{
    return (guint64)from << 32 | to;
}

static void learn_hops(BbVeto *veto, const guint32 *cause)
{
    const BbTraffic *traffic = veto->traffic;
    g_autofree Lag *lags = g_new(Lag, MAX(1, traffic->n_messages));
    gsize n = 0;
    for (guint32 i = 0; i < traffic->n_messages; i++)
        if (cause[i] != BB_CALL_NO_PARENT)
            lags[n++] = (Lag){hop_key(traffic->edge[cause[i]], traffic->edge[i]),
                              (double)bb_time_between(traffic->messages[cause[i]].arrived_ns,
                                                      traffic->messages[i].call_ns)};
    qsort(lags, n, sizeof *lags, compare_lags);
    for (gsize first = 0, end; first < n; first = end) {
        for (end = first; end < n && lags[end].key == lags[first].key;)
            end++;
        gsize count = end - first;
        double early = lags[first + count * 16 / 100].lag_ns;
        double middle = lags[first + count / 2].lag_ns;
        double late = lags[first + count * 84 / 100].lag_ns;
        Hop hop = {lags[first].key, (early + middle + late) / 3,
                   (late - early) * (late - early) / 4};
        g_array_append_val(veto->hops, hop);
    }
}

static const Hop *find_hop(const BbVeto *veto, guint32 from, guint32 to)
{
    guint64 key = hop_key(from, to);
    guint low = 0, high = veto->hops->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(veto->hops, Hop, middle).key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == veto->hops->len || g_array_index(veto->hops, Hop, low).key != key)
        return NULL;
    return &g_array_index(veto->hops, Hop, low);
}

BbVeto *bb_veto_new(const BbTraffic *traffic, const guint32 *cause, double calm_ns)
{
    BbVeto *veto = g_new0(BbVeto, 1);
    veto->traffic = traffic;
    veto->calm_ns = calm_ns;
    veto->hops = g_array_new(FALSE, FALSE, sizeof(Hop));
    veto->ends = g_ptr_array_new_with_free_func(g_free);
    learn_hops(veto, cause);
    return veto;
}

void bb_veto_free(BbVeto *veto)
{
    if (!veto)
        return;
    g_array_unref(veto->hops);
    g_ptr_array_unref(veto->ends);
    g_free(veto);
}

// ---- what two ends have in common --------------------------------------------------------------

static BbStream stream_in(const BbTraffic *traffic, guint32 edge)
{
    const BbEdge *e = &traffic->edges[edge];
    return (BbStream){.count = e->count, .ns = traffic->arrived_ns + e->first};
}

static BbStream stream_out(const BbTraffic *traffic, guint32 edge)
{
    const BbEdge *e = &traffic->edges[edge];
    return (BbStream){.count = e->count, .ns = traffic->sent_ns + e->first};
}

static void count_ends(const BbVeto *veto, guint32 from, guint32 to, Ends *ends)
{
    BbStream in = stream_in(veto->traffic, from), out = stream_out(veto->traffic, to);
    // Held, as sums of hostile delays may be any.
    gint64 low_ns = (gint64)CLAMP(ends->low_ns, -LAG_MOST, LAG_MOST);
    gint64 high_ns = (gint64)CLAMP(ends->high_ns, -LAG_MOST, LAG_MOST);
    guint32 first = 0, end = 0;
    guint64 pairs = 0;
    for (guint32 n = 0; n < out.count; n++) {
        gint64 from_ns = out.ns[n] - high_ns, to_ns = out.ns[n] - low_ns;
        while (first < in.count && in.ns[first] < from_ns)
            first++;
        end = MAX(end, first);
        while (end < in.count && in.ns[end] <= to_ns)
            end++;
        pairs += end - first;
    }
    ends->pairs = (double)pairs;
    BbTrafficLoad load = bb_load_measure(&in, &out, veto->traffic->start_ns, veto->calm_ns);
    ends->chance = load.pairs * (ends->high_ns - MAX(0, ends->low_ns));
}

// ---- claims ------------------------------------------------------------------------------------

// That so many messages of a label were caused, at the end of a chain, by messages of an edge.
typedef struct {
    guint64 key; // edges of the ancestor and of the label
    guint32 label;
    double centre_ns, deviation_ns, count;
    guint32 depth; // of the ancestor
    bool judged;   // not too rare
} Claim;

static Ends *ends_of(BbVeto *veto, const BbLabels *labels, guint32 number)
{
    if (number >= veto->ends->len)
        g_ptr_array_set_size(veto->ends, (gint)labels->labels->len);
    Ends *ends = g_ptr_array_index(veto->ends, number);
    if (!ends)
        ends = veto->ends->pdata[number] = g_new0(Ends, bb_label(labels, number)->depth + 1);
    return ends;
}

// The claims of a label on each edge of its chain but the last hop's.
static void add_claims(const BbVeto *veto, const BbLabels *labels, guint32 number, bool judged,
                       GArray *claims)
{
    const BbLabel *label = bb_label(labels, number), *below = label;
    double centre = 0, variance = 0;
    for (guint32 up = label->parent; up != BB_LABEL_NONE; up = bb_label(labels, up)->parent) {
        const BbLabel *above = bb_label(labels, up);
        const Hop *hop = find_hop(veto, above->edge, below->edge);
        if (!hop)
            return;
        centre += hop->centre_ns;
        variance += hop->variance;
        below = above;
        if (up == label->parent)
            continue;
        Claim claim = {
            .key = hop_key(above->edge, label->edge),
            .label = number,
            .centre_ns = centre,
            .deviation_ns = sqrt(variance) + NOISE_NS,
            .count = label->count,
            .depth = above->depth,
            .judged = judged,
        };
        g_array_append_val(claims, claim);
    }
}

static gint compare_claims(gconstpointer left, gconstpointer right)
{
    const Claim *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->centre_ns != b->centre_ns)
        return a->centre_ns < b->centre_ns ? -1 : 1;
    return a->label < b->label ? -1 : a->label > b->label;
}

// The first of some claims whose centre is not below.
static gsize find_centre(const Claim *claims, gsize n, double centre_ns)
{
    gsize low = 0, high = n;
    while (low < high) {
        gsize middle = low + (high - low) / 2;
        if (claims[middle].centre_ns < centre_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// How many messages some claims, by centre, have at the delays of one. reach_ns: of the widest.
static double claimed_at(const Claim *one, const Claim *claims, gsize n, double reach_ns)
{
    double low = one->centre_ns - WIDTH * one->deviation_ns;
    double high = one->centre_ns + WIDTH * one->deviation_ns, sum = 0;
    for (gsize i = find_centre(claims, n, low - reach_ns);
         i < n && claims[i].centre_ns <= high + reach_ns; i++) {
        const Claim *claim = &claims[i];
        double reach = REACH * claim->deviation_ns, scale = claim->deviation_ns * G_SQRT2;
        if (claim->centre_ns + reach < low || claim->centre_ns - reach > high)
            continue;
        sum += claim->count * 0.5 *
               (erf((high - claim->centre_ns) / scale) - erf((low - claim->centre_ns) / scale));
    }
    return MAX(1, sum);
}

// What the ends of a claim have in common, if it can matter: where chance alone brings so many
// pairs that no claim of that size could be refused, nothing is counted.
static const Ends *look_at(BbVeto *veto, const BbLabels *labels, const Claim *claim, double claimed)
{
    guint32 from = (guint32)(claim->key >> 32), to = (guint32)claim->key;
    const BbTraffic *traffic = veto->traffic;
    double span = (double)traffic->end_ns - (double)traffic->start_ns;
    double chance = 2 * WIDTH * claim->deviation_ns / MAX(span, 1) * traffic->edges[from].count *
                    traffic->edges[to].count;
    if (SLACK * sqrt(chance) > EXCESS * claimed)
        return NULL;
    Ends *ends = &ends_of(veto, labels, claim->label)[claim->depth];
    if (!ends->known) {
        ends->known = true;
        ends->low_ns = claim->centre_ns - WIDTH * claim->deviation_ns;
        ends->high_ns = claim->centre_ns + WIDTH * claim->deviation_ns;
        count_ends(veto, from, to, ends);
    }
    return ends;
}

// By label: the least share of what it claims that its ends allow.
static void judge(BbVeto *veto, const BbLabels *labels, const GArray *claims, double *allowed)
{
    const Claim *all = (const Claim *)(gpointer)claims->data;
    for (gsize first = 0, end; first < claims->len; first = end) {
        double reach = 0;
        for (end = first; end < claims->len && all[end].key == all[first].key; end++)
            reach = MAX(reach, REACH * all[end].deviation_ns);
        for (gsize i = first; i < end; i++) {
            if (!all[i].judged)
                continue;
            double claimed = claimed_at(&all[i], all + first, end - first, reach);
            const Ends *ends = look_at(veto, labels, &all[i], claimed);
            if (!ends)
                continue;
            double there = MAX(0, ends->pairs - ends->chance) + SLACK * sqrt(ends->pairs + 1) + 1;
            allowed[all[i].label] = MIN(allowed[all[i].label], there / claimed);
        }
    }
}

// How many messages a label must have to claim anything, so that there are not too many claims.
static guint32 claims_from(const BbLabels *labels)
{
    for (guint32 least = 1;; least *= 2) {
        guint64 claims = 0;
        for (guint i = 0; i < labels->labels->len; i++)
            if (bb_label(labels, i)->count >= least)
                claims += bb_label(labels, i)->depth;
        if (claims <= CLAIMS_MAX)
            return least;
    }
}

bool bb_veto_apply(BbVeto *veto, BbLabels *labels)
{
    guint n = labels->labels->len;
    double roots = 0;
    for (guint i = 0; i < n; i++)
        if (bb_label(labels, i)->parent == BB_LABEL_NONE)
            roots += bb_label(labels, i)->count;
    double least = MAX(MESSAGES_LEAST, SHARE_LEAST * roots);
    guint32 rare = claims_from(labels);
    g_autoptr(GArray) claims = g_array_new(FALSE, FALSE, sizeof(Claim));
    for (guint i = 0; i < n; i++)
        if (bb_label(labels, i)->count >= rare)
            add_claims(veto, labels, i, bb_label(labels, i)->count >= least, claims);
    g_array_sort(claims, compare_claims);
    g_autofree double *allowed = g_new(double, MAX(1, n));
    for (guint i = 0; i < n; i++)
        allowed[i] = G_MAXDOUBLE;
    judge(veto, labels, claims, allowed);
    bool any = false;
    for (guint i = 0; i < n; i++)
        if (allowed[i] < EXCESS) {
            BbLabel *label = bb_label(labels, i);
            label->weight *= (float)pow(allowed[i], PACE);
            any = true;
        }
    return any;
}
