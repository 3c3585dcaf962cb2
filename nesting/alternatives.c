// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: whether two callees of a node stand for each other.
//
// The calls that a node serves are looked at, those with the fewest others at the same time first:
// while the one was served, how often was each of the two called? Where the node chose by lot for
// each use, n uses reach both with a chance of 1 - p^n - q^n.
#include "nesting/alternatives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nesting/alike.h"
#include "nesting/by_node.h"
#include "nesting/kolmogorov.h"
#include "nesting/times.h"

#define SERVED_MAX 20000u  // calls that a node serves, of which
#define LOOKED_MAX 400u    // so many are looked at
#define ALONE_ENOUGH 30u   // served with no other at the same time: the rest need not be looked at
#define SCATTER_LEAST 0.75 // of what uses by lot would scatter
#define SCATTER_ENOUGH 100u
#define TURNS_LEAST 0.9 // of the uses come in the same order as before
#define GAPS_MAX 1024u

typedef struct {
    gint64 from_ns, to_ns; // on the node's clock
    guint32 others;        // served at the same time
} Served;

// All calls from one caller to one callee.
typedef struct {
    guint32 caller;
    guint32 from; // where they begin in by_edge; those of the next edge are behind them
} Edge;

struct BbAlternatives {
    const BbCall *calls;
    guint32 n_calls, n_names;
    BbGroups by_callee, by_caller; // in order of time
    guint32 *by_edge;              // grouped by callee, and there by caller
    GArray *edges;                 // of Edge, in that order; one more at the end
    guint32 *edge_start;           // those to each callee
    GArray **served;               // by name; of Served: those to look at; NULL where nobody asked
    guint32 *next_of;              // by name; scratch of take_turns, 0 between its calls
};

// What is in order by caller, and then grouped by callee, is grouped by both.
static void find_edges(BbAlternatives *alternatives)
{
    BbGroups by_edge = bb_by_node(alternatives->calls, alternatives->n_calls, alternatives->n_names,
                                  true, alternatives->by_caller.list);
    guint32 *start = by_edge.start;
    alternatives->by_edge = by_edge.list;
    alternatives->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
    for (guint32 callee = 0; callee < alternatives->n_names; callee++) {
        guint32 from = start[callee], to = start[callee + 1], last = BB_NAME_NONE;
        start[callee] = alternatives->edges->len;
        for (guint32 i = from; i < to; i++) {
            Edge edge = {alternatives->calls[alternatives->by_edge[i]].caller, i};
            if (i == from || edge.caller != last)
                g_array_append_val(alternatives->edges, edge);
            last = edge.caller;
        }
    }
    start[alternatives->n_names] = alternatives->edges->len;
    alternatives->edge_start = start;
    Edge end = {BB_NAME_NONE, alternatives->n_calls};
    g_array_append_val(alternatives->edges, end);
}

BbAlternatives *bb_alternatives_new(const BbCall *calls, guint32 n_calls, guint32 names)
{
    BbAlternatives *alternatives = g_new0(BbAlternatives, 1);
    alternatives->calls = calls;
    alternatives->n_calls = n_calls;
    alternatives->n_names = names;
    alternatives->served = g_new0(GArray *, names);
    alternatives->next_of = g_new0(guint32, names);
    alternatives->by_callee = bb_by_node(calls, n_calls, names, true, NULL);
    alternatives->by_caller = bb_by_node(calls, n_calls, names, false, NULL);
    find_edges(alternatives);
    return alternatives;
}

void bb_alternatives_free(BbAlternatives *alternatives)
{
    if (!alternatives)
        return;
    for (guint32 name = 0; name < alternatives->n_names; name++)
        if (alternatives->served[name])
            g_array_unref(alternatives->served[name]);
    g_free(alternatives->served);
    g_free(alternatives->by_edge);
    bb_groups_clear(&alternatives->by_callee);
    bb_groups_clear(&alternatives->by_caller);
    g_array_unref(alternatives->edges);
    g_free(alternatives->edge_start);
    g_free(alternatives->next_of);
    g_free(alternatives);
}

// Calls of one edge: indices in order of time.
typedef struct {
    const guint32 *index;
    guint32 count;
} Uses;

// The callers that two nodes have in common, one after the other.
typedef struct {
    const Edge *u, *u_end, *v, *v_end; // those to come
    guint32 caller;                    // this one,
    Uses u_uses, v_uses;               // and what it does
} Common;

static Common common_begin(const BbAlternatives *alternatives, guint32 u, guint32 v)
{
    const Edge *edges = (const Edge *)(const void *)alternatives->edges->data;
    const guint32 *start = alternatives->edge_start;
    return (Common){.u = edges + start[u],
                    .u_end = edges + start[u + 1],
                    .v = edges + start[v],
                    .v_end = edges + start[v + 1]};
}

static Uses uses_of(const BbAlternatives *alternatives, const Edge *edge)
{
    return (Uses){alternatives->by_edge + edge[0].from, edge[1].from - edge[0].from};
}

