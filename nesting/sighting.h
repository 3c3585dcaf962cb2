// SPDX-License-Identifier: Apache-2.0
// What pairing needs of a message that is a call or a return, in 64 bytes.
#pragma once

#include "data/message.h"

typedef struct BbSighting {
    gint64 time_ns, recv_ns, end_ns; // as in BbMessage
    BbId id;
    guint32 caller, callee, op, status, proto; // of the call, whichever direction this went
    bool is_return, at_receiver;
} BbSighting;

// The time by which calls and returns of a pair of nodes are put in order: the callee's clock where
// it is known.
static inline gint64 bb_sighting_time(const BbSighting *sighting)
{
    if (!sighting->is_return && sighting->recv_ns != BB_TIME_NONE)
        return sighting->recv_ns;
    return sighting->time_ns;
}
