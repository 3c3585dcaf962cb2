// SPDX-License-Identifier: Apache-2.0
// In: calls and answers over UDP. Out: whether they were there before.
#include "capture/protocols/recent_calls.h"

static bool is_recent(const BbRecentCall *call, guint64 key, const BbPart *part)
{
    return call->key == key && part->first_ns - call->time_ns <= BB_RECENT_NS;
}

const BbOpenCall *bb_recent_calls_open(BbDialog *dialog, const BbPart *part, BbDirection asked,
                                       guint64 key)
{
    BbPart reply = *part; // as a reply would find it
    reply.direction = bb_direction_other(asked);
    const BbOpenCall *open = bb_dialog_find(dialog, &reply, key);
    if (!open || part->first_ns - open->seen_ns <= BB_RECENT_NS)
        return open;
    bb_dialog_give_up(dialog, open->call);
    return NULL;
}

bool bb_recent_calls_sent_again(BbRecentCalls *recent, const BbPart *call, guint64 key,
                                guint64 hash)
{
    hash ^= call->direction;
    for (guint i = 0; i < MIN(recent->calls, BB_RECENT_CALLS); i++)
        if (is_recent(&recent->call[i], key, call) && recent->call[i].hash == hash)
            return true;
    recent->call[recent->calls++ % BB_RECENT_CALLS] = (BbRecentCall){key, hash, call->first_ns};
    return false;
}

bool bb_recent_calls_answered_again(const BbRecentCalls *recent, BbDialog *dialog,
                                    const BbPart *reply, guint64 key)
{
    if (bb_dialog_find(dialog, reply, key))
        return false;
    for (guint i = 0; i < MIN(recent->calls, BB_RECENT_CALLS); i++)
        if (is_recent(&recent->call[i], key, reply))
            return true;
    return false;
}
