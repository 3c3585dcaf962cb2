// SPDX-License-Identifier: Apache-2.0
// In: calls with parents. Out: when callers went on without a return.
#include "nesting/patience.h"

#include <math.h>

#include "data/tally.h"

#define STEPS 64.0 // of a doubling, in which durations are summed up
#define ANY BB_NAME_NONE

// Of calls that returned, by caller, callee and operation, and by caller: how many, and the sum of
// the logs of their durations. Their mean is that of the middle one, but that a few that take
// for ever move it less.
typedef struct {
    BbTally count, logs;
} Durations;

static BbTallyKey key_of(const BbCall *call)
{
    return (BbTallyKey){call->caller, call->callee, call->op};
}

static void add(Durations *durations, BbTallyKey key, guint64 log)
{
    ++*bb_tally_at(&durations->count, key);
    *bb_tally_at(&durations->logs, key) += log;
}

// Only of callers that wait for some in vain.
static void measure(Durations *durations, const BbPaths *paths)
{
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (!bb_call_is_returned(&paths->calls[i]) && paths->parent[i] != BB_CALL_NO_PARENT)
            (void)bb_tally_at(&durations->count, (BbTallyKey){paths->calls[i].caller, ANY, ANY});
    if (durations->count.used == 0)
        return;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        BbTallyKey any = {call->caller, ANY, ANY};
        const BbTallyEntry *slot = bb_tally_slot(&durations->count, any);
        if (slot->round != durations->count.round || !bb_call_is_returned(call))
            continue;
        gint64 ns = MAX(bb_time_between(call->call_ns, call->return_ns), 1);
        guint64 log = (guint64)(STEPS * log2((double)ns));
        add(durations, any, log);
        add(durations, key_of(call), log);
    }
}

// How long such a call takes; as all calls of its caller do, where none of them returned; 0 where
// none did at all.
static gint64 usual(const Durations *durations, const BbCall *call)
{
    const BbTallyKey keys[] = {key_of(call), {call->caller, ANY, ANY}};
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        guint64 n = bb_tally_get(&durations->count, keys[i]);
        if (n > 0)
            return (gint64)exp2(
                MIN((double)bb_tally_get(&durations->logs, keys[i]) / STEPS / (double)n, 62));
    }
    return 0;
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
    gint64 call_ns = paths->calls[kids[place]].call_ns, from_ns;
    if (__builtin_add_overflow(call_ns, patience_ns, &from_ns))
        from_ns = G_MAXINT64;
    guint32 next = find_next(paths, kids, n, place, from_ns);
    gint64 end_ns = MAX(bb_call_end(parent, false), call_ns);
    return next < n ? MIN(end_ns, paths->calls[kids[next]].call_ns) : end_ns;
}

// Of all calls of parent p without return.
static void find_ends(BbPaths *paths, const Durations *durations, guint32 p, const guint32 *kids,
                      guint32 n)
{
    for (guint32 k = 0; k < n; k++) {
        BbCall *call = &paths->calls[kids[k]];
        if (bb_call_is_returned(call))
            continue;
        gint64 patience_ns = usual(durations, call) / 2;
        gint64 end_ns = find_end(paths, &paths->calls[p], kids, n, k, patience_ns);
        gint64 wait_ns = bb_time_between(call->call_ns, end_ns);
        if (__builtin_add_overflow(call->arrived_ns, wait_ns, &call->return_end_ns))
            call->return_end_ns = G_MAXINT64;
        paths->facts.calls_unanswered += !bb_call_is_late(call);
    }
}

void bb_patience_find_ends(BbPaths *paths, const guint32 *start, const guint32 *kids,
                           const guint32 *order)
{
    Durations durations;
    bb_tally_init(&durations.count);
    bb_tally_init(&durations.logs);
    measure(&durations, paths);
    for (guint32 i = durations.count.used > 0 ? paths->n_calls : 0; i > 0; i--) {
        guint32 p = order[i - 1];
        find_ends(paths, &durations, p, kids + start[p], start[p + 1] - start[p]);
    }
    bb_tally_clear(&durations.count);
    bb_tally_clear(&durations.logs);
}
