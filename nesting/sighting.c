// SPDX-License-Identifier: Apache-2.0
// In: calls as they were paired. Out: the messages that they were, to be paired anew.
#include "nesting/sighting.h"

static gint64 unless_equal(gint64 time_ns, gint64 other_ns)
{
    return time_ns == other_ns ? BB_TIME_NONE : time_ns;
}

BbSighting bb_sighting_of_call(const BbCall *call)
{
    return (BbSighting){.time_ns = call->call_ns,
                        .recv_ns = unless_equal(call->arrived_ns, call->call_ns),
                        .end_ns = BB_TIME_NONE,
                        .id_number = call->id.number,
                        .id_form = call->id.form,
                        .caller = call->caller,
                        .callee = call->callee,
                        .op = call->op,
                        .conn = call->conn,
                        .proto = call->proto & ((1u << 30) - 1)};
}

BbSighting bb_sighting_of_return(const BbCall *call)
{
    BbSighting sighting = bb_sighting_of_call(call);
    sighting.time_ns = call->replied_ns;
    sighting.recv_ns = unless_equal(call->return_ns, call->replied_ns);
    sighting.end_ns = call->return_end_ns;
    sighting.status = call->status;
    sighting.is_return = true;
    return sighting;
}
