// SPDX-License-Identifier: Apache-2.0
// In: a message that is about to go out. Out: its id, and its time behind that of its call.
#include "merge/join_state.h"

static BbOpenCall *find_by(const BbJoin *join, const BbHeld *held, const BbSighting *seen)
{
    if (!bb_id_is_known(seen->id))
        return NULL;
    BbMessage answer = held->message;
    answer.id = seen->id;
    answer.observer = seen->observer;
    return bb_call_ids_find(join->ids, &answer, seen->input);
}

BbOpenCall *bb_held_find_call(const BbJoin *join, const BbHeld *held)
{
    BbOpenCall *call = NULL;
    for (const BbSighting *seen = &held->seen; seen && !call; seen = seen->next)
        call = find_by(join, held, seen);
    return call;
}

// The call of a return. Others that its sightings name have this return, too, and are closed.
static BbOpenCall *take_call(BbJoin *join, const BbHeld *held)
{
    BbOpenCall *call = bb_held_find_call(join, held);
    for (const BbSighting *seen = &held->seen; seen; seen = seen->next) {
        BbOpenCall *found = find_by(join, held, seen);
        gint64 time_ns = 0;
        if (found && found != call && bb_open_call_is_written(found, &time_ns))
            bb_call_ids_close(join->ids, found);
    }
    return call;
}

static BbId known_id(const BbHeld *held)
{
    BbId id = held->message.id;
    for (const BbSighting *seen = &held->seen; seen && !bb_id_is_known(id); seen = seen->next)
        id = seen->id;
    return id;
}

// Whether a return precedes its call and may be moved to it, once.
static bool move_return(BbJoin *join, BbHeld *held, gint64 call_ns)
{
    BbMessage *message = &held->message;
    if (!join->options.repair || held->moved ||
        call_ns - message->time_ns > join->options.window_ns)
        return false;
    join->count[BB_JOIN_MOVED] += message->time_ns < call_ns;
    held->moved = true;
    message->time_ns = call_ns;
    if (message->end_ns != BB_TIME_NONE)
        message->end_ns = MAX(message->end_ns, call_ns);
    return true;
}

// Returns false where the return has moved behind its call, and waits there.
bool bb_held_settle_return(BbJoin *join, BbHeld *held)
{
    BbMessage *message = &held->message;
    gint64 call_ns = 0;
    BbOpenCall *call = take_call(join, held);
    if (!call) {
        message->id = known_id(held);
        if (bb_call_id_is_made_up(message))
            message->id = bb_call_ids_fresh(join->ids);
        return true;
    }
    bool written = bb_open_call_is_written(call, &call_ns);
    bool before = message->time_ns < call_ns || (!written && message->time_ns == call_ns);
    if (before && move_return(join, held, call_ns)) {
        if (!written)
            return false;
    } else {
        join->count[BB_JOIN_PRECEDES] +=
            !held->moved && (message->time_ns < call_ns ||
                             (written && message->time_ns < bb_open_call_arrived(call)));
    }
    message->id = bb_call_ids_of(join->ids, call);
    if (written)
        bb_call_ids_close(join->ids, call);
    return true;
}

// The call over which a connection is closed, by its caller or by its callee.
static BbOpenCall *find_ended(const BbJoin *join, const BbHeld *held)
{
    BbHeld answer = *held;
    BbOpenCall *call = bb_held_find_call(join, &answer);
    answer.message.sender = held->message.receiver;
    answer.message.receiver = held->message.sender;
    return call ? call : bb_held_find_call(join, &answer);
}

void bb_held_settle_other(BbJoin *join, BbHeld *held)
{
    BbMessage *message = &held->message;
    bool ends_call = bb_message_ends_call(message, join->names);
    BbOpenCall *ended = ends_call ? find_ended(join, held) : NULL;
    message->id = known_id(held);
    if (held->call)
        message->id = bb_call_ids_write(join->ids, held->call, message);
    else if (ended)
        message->id = bb_call_ids_of(join->ids, ended);
    else if (bb_call_id_is_made_up(message))
        message->id = bb_call_ids_fresh(join->ids);
}
