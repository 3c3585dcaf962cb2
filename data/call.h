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
    gint64 replied_ns;      // return, first byte, callee's clock; BB_TIME_NONE without return
    guint32 op, status;
    gint64 return_end_ns; // return, last byte; BB_TIME_NONE if not known
    BbId id;              // of the trace; absent where the trace has none
    guint32 proto;
    guint32 conn; // what tells the connection that it was sent on from others; 0 if not known
} BbCall;

static inline bool bb_call_is_returned(const BbCall *call)
{
    return call->return_ns != BB_TIME_NONE;
}

// When the callee was done with the call, on its clock. last_byte: with the last byte of the
// return, where that is known, else with the first.
static inline gint64 bb_call_end(const BbCall *call, bool last_byte)
{
    return last_byte && call->return_end_ns != BB_TIME_NONE ? call->return_end_ns
                                                            : call->replied_ns;
}

// to - from, held at the ends of gint64: stamps of a hostile trace may be any number.
static inline gint64 bb_time_between(gint64 from, gint64 to)
{
    gint64 between;
    if (__builtin_sub_overflow(to, from, &between))
        return to < from ? G_MININT64 : G_MAXINT64;
    return between;
}

// Until when the caller waited for the return, on its clock. The last byte is known on the callee's
// clock only: it comes as long after the first one here.
static inline gint64 bb_call_back(const BbCall *call, bool last_byte)
{
    gint64 back_ns = call->return_ns;
    gint64 sending_ns = bb_time_between(call->replied_ns, bb_call_end(call, last_byte));
    if (sending_ns > 0 && __builtin_add_overflow(back_ns, sending_ns, &back_ns))
        back_ns = G_MAXINT64;
    return back_ns;
}

// A root or a call whose parent was not found.
#define BB_CALL_NO_PARENT G_MAXUINT32
