// SPDX-License-Identifier: Apache-2.0
// In: calls as they were paired. Out: the messages that they were, to be paired anew.
#include "nesting/sighting.h"

BbSighting bb_sighting_of_call(const BbCall *call, bool both)
{
    return (BbSighting){.time_ns = call->call_ns,
                        .recv_ns = both ? call->arrived_ns : BB_TIME_NONE,
                        .end_ns = BB_TIME_NONE,
                        .id_number = call->id.number,
                        .id_form = call->id.form,
                        .caller = call->caller,
                        .callee = call->callee,
                        .op = call->op,
                        .conn = call->conn,
                        .proto = call->proto & ((1u << 30) - 1)};
}

BbSighting bb_sighting_of_return(const BbCall *call, bool both)
{
    BbSighting sighting = bb_sighting_of_call(call, false);
    sighting.time_ns = call->replied_ns;
    sighting.recv_ns = both ? call->return_ns : BB_TIME_NONE;
    sighting.end_ns = call->return_end_ns;
    sighting.status = call->status;
    sighting.is_return = true;
    return sighting;
}
