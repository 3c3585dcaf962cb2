// SPDX-License-Identifier: Apache-2.0
// In: the TCP packets of a connection, in the order of the capture. Out: the bytes of both
// directions in order, gaps, ends.
#include "capture/tcp.h"

#include "capture/sequence.h"

// Segments further from the expected place than this belong to another connection or none, and
// acknowledgements too.
#define WINDOW (1 << 28)
// So many odd segments in a row, and it is believed to be another connection (missed SYN).
#define ODD_LIMIT 3u
// So many packets in a row far behind the newest stamp, and it is believed that the clock was set
// back, or that the newest stamp was wrong. One alone is wrong itself.
#define BEHIND_LIMIT 4u

struct BbSegment {
    BbSegment *next;
    gint64 time_ns;
    gint64 since_ns; // capture time when it began to wait
    guint32 since;   // tcp->packets then
    guint32 seq, ack, captured, length;
    BbPlace place;
    bool has_ack, fin, reset; // reset: nothing else, and no bytes
    guint8 data[];
};

static void note_again(BbTcp *tcp, BbLoss *loss)
{
    loss->count[BB_TCP_RETRANSMITTED]++;
    tcp->retransmitted++;
}

static void add_held(BbStream *stream, BbSegment **at, BbSegment *segment)
{
    segment->next = *at;
    *at = segment;
    if (!segment->next)
        stream->last = segment;
    stream->held_bytes += segment->captured;
    stream->held_count++;
}

// Where a segment goes: at the end, mostly.
static BbSegment **place_of(BbStream *stream, guint32 seq)
{
    if (stream->last && bb_sequence_distance(stream->last->seq, seq) > 0)
        return &stream->last->next;
    BbSegment **at = &stream->held;
    while (*at && bb_sequence_distance((*at)->seq, seq) > 0)
        at = &(*at)->next;
    return at;
}

static BbSegment *copy_segment(const BbTcp *tcp, const BbPacket *packet)
{
    BbSegment *segment = g_malloc(sizeof *segment + packet->captured);
    *segment = (BbSegment){
        .time_ns = packet->time_ns,
        .place = packet->place,
        .since_ns = tcp->now_ns,
        .since = tcp->packets,
        .seq = packet->seq,
        .ack = packet->ack,
        .captured = packet->captured,
        .length = packet->length,
        .has_ack = packet->tcp_flags & BB_TCP_ACK,
        .fin = packet->tcp_flags & BB_TCP_FIN,
    };
    if (packet->captured)
        memcpy(segment->data, packet->payload, packet->captured);
    return segment;
}

// Returns false when it is there already.
static bool hold(BbTcp *tcp, guint side, const BbPacket *packet, BbLoss *loss)
{
    BbStream *stream = &tcp->stream[side];
    BbSegment **at = place_of(stream, packet->seq);
    if (*at && (*at)->seq == packet->seq && !(*at)->reset && (*at)->length >= packet->length &&
        (*at)->captured >= packet->captured) {
        (*at)->fin = (*at)->fin || packet->tcp_flags & BB_TCP_FIN;
        note_again(tcp, loss);
        return false;
    }
    add_held(stream, at, copy_segment(tcp, packet));
    return true;
}

// Whether the bytes that a segment acknowledges have all been delivered.
static bool follows_its_cause(const BbTcp *tcp, guint side, bool has_ack, guint32 ack)
{
    const BbStream *other = &tcp->stream[!side];
    gint32 ahead = bb_sequence_distance(other->next, ack);
    return !has_ack || !other->started || other->closed || ahead <= 0 || ahead >= WINDOW;
}

// A keep-alive carries the last byte once more, or any (RFC 9293 section 3.8.4): it stands before
// what comes next. Who sends one byte of data says that it is all there is (PSH).
static bool may_be_keep_alive(const BbPacket *packet)
{
    const guint8 other = BB_TCP_SYN | BB_TCP_FIN | BB_TCP_RST | BB_TCP_PSH;
    return packet->length == 1 && !(packet->tcp_flags & other);
}

