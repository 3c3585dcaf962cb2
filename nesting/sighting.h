// SPDX-License-Identifier: Apache-2.0
// What pairing needs of a message that is a call or a return, in 56 bytes: where messages come out
// of order, or twice, there is one of these for each.
#pragma once

#include "data/call.h"
#include "data/message.h"

typedef struct BbSighting {
    gint64 time_ns, recv_ns, end_ns; // as in BbMessage
    guint64 id_number;
    guint32 id_form;
    guint32 caller, callee, op; // of the call, whichever direction this went
    union {
        guint32 status; // of a return
        guint32 conn;   // of a call, as in BbCall
    };
    guint32 proto : 30; // a table of 2^30 names does not fit into any memory
    guint32 is_return : 1;
    guint32 at_receiver : 1;
} BbSighting;

// The time by which calls and returns of a pair of nodes are put in order: the callee's clock where
// it is known.
static inline gint64 bb_sighting_time(const BbSighting *sighting)
{
    if (!sighting->is_return && sighting->recv_ns != BB_TIME_NONE)
        return sighting->recv_ns;
    return sighting->time_ns;
}

// A call, and the return that it has; labels are of both. both: it was seen at both ends, else at
// the sender's alone, and the other time is taken from there.
BbSighting bb_sighting_of_call(const BbCall *call, bool both);
BbSighting bb_sighting_of_return(const BbCall *call, bool both);
