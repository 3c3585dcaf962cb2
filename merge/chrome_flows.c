// SPDX-License-Identifier: Apache-2.0
// In: steps of flows, and slices. Out: which of them crossed from one process to another, what
// returned, and what caused what.
#include "merge/chrome_flows.h"

#define NONE BB_CHROME_NONE
#define ROOT BB_CHROME_ROOT
#define UNKNOWN BB_CHROME_UNKNOWN

// From a step to the next one of its flow.
typedef struct Hop {
    const BbChromeStep *from, *to;
    guint32 from_slice, to_slice;
    guint32 flow;
    guint32 cause; // of what the hop carries
} Hop;

// One end of a hop.
typedef struct End {
    gint64 time_ns;
    guint32 hop;
    bool arrives;
} End;

typedef struct Flows {
    BbChromeSlices *slices;
    BbCounters *counters;
    GArray *hops;      // of Hop, flow by flow in order of time
    GArray *crossings; // of BbChromeCrossing
    GArray *tops;      // flow -> guint32, its last crossing without return; NONE for none
} Flows;

static void count(const Flows *flows, const char *name)
{
    bb_counters_add(flows->counters, name, 1);
}

static BbChromeCrossing *crossing_at(const Flows *flows, guint32 index)
{
    return &g_array_index(flows->crossings, BbChromeCrossing, index);
}

static bool is_crossing(guint32 cause)
{
    return cause < UNKNOWN;
}

// ---- steps to hops ----------------------------------------------------------------------------

static gint compare_steps(gconstpointer a, gconstpointer b)
{
    const BbChromeStep *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return 0; // the sort is stable
}

static guint32 slice_of(const Flows *flows, const BbChromeStep *step)
{
    guint32 slice = NONE;
    if (step->after)
        slice = bb_chrome_slices_after(flows->slices, step->thread, step->time_ns);
    return slice != NONE ? slice : bb_chrome_slices_at(flows->slices, step->thread, step->time_ns);
}

static void add_hop(Flows *flows, const BbChromeStep *from, const BbChromeStep *to)
{
    const Hop hop = {.from = from,
                     .to = to,
                     .from_slice = slice_of(flows, from),
                     .to_slice = slice_of(flows, to),
                     .flow = flows->tops->len - 1,
                     .cause = UNKNOWN};
    g_array_append_val(flows->hops, hop);
    if (from->process != to->process && hop.from_slice != NONE)
        bb_chrome_slice(flows->slices, hop.from_slice)->sent++;
}

// Keys are used again: a begin begins another flow, unless it is within its like.
static void find_hops(Flows *flows, GArray *steps)
{
    const BbChromeStep *last = NULL;
    const guint32 none = NONE;
    guint32 depth = 0;
    bool alone = false;
    g_array_sort(steps, compare_steps);
    for (guint i = 0; i < steps->len; i++) {
        const BbChromeStep *step = &g_array_index(steps, BbChromeStep, i);
        bool begins = step->kind == BB_CHROME_BEGIN && !(step->nested && depth > 0);
        if (!last || last->key != step->key || begins) {
            if (alone)
                count(flows, "chrome_flows_alone");
            depth = 0;
            alone = true;
            g_array_append_val(flows->tops, none);
        } else {
            add_hop(flows, last, step);
            alone = false;
        }
        depth += step->kind == BB_CHROME_BEGIN;
        depth -= step->kind == BB_CHROME_END && depth > 0;
        last = step;
    }
    if (alone)
        count(flows, "chrome_flows_alone");
}

static gint compare_ends(gconstpointer a, gconstpointer b)
{
    const End *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->hop != y->hop)
        return x->hop < y->hop ? -1 : 1;
    return (gint)x->arrives - (gint)y->arrives;
}

static GArray *order_ends(const Flows *flows)
{
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(End));
    for (guint32 i = 0; i < flows->hops->len; i++) {
        const Hop *hop = &g_array_index(flows->hops, Hop, i);
        const End leaves = {hop->from->time_ns, i, false}, arrives = {hop->to->time_ns, i, true};
        g_array_append_val(ends, leaves);
        g_array_append_val(ends, arrives);
    }
    g_array_sort(ends, compare_ends);
    return ends;
}

// ---- what led where ---------------------------------------------------------------------------

// What led to where the hop begins.
static guint32 cause_of(const Flows *flows, const Hop *hop)
{
    guint32 top = g_array_index(flows->tops, guint32, hop->flow);
    if (hop->from_slice == NONE)
        return top != NONE && crossing_at(flows, top)->to == hop->from->process ? top : UNKNOWN;
    for (guint32 at = hop->from_slice; at != NONE;) {
        const BbChromeSlice *slice = bb_chrome_slice(flows->slices, at);
        if (slice->cause != NONE)
            return slice->cause;
        at = slice->above;
    }
    return ROOT;
}

// Whether the hop brings the answer of that crossing.
static bool answers(const Flows *flows, const Hop *hop, guint32 index)
{
    if (!is_crossing(index))
        return false;
    const BbChromeCrossing *crossing = crossing_at(flows, index);
    return crossing->answer_sent_ns == BB_TIME_NONE && crossing->to == hop->from->process &&
           crossing->from == hop->to->process;
}