static void start_stream(BbStream *stream, const BbPacket *packet)
{
    bool syn = packet->tcp_flags & BB_TCP_SYN;
    stream->started = true;
    stream->unsure = stream->from_syn;
    stream->from_syn = syn;
    stream->isn = packet->seq;
    stream->next = packet->seq + (syn ? 1 : 0);
    // What was acknowledged before that may have been of another connection.
    gint32 ahead = bb_sequence_distance(stream->next, stream->acked);
    stream->has_acked &= ahead < WINDOW && ahead > -WINDOW;
}

static bool is_silent(const BbStream *stream)
{
    return !stream->spoke && !stream->held && !stream->closed;
}

static bool is_unplaced(const BbStream *stream)
{
    return (!stream->from_syn || stream->unsure) && !stream->spoke && !stream->held;
}

// A SYN knows better than what came before it, from an older connection. So does that of a server
// which remembers none (cookies, RFC 4987) and answers each SYN with another number, until one of
// them is acknowledged.
static bool begins(const BbStream *stream, const BbPacket *packet)
{
    if (!stream->from_syn)
        return !stream->spoke;
    bool acked = stream->has_acked && bb_sequence_distance(stream->next, stream->acked) >= 0;
    return is_silent(stream) && packet->tcp_flags & BB_TCP_ACK && packet->seq != stream->isn &&
           !acked;
}

static guint32 ticks(gint64 time_ns)
{
    return (guint32)((guint64)time_ns >> 20);
}

static bool is_odd(const BbStream *stream, const BbPacket *packet)
{
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq);
    if (ahead > -BB_TCP_IN_FLIGHT)
        return ahead >= WINDOW;
    // Nobody sends older bytes again, unless the other side lacks them (of a long fat path).
    bool lacked = stream->has_acked && bb_sequence_distance(stream->acked, packet->seq) >= 0;
    return !lacked || ahead <= -WINDOW;
}

bool bb_tcp_has_moved(const BbTcp *tcp, guint side, const BbPacket *packet)
{
    const BbStream *stream = &tcp->stream[side];
    return stream->started && stream->odd + 1u >= ODD_LIMIT && !stream->held &&
           ticks(packet->time_ns - BB_TCP_PATIENCE_ACKED_NS) - stream->odd_since < G_MAXINT32 &&
           !(packet->tcp_flags & (BB_TCP_SYN | BB_TCP_RST)) && is_odd(stream, packet) &&
           !(is_unplaced(stream) && packet->length);
}

// Where a packet without SYN stands: a connection joined in the middle begins with the first bytes.
// Returns false when the packet is to be ignored.
static bool place_stream(BbStream *stream, const BbPacket *packet, BbLoss *loss)
{
    if (is_unplaced(stream) && packet->length) {
        stream->next = packet->seq + may_be_keep_alive(packet);
        stream->isn = stream->next - 1;
        return true;
    }
    if (!is_odd(stream, packet)) {
        stream->odd = 0;
        return true;
    }
    loss->count[BB_TCP_ODD]++;
    if (!stream->odd)
        stream->odd_since = ticks(packet->time_ns);
    stream->odd += stream->odd < ODD_LIMIT;
    return false;
}

// What was acknowledged long ago may seem to be ahead by now: numbers go around.
static bool is_stale(const BbStream *stream)
{
    return stream->started && bb_sequence_distance(stream->next, stream->acked) >= WINDOW;
}

static bool is_acked(const BbStream *stream, guint32 seq)
{
    gint32 acked = bb_sequence_distance(seq, stream->acked);
    return stream->has_acked && !is_stale(stream) && acked >= 0 && acked < WINDOW;
}

// Whether what side acknowledges tells where the other side is: the first bytes of a connection
// were missed, or it gave several numbers, and this is the end of the handshake.
static bool tells_place(const BbTcp *tcp, guint side, const BbPacket *packet)
{
    const BbStream *stream = &tcp->stream[side], *other = &tcp->stream[!side];
    if (!other->started)
        return stream->from_syn || packet->tcp_flags & BB_TCP_SYN;
    return other->unsure && is_silent(other) && packet->seq == stream->next;
}

