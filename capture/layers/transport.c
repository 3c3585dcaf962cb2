// SPDX-License-Identifier: Apache-2.0
// In: TCP and UDP headers. Out: the packet with ports, numbers and payload. RFC 9293, RFC 768.
#include "capture/layers/overlay.h"

#define TCP_HEADER 20u
#define UDP_HEADER 8u

static BbLayerId finish(BbWalk *walk, BbTransport transport, BbLossKind seen)
{
    BbPacket *packet = walk->packet;
    packet->transport = transport;
    packet->payload = walk->rest.at;
    packet->captured = (guint32)walk->rest.left;
    packet->length = (guint32)walk->wire;
    if (packet->captured < packet->length)
        walk->loss->count[BB_CUT_PAYLOAD]++;
    walk->loss->count[seen]++;
    return BB_LAYER_PACKET;
}

BbLayerId bb_layer_tcp(BbWalk *walk)
{
    BbPacket *packet = walk->packet;
    BbCursor header;
    if (!bb_walk_take(walk, TCP_HEADER, &header))
        return BB_LAYER_NONE;
    packet->source_port = bb_cursor_be16(&header);
    packet->target_port = bb_cursor_be16(&header);
    packet->seq = bb_cursor_be32(&header);
    packet->ack = bb_cursor_be32(&header);
    gsize size = (bb_cursor_u8(&header) >> 4) * 4u;
    if (size < TCP_HEADER || size - TCP_HEADER > walk->wire)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    packet->tcp_flags = bb_cursor_u8(&header);
    packet->window = bb_cursor_be16(&header);
    // Where the snap length ends among the options, the packet is still of use.
    packet->options_size = (guint8)MIN(size - TCP_HEADER, walk->rest.left);
    packet->options = bb_cursor_take(&walk->rest, packet->options_size);
    walk->wire -= size - TCP_HEADER;
    return finish(walk, BB_TRANSPORT_TCP, BB_SEEN_TCP);
}

BbLayerId bb_layer_udp(BbWalk *walk)
{
    BbPacket *packet = walk->packet;
    BbCursor header;
    if (!bb_walk_take(walk, UDP_HEADER, &header))
        return BB_LAYER_NONE;
    packet->source_port = bb_cursor_be16(&header);
    packet->target_port = bb_cursor_be16(&header);
    guint16 length = bb_cursor_be16(&header);
    if (length < UDP_HEADER || length - UDP_HEADER > walk->wire)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    bb_walk_limit(walk, length - UDP_HEADER); // beyond: options (RFC 9868), padding
    BbLayerId tunnel = bb_overlay_find(walk, packet->source_port, packet->target_port);
    if (tunnel != BB_LAYER_NONE)
        return tunnel;
    packet->seq = packet->ack = 0;
    packet->tcp_flags = 0;
    packet->window = 0;
    return finish(walk, BB_TRANSPORT_UDP, BB_SEEN_UDP);
}
