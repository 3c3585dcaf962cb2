// SPDX-License-Identifier: Apache-2.0
// In: the stamps of calls. Out: the same in quanta, node by node, and how long there were any.
#include "nesting/axis.h"

#include "data/divisor.h"
#include "data/stats.h"

#define USUAL_SHARE 0.99 // of the gaps between calls are no longer than is usual,
#define USUAL_TIMES 10.0 // and what is longer than so many times that counts as so long

// The times of a node.
typedef struct {
    gint64 first_ns, last_ns; // first > last: none
} Reach;

struct BbAxis {
    const BbCall *calls;
    guint32 n_calls;
    gint64 quantum_ns;
    Reach era; // beyond it stamps are lost ones
    Reach *of; // [node]
};

static guint64 distance(gint64 a, gint64 b)
{
    return a > b ? (guint64)a - (guint64)b : (guint64)b - (guint64)a;
}

// The unit of the trace's stamps: all differences are multiples of it.
static gint64 find_quantum(const BbCall *calls, guint32 n)
{
    guint64 unit = 0;
    for (guint32 i = 0; i < n && unit != 1; i++) {
        const BbCall *call = &calls[i];
        unit = bb_common_divisor(unit, distance(call->call_ns, calls[0].call_ns));
        unit = bb_common_divisor(unit, distance(call->arrived_ns, calls[0].call_ns));
        if (!bb_call_is_returned(call))
            continue;
        unit = bb_common_divisor(unit, distance(call->replied_ns, calls[0].call_ns));
        unit = bb_common_divisor(unit, distance(call->return_ns, calls[0].call_ns));
    }
    return unit == 0 || unit > G_MAXINT64 ? 1 : (gint64)unit;
}

// As far around the call in the middle as the axis goes.
static Reach find_era(const BbAxis *axis)
{
    gint64 half_ns;
    if (axis->n_calls == 0)
        return (Reach){0, 0};
    if (__builtin_mul_overflow(BB_AXIS_MAX / 2, axis->quantum_ns, &half_ns))
        half_ns = G_MAXINT64;
    gint64 middle_ns = axis->calls[axis->n_calls / 2].call_ns;
    return (Reach){bb_time_after(middle_ns, -half_ns), bb_time_after(middle_ns, half_ns)};
}

static void stretch(const BbAxis *axis, guint32 node, gint64 time_ns)
{
    Reach *reach = &axis->of[node];
    time_ns = CLAMP(time_ns, axis->era.first_ns, axis->era.last_ns);
    reach->first_ns = MIN(reach->first_ns, time_ns);
    reach->last_ns = MAX(reach->last_ns, time_ns);
}

BbAxis *bb_axis_new(const BbCall *calls, guint32 n_calls, guint32 n_names)
{
    BbAxis *axis = g_new(BbAxis, 1);
    *axis = (BbAxis){.calls = calls,
                     .n_calls = n_calls,
                     .quantum_ns = find_quantum(calls, n_calls),
                     .of = g_new(Reach, n_names)};
    axis->era = find_era(axis);
    for (guint32 n = 0; n < n_names; n++)
        axis->of[n] = (Reach){G_MAXINT64, G_MININT64};
    for (guint32 i = 0; i < n_calls; i++) {
        const BbCall *call = &calls[i];
        stretch(axis, call->caller, call->call_ns);
        if (call->replied_ns != BB_TIME_NONE) {
            stretch(axis, call->callee, call->arrived_ns);
            stretch(axis, call->callee, call->replied_ns);
        }
        if (bb_call_is_returned(call))
            stretch(axis, call->caller, call->return_ns);
    }
    return axis;
}

void bb_axis_free(BbAxis *axis)
{
    if (!axis)
        return;
    g_free(axis->of);
    g_free(axis);
}

gint64 bb_axis_quantum_ns(const BbAxis *axis)
{
    return axis->quantum_ns;
}

gint64 bb_axis_length(const BbAxis *axis, gint64 length_ns)
{
    return CLAMP(length_ns / axis->quantum_ns, -BB_AXIS_MAX, BB_AXIS_MAX);
}

gint64 bb_axis_at(const BbAxis *axis, guint32 node, gint64 time_ns)
{
    time_ns = CLAMP(time_ns, axis->era.first_ns, axis->era.last_ns);
    return bb_axis_length(axis, bb_time_between(axis->of[node].first_ns, time_ns));
}

gint64 bb_axis_spread(const BbAxis *axis, guint32 node)
{
    const Reach *reach = &axis->of[node];
    return reach->first_ns > reach->last_ns ? 0 : bb_axis_at(axis, node, reach->last_ns);
}

// ---- how long ----------------------------------------------------------------------------------

// From one call to the next.
static gint64 gap_after(const BbAxis *axis, guint32 i)
{
    return bb_time_between(axis->calls[i].call_ns, axis->calls[i + 1].call_ns);
}

// From the last call until all have returned.
static gint64 find_tail(const BbAxis *axis)
{
    gint64 last_ns = axis->calls[axis->n_calls - 1].call_ns, end_ns = last_ns;
    for (guint32 i = 0; i < axis->n_calls; i++)
        if (bb_call_is_returned(&axis->calls[i]))
            end_ns = MAX(end_ns, MAX(axis->calls[i].replied_ns, axis->calls[i].return_ns));
    return bb_time_between(last_ns, end_ns);
}

static double find_usual(const BbAxis *axis)
{
    g_autoptr(BbStats) gaps = bb_stats_new();
    for (guint32 i = 0; i + 1 < axis->n_calls; i++)
        bb_stats_push(gaps, gap_after(axis, i));
    // where stamps are coarse most of them are the same
    return (double)MAX(bb_stats_quantile(gaps, USUAL_SHARE), axis->quantum_ns);
}

double bb_axis_busy(const BbAxis *axis)
{
    double busy_ns = 0;
    if (axis->n_calls < 2)
        return 1;
    double most_ns = USUAL_TIMES * find_usual(axis);
    for (guint32 i = 0; i + 1 < axis->n_calls; i++)
        busy_ns += MIN((double)gap_after(axis, i), most_ns);
    busy_ns += MIN((double)find_tail(axis), busy_ns); // it may be a lost stamp's
    return MAX(1, busy_ns / (double)axis->quantum_ns);
}