// In order of the callers' names; false after the last.
static bool common_next(const BbAlternatives *alternatives, Common *common)
{
    while (common->u < common->u_end && common->v < common->v_end) {
        const Edge *u = common->u, *v = common->v;
        common->u += u->caller <= v->caller;
        common->v += v->caller <= u->caller;
        if (u->caller != v->caller)
            continue;
        common->caller = u->caller;
        common->u_uses = uses_of(alternatives, u);
        common->v_uses = uses_of(alternatives, v);
        return true;
    }
    return false;
}

// ---- calls that are served ---------------------------------------------------------------------

static int by_from(const void *a, const void *b)
{
    const Served *x = a, *y = b;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

static int by_others(const void *a, const void *b)
{
    const Served *x = a, *y = b;
    if (x->others != y->others)
        return x->others < y->others ? -1 : 1;
    return by_from(a, b);
}

// Others that began before it ended, less those that ended before it began.
static void count_others(GArray *served)
{
    guint n = served->len;
    g_autofree gint64 *starts = g_new(gint64, (gsize)n + 1), *ends = g_new(gint64, (gsize)n + 1);
    for (guint i = 0; i < n; i++) {
        starts[i] = g_array_index(served, Served, i).from_ns;
        ends[i] = g_array_index(served, Served, i).to_ns;
    }
    if (n > 0) {
        qsort(starts, n, sizeof *starts, bb_times_compare);
        qsort(ends, n, sizeof *ends, bb_times_compare);
    }
    for (guint i = 0; i < n; i++) {
        Served *one = &g_array_index(served, Served, i);
        one->others =
            bb_times_before(starts, n, one->to_ns) - bb_times_before(ends, n, one->from_ns);
        one->others -= MIN(one->others, 1); // itself
    }
}

static const GArray *find_served(BbAlternatives *alternatives, guint32 node)
{
    if (alternatives->served[node])
        return alternatives->served[node];
    GArray *served = g_array_new(FALSE, FALSE, sizeof(Served));
    const guint32 *start = &alternatives->by_callee.start[node];
    for (guint32 i = start[0]; i < start[1] && served->len < SERVED_MAX; i++) {
        const BbCall *call = &alternatives->calls[alternatives->by_callee.list[i]];
        Served one = {call->arrived_ns, call->replied_ns, 0};
        if (bb_call_is_returned(call) && one.from_ns <= one.to_ns)
            g_array_append_val(served, one);
    }
    count_others(served);
    g_array_sort(served, by_others);
    guint alone = 0;
    while (alone < served->len && g_array_index(served, Served, alone).others == 0)
        alone++;
    guint looked = alone >= ALONE_ENOUGH ? MIN(alone, LOOKED_MAX) : MIN(served->len, LOOKED_MAX);
    g_array_set_size(served, looked);
    alternatives->served[node] = served;
    return served;
}

// ---- judging -----------------------------------------------------------------------------------

static guint32 uses_before(const BbAlternatives *alternatives, Uses uses, gint64 time_ns)
{
    guint32 from = 0, to = uses.count;
    while (from < to) {
        guint32 middle = from + (to - from) / 2;
        if (alternatives->calls[uses.index[middle]].call_ns < time_ns)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static guint32 uses_within(const BbAlternatives *alternatives, Uses uses, const Served *served)
{
    gint64 after_ns = served->to_ns == G_MAXINT64 ? G_MAXINT64 : served->to_ns + 1;
    return uses_before(alternatives, uses, after_ns) -
           uses_before(alternatives, uses, served->from_ns);
}

typedef struct {
    bool alone;          // no two of those that are looked at were served at once
    double looked;       // that use either
    double both, by_lot; // that use both, and would if each use chose by lot
    double variance;     // of by_lot
    double scatter;      // of the uses of u: 1 for each that is looked at, by lot
} Evidence;

static void look(Evidence *evidence, guint32 u_uses, guint32 v_uses, double p)
{
    double n = u_uses + v_uses;
    if (n == 0)
        return;
    double by_lot = 1 - pow(p, n) - pow(1 - p, n);
    double off = u_uses - n * p;
    evidence->looked++;
    evidence->both += u_uses > 0 && v_uses > 0;
    evidence->by_lot += by_lot;
    evidence->variance += by_lot * (1 - by_lot);
    evidence->scatter += off * off / (n * p * (1 - p));
}

typedef enum { YES, NO, UNKNOWN } Verdict;

static Verdict judge(const Evidence *evidence)
{
    double allowed =
        evidence->by_lot + 3 * sqrt(evidence->variance) + BB_ALIKE_BOTH_MAX * evidence->looked;
    if (evidence->looked == 0)
        return YES;
    // Were both used each time, would it show?
    if (evidence->looked >= BB_ALIKE_CALLS_LEAST && evidence->looked > 1.05 * allowed)
        return evidence->both <= allowed ? YES : evidence->alone ? NO : UNKNOWN;
    return evidence->looked >= SCATTER_ENOUGH &&
                   evidence->scatter >= SCATTER_LEAST * evidence->looked
               ? YES
               : UNKNOWN;
}

static void look_at_served(BbAlternatives *alternatives, Evidence *evidence, const GArray *served,
                           Uses u, Uses v)
{
    double p = (double)u.count / ((double)u.count + v.count);
    for (guint i = 0; i < served->len; i++) {
        const Served *one = &g_array_index(served, Served, i);
        evidence->alone = evidence->alone && one->others == 0;
        look(evidence, uses_within(alternatives, u, one), uses_within(alternatives, v, one), p);
    }
}

// How often nodes that serve no calls turn from the one to the other.
typedef struct {
    double uses, turns, by_lot, variance;
} Turning;

static void look_at_turns(Turning *turning, Uses u, Uses v)
{
    double n = (double)u.count + v.count, p = u.count / n, by_lot = 2 * p * (1 - p);
    int last = -1;
    for (guint32 i = 0, j = 0; i < u.count || j < v.count;) {
        int next = i == u.count || (j < v.count && v.index[j] < u.index[i]);
        turning->turns += last >= 0 && next != last;
        last = next;
        if (next == 0)
            i++;
        else
            j++;
    }
    turning->uses += n;
    turning->by_lot += by_lot * n;
    turning->variance += by_lot * (1 - by_lot) * n;
}

static Verdict judge_turns(const Turning *turning)
{
    double allowed =
        turning->by_lot + 3 * sqrt(turning->variance) + BB_ALIKE_BOTH_MAX * turning->uses;
    return turning->turns <= allowed ? YES : UNKNOWN;
}

// Gaps from calls of one node to the next call within the class.
typedef struct {
    guint32 node;
    GArray *gaps; // of gint64
} Gaps;

static void note_gap(const Gaps *gaps, guint32 node, gint64 gap_ns)
{
    if (gaps->node == node && gaps->gaps->len < GAPS_MAX)
        g_array_append_val(gaps->gaps, gap_ns);
}

static bool gaps_are_alike(GArray *u, GArray *v)
{
    g_array_sort(u, bb_times_compare);
    g_array_sort(v, bb_times_compare);
    return bb_kolmogorov_alike(u, v, BB_ALIKE_LATENCY_MAX);
}

// Whether caller goes round the nodes of their class, each time in the same order (round-robin). Of
// two nodes that are used one after the other for each call that is served, the second follows the
// first sooner than the next first follows it.
static bool take_turns(const BbAlternatives *alternatives, guint32 caller, guint32 u, guint32 v,
                       const guint32 *klass)
{
    g_autoptr(GArray) u_gaps = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) v_gaps = g_array_new(FALSE, FALSE, sizeof(gint64));
    const Gaps of_u = {u, u_gaps}, of_v = {v, v_gaps};
    guint32 *next_of = alternatives->next_of;
    const guint32 *start = &alternatives->by_caller.start[caller];
    const BbCall *last = NULL;
    double steps = 0, same = 0;
    for (guint32 i = start[0]; i < start[1]; i++) {
        const BbCall *call = &alternatives->calls[alternatives->by_caller.list[i]];
        if (klass[call->callee] != klass[u])
            continue;
        if (last) {
            steps++;
            same += next_of[last->callee] == call->callee;
            next_of[last->callee] = call->callee;
            note_gap(&of_u, last->callee, bb_time_between(last->call_ns, call->call_ns));
            note_gap(&of_v, last->callee, bb_time_between(last->call_ns, call->call_ns));
        }
        last = call;
    }
    for (guint32 i = start[0]; i < start[1]; i++)
        next_of[alternatives->calls[alternatives->by_caller.list[i]].callee] = 0;
    return same >= TURNS_LEAST * steps && gaps_are_alike(u_gaps, v_gaps);
}

// Whether all callers of both that serve calls, or all that serve none, take turns.
static bool all_take_turns(BbAlternatives *alternatives, guint32 u, guint32 v, const guint32 *klass,
                           bool serving)
{
    Common common = common_begin(alternatives, u, v);
    while (common_next(alternatives, &common))
        if ((find_served(alternatives, common.caller)->len > 0) == serving &&
            !take_turns(alternatives, common.caller, u, v, klass))
            return false;
    return true;
}

static bool used_as_often(double u, double v)
{
    return fabs(u - v) <= BB_ALIKE_USE_MAX * (u + v) + 3 * sqrt(u + v);
}

bool bb_alternatives_are(BbAlternatives *alternatives, guint32 u, guint32 v, const guint32 *klass)
{
    Evidence evidence = {.alone = true};
    Turning turning = {0};
    Common common = common_begin(alternatives, u, v);
    while (common_next(alternatives, &common)) {
        if (!used_as_often(common.u_uses.count, common.v_uses.count))
            return false;
        const GArray *served = find_served(alternatives, common.caller);
        if (served->len > 0)
            look_at_served(alternatives, &evidence, served, common.u_uses, common.v_uses);
        else
            look_at_turns(&turning, common.u_uses, common.v_uses);
    }
    Verdict verdict = judge(&evidence), turns = judge_turns(&turning);
    return verdict != NO && (verdict == YES || all_take_turns(alternatives, u, v, klass, true)) &&
           (turns == YES || all_take_turns(alternatives, u, v, klass, false));
}