// The crossing that the hop is the return of; NONE if it is none.
static guint32 find_answered(const Flows *flows, const Hop *hop)
{
    guint32 top = g_array_index(flows->tops, guint32, hop->flow);
    if (answers(flows, hop, top))
        return top;
    guint32 cause = hop->from_slice != NONE ? cause_of(flows, hop) : NONE;
    return answers(flows, hop, cause) && crossing_at(flows, cause)->from_thread == hop->to->thread
               ? cause
               : NONE;
}

// When the answer was sent. Where a flow has one step at the callee, that one is when it was
// called, and it answered when its slice ended.
static gint64 answer_time(const Flows *flows, const Hop *hop, const BbChromeCrossing *crossing)
{
    gint64 time_ns = hop->from->time_ns;
    if (time_ns > crossing->received_ns || crossing->to_slice == NONE)
        return time_ns;
    gint64 end_ns = bb_chrome_slice(flows->slices, crossing->to_slice)->end_ns;
    return CLAMP(end_ns, time_ns, hop->to->time_ns);
}

static void answer(Flows *flows, Hop *hop, guint32 index)
{
    BbChromeCrossing *crossing = crossing_at(flows, index);
    guint32 *top = &g_array_index(flows->tops, guint32, hop->flow);
    crossing->answer_sent_ns = answer_time(flows, hop, crossing);
    crossing->answer_received_ns = hop->to->time_ns;
    crossing->is_call = true;
    if (*top == index)
        *top = crossing->below;
    hop->cause = crossing->cause; // the work that made the call goes on
    count(flows, "chrome_returns");
}

static void cross(Flows *flows, Hop *hop)
{
    guint32 *top = &g_array_index(flows->tops, guint32, hop->flow);
    BbChromeCrossing crossing = {.sent_ns = hop->from->time_ns,
                                 .received_ns = hop->to->time_ns,
                                 .answer_sent_ns = BB_TIME_NONE,
                                 .answer_received_ns = BB_TIME_NONE,
                                 .from = hop->from->process,
                                 .to = hop->to->process,
                                 .from_thread = hop->from->thread,
                                 .from_slice = hop->from_slice,
                                 .to_slice = hop->to_slice,
                                 .name = hop->from->name,
                                 .cause = cause_of(flows, hop),
                                 .below = *top};
    guint32 index = flows->crossings->len;
    crossing.path = crossing.cause == ROOT        ? index
                    : is_crossing(crossing.cause) ? crossing_at(flows, crossing.cause)->path
                                                  : NONE;
    g_array_append_val(flows->crossings, crossing);
    *top = hop->cause = index;
}

static void leave(Flows *flows, Hop *hop)
{
    if (hop->from->process == hop->to->process) {
        hop->cause = cause_of(flows, hop);
        count(flows, "chrome_inside");
        return;
    }
    guint32 answered = find_answered(flows, hop);
    if (answered != NONE)
        answer(flows, hop, answered);
    else
        cross(flows, hop);
}

static void arrive(const Flows *flows, const Hop *hop)
{
    if (hop->to_slice != NONE && hop->to_slice != hop->from_slice)
        bb_chrome_slice(flows->slices, hop->to_slice)->cause = hop->cause;
}

// ---- calls without an answer of their own -----------------------------------------------------

// A slice that lasts longer than what it led to waited for that. If it led to nothing else, the
// answer had come when it ended.
static void find_waiting(const Flows *flows, BbChromeCrossing *crossing)
{
    if (crossing->is_call || crossing->from_slice == NONE || crossing->to_slice == NONE)
        return;
    const BbChromeSlice *from = bb_chrome_slice(flows->slices, crossing->from_slice);
    const BbChromeSlice *to = bb_chrome_slice(flows->slices, crossing->to_slice);
    if (to->end_ns == G_MAXINT64 || to->start_ns < from->start_ns || to->end_ns > from->end_ns)
        return;
    crossing->is_call = true;
    crossing->answer_sent_ns = MAX(to->end_ns, crossing->received_ns);
    if (from->sent == 1 && from->end_ns != G_MAXINT64)
        crossing->answer_received_ns = MAX(from->end_ns, crossing->answer_sent_ns);
    count(flows, "chrome_waited");
}

GArray *bb_chrome_flows(GArray *steps, BbChromeSlices *slices, BbCounters *counters)
{
    g_autoptr(GArray) hops = g_array_new(FALSE, FALSE, sizeof(Hop));
    g_autoptr(GArray) tops = g_array_new(FALSE, FALSE, sizeof(guint32));
    Flows flows = {slices, counters, hops, g_array_new(FALSE, FALSE, sizeof(BbChromeCrossing)),
                   tops};
    find_hops(&flows, steps);
    g_autoptr(GArray) ends = order_ends(&flows);
    for (guint i = 0; i < ends->len; i++) {
        const End *end = &g_array_index(ends, End, i);
        Hop *hop = &g_array_index(hops, Hop, end->hop);
        if (end->arrives)
            arrive(&flows, hop);
        else
            leave(&flows, hop);
    }
    for (guint32 i = 0; i < flows.crossings->len; i++)
        find_waiting(&flows, crossing_at(&flows, i));
    return flows.crossings;
}
