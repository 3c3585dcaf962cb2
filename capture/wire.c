// SPDX-License-Identifier: Apache-2.0
// In: the packets of a connection. Out: facts on the network under it.
#include "capture/wire.h"

#define SYN_ACK (BB_TCP_SYN | BB_TCP_ACK)

// Of a SYN that came twice nobody knows which one was answered (Karn's rule, RFC 6298, section 3).
static void note_syn(BbWire *wire, const BbPacket *packet)
{
    wire->repeated_syns += wire->has_syn;
    wire->has_syn = true;
    wire->syn_ns = packet->time_ns;
}

static guint32 between(gint64 from_ns, gint64 to_ns)
{
    return (guint32)CLAMP(to_ns - from_ns, 0, (gint64)G_MAXUINT32);
}

static void note_answer(BbWire *wire, const BbPacket *packet)
{
    wire->repeated_syns += wire->has_answer;
    wire->has_to_server = wire->has_syn && !wire->repeated_syns;
    wire->to_server_ns = between(wire->syn_ns, packet->time_ns);
    wire->has_answer = true;
    wire->answer_ns = packet->time_ns;
}

static void note_handshake(BbWire *wire, guint side, guint client, const BbPacket *packet)
{
    if ((packet->tcp_flags & SYN_ACK) == BB_TCP_SYN)
        note_syn(wire, packet);
    else if (packet->tcp_flags & BB_TCP_SYN)
        note_answer(wire, packet);
    else if (side == client && wire->has_answer && !wire->has_to_client && !wire->repeated_syns) {
        wire->has_to_client = true;
        wire->to_client_ns = between(wire->answer_ns, packet->time_ns);
    }
}

void bb_wire_push(BbWire *wire, guint side, guint client, const BbPacket *packet)
{
    bool is_reset = packet->tcp_flags & BB_TCP_RST;
    wire->packets += wire->packets < G_MAXUINT32;
    if (is_reset) {
        wire->refused |= wire->has_syn && !wire->has_answer && side != client;
        return;
    }
    if (!wire->has_to_client || packet->tcp_flags & BB_TCP_SYN)
        note_handshake(wire, side, client, packet);
    bool is_shut = packet->window == 0 && !(packet->tcp_flags & (BB_TCP_SYN | BB_TCP_FIN));
    wire->zero_windows += is_shut && !wire->window_shut[side];
    wire->window_shut[side] = is_shut;
}

void bb_wire_report(BbWire *wire, bool reset, BbNetworkEdge *edge)
{
    bb_wire_tell(wire, edge);
    edge->refused += wire->refused;
    edge->unanswered += wire->has_syn && !wire->has_answer && !wire->refused;
    edge->resets += reset && !wire->refused;
}

void bb_wire_tell(BbWire *wire, BbNetworkEdge *edge)
{
    edge->connections += !wire->told;
    edge->packets += wire->packets;
    edge->retransmitted += wire->repeated_syns - wire->told_syns;
    edge->zero_windows += wire->zero_windows;
    if (wire->has_to_server && !wire->told_to_server)
        bb_round_trip_note(&edge->to_server, wire->to_server_ns);
    if (wire->has_to_client && !wire->told_to_client)
        bb_round_trip_note(&edge->to_client, wire->to_client_ns);
    wire->told = true;
    wire->packets = wire->zero_windows = 0;
    wire->told_syns = wire->repeated_syns;
    wire->told_to_server |= wire->has_to_server;
    wire->told_to_client |= wire->has_to_client;
}
