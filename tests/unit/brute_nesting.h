// SPDX-License-Identifier: Apache-2.0
// The slow twin of the nesting stage: section 5.1 of the paper, steps 2 to 4, read aloud. Every
// child looks at every call; nothing is sorted but the children; histograms are flat lists. For
// traces of some dozen calls.
#pragma once

#include <math.h>

#include "nesting/nesting.h"

#define BRUTE_ONE G_GUINT64_CONSTANT(5354228880) // a whole vote, in the units of the stage

typedef struct {
    guint32 a, b, c;
    gint bin;
    guint64 votes;
} BruteBar;

typedef struct {
    const BbPaths *paths;
    const BbNestingOptions *options;
    GArray *bars;  // of BruteBar
    bool *knotted; // of names
    guint32 *parent;
} Brute;

static inline const BbCall *brute_call(const Brute *brute, guint32 i)
{
    return &brute->paths->calls[i];
}

// A child whose clocks say that it ended before it began is taken to last no time.
static inline gint64 brute_end(const BbCall *call)
{
    return MAX(call->call_ns, call->return_ns);
}

// Nodes that remain when those that nobody calls, or that call nobody, are struck off until none
// is.
static inline bool *brute_knots(const BbPaths *paths, guint32 n_names)
{
    bool *left = g_new(bool, n_names), struck = true;
    for (guint32 n = 0; n < n_names; n++)
        left[n] = true;
    while (struck) {
        struck = false;
        for (guint32 n = 0; n < n_names; n++) {
            bool called = false, calls = false;
            for (guint32 i = 0; i < paths->n_calls; i++) {
                const BbCall *call = &paths->calls[i];
                if (!bb_call_is_returned(call) || !left[call->caller] || !left[call->callee])
                    continue;
                called |= call->callee == n;
                calls |= call->caller == n;
            }
            if (left[n] && (!called || !calls)) {
                left[n] = false;
                struck = true;
            }
        }
    }
    return left;
}

static inline bool brute_in_knot(const Brute *brute, const BbCall *call)
{
    return brute->knotted[call->caller] && brute->knotted[call->callee];
}

static inline bool brute_may_hold(const Brute *brute, guint32 p, guint32 c)
{
    const BbCall *parent = brute_call(brute, p), *child = brute_call(brute, c);
    gint64 window = brute->options->skew_window_ns;
    if (p == c || parent->callee != child->caller || !bb_call_is_returned(parent))
        return false;
    if (parent->arrived_ns - window > child->call_ns)
        return false;
    if (brute_end(child) > parent->replied_ns + window)
        return false;
    if (!brute_in_knot(brute, parent) || !brute_in_knot(brute, child))
        return true;
    gint64 outer = parent->return_ns - parent->call_ns, inner = child->return_ns - child->call_ns;
    return outer > inner || (outer == inner && p < c);
}

static inline guint brute_count(const Brute *brute, guint32 c)
{
    guint count = 0;
    for (guint32 p = 0; p < brute->paths->n_calls; p++)
        count += brute_may_hold(brute, p, c);
    return count;
}

static inline gint brute_bin(const Brute *brute, gint64 delay)
{
    double floor_ns = (double)brute->options->bin_floor_ns;
    if ((double)delay < floor_ns)
        return 0;
    double top = 1e6 * pow(1.05, 338);
    gint last = 1 + (gint)floor(log(top / floor_ns) / log(1.05) + 1e-9);
    return MIN(last, 1 + (gint)floor(log((double)delay / floor_ns) / log(1.05) + 1e-9));
}

static inline guint64 *brute_bar(GArray *bars, guint32 a, guint32 b, guint32 c, gint bin)
{
    for (guint i = 0; i < bars->len; i++) {
        BruteBar *bar = &g_array_index(bars, BruteBar, i);
        if (bar->a == a && bar->b == b && bar->c == c && bar->bin == bin)
            return &bar->votes;
    }
    BruteBar bar = {a, b, c, bin, 0};
    g_array_append_val(bars, bar);
    return &g_array_index(bars, BruteBar, bars->len - 1).votes;
}

static inline guint64 *brute_votes(const Brute *brute, GArray *bars, guint32 p, guint32 c)
{
    const BbCall *parent = brute_call(brute, p), *child = brute_call(brute, c);
    gint bin = brute_bin(brute, child->call_ns - parent->arrived_ns);
    return brute_bar(bars, parent->caller, child->caller, child->callee, bin);
}

