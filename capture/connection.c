// SPDX-License-Identifier: Apache-2.0
// In: packets of one flow. Out: its bytes and ends, to the dialog; what TCP tells of the network.
#include "capture/connection.h"

#include "capture/feed.h"
#include "capture/sequence.h"
#include "capture/servers.h"

// ---- the network ------------------------------------------------------------------------------

static BbNetworkEdge take_order(BbTcp *tcp)
{
    BbNetworkEdge edge = {.retransmitted = tcp->retransmitted, .reordered = tcp->reordered};
    tcp->retransmitted = tcp->reordered = 0;
    return edge;
}

guint bb_flow_client(const BbFlow *flow)
{
    return flow->dialog ? bb_dialog_client(flow->dialog) : flow->client;
}

static void report_network(BbContext *context, BbFlow *flow)
{
    BbNetworkEdge edge = take_order(&flow->tcp);
    bb_wire_report(&flow->wire, flow->tcp.reset, &edge);
    bb_context_edge(context, bb_flow_ends(flow), bb_flow_client(flow), flow->dialog, true, &edge);
}

static guint32 milliseconds(gint64 time_ns)
{
    return (guint32)((guint64)time_ns / 1000000);
}

// Of a connection that goes on, where somebody wants to know before it ends. One that is silent has
// little to tell until it speaks again.
static void tell_network(BbContext *context, BbFlow *flow, gint64 time_ns)
{
    gint64 every_ns = context->network_ns;
    guint32 now_ms = milliseconds(time_ns);
    if (!every_ns || !flow->dialog ||
        ABS((gint64)(gint32)(now_ms - flow->told_ms)) < every_ns / 1000000)
        return;
    flow->told_ms = now_ms;
    BbNetworkEdge edge = take_order(&flow->tcp);
    bb_wire_tell(&flow->wire, &edge);
    bb_context_edge(context, bb_flow_ends(flow), bb_dialog_client(flow->dialog), true, false,
                    &edge);
}

// ---- bytes ------------------------------------------------------------------------------------

// Where no handshake of its own tells who calls, those of others do: who has answered a SYN there
// serves. Not where both ends have, and not where ports say otherwise: a client answers SYNs, too,
// as in active FTP, and its port is another connection's later.
static bool find_server(BbContext *context, BbFlow *flow)
{
    const BbEndpoints *ends = &flow->endpoints;
    bool serves[2] = {false, false};
    if (!context->servers || flow->transport != BB_TRANSPORT_TCP)
        return false;
    for (guint end = 0; end < 2; end++)
        serves[end] =
            bb_servers_know(context->servers, &ends->address[end], ends->port[end], flow->servers);
    guint server = serves[0] ? 0 : 1;
    bool by_ports =
        ends->port[server] >= BB_PORT_OF_CLIENTS && ends->port[!server] < BB_PORT_OF_CLIENTS;
    if (serves[0] == serves[1] || by_ports)
        return false;
    flow->client = !server;
    return true;
}

static BbDialog *dialog_of(BbContext *context, BbFlow *flow, guint side)
{
    bool is_tcp = flow->transport == BB_TRANSPORT_TCP;
    if (flow->dialog)
        return flow->dialog;
    bool known = flow->client_known || find_server(context, flow);
    if (!known)
        flow->client = (guint8)side;
    flow->dialog = bb_dialog_new(context, bb_flow_ends(flow), is_tcp, flow->client, known);
    if (is_tcp && !flow->tcp.stream[flow->client].from_syn)
        bb_dialog_joined(flow->dialog);
    context->loss->count[BB_TCP_MIDSTREAM] += is_tcp && !flow->tcp.stream[side].from_syn;
    return flow->dialog;
}

static guint64 position_near(guint64 known, guint32 number)
{
    return bb_sequence_position(known ? known : BB_SEQUENCE_FIRST + number, number);
}

// Of what side sent. A wild acknowledgement does not change where that is.
static guint64 position_sent(BbFlow *flow, guint side, guint32 seq, guint32 length)
{
    BbFlowPlace *place = &flow->place[side];
    guint64 position = position_near(place->sent ? place->sent : place->told, seq);
    place->sent = place->told = position + length;
    return position;
}

// What side sent was received up to there. Of half a mirror nothing else tells where it is.
static guint64 position_acked(BbFlow *flow, guint side, guint32 ack)
{
    BbFlowPlace *place = &flow->place[side];
    return place->told = position_near(place->told, ack);
}

// seq and ack: numbers, of TCP.
static void feed_piece(BbContext *context, BbFlow *flow, guint side, BbPiece *piece, guint32 seq,
                       guint32 ack)
{
    if (flow->transport == BB_TRANSPORT_TCP)
        piece->seq = position_sent(flow, side, seq, piece->length);
    if (piece->has_ack)
        piece->ack = position_acked(flow, !side, ack);
    bb_dialog_feed(dialog_of(context, flow, side), side, piece);
}