static void note_ack(BbTcp *tcp, guint side, const BbPacket *packet)
{
    BbStream *other = &tcp->stream[!side];
    if (!(packet->tcp_flags & BB_TCP_ACK))
        return;
    if (tells_place(tcp, side, packet)) {
        other->started = other->from_syn = true;
        other->unsure = other->has_acked = false;
        other->next = packet->ack;
        other->isn = packet->ack - 1;
    }
    gint32 ahead = bb_sequence_distance(other->next, packet->ack);
    bool credible = !other->started || (ahead < WINDOW && ahead > -WINDOW);
    bool further = bb_sequence_distance(other->acked, packet->ack) > 0;
    if (credible && (!other->has_acked || is_stale(other) || further))
        other->acked = packet->ack;
    other->has_acked |= credible;
}

// Removes from the front of packet what was delivered before. Returns false when nothing is left.
static bool trim(const BbStream *stream, BbPacket *packet)
{
    gint32 known = bb_sequence_distance(packet->seq, stream->next);
    if (known <= 0)
        return true;
    if ((guint32)known >= packet->length)
        return false;
    guint32 seen = MIN((guint32)known, packet->captured);
    packet->payload += seen;
    packet->captured -= seen;
    packet->length -= (guint32)known;
    packet->seq += (guint32)known;
    return true;
}

// RFC 5961 section 3.2: only a reset inside the window counts.
static bool reset_is_credible(const BbStream *stream, const BbPacket *packet)
{
    return !stream->started ||
           ABS((gint64)bb_sequence_distance(stream->next, packet->seq)) < (1 << 20);
}

// The common case: the bytes that come next, with nothing before or behind them to be dealt with
// but what was cut off them.
static bool is_plain_next(const BbTcp *tcp, guint side, const BbPacket *packet)
{
    const BbStream *stream = &tcp->stream[side];
    return stream->started && packet->seq == stream->next && !stream->held && !stream->closed &&
           packet->captured && !(packet->tcp_flags & (BB_TCP_SYN | BB_TCP_FIN | BB_TCP_RST)) &&
           follows_its_cause(tcp, side, packet->tcp_flags & BB_TCP_ACK, packet->ack);
}

static void reset(BbTcp *tcp, guint side, BbLoss *loss)
{
    loss->count[BB_TCP_RESETS] += !tcp->reset;
    tcp->reset = (guint8)(side + 1);
    tcp->reset_waits = false;
}

// Behind all that waits, as far as it was sent before: what is missing before it makes no hole.
static void hold_reset(BbTcp *tcp, guint side, const BbPacket *packet)
{
    BbStream *stream = &tcp->stream[side];
    const BbSegment *last = stream->last;
    guint32 end = last ? last->seq + last->length : stream->next;
    BbPacket empty = *packet;
    empty.captured = empty.length = 0; // RFC 9293 section 3.10.7: it may carry a reason
    empty.tcp_flags &= (guint8)~BB_TCP_FIN;
    if (bb_sequence_distance(end, empty.seq) > 0)
        empty.seq = end;
    BbSegment **at = &stream->held;
    while (*at && bb_sequence_distance((*at)->seq, empty.seq) >= 0)
        at = &(*at)->next;
    BbSegment *segment = copy_segment(tcp, &empty);
    segment->reset = true;
    add_held(stream, at, segment);
    tcp->reset_waits = true;
}

static void push_reset(BbTcp *tcp, guint side, const BbPacket *packet, BbLoss *loss)
{
    if (!reset_is_credible(&tcp->stream[side], packet)) {
        loss->count[BB_TCP_ODD]++;
        return;
    }
    // What cannot be on its way is not waited for.
    const BbStream *other = &tcp->stream[!side];
    bool wild = other->started && bb_sequence_distance(other->next, packet->ack) > BB_TCP_IN_FLIGHT;
    if (!wild)
        note_ack(tcp, side, packet);
    if (wild || !tcp->stream[side].started ||
        follows_its_cause(tcp, side, packet->tcp_flags & BB_TCP_ACK, packet->ack))
        reset(tcp, side, loss);
    else if (!tcp->reset_waits)
        hold_reset(tcp, side, packet);
}

