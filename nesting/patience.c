// SPDX-License-Identifier: Apache-2.0
// In: calls with parents. Out: when callers went on without a return.
#include "nesting/patience.h"

#include "nesting/usual.h"

#define ANY BB_NAME_NONE

static BbTallyKey any_of(const BbCall *call)
{
    return (BbTallyKey){call->caller, ANY, ANY};
}

// How long calls take that returned, by kind and by caller: of callers that wait for some in vain,
// of which there are some.
static BbUsual *measure(const BbPaths *paths)
{
    BbTally callers;
    BbUsual *usual = NULL;
    bb_tally_init(&callers);
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (!bb_call_is_returned(&paths->calls[i]) && paths->parent[i] != BB_CALL_NO_PARENT)
            *bb_tally_at(&callers, any_of(&paths->calls[i])) = 1;
    if (callers.used > 0)
        usual = bb_usual_new();
    for (guint32 i = 0; usual && i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        if (!bb_call_is_returned(call) || bb_tally_get(&callers, any_of(call)) == 0)
            continue;
        gint64 ns = bb_time_between(call->call_ns, call->return_ns);
        bb_usual_add(usual, any_of(call), ns);
        bb_usual_add(usual, bb_usual_kind(call), ns);
    }
    bb_tally_clear(&callers);
    return usual;
}

// Half of what such a call takes; where none of them returned, of what any call of its caller does;
// 0 where none did at all.
static gint64 patience_with(const BbUsual *usual, const BbCall *call)
{
    const BbUsualTimes *times = bb_usual_find(usual, bb_usual_kind(call));
    times = times ? times : bb_usual_find(usual, any_of(call));
    return times ? bb_usual_middle(times) / 2 : 0;
}

// The first of a parent's calls at or after from_ns, and after the one at place.
static guint32 find_next(const BbPaths *paths, const guint32 *kids, guint32 n, guint32 place,
                         gint64 from_ns)
{
    guint32 low = place + 1, high = n;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (paths->calls[kids[middle]].call_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// On the caller's clock.
static gint64 find_end(const BbPaths *paths, const BbCall *parent, const guint32 *kids, guint32 n,
                       guint32 place, gint64 patience_ns)
{
    gint64 call_ns = paths->calls[kids[place]].call_ns;
    guint32 next = find_next(paths, kids, n, place, bb_time_after(call_ns, patience_ns));
    gint64 end_ns = bb_call_end(parent, false), closed_ns = paths->calls[kids[place]].return_end_ns;
    end_ns = next < n ? MIN(end_ns, paths->calls[kids[next]].call_ns) : end_ns;
    end_ns = closed_ns != BB_TIME_NONE ? MIN(end_ns, closed_ns) : end_ns;
    return MAX(end_ns, call_ns);
}

// Of all calls of parent p without return.
static void find_ends(BbPaths *paths, const BbUsual *usual, guint32 p, const guint32 *kids,
                      guint32 n)
{
    for (guint32 k = 0; k < n; k++) {
        BbCall *call = &paths->calls[kids[k]];
        if (bb_call_is_returned(call))
            continue;
        gint64 end_ns = find_end(paths, &paths->calls[p], kids, n, k, patience_with(usual, call));
        call->return_end_ns =
            bb_time_after(call->arrived_ns, bb_time_between(call->call_ns, end_ns));
        paths->facts.calls_unanswered += !bb_call_is_late(call);
    }
}

void bb_patience_find_ends(BbPaths *paths, const BbGroups *kids, const guint32 *order)
{
    g_autoptr(BbUsual) usual = measure(paths);
    for (guint32 i = usual ? paths->n_calls : 0; i > 0; i--) {
        guint32 p = order[i - 1];
        find_ends(paths, usual, p, bb_groups_at(kids, p), bb_groups_size(kids, p));
    }
}