static void feed_packet(BbContext *context, BbFlow *flow, guint side, const BbPacket *packet)
{
    BbPiece piece = {
        .data = packet->payload,
        .length = packet->captured,
        .has_ack = packet->tcp_flags & BB_TCP_ACK,
        .missing = packet->length - packet->captured,
        .time_ns = packet->time_ns,
        .took_ns = packet->took_ns,
        .place = packet->place,
    };
    feed_piece(context, flow, side, &piece, packet->seq, packet->ack);
}

static void feed_event(BbContext *context, BbFlow *flow, const BbTcpEvent *event)
{
    BbPiece piece = {
        .data = event->data,
        .length = event->length,
        .has_ack = event->has_ack,
        .time_ns = event->time_ns,
        .place = event->place,
    };
    feed_piece(context, flow, event->side, &piece, event->seq, event->ack);
}

static void feed_gap(BbContext *context, BbFlow *flow, const BbTcpEvent *event)
{
    BbDialog *dialog = dialog_of(context, flow, event->side);
    guint64 seq = position_sent(flow, event->side, event->seq, event->length);
    if (event->cut)
        bb_dialog_cut(dialog, event->side, seq, event->length);
    else
        bb_dialog_gap(dialog, event->side, seq, event->length);
}

static void note_closed(BbContext *context, BbFlow *flow, guint side, bool was_reset)
{
    if (!flow->hold)
        context->hold = flow->hold = bb_hold_new();
    bb_hold_close(flow->hold, side, flow->last_ns, flow->tcp.stream[side].next, was_reset);
}

static void close_side(BbContext *context, BbFlow *flow, guint side)
{
    note_closed(context, flow, side, false);
    if (flow->dialog)
        bb_dialog_close(flow->dialog, side);
}

static void drain(BbContext *context, BbFlow *flow)
{
    BbTcpEvent event;
    while (bb_tcp_next(&flow->tcp, &event, context->loss)) {
        if (event.kind == BB_TCP_DATA)
            feed_event(context, flow, &event);
        else if (event.kind == BB_TCP_GAP)
            feed_gap(context, flow, &event);
        else
            close_side(context, flow, event.side);
    }
}

static void finish_dialog(BbContext *context, BbFlow *flow)
{
    if (flow->transport == BB_TRANSPORT_TCP) {
        bb_tcp_force(&flow->tcp);
        drain(context, flow);
        if (flow->wire.packets || flow->wire.told)
            report_network(context, flow);
        flow->wire = (BbWire){0};
    }
    g_clear_pointer(&flow->dialog, bb_dialog_free);
}

// A handshake says who calls (RFC 9293 section 3.5).
static void note_handshake(BbFlow *flow, guint side, const BbPacket *packet)
{
    if (!(packet->tcp_flags & BB_TCP_SYN) || flow->client_known)
        return;
    flow->client = (guint8)(packet->tcp_flags & BB_TCP_ACK ? !side : side);
    flow->client_known = true;
}

// A SYN with another initial sequence number than the one known: the ports are used again.
static bool is_new_connection(const BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = &flow->tcp.stream[side];
    bool answers = packet->tcp_flags & BB_TCP_ACK;
    if ((packet->tcp_flags & (BB_TCP_SYN | BB_TCP_RST)) != BB_TCP_SYN)
        return false;
    if (flow->kind == BB_FLOW_CLOSED && (!answers || !stream->started))
        return true;
    // Until a server speaks, its SYNs may differ (cookies, RFC 4987): none tells of another one.
    if (!stream->started || (answers && flow->kind != BB_FLOW_CLOSED && !stream->spoke))
        return false;
    if (stream->from_syn)
        return packet->seq != stream->isn;
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq + 1);
    return stream->spoke && (ahead > 0 || ahead < -(1 << 30));
}

// Data that no closed connection can have left behind: it goes on where that one ended, or is far
// from it. The other side's reset is not known at once to who sends; its own is.
static bool outlives_end(const BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = &flow->tcp.stream[side];
    bool was_told = flow->tcp.reset != 2 - side;
    if (flow->kind != BB_FLOW_CLOSED || !packet->length || !stream->started)
        return false;
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq + packet->length);
    return ahead > (was_told ? 0 : BB_TCP_IN_FLIGHT) || ahead < -BB_TCP_IN_FLIGHT;
}

bool bb_flow_is_another(const BbFlow *flow, guint side, const BbPacket *packet)
{
    return is_new_connection(flow, side, packet) || outlives_end(flow, side, packet) ||
           bb_tcp_has_moved(&flow->tcp, side, packet);
}

// A late copy of what is over, or what was under way when the other side broke it off.
static void count_closed(BbContext *context, const BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = &flow->tcp.stream[side];
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq + packet->length);
    bool is_new = packet->length && (!stream->started || ahead > 0);
    context->loss->count[BB_TCP_AFTER_RESET] += is_new;
}

static bool close_if_over(BbContext *context, BbFlow *flow)
{
    const BbTcp *tcp = &flow->tcp;
    if (!tcp->reset && !(tcp->stream[0].closed && tcp->stream[1].closed))
        return false;
    if (tcp->reset)
        note_closed(context, flow, tcp->reset - 1, true);
    finish_dialog(context, flow);
    return true;
}

