// SPDX-License-Identifier: Apache-2.0
// Two streams and what delivers them: whatever comes is checked against the bytes that were sent.
#pragma once

#include "capture/tcp.h"
#include "tests/unit/test.h"

#define MS (G_GINT64_CONSTANT(1000000))

typedef struct Stream {
    guint8 *bytes; // all that this side sends
    guint32 length, isn;
    guint32 at; // delivered or reported missing so far
    guint32 gaps, missing;
    bool closed;
} Stream;

typedef struct Wire {
    Stream side[2];
    BbTcp tcp;
    BbLoss loss;
} Wire;

static inline void stream_init(Stream *stream, GRand *rand, guint32 length)
{
    *stream = (Stream){.length = length, .isn = g_rand_int(rand)};
    stream->bytes = g_malloc(length + 1); // never NULL
    for (guint32 i = 0; i < length; i++)
        stream->bytes[i] = (guint8)g_rand_int(rand);
}

static inline void wire_clear(Wire *wire)
{
    bb_tcp_clear(&wire->tcp);
    g_free(wire->side[0].bytes);
    g_free(wire->side[1].bytes);
}

// Checks an event against the stream.
static inline void check_event(Wire *wire, const BbTcpEvent *event)
{
    Stream *stream = &wire->side[event->side];
    ck_assert(!stream->closed);
    if (event->kind == BB_TCP_CLOSE) {
        stream->closed = true;
        return;
    }
    ck_assert_uint_eq(event->seq, stream->isn + 1 + stream->at);
    ck_assert_uint_gt(event->length, 0);
    ck_assert_uint_le(event->length, stream->length - stream->at);
    if (event->kind == BB_TCP_DATA)
        ck_assert_mem_eq(event->data, stream->bytes + stream->at, event->length);
    else
        stream->gaps++, stream->missing += event->length;
    stream->at += event->length;
}

static inline void check_events(Wire *wire)
{
    BbTcpEvent event;
    while (bb_tcp_next(&wire->tcp, &event, &wire->loss))
        check_event(wire, &event);
    ck_assert(!bb_tcp_waits(&wire->tcp) || bb_tcp_held(&wire->tcp));
}

static inline BbPacket packet_of(const Wire *wire, guint side, guint32 from, guint32 length,
                                 guint32 acked, guint8 flags)
{
    return (BbPacket){
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = wire->side[side].isn + 1 + from,
        .ack = wire->side[!side].isn + 1 + acked,
        .payload = wire->side[side].bytes + from,
        .captured = length,
        .length = length,
    };
}

static inline void push(Wire *wire, guint side, BbPacket packet, gint64 time_ns)
{
    packet.time_ns = time_ns;
    g_autofree guint8 *copy = packet.captured ? g_memdup2(packet.payload, packet.captured) : NULL;
    packet.payload = copy; // valid during the call and its events only
    if (bb_tcp_push(&wire->tcp, side, &packet, &wire->loss)) {
        BbTcpEvent event = {
            .kind = BB_TCP_DATA,
            .side = side,
            .data = copy,
            .length = packet.captured,
            .seq = packet.seq,
        };
        check_event(wire, &event);
    }
    check_events(wire);
}

static inline void handshake(Wire *wire)
{
    BbPacket syn = packet_of(wire, 0, 0, 0, 0, BB_TCP_SYN);
    syn.seq--;
    push(wire, 0, syn, 0);
    syn = packet_of(wire, 1, 0, 0, 0, BB_TCP_SYN | BB_TCP_ACK);
    syn.seq--;
    push(wire, 1, syn, 0);
}
