// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: those that got no return, though there was time for one.
#include "nesting/hanging.h"

#include "nesting/usual.h"

static gint64 find_end(const BbCall *calls, guint32 n_calls)
{
    gint64 end_ns = BB_TIME_NONE; // the least of all times
    for (guint32 i = 0; i < n_calls; i++) {
        const BbCall *call = &calls[i];
        gint64 last_ns = bb_call_is_late(call) ? call->replied_ns : call->return_ns;
        end_ns = MAX(end_ns, MAX(call->call_ns, last_ns));
    }
    return end_ns;
}

// Longest duration of those that returned, in ns, by caller, callee and operation: of those of
// which some did not. False where all did.
static bool find_longest(const BbCall *calls, guint32 n_calls, BbTally *longest)
{
    for (guint32 i = 0; i < n_calls; i++)
        if (!bb_call_is_returned(&calls[i]))
            (void)bb_tally_at(longest, bb_usual_kind(&calls[i]));
    for (guint32 i = 0; longest->used > 0 && i < n_calls; i++) {
        if (!bb_call_is_returned(&calls[i]))
            continue;
        BbTallyEntry *entry = bb_tally_slot(longest, bb_usual_kind(&calls[i]));
        gint64 ns = bb_time_between(calls[i].call_ns, calls[i].return_ns);
        if (entry->round == longest->round)
            entry->count = MAX(entry->count, (guint64)MAX(ns, 0));
    }
    return longest->used > 0;
}

bool *bb_hanging_find(const BbCall *calls, guint32 n_calls)
{
    BbTally longest;
    bb_tally_init(&longest);
    bool *hanging = NULL;
    if (find_longest(calls, n_calls, &longest)) {
        gint64 end_ns = find_end(calls, n_calls);
        hanging = g_new0(bool, n_calls);
        for (guint32 i = 0; i < n_calls; i++) {
            guint64 left_ns = (guint64)bb_time_between(calls[i].call_ns, end_ns);
            hanging[i] = !bb_call_is_returned(&calls[i]) &&
                         left_ns >= bb_tally_get(&longest, bb_usual_kind(&calls[i]));
        }
    }
    bb_tally_clear(&longest);
    return hanging;
}