// For how long the first of those that overtook what begins at seq has waited.
static gint64 late_by_ns(const BbTcp *tcp, const BbStream *stream, guint32 seq)
{
    gint64 since_ns = tcp->now_ns;
    for (const BbSegment *segment = stream->held; segment; segment = segment->next)
        if (bb_sequence_distance(seq, segment->seq) > 0)
            since_ns = MIN(since_ns, segment->since_ns);
    return tcp->now_ns - since_ns;
}

// Who comes late is out of order (RFC 4737), not all who overtook it: these may be many, and where
// it was lost they are in order. Who comes very late was lost before it was seen, and sent again.
static void note_late(BbTcp *tcp, guint side, guint32 seq, BbLoss *loss)
{
    if (late_by_ns(tcp, &tcp->stream[side], seq) > BB_TCP_LATE_NS) {
        note_again(tcp, loss);
        return;
    }
    loss->count[BB_TCP_REORDERED]++;
    tcp->reordered++;
}

// What is not plain: begins or ends a stream, comes out of order or again, is cut, or waits.
static void push_other(BbTcp *tcp, guint side, const BbPacket *packet, BbLoss *loss)
{
    BbStream *stream = &tcp->stream[side];
    BbPacket rest = *packet;
    bool fin = packet->tcp_flags & BB_TCP_FIN;
    if (packet->tcp_flags & BB_TCP_SYN)
        rest.seq++; // data in a SYN (RFC 7413) begins after it
    if (!rest.length && !fin)
        return;
    if (stream->closed || !trim(stream, &rest)) {
        bool new_fin = fin && !stream->closed && packet->seq + packet->length == stream->next;
        bool alive = may_be_keep_alive(packet) && packet->seq + 1 == stream->next;
        if (packet->length && !alive)
            note_again(tcp, loss);
        if (!new_fin)
            return;
        rest.seq = stream->next;
        rest.captured = rest.length = 0;
    }
    bool late = stream->last && bb_sequence_distance(rest.seq, stream->last->seq) > 0;
    if (hold(tcp, side, &rest, loss) && late)
        note_late(tcp, side, rest.seq, loss);
}

// What waits has waited for nothing but until now.
static void set_back(BbTcp *tcp, gint64 now_ns)
{
    tcp->now_ns = MAX(now_ns, 0);
    for (guint side = 0; side < 2; side++) {
        BbStream *stream = &tcp->stream[side];
        stream->odd_since = ticks(tcp->now_ns);
        for (BbSegment *segment = stream->held; segment; segment = segment->next)
            segment->since_ns = MIN(segment->since_ns, tcp->now_ns);
    }
}

static void note_time(BbTcp *tcp, gint64 time_ns)
{
    bool behind = time_ns < tcp->now_ns - BB_TCP_PATIENCE_NS;
    tcp->behind = behind ? tcp->behind + 1 : 0;
    if (G_UNLIKELY(tcp->behind >= BEHIND_LIMIT))
        set_back(tcp, time_ns);
    tcp->now_ns = MAX(tcp->now_ns, time_ns);
}

bool bb_tcp_push(BbTcp *tcp, guint side, const BbPacket *packet, BbLoss *loss)
{
    BbStream *stream = &tcp->stream[side];
    tcp->packets++;
    note_time(tcp, packet->time_ns);
    if (packet->tcp_flags & BB_TCP_RST) {
        push_reset(tcp, side, packet, loss);
        return false;
    }
    bool syn = packet->tcp_flags & BB_TCP_SYN;
    if (!stream->started || (syn && begins(stream, packet)))
        start_stream(stream, packet);
    if (!syn && !place_stream(stream, packet, loss))
        return false;
    note_ack(tcp, side, packet);
    if (!is_plain_next(tcp, side, packet)) {
        push_other(tcp, side, packet, loss);
        return false;
    }
    stream->next += packet->captured;
    stream->spoke = true;
    tcp->cut_bytes = packet->length - packet->captured;
    tcp->cut_side = (guint8)side;
    return true;
}

static BbTcpEvent gap_event(BbTcp *tcp, guint side, guint32 bytes)
{
    BbStream *stream = &tcp->stream[side];
    BbTcpEvent event = {.kind = BB_TCP_GAP, .side = side, .seq = stream->next, .length = bytes};
    stream->next += bytes;
    return event;
}

