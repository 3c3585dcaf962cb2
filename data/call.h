// SPDX-License-Identifier: Apache-2.0
// A call pair: a call message with its return (paper, section 5.1, step 1), on two clocks.
#pragma once

#include "data/message.h"

// What the search for parents reads lies together.
typedef struct BbCall {
    gint64 call_ns;         // call, first byte, caller's clock
    gint64 return_ns;       // return, first byte, caller's clock; = replied_ns with one sighting
    guint32 caller, callee; // names, as op, status and proto
    gint64 arrived_ns;      // call, first byte, callee's clock; = call_ns with one sighting
    gint64 replied_ns; // return, first byte, callee's clock; BB_TIME_NONE without return. Where
                       // return_ns is BB_TIME_NONE all the same, it came when the caller had
                       // gone on (nesting/given_up.h, nesting/unread.h)
    guint32 op, status;
    gint64 return_end_ns; // return, last byte; BB_TIME_NONE if not known. Without return: until
                          // when its caller waited for one, on the callee's clock
                          // (nesting/patience.h); BB_TIME_NONE where none is known. Before the
                          // return: nobody read that, for its caller had closed then
    BbId id;              // of the trace; absent where the trace has none
    guint32 proto;
    guint32 conn; // what tells the connection that it was sent on from others; 0 if not known
} BbCall;

static inline bool bb_call_is_returned(const BbCall *call)
{
    return call->return_ns != BB_TIME_NONE;
}

// Whether it returned when its caller had gone on, which is no return to the caller.
static inline bool bb_call_is_late(const BbCall *call)
{
    return !bb_call_is_returned(call) && call->replied_ns != BB_TIME_NONE;
}

// When the callee was done with the call, on its clock. last_byte: with the last byte of the
// return, where that is known, else with the first. Without return: when its caller went on.
static inline gint64 bb_call_end(const BbCall *call, bool last_byte)
{
    if (!bb_call_is_returned(call))
        return call->return_end_ns != BB_TIME_NONE ? call->return_end_ns : call->replied_ns;
    return last_byte ? MAX(call->return_end_ns, call->replied_ns) : call->replied_ns;
}

// to - from, held at the ends of gint64: stamps of a hostile trace may be any number.
static inline gint64 bb_time_between(gint64 from, gint64 to)
{
    gint64 between;
    if (__builtin_sub_overflow(to, from, &between))
        return to < from ? G_MININT64 : G_MAXINT64;
    return between;
}

// ns + by_ns, held likewise.
static inline gint64 bb_time_after(gint64 ns, gint64 by_ns)
{
    gint64 sum_ns;
    if (__builtin_add_overflow(ns, by_ns, &sum_ns))
        return by_ns < 0 ? G_MININT64 : G_MAXINT64;
    return sum_ns;
}

// Until when the caller waited for the return, on its clock. The end is known on the callee's clock
// only: here it comes as long after the first byte of the return; without one, of the call.
static inline gint64 bb_call_back(const BbCall *call, bool last_byte)
{
    bool is_returned = bb_call_is_returned(call);
    gint64 back_ns = is_returned ? call->return_ns : call->call_ns;
    gint64 there_ns = is_returned ? call->replied_ns : call->arrived_ns;
    gint64 longer_ns = bb_time_between(there_ns, bb_call_end(call, last_byte));
    return bb_time_after(back_ns, MAX(longer_ns, 0));
}

// A root or a call whose parent was not found.
#define BB_CALL_NO_PARENT G_MAXUINT32
