// SPDX-License-Identifier: Apache-2.0
// TCP reassembly of one connection as a passive observer can do it (RFC 9293): both directions at
// once, because each one's acknowledgements tell what the observer missed of the other.
//
// Order between the directions: a segment is delivered only after the bytes that it acknowledges,
// so that a request is read before its reply even where the mirror swapped the packets. So is a
// reset that acknowledges bytes.
// A hole is waited for: BB_TCP_PATIENCE_ACKED_NS when the receiver has acknowledged it (then it is
// missing in the capture only), or less: BB_TCP_PATIENCE_SHORT_NS, if so many packets came by then
// (a mirror that swaps does so by packets, but many fit into a burst); BB_TCP_PATIENCE_NS otherwise
// (a retransmission may come). Then it is reported as a gap. A hole larger than BB_TCP_IN_FLIGHT is
// believed only when acknowledged: else one damaged segment would take the stream to a place where
// it is not. Per direction at most BB_TCP_HELD_BYTES in BB_TCP_HELD_SEGMENTS wait.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"

#define BB_TCP_HELD_BYTES (1024u * 1024u)
#define BB_TCP_HELD_SEGMENTS 1024u
#define BB_TCP_IN_FLIGHT (1 << 24) // bytes of a direction that may be on their way at once
#define BB_TCP_PATIENCE_NS (3 * G_GINT64_CONSTANT(1000000000))
#define BB_TCP_PATIENCE_ACKED_NS (100 * G_GINT64_CONSTANT(1000000))
#define BB_TCP_PATIENCE_SHORT_NS (10 * G_GINT64_CONSTANT(1000000))
#define BB_TCP_PATIENCE_ACKED_PACKETS 8u // of the same connection
// Who is later than this was not reordered, but sent again (Wireshark takes the same).
#define BB_TCP_LATE_NS (3 * G_GINT64_CONSTANT(1000000))

typedef struct BbSegment BbSegment; // a copy of a segment that has to wait

typedef struct BbStream {
    BbSegment *held; // by sequence number
    BbSegment *last; // of those, NULL: none
    guint32 next;    // sequence number of the next byte to deliver
    guint32 isn;     // from_syn: initial sequence number
    guint32 acked;   // highest acknowledgement by the other side
    guint32 held_bytes;
    guint32 odd_since; // odd: since when, in 2^20 ns, as far as that goes
    guint16 held_count;
    guint8 odd;        // segments in a row outside of any window
    bool started : 1;  // next is known
    bool from_syn : 1; // and certain
    bool unsure : 1;   // or not yet: there were several SYNs, with different numbers
    bool spoke : 1;    // bytes were delivered
    bool has_acked : 1;
    bool closed : 1; // FIN delivered
} BbStream;

typedef struct BbTcp {
    BbStream stream[2]; // of the first and second endpoint of the flow
    guint32 packets;
    guint32 retransmitted, reordered; // segments, both directions
    guint32 cut_bytes;                // cut by the snap length after what was delivered
    gint64 now_ns;                    // newest stamp, of the clock as it is set now
    BbSegment *lent;                  // the held segment delivered last
    guint8 reset;                     // side that reset the connection, plus 1; 0: nobody
    guint8 cut_side;
    guint8 behind;    // packets in a row with stamps far behind now_ns
    bool reset_waits; // for what it acknowledges
    bool forced;      // nothing more comes: holes are gaps at once
} BbTcp;

typedef enum { BB_TCP_DATA, BB_TCP_GAP, BB_TCP_CLOSE } BbTcpEventKind;

typedef struct BbTcpEvent {
    BbTcpEventKind kind;
    guint side;
    const guint8 *data; // DATA: lent until the next call
    guint32 length;     // DATA: bytes at data; GAP: bytes missing
    guint32 seq;        // of the first byte (missing byte)
    gint64 time_ns;     // DATA
    BbPlace place;      // DATA
    guint32 ack;        // DATA
    bool cut;           // GAP: the bytes were sent, but cut off by the snap length
    bool has_ack;       // DATA
} BbTcpEvent;

// Takes a packet that side (0 or 1) sent. Returns true when its payload is just what comes next and
// nothing of that side waits: it counts as delivered, and the caller has it. Whatever was returned,
// bb_tcp_next tells then what else there is to deliver (what the snap length cut), until it returns
// false.
bool bb_tcp_push(BbTcp *tcp, guint side, const BbPacket *packet, BbLoss *loss);
bool bb_tcp_next(BbTcp *tcp, BbTcpEvent *event, BbLoss *loss);

// Whether packet, of side, shows that this is another connection, of which the beginning was
// missed: the third in a row in another number space, for BB_TCP_PATIENCE_ACKED_NS (a firewall that
// writes new numbers, mirrored on both sides, shows bursts of them between those of its other
// side). It is not to be pushed then.
bool bb_tcp_has_moved(const BbTcp *tcp, guint side, const BbPacket *packet);

// Whether the handshake is over on both sides, of a connection that none has reset.
static inline bool bb_tcp_is_agreed(const BbTcp *tcp)
{
    bool agreed = !tcp->reset_waits;
    for (guint side = 0; side < 2; side++) {
        const BbStream *stream = &tcp->stream[side];
        agreed &= stream->from_syn && stream->has_acked && stream->acked == stream->isn + 1;
    }
    return agreed;
}

// Whether bb_tcp_next may have something.
static inline bool bb_tcp_waits(const BbTcp *tcp)
{
    return tcp->stream[0].held || tcp->stream[1].held || tcp->cut_bytes;
}

// No more packets: what is held is delivered, holes as gaps, by bb_tcp_next.
void bb_tcp_force(BbTcp *tcp);
// Bytes held, for accounting.
guint32 bb_tcp_held(const BbTcp *tcp);
void bb_tcp_clear(BbTcp *tcp);