static BbTcpEvent hole_event(BbTcp *tcp, guint side, guint32 bytes, BbLoss *loss)
{
    loss->count[BB_TCP_GAPS]++;
    loss->count[BB_TCP_GAP_BYTES] += bytes;
    return gap_event(tcp, side, bytes);
}

// What the snap length cut is counted as a cut payload, not as a hole.
static BbTcpEvent cut_event(BbTcp *tcp)
{
    guint32 bytes = tcp->cut_bytes;
    tcp->cut_bytes = 0;
    BbTcpEvent event = gap_event(tcp, tcp->cut_side, bytes);
    event.cut = true;
    return event;
}

// Bytes in order become an event; what the snap length cut behind them, and a FIN, are left for the
// next calls.
static void deliver(BbTcp *tcp, guint side, const BbPacket *packet, BbTcpEvent *event)
{
    BbStream *stream = &tcp->stream[side];
    *event = (BbTcpEvent){
        .kind = BB_TCP_DATA,
        .side = side,
        .data = packet->payload,
        .length = packet->captured,
        .seq = packet->seq,
        .time_ns = packet->time_ns,
        .place = packet->place,
        .ack = packet->ack,
        .has_ack = packet->tcp_flags & BB_TCP_ACK,
    };
    stream->next = packet->seq + packet->captured;
    stream->spoke |= packet->captured > 0;
    tcp->cut_bytes = packet->length - packet->captured;
    tcp->cut_side = (guint8)side;
    if (packet->tcp_flags & BB_TCP_FIN) {
        // Waits as an empty held segment, behind the cut bytes if there are any.
        BbPacket fin = *packet;
        fin.seq = packet->seq + packet->length;
        fin.captured = fin.length = 0;
        BbLoss ignored = {0};
        hold(tcp, side, &fin, &ignored);
    }
    if (!packet->captured)
        *event = cut_event(tcp);
}

static BbSegment *take_held(BbStream *stream)
{
    BbSegment *segment = stream->held;
    stream->held = segment->next;
    if (!stream->held)
        stream->last = NULL;
    stream->held_bytes -= segment->captured;
    stream->held_count--;
    return segment;
}

static void drop_held(BbStream *stream)
{
    while (stream->held)
        g_free(take_held(stream));
}

// Nothing follows a FIN but a reset, and nothing that.
static void drop_behind_fin(BbStream *stream)
{
    BbSegment *first = NULL;
    while (stream->held) {
        BbSegment *segment = take_held(stream);
        if (segment->reset && !first)
            first = segment;
        else
            g_free(segment);
    }
    if (!first)
        return;
    first->seq = stream->next;
    add_held(stream, &stream->held, first);
}

static BbPacket segment_packet(const BbSegment *segment)
{
    return (BbPacket){
        .time_ns = segment->time_ns,
        .place = segment->place,
        .tcp_flags =
            (guint8)((segment->has_ack ? BB_TCP_ACK : 0) | (segment->fin ? BB_TCP_FIN : 0)),
        .seq = segment->seq,
        .ack = segment->ack,
        .payload = segment->data,
        .captured = segment->captured,
        .length = segment->length,
    };
}

// The first held segment of side, if its turn has come.
static bool next_held(BbTcp *tcp, guint side, BbTcpEvent *event, BbLoss *loss)
{
    BbStream *stream = &tcp->stream[side];
    while (stream->held && bb_sequence_distance(stream->next, stream->held->seq) <= 0 &&
           follows_its_cause(tcp, side, stream->held->has_ack, stream->held->ack)) {
        BbSegment *segment = take_held(stream);
        g_free(tcp->lent);
        tcp->lent = segment;
        if (segment->reset) {
            reset(tcp, side, loss);
            continue;
        }
        BbPacket packet = segment_packet(segment);
        if (segment->fin && segment->seq + segment->length == stream->next) {
            stream->closed = true;
            stream->next++;
            drop_behind_fin(stream);
            *event = (BbTcpEvent){.kind = BB_TCP_CLOSE, .side = side};
            return true;
        }
        if (!trim(stream, &packet)) {
            note_again(tcp, loss);
            continue;
        }
        deliver(tcp, side, &packet, event);
        return true;
    }
    return false;
}

