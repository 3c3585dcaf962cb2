// SPDX-License-Identifier: Apache-2.0
// What of a callee's time is not covered by the union of the calls that it makes: its own work.
#pragma once

#include "data/call.h"

typedef struct BbSelfTime {
    gint64 reach_ns, end_ns; // covered or counted so far; of the call
    guint64 self_ns;
    bool last_byte; // calls end with the last byte of their return (bb_call_end)
} BbSelfTime;

static inline BbSelfTime bb_self_time_start(const BbCall *call, bool last_byte)
{
    return (BbSelfTime){.reach_ns = call->arrived_ns,
                        .end_ns = bb_call_end(call, last_byte),
                        .last_byte = last_byte};
}

// The next of its calls, in order of time.
static inline void bb_self_time_add(BbSelfTime *time, const BbCall *kid)
{
    if (time->reach_ns >= time->end_ns)
        return;
    gint64 call_ns = MIN(kid->call_ns, time->end_ns);
    if (call_ns > time->reach_ns)
        time->self_ns += (guint64)call_ns - (guint64)time->reach_ns;
    time->reach_ns = MAX(time->reach_ns, MAX(call_ns, bb_call_back(kid, time->last_byte)));
}

// All of it, in ns.
static inline guint64 bb_self_time_end(const BbSelfTime *time)
{
    if (time->reach_ns >= time->end_ns)
        return time->self_ns;
    return time->self_ns + (guint64)time->end_ns - (guint64)time->reach_ns;
}