// What side sends tells whether it took the returns that came when it had closed.
static void settle_held(BbContext *context, BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = flow->tcp.stream;
    bool resets = packet->tcp_flags & BB_TCP_RST;
    bb_hold_note_end(flow->hold, (const guint32[]){stream[0].next, stream[1].next},
                     packet->time_ns);
    // Of one that is over a reset is believed; else only one that has ended it.
    if (resets && flow->dialog && flow->tcp.reset != side + 1)
        return;
    // Where the mirror swapped them, who is answered here has acknowledged it already.
    bb_hold_heard(flow->hold, context, !side, false, stream[side].has_acked, stream[side].acked);
    bb_hold_heard(flow->hold, context, side, resets, packet->tcp_flags & BB_TCP_ACK, packet->ack);
}

static BbFlowKind take_tcp(BbContext *context, BbFlow *flow, guint side, const BbPacket *packet)
{
    if (flow->kind == BB_FLOW_CLOSED) {
        count_closed(context, flow, side, packet);
        return BB_FLOW_CLOSED;
    }
    note_handshake(flow, side, packet);
    bb_wire_push(&flow->wire, side, flow->client, packet);
    if (bb_tcp_push(&flow->tcp, side, packet, context->loss))
        feed_packet(context, flow, side, packet);
    if (bb_tcp_waits(&flow->tcp))
        drain(context, flow);
    if (close_if_over(context, flow))
        return BB_FLOW_CLOSED;
    tell_network(context, flow, packet->time_ns);
    // Who only waits to be reset may never be heard again.
    return flow->dialog && !flow->tcp.reset_waits ? BB_FLOW_TALKING : BB_FLOW_EMPTY;
}

static BbFlowKind push_tcp(BbContext *context, BbFlow *flow, guint side, const BbPacket *packet)
{
    bb_flow_release(flow, context, packet->time_ns); // whether or not its turn came since then
    context->hold = flow->hold;
    BbFlowKind kind = take_tcp(context, flow, side, packet);
    if (G_UNLIKELY(flow->hold && flow->hold->returns))
        settle_held(context, flow, side, packet);
    context->hold = NULL;
    return kind;
}

BbFlowKind bb_flow_push(BbFlow *flow, BbContext *context, guint side, const BbPacket *packet)
{
    flow->last_ns = packet->time_ns;
    flow->number = packet->number;
    flow->servers = packet->servers;
    if (flow->transport == BB_TRANSPORT_TCP)
        return push_tcp(context, flow, side, packet);
    if (packet->captured)
        feed_packet(context, flow, side, packet);
    return BB_FLOW_DATAGRAMS;
}

// ---- what waits -------------------------------------------------------------------------------

guint32 bb_flow_held(const BbFlow *flow)
{
    return (flow->dialog ? bb_dialog_held(flow->dialog) : 0) +
           (flow->transport == BB_TRANSPORT_TCP ? bb_tcp_held(&flow->tcp) : 0) +
           (flow->hold ? bb_hold_bytes(flow->hold) : 0);
}

bool bb_flow_drop_held(BbFlow *flow, BbContext *context)
{
    bool is_over = false;
    context->hold = flow->hold;
    if (flow->transport == BB_TRANSPORT_TCP && bb_tcp_held(&flow->tcp)) {
        context->loss->count[BB_TCP_BUFFER_LIMIT]++;
        bb_tcp_force(&flow->tcp);
        drain(context, flow);
        flow->tcp.forced = false;
        is_over = close_if_over(context, flow);
    }
    if (flow->dialog)
        bb_dialog_drop_held(flow->dialog);
    bb_hold_release(flow->hold, context);
    context->hold = NULL;
    return is_over;
}

void bb_flow_release(BbFlow *flow, BbContext *context, gint64 now_ns)
{
    if (G_UNLIKELY(flow->hold && bb_hold_is_over(flow->hold, now_ns)))
        bb_hold_release(flow->hold, context);
}

// ---- its life ---------------------------------------------------------------------------------

BbFlow *bb_flow_new(const BbPacket *packet, guint32 hash)
{
    BbFlow *flow = g_new0(BbFlow, 1);
    flow->hash = hash;
    flow->transport = packet->transport;
    flow->endpoints = bb_endpoints_on_wire(packet);
    flow->told_ms = milliseconds(packet->time_ns);
    flow->kind = packet->transport == BB_TRANSPORT_UDP ? BB_FLOW_DATAGRAMS : BB_FLOW_EMPTY;
    return flow;
}

void bb_flow_end(BbFlow *flow, BbContext *context)
{
    context->hold = flow->hold;
    finish_dialog(context, flow);
    bb_hold_release(flow->hold, context);
    context->hold = NULL;
    if (flow->transport == BB_TRANSPORT_TCP)
        bb_tcp_clear(&flow->tcp);
}

void bb_flow_free(BbFlow *flow)
{
    bb_hold_free(flow->hold);
    g_free(flow->real);
    g_free(flow);
}