static bool is_too_much(const BbStream *stream)
{
    return stream->held_bytes > BB_TCP_HELD_BYTES || stream->held_count > BB_TCP_HELD_SEGMENTS;
}

static bool patience_is_over(const BbTcp *tcp, const BbStream *stream, bool acked)
{
    const BbSegment *held = stream->held;
    if (tcp->forced || is_too_much(stream))
        return true;
    gint64 waited_ns = tcp->now_ns - held->since_ns;
    if (!acked)
        return waited_ns >= BB_TCP_PATIENCE_NS &&
               bb_sequence_distance(stream->next, held->seq) <= BB_TCP_IN_FLIGHT;
    return waited_ns >= BB_TCP_PATIENCE_ACKED_NS ||
           (waited_ns >= BB_TCP_PATIENCE_SHORT_NS &&
            tcp->packets - held->since >= BB_TCP_PATIENCE_ACKED_PACKETS);
}

// A hole that was waited for long enough, before the first held segment of side or in what that
// segment acknowledges.
static bool next_gap(BbTcp *tcp, guint side, BbTcpEvent *event, BbLoss *loss)
{
    BbStream *stream = &tcp->stream[side], *other = &tcp->stream[!side];
    const BbSegment *held = stream->held;
    if (!held)
        return false;
    gint32 hole = bb_sequence_distance(stream->next, held->seq);
    if (hole > 0) {
        bool acked = is_acked(stream, held->seq);
        if (!patience_is_over(tcp, stream, acked))
            return false;
        // What was acknowledged is hardly to come any more, and is given up without harm.
        if (!acked && is_too_much(stream))
            loss->count[BB_TCP_BUFFER_LIMIT]++;
        // Not beyond what the other side had when it sent its next: that comes in between.
        if (other->held && other->held->has_ack) {
            gint32 acknowledged = bb_sequence_distance(stream->next, other->held->ack);
            if (acknowledged > 0)
                hole = MIN(hole, acknowledged);
        }
        *event = hole_event(tcp, side, (guint32)hole, loss);
        return true;
    }
    if (!patience_is_over(tcp, stream, true))
        return false;
    gint32 missing = bb_sequence_distance(other->next, held->ack);
    if (other->held && bb_sequence_distance(other->next, other->held->seq) < missing)
        missing = bb_sequence_distance(other->next, other->held->seq);
    if (missing <= 0)
        return false; // the other side waits for us in turn
    *event = hole_event(tcp, !side, (guint32)missing, loss);
    return true;
}

// Where both sides wait for each other for too long, one of them does not any more.
static bool break_circle(BbTcp *tcp)
{
    for (guint side = 0; side < 2; side++) {
        const BbStream *stream = &tcp->stream[side];
        if (stream->held && bb_sequence_distance(stream->next, stream->held->seq) <= 0 &&
            patience_is_over(tcp, stream, true)) {
            stream->held->has_ack = false;
            return true;
        }
    }
    return false;
}

bool bb_tcp_next(BbTcp *tcp, BbTcpEvent *event, BbLoss *loss)
{
    g_clear_pointer(&tcp->lent, g_free);
    if (tcp->cut_bytes) {
        *event = cut_event(tcp);
        return true;
    }
    if (G_LIKELY(!tcp->stream[0].held && !tcp->stream[1].held))
        return false;
    do {
        if (next_held(tcp, 0, event, loss) || next_held(tcp, 1, event, loss) ||
            next_gap(tcp, 0, event, loss) || next_gap(tcp, 1, event, loss))
            return true;
    } while (break_circle(tcp));
    return false;
}

void bb_tcp_force(BbTcp *tcp)
{
    tcp->forced = true;
}

guint32 bb_tcp_held(const BbTcp *tcp)
{
    return tcp->stream[0].held_bytes + tcp->stream[1].held_bytes +
           (guint32)sizeof(BbSegment) * (tcp->stream[0].held_count + tcp->stream[1].held_count);
}

void bb_tcp_clear(BbTcp *tcp)
{
    for (guint side = 0; side < 2; side++)
        drop_held(&tcp->stream[side]);
    g_free(tcp->lent);
    *tcp = (BbTcp){0};
}