static inline void brute_vote(Brute *brute)
{
    for (guint32 c = 0; c < brute->paths->n_calls; c++) {
        guint count = bb_call_is_returned(brute_call(brute, c)) ? brute_count(brute, c) : 0;
        for (guint32 p = 0; count > 0 && p < brute->paths->n_calls; p++)
            if (brute_may_hold(brute, p, c))
                *brute_votes(brute, brute->bars, p, c) += (BRUTE_ONE + count / 2) / count;
    }
}

// Each bar is spread over its neighbours by a Gaussian of 3.5 deviations; below bin 0 is reflected.
static inline void brute_smooth(Brute *brute)
{
    double deviation = brute->options->smoothing, sum = 0;
    gint radius = (gint)ceil(3.5 * deviation);
    if (deviation <= 0)
        return;
    for (gint d = 0; d <= radius; d++)
        sum += (d == 0 ? 1 : 2) * exp(-0.5 * d * d / (deviation * deviation));
    GArray *smooth = g_array_new(FALSE, FALSE, sizeof(BruteBar));
    for (guint i = 0; i < brute->bars->len; i++) {
        const BruteBar *bar = &g_array_index(brute->bars, BruteBar, i);
        for (gint d = -radius; d <= radius; d++) {
            gint bin = bar->bin + d < 0 ? -1 - (bar->bin + d) : bar->bin + d;
            double share = exp(-0.5 * d * d / (deviation * deviation)) / sum;
            *brute_bar(smooth, bar->a, bar->b, bar->c, bin) +=
                (guint64)((double)bar->votes * share + 0.5);
        }
    }
    g_array_unref(brute->bars);
    brute->bars = smooth;
}

static inline double brute_power(guint count, double penalty)
{
    return count == 0 ? 1 : pow(count, -penalty);
}

static inline double brute_score(const Brute *brute, guint32 p, guint32 c)
{
    const BbCall *child = brute_call(brute, c);
    guint overlap = 0, same = 0, any = 0;
    for (guint32 k = 0; k < brute->paths->n_calls; k++) {
        const BbCall *other = brute_call(brute, k);
        if (brute->parent[k] != p)
            continue;
        any++;
        same += other->callee == child->callee;
        overlap += other->call_ns < brute_end(child) && child->call_ns < brute_end(other);
    }
    double penalty = brute_power(overlap, brute->options->overlap_penalty);
    penalty *= brute_power(same, brute->options->same_penalty);
    penalty *= brute_power(any, brute->options->any_penalty);
    return (double)*brute_votes(brute, brute->bars, p, c) * penalty;
}

static inline guint32 brute_best(const Brute *brute, guint32 c)
{
    guint32 best = BB_CALL_NO_PARENT;
    double best_score = -1;
    for (guint32 p = 0; p < brute->paths->n_calls; p++) {
        if (!brute_may_hold(brute, p, c))
            continue;
        double score = brute_score(brute, p, c);
        bool earlier = best != BB_CALL_NO_PARENT &&
                       brute_call(brute, p)->arrived_ns < brute_call(brute, best)->arrived_ns;
        if (score > best_score || (score == best_score && earlier)) {
            best = p;
            best_score = score;
        }
    }
    return best;
}

// The child that comes next after the one given last: by return, then call, then index.
static inline bool brute_before(const Brute *brute, guint32 x, guint32 y)
{
    const BbCall *a = brute_call(brute, x), *b = brute_call(brute, y);
    if (brute_end(a) != brute_end(b))
        return brute_end(a) < brute_end(b);
    return a->call_ns != b->call_ns ? a->call_ns < b->call_ns : x < y;
}

// The parents of all calls of paths. The caller frees.
static inline guint32 *brute_nesting(const BbPaths *paths, guint32 n_names,
                                     const BbNestingOptions *options)
{
    guint32 n = paths->n_calls;
    Brute brute = {paths, options, g_array_new(FALSE, FALSE, sizeof(BruteBar)),
                   brute_knots(paths, n_names), g_new(guint32, n)};
    bool *done = g_new(bool, n);
    for (guint32 i = 0; i < n; i++) {
        brute.parent[i] = BB_CALL_NO_PARENT;
        done[i] = !bb_call_is_returned(&paths->calls[i]);
    }
    brute_vote(&brute);
    brute_smooth(&brute);
    for (;;) {
        guint32 next = n;
        for (guint32 i = 0; i < n; i++)
            if (!done[i] && (next == n || brute_before(&brute, i, next)))
                next = i;
        if (next == n)
            break;
        done[next] = true;
        brute.parent[next] = brute_best(&brute, next);
    }
    g_free(done);
    g_free(brute.knotted);
    g_array_unref(brute.bars);
    return brute.parent;
}
