// SPDX-License-Identifier: Apache-2.0
// In: a SYN that was set aside, and packets between the same ends. Out: whether they answer it.
#include "capture/asked.h"

#include "capture/sequence.h"
#include "capture/tcp.h"

BbAsked *bb_asked_new(const BbPacket *syn, guint side)
{
    BbAsked *asked = g_new(BbAsked, 1);
    *asked = (BbAsked){.syn = *syn, .side = side};
    asked->syn.payload = NULL; // lent, and there is none
    return asked;
}

bool bb_asked_is_same(const BbAsked *asked, guint side, const BbPacket *syn)
{
    return asked->side == side && asked->syn.seq == syn->seq;
}

bool bb_asked_is_answered(const BbAsked *asked, guint side, const BbPacket *packet, guint32 next)
{
    bool from_asking = side == asked->side;
    if (packet->tcp_flags & (from_asking ? BB_TCP_SYN | BB_TCP_RST : 0) ||
        !(from_asking || packet->tcp_flags & BB_TCP_ACK))
        return false;
    guint32 number = from_asking ? packet->seq : packet->ack;
    guint32 since = number - (asked->syn.seq + 1);
    gint32 ahead = bb_sequence_distance(next, number);
    return since == 0 ||
           (since < BB_TCP_IN_FLIGHT && (ahead > BB_TCP_IN_FLIGHT || ahead < -BB_TCP_IN_FLIGHT));
}

BbNetworkEdge bb_asked_unanswered(const BbAsked *asked)
{
    return (BbNetworkEdge){.connections = 1,
                           .unanswered = 1,
                           .packets = (guint64)asked->again + 1,
                           .retransmitted = asked->again};
}
