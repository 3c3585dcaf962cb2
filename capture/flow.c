// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: each in its connection: TCP through reassembly, datagrams as they are, to the
// dialog. Bounds on the number of flows and on the bytes they hold back.
#include "capture/flow.h"

#include "capture/asked.h"
#include "capture/feed.h"
#include "capture/hold.h"
#include "capture/sequence.h"
#include "capture/shed.h"
#include "capture/tcp.h"
#include "capture/wire.h"
#include "data/mix.h"

// Lists by what it costs to forget a flow; each in order of the last packet.
typedef enum { CLOSED, EMPTY, DATAGRAMS, TALKING, N_LISTS } ListKind;

typedef struct BbFlow BbFlow;
struct BbFlow {
    // What a look-up reads, in one cache line.
    BbFlow *chain; // of the hash bucket
    guint32 hash;
    guint8 transport; // BbTransport
    guint8 list;      // ListKind
    guint8 client;
    bool client_known;     // by a handshake, of this connection or of the one before
    BbEndpoints endpoints; // [0]: who sent the first packet
    gint64 last_ns;
    guint64 number;                    // of its last packet
    BbDialog *dialog;                  // NULL: no data yet, or closed
    BbFlow *older, *newer;             // of its list
    guint32 held;                      // bytes held back
    guint32 told_ms;                   // when it last told of the network, as far as that goes
    BbAsked *asked;                    // not answered yet; NULL: none
    BbEndpoints *real;                 // ends, where a NAT hides one; else NULL
    BbFlow *holds_older, *holds_newer; // of the flows that hold bytes, by when they began to
    BbHold *hold;                      // NULL: no side has closed yet
    GList *waits;                      // among those of which returns wait; NULL: none does
    BbTcp tcp;                         // only of TCP, as is wire
    BbWire wire;
};

typedef struct List {
    BbFlow *oldest, *newest;
} List;

struct BbFlows {
    BbContext *context;
    BbLoss *loss;
    BbFlow **buckets;
    guint n_buckets, count, max; // n_buckets: a power of two
    guint64 seed;
    gsize held, max_held;
    List lists[N_LISTS];
    List holders;
    GQueue waiting; // of BbFlow, of which returns wait
};

BbFlows *bb_flows_new(BbContext *context, guint max, gsize max_held)
{
    BbFlows *flows = g_new0(BbFlows, 1);
    flows->context = context;
    flows->loss = context->loss;
    flows->max = MAX(max, 1);
    flows->max_held = max_held;
    flows->n_buckets = 1024;
    flows->buckets = g_new0(BbFlow *, flows->n_buckets);
    // Not to be guessed by whoever sends the packets; no output depends on it.
    flows->seed = bb_mix_seed() | 1;
    return flows;
}

// ---- lists ------------------------------------------------------------------------------------

static void list_remove(List *list, BbFlow *flow)
{
    *(flow->older ? &flow->older->newer : &list->oldest) = flow->newer;
    *(flow->newer ? &flow->newer->older : &list->newest) = flow->older;
    flow->older = flow->newer = NULL;
}

static void list_append(List *list, BbFlow *flow)
{
    flow->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = flow;
    list->newest = flow;
}

static void touch(BbFlows *flows, BbFlow *flow, ListKind list)
{
    if (flow->list == list && flows->lists[list].newest == flow)
        return;
    list_remove(&flows->lists[flow->list], flow);
    flow->list = list;
    list_append(&flows->lists[list], flow);
}

static void holders_remove(BbFlows *flows, BbFlow *flow)
{
    List *list = &flows->holders;
    *(flow->holds_older ? &flow->holds_older->holds_newer : &list->oldest) = flow->holds_newer;
    *(flow->holds_newer ? &flow->holds_newer->holds_older : &list->newest) = flow->holds_older;
    flow->holds_older = flow->holds_newer = NULL;
}

static void holders_append(BbFlows *flows, BbFlow *flow)
{
    List *list = &flows->holders;
    flow->holds_older = list->newest;
    *(list->newest ? &list->newest->holds_newer : &list->oldest) = flow;
    list->newest = flow;
}

static void account_waiting(BbFlows *flows, BbFlow *flow)
{
    bool waits = bb_hold_bytes(flow->hold);
    if (G_LIKELY(waits == (flow->waits != NULL)))
        return;
    if (waits) {
        g_queue_push_tail(&flows->waiting, flow);
        flow->waits = flows->waiting.tail;
    } else {
        g_queue_delete_link(&flows->waiting, g_steal_pointer(&flow->waits));
    }
}

static void account(BbFlows *flows, BbFlow *flow)
{
    account_waiting(flows, flow);
    guint32 held = (flow->dialog ? bb_dialog_held(flow->dialog) : 0) +
                   (flow->transport == BB_TRANSPORT_TCP ? bb_tcp_held(&flow->tcp) : 0) +
                   bb_hold_bytes(flow->hold);
    if (held == flow->held)
        return;
    if (!flow->held)
        holders_append(flows, flow);
    else if (!held)
        holders_remove(flows, flow);
    flows->held += held;
    flows->held -= flow->held;
    flow->held = held;
}

// ---- the life of a flow -------------------------------------------------------------------------

// The same for both directions.
static guint32 hash_packet(const BbFlows *flows, const BbPacket *packet)
{
    guint64 both = bb_mix_ends(flows->seed, &packet->source, packet->source_port, &packet->target,
                               packet->target_port);
    return (guint32)(bb_mix(both, packet->transport) >> 32);
}

static bool is_end(const BbFlow *flow, guint end, const BbAddress *address, guint16 port)
{
    return flow->endpoints.port[end] == port &&
           bb_address_equal(&flow->endpoints.address[end], address);
}

static bool is_network(const BbFlow *flow, const BbPacket *packet)
{
    return flow->endpoints.vlan == packet->vlan && flow->endpoints.has_vni == packet->has_vni &&
           (!packet->has_vni || flow->endpoints.vni == packet->vni);
}

static BbFlow *find(const BbFlows *flows, const BbPacket *packet, guint32 hash, guint *side)
{
    for (BbFlow *flow = flows->buckets[hash & (flows->n_buckets - 1)]; flow; flow = flow->chain) {
        if (flow->hash != hash || flow->transport != packet->transport || !is_network(flow, packet))
            continue;
        for (*side = 0; *side < 2; ++*side)
            if (is_end(flow, *side, &packet->source, packet->source_port) &&
                is_end(flow, !*side, &packet->target, packet->target_port))
                return flow;
    }
    return NULL;
}

static void grow(BbFlows *flows)
{
    guint n_buckets = flows->n_buckets * 2;
    BbFlow **buckets = g_new0(BbFlow *, n_buckets);
    for (guint i = 0; i < flows->n_buckets; i++) {
        for (BbFlow *flow = flows->buckets[i], *next; flow; flow = next) {
            next = flow->chain;
            BbFlow **bucket = &buckets[flow->hash & (n_buckets - 1)];
            flow->chain = *bucket;
            *bucket = flow;
        }
    }
    g_free(flows->buckets);
    flows->buckets = buckets;
    flows->n_buckets = n_buckets;
}

static void drain(BbFlows *flows, BbFlow *flow);

static const BbEndpoints *ends_of(const BbFlow *flow)
{
    return flow->real ? flow->real : &flow->endpoints;
}

static BbNetworkEdge take_order(BbTcp *tcp)
{
    BbNetworkEdge edge = {.retransmitted = tcp->retransmitted, .reordered = tcp->reordered};
    tcp->retransmitted = tcp->reordered = 0;
    return edge;
}

static guint client_of(const BbFlow *flow)
{
    return flow->dialog ? bb_dialog_client(flow->dialog) : flow->client;
}

static void report_network(BbFlows *flows, BbFlow *flow)
{
    BbNetworkEdge edge = take_order(&flow->tcp);
    bb_wire_report(&flow->wire, flow->tcp.reset, &edge);
    bb_context_edge(flows->context, ends_of(flow), client_of(flow), flow->dialog, true, &edge);
}

static guint32 milliseconds(gint64 time_ns)
{
    return (guint32)((guint64)time_ns / 1000000);
}

// Of a connection that goes on, where somebody wants to know before it ends. One that is silent has
// little to tell until it speaks again.
static void tell_network(BbFlows *flows, BbFlow *flow, gint64 time_ns)
{
    gint64 every_ns = flows->context->network_ns;
    guint32 now_ms = milliseconds(time_ns);
    if (!every_ns || !flow->dialog ||
        ABS((gint64)(gint32)(now_ms - flow->told_ms)) < every_ns / 1000000)
        return;
    flow->told_ms = now_ms;
    BbNetworkEdge edge = take_order(&flow->tcp);
    bb_wire_tell(&flow->wire, &edge);
    bb_context_edge(flows->context, ends_of(flow), bb_dialog_client(flow->dialog), true, false,
                    &edge);
}

static void finish_dialog(BbFlows *flows, BbFlow *flow)
{
    if (flow->transport == BB_TRANSPORT_TCP) {
        bb_tcp_force(&flow->tcp);
        drain(flows, flow);
        if (flow->wire.packets || flow->wire.told)
            report_network(flows, flow);
        flow->wire = (BbWire){0};
    }
    g_clear_pointer(&flow->dialog, bb_dialog_free);
}

static void drop_asked(BbFlows *flows, BbFlow *flow)
{
    const BbAsked *asked = flow->asked;
    if (!asked)
        return;
    if (asked->denied) {
        flows->loss->count[BB_TCP_ODD] += asked->again + 1;
    } else {
        BbNetworkEdge edge = bb_asked_unanswered(asked);
        flows->loss->count[BB_SEEN_CONNECTIONS]++;
        bb_context_edge(flows->context, ends_of(flow), asked->side, false, false, &edge);
    }
    g_clear_pointer(&flow->asked, g_free);
}

static void remove_flow(BbFlows *flows, BbFlow *flow)
{
    drop_asked(flows, flow);
    flows->context->hold = flow->hold;
    finish_dialog(flows, flow);
    bb_hold_release(flow->hold, flows->context);
    flows->context->hold = NULL;
    if (flow->transport == BB_TRANSPORT_TCP)
        bb_tcp_clear(&flow->tcp);
    account(flows, flow);
    list_remove(&flows->lists[flow->list], flow);
    BbFlow **at = &flows->buckets[flow->hash & (flows->n_buckets - 1)];
    while (*at != flow)
        at = &(*at)->chain;
    *at = flow->chain;
    flows->count--;
    bb_hold_free(flow->hold);
    g_free(flow->real);
    g_free(flow);
}

// Whether a flow only waits to be forgotten.
static bool is_over(const BbFlow *flow, gint64 now_ns)
{
    return flow->list <= DATAGRAMS && now_ns - flow->last_ns >= BB_FLOW_IDLE_NS;
}

// A few at a time, so that no packet pays for many.
static void expire(BbFlows *flows, gint64 now_ns)
{
    for (ListKind kind = CLOSED; kind <= DATAGRAMS; kind++)
        for (guint i = 0; i < 2; i++) {
            BbFlow *oldest = flows->lists[kind].oldest;
            if (!oldest || !is_over(oldest, now_ns))
                break;
            remove_flow(flows, oldest);
        }
}

// Whether forgetting it is a loss. Of datagrams only a call that waits for its return is.
static bool is_missed(const BbFlow *flow)
{
    return flow->list == TALKING ||
           (flow->list == DATAGRAMS && flow->dialog && bb_dialog_open_calls(flow->dialog) > 0);
}

static void make_room(BbFlows *flows)
{
    while (flows->count >= flows->max) {
        ListKind kind = CLOSED;
        while (!flows->lists[kind].oldest)
            kind++;
        if (is_missed(flows->lists[kind].oldest))
            flows->loss->count[BB_EVICTED_CONNECTIONS]++;
        remove_flow(flows, flows->lists[kind].oldest);
    }
}

// One at a time, in turn.
static void release_if_over(BbFlows *flows, gint64 now_ns)
{
    GList *link = g_queue_pop_head_link(&flows->waiting);
    BbFlow *flow = link->data;
    g_queue_push_tail_link(&flows->waiting, link);
    if (!bb_hold_is_over(flow->hold, now_ns))
        return;
    bb_hold_release(flow->hold, flows->context);
    account(flows, flow);
}

static BbFlow *add(BbFlows *flows, const BbPacket *packet, guint32 hash)
{
    expire(flows, packet->time_ns);
    make_room(flows);
    if (flows->count >= flows->n_buckets)
        grow(flows);
    BbFlow *flow = g_new0(BbFlow, 1);
    flow->hash = hash;
    flow->transport = packet->transport;
    flow->endpoints = bb_endpoints_on_wire(packet);
    flow->told_ms = milliseconds(packet->time_ns);
    flow->list = packet->transport == BB_TRANSPORT_UDP ? DATAGRAMS : EMPTY;
    BbFlow **bucket = &flows->buckets[hash & (flows->n_buckets - 1)];
    flow->chain = *bucket;
    *bucket = flow;
    list_append(&flows->lists[flow->list], flow);
    flows->count++;
    flows->loss->count[BB_SEEN_CONNECTIONS]++;
    return flow;
}

// ---- packets ------------------------------------------------------------------------------------

static BbDialog *dialog_of(BbFlows *flows, BbFlow *flow, guint side)
{
    bool is_tcp = flow->transport == BB_TRANSPORT_TCP;
    if (flow->dialog)
        return flow->dialog;
    if (!flow->client_known)
        flow->client = (guint8)side;
    flow->dialog =
        bb_dialog_new(flows->context, ends_of(flow), is_tcp, flow->client, flow->client_known);
    if (is_tcp && !flow->tcp.stream[flow->client].from_syn)
        bb_dialog_joined(flow->dialog);
    flows->loss->count[BB_TCP_MIDSTREAM] += is_tcp && !flow->tcp.stream[side].from_syn;
    return flow->dialog;
}

static void feed_packet(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    BbPiece piece = {
        .data = packet->payload,
        .length = packet->captured,
        .seq = packet->seq,
        .ack = packet->ack,
        .has_ack = packet->tcp_flags & BB_TCP_ACK,
        .missing = packet->length - packet->captured,
        .time_ns = packet->time_ns,
        .took_ns = packet->took_ns,
        .place = packet->place,
    };
    bb_dialog_feed(dialog_of(flows, flow, side), side, &piece);
}

static void feed_event(BbFlows *flows, BbFlow *flow, const BbTcpEvent *event)
{
    BbPiece piece = {
        .data = event->data,
        .length = event->length,
        .seq = event->seq,
        .ack = event->ack,
        .has_ack = event->has_ack,
        .time_ns = event->time_ns,
        .place = event->place,
    };
    bb_dialog_feed(dialog_of(flows, flow, event->side), event->side, &piece);
}

static void note_closed(BbFlows *flows, BbFlow *flow, guint side, bool was_reset)
{
    if (!flow->hold)
        flows->context->hold = flow->hold = bb_hold_new();
    bb_hold_close(flow->hold, side, flow->last_ns, flow->tcp.stream[side].next, was_reset);
}

static void close_side(BbFlows *flows, BbFlow *flow, guint side)
{
    note_closed(flows, flow, side, false);
    if (flow->dialog)
        bb_dialog_close(flow->dialog, side);
}

static void drain(BbFlows *flows, BbFlow *flow)
{
    BbTcpEvent event;
    while (bb_tcp_next(&flow->tcp, &event, flows->loss)) {
        if (event.kind == BB_TCP_DATA)
            feed_event(flows, flow, &event);
        else if (event.kind == BB_TCP_GAP && event.cut)
            bb_dialog_cut(dialog_of(flows, flow, event.side), event.side, event.seq, event.length);
        else if (event.kind == BB_TCP_GAP)
            bb_dialog_gap(dialog_of(flows, flow, event.side), event.side, event.seq, event.length);
        else
            close_side(flows, flow, event.side);
    }
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
    if (flow->list == CLOSED && (!answers || !stream->started))
        return true;
    // Until a server speaks, its SYNs may differ (cookies, RFC 4987): none tells of another one.
    if (!stream->started || (answers && flow->list != CLOSED && !stream->spoke))
        return false;
    if (stream->from_syn)
        return packet->seq != stream->isn;
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq + 1);
    return stream->spoke && (ahead > 0 || ahead < -(1 << 30));
}

// Only of a connection that nobody has ended. One with data (RFC 7413) expects to be taken.
static bool set_aside(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    bool lasts = flow->list == TALKING || (flow->list == EMPTY && bb_tcp_is_agreed(&flow->tcp));
    if (!lasts || packet->tcp_flags & BB_TCP_ACK || packet->length)
        return false;
    if (flow->asked && bb_asked_is_same(flow->asked, side, packet)) {
        flow->asked->again++;
        return true;
    }
    drop_asked(flows, flow);
    flow->asked = bb_asked_new(packet, side);
    return true;
}

static bool answers_asked(const BbFlow *flow, guint side, const BbPacket *packet)
{
    guint32 next = flow->tcp.stream[flow->asked->side].next;
    return bb_asked_is_answered(flow->asked, side, packet, next);
}

// The old connection ends, and the SYN begins the new one.
static void take_asked(BbFlows *flows, BbFlow *flow)
{
    BbAsked *asked = g_steal_pointer(&flow->asked);
    remove_flow(flows, flow);
    for (guint i = 0; i <= asked->again; i++)
        bb_flows_push(flows, &asked->syn);
    g_free(asked);
}

// One that is over is not found, whether or not another flow came since then that ended it.
static BbFlow *find_taking(BbFlows *flows, const BbPacket *packet, guint32 hash, guint *side)
{
    BbFlow *flow = find(flows, packet, hash, side);
    if (flow && G_UNLIKELY(is_over(flow, packet->time_ns))) {
        remove_flow(flows, flow);
        return NULL;
    }
    if (!flow || G_LIKELY(!flow->asked))
        return flow;
    if (answers_asked(flow, *side, packet)) {
        take_asked(flows, flow);
        return find(flows, packet, hash, side);
    }
    flow->asked->denied |= !(packet->tcp_flags & BB_TCP_SYN);
    return flow;
}

// Data that no closed connection can have left behind: it goes on where that one ended, or is far
// from it. The other side's reset is not known at once to who sends; its own is.
static bool outlives_end(const BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = &flow->tcp.stream[side];
    bool was_told = flow->tcp.reset != 2 - side;
    if (flow->list != CLOSED || !packet->length || !stream->started)
        return false;
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq + packet->length);
    return ahead > (was_told ? 0 : BB_TCP_IN_FLIGHT) || ahead < -BB_TCP_IN_FLIGHT;
}

static bool is_another(const BbFlow *flow, guint side, const BbPacket *packet)
{
    return is_new_connection(flow, side, packet) || outlives_end(flow, side, packet) ||
           bb_tcp_has_moved(&flow->tcp, side, packet);
}

// A late copy of what is over, or what was under way when the other side broke it off.
static void push_closed(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = &flow->tcp.stream[side];
    gint32 ahead = bb_sequence_distance(stream->next, packet->seq + packet->length);
    bool is_new = packet->length && (!stream->started || ahead > 0);
    flows->loss->count[BB_TCP_AFTER_RESET] += is_new;
    touch(flows, flow, CLOSED);
}

static bool close_if_over(BbFlows *flows, BbFlow *flow)
{
    const BbTcp *tcp = &flow->tcp;
    if (!tcp->reset && !(tcp->stream[0].closed && tcp->stream[1].closed))
        return false;
    if (tcp->reset)
        note_closed(flows, flow, tcp->reset - 1, true);
    finish_dialog(flows, flow);
    touch(flows, flow, CLOSED);
    return true;
}

// What side sends tells whether it took the returns that came when it had closed.
static void settle_held(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    const BbStream *stream = flow->tcp.stream;
    bool resets = packet->tcp_flags & BB_TCP_RST;
    if (G_LIKELY(!bb_hold_bytes(flow->hold)))
        return;
    bb_hold_note_end(flow->hold, (const guint32[]){stream[0].next, stream[1].next},
                     packet->time_ns);
    if (resets && flow->list != CLOSED && flow->tcp.reset != side + 1)
        return;
    // Where the mirror swapped them, who is answered here has acknowledged it already.
    bb_hold_heard(flow->hold, flows->context, !side, false, stream[side].has_acked,
                  stream[side].acked);
    bb_hold_heard(flow->hold, flows->context, side, resets, packet->tcp_flags & BB_TCP_ACK,
                  packet->ack);
}

static void take_tcp(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    if (flow->list == CLOSED) {
        push_closed(flows, flow, side, packet);
        return;
    }
    note_handshake(flow, side, packet);
    bb_wire_push(&flow->wire, side, flow->client, packet);
    if (bb_tcp_push(&flow->tcp, side, packet, flows->loss))
        feed_packet(flows, flow, side, packet);
    if (bb_tcp_waits(&flow->tcp))
        drain(flows, flow);
    if (close_if_over(flows, flow))
        return;
    // Who only waits to be reset may never be heard again.
    touch(flows, flow, flow->dialog && !flow->tcp.reset_waits ? TALKING : EMPTY);
    tell_network(flows, flow, packet->time_ns);
}

static void push_tcp(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    // Whether or not its turn came since then.
    if (G_UNLIKELY(bb_hold_is_over(flow->hold, packet->time_ns)))
        bb_hold_release(flow->hold, flows->context);
    flows->context->hold = flow->hold;
    take_tcp(flows, flow, side, packet);
    settle_held(flows, flow, side, packet);
    flows->context->hold = NULL;
}

static void push_udp(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    touch(flows, flow, DATAGRAMS);
    if (packet->captured)
        feed_packet(flows, flow, side, packet);
}

// Bytes that wait longest are given up first when all together are too many.
static void bound_held(BbFlows *flows)
{
    while (flows->held > flows->max_held && flows->holders.oldest) {
        BbFlow *flow = flows->holders.oldest;
        flows->context->hold = flow->hold;
        if (flow->transport == BB_TRANSPORT_TCP && bb_tcp_held(&flow->tcp)) {
            flows->loss->count[BB_TCP_BUFFER_LIMIT]++;
            bb_tcp_force(&flow->tcp);
            drain(flows, flow);
            flow->tcp.forced = false;
            close_if_over(flows, flow);
        }
        if (flow->dialog)
            bb_dialog_drop_held(flow->dialog);
        bb_hold_release(flow->hold, flows->context);
        flows->context->hold = NULL;
        account(flows, flow);
        g_assert(!flow->held);
    }
}

// Which end a NAT hides is known before the first data is.
static void note_hidden(BbFlow *flow, guint side, const BbPacket *packet)
{
    guint end = packet->translated == BB_TRANSLATED_SOURCE ? side : !side;
    if (flow->dialog)
        return;
    if (!flow->real)
        flow->real = g_memdup2(&flow->endpoints, sizeof flow->endpoints);
    flow->real->address[end] = packet->hidden;
    flow->real->port[end] = packet->hidden_port;
}

// What a handshake told of it is told of the connection that it is the second sighting of.
static void forget_twin(BbFlows *flows, BbFlow *flow)
{
    if (!flow || flow->dialog)
        return;
    flow->wire = (BbWire){0};
    remove_flow(flows, flow);
}

// Another connection of the same ends, made by packet of that side. Where its handshake was not
// seen, who called before calls now.
static BbFlow *add_after(BbFlows *flows, BbFlow *old, guint side, const BbPacket *packet)
{
    guint32 hash = old->hash;
    bool known = old->client_known && !(packet->tcp_flags & BB_TCP_SYN);
    guint8 client = (guint8)(client_of(old) ^ side);
    remove_flow(flows, old);
    BbFlow *flow = add(flows, packet, hash);
    flow->client = client;
    flow->client_known = known;
    return flow;
}

void bb_flows_push(BbFlows *flows, const BbPacket *packet)
{
    guint side = 0;
    bool is_tcp = packet->transport == BB_TRANSPORT_TCP;
    guint32 hash = hash_packet(flows, packet);
    if (G_UNLIKELY(flows->waiting.length))
        release_if_over(flows, packet->time_ns);
    BbFlow *flow = find_taking(flows, packet, hash, &side);
    if (G_UNLIKELY(packet->translated == BB_TRANSLATED_TWIN)) {
        forget_twin(flows, flow);
        return;
    }
    if (flow && is_tcp && is_another(flow, side, packet)) {
        if (packet->tcp_flags & BB_TCP_SYN && set_aside(flows, flow, side, packet))
            return;
        flow = add_after(flows, flow, side, packet);
        side = 0;
    }
    if (!flow) {
        // What neither opens a connection nor carries data is the tail of an old one.
        if (is_tcp && !packet->length &&
            (packet->tcp_flags & (BB_TCP_SYN | BB_TCP_RST)) != BB_TCP_SYN)
            return;
        flow = add(flows, packet, hash);
        side = 0;
    }
    flow->last_ns = packet->time_ns;
    flow->number = packet->number;
    if (G_UNLIKELY(packet->translated))
        note_hidden(flow, side, packet);
    if (is_tcp)
        push_tcp(flows, flow, side, packet);
    else
        push_udp(flows, flow, side, packet);
    account(flows, flow);
    if (G_UNLIKELY(flows->held > flows->max_held))
        bound_held(flows);
}

// ---- the end ------------------------------------------------------------------------------------

static ListKind first_list(const BbFlows *flows)
{
    ListKind kind = CLOSED;
    while (kind < N_LISTS && !flows->lists[kind].oldest)
        kind++;
    return kind;
}

guint64 bb_flows_rank(const BbFlows *flows)
{
    ListKind kind = first_list(flows);
    return kind == N_LISTS ? G_MAXUINT64 : (guint64)kind << 60 | flows->lists[kind].oldest->number;
}

void bb_flows_end_first(BbFlows *flows)
{
    remove_flow(flows, flows->lists[first_list(flows)].oldest);
}

void bb_flows_finish(BbFlows *flows)
{
    while (flows->count)
        bb_flows_end_first(flows);
}

// ---- shedding -----------------------------------------------------------------------------------

static bool is_shed(const BbFlow *flow, const BbShedding *shedding)
{
    const BbEndpoints *ends = &flow->endpoints;
    return bb_shedding_takes(shedding, &ends->address[0], ends->port[0], &ends->address[1],
                             ends->port[1]);
}

// What waited for a hole to be filled may only have come out of order.
static void shed_flow(BbFlows *flows, BbFlow *flow)
{
    guint64 *count = flows->loss->count;
    guint64 calls = count[BB_CALLS_UNRETURNED], gaps = count[BB_TCP_GAPS];
    guint64 bytes = count[BB_TCP_GAP_BYTES];
    count[BB_SHED_CONNECTIONS] += flow->dialog != NULL;
    remove_flow(flows, flow);
    count[BB_SHED_CALLS] += count[BB_CALLS_UNRETURNED] - calls;
    count[BB_CALLS_UNRETURNED] = calls;
    count[BB_TCP_GAPS] = gaps;
    count[BB_TCP_GAP_BYTES] = bytes;
}

void bb_flows_shed(BbFlows *flows, const BbShedding *shedding)
{
    for (ListKind kind = CLOSED; kind < N_LISTS; kind++)
        for (BbFlow *flow = flows->lists[kind].oldest, *newer; flow; flow = newer) {
            newer = flow->newer;
            if (is_shed(flow, shedding))
                shed_flow(flows, flow);
        }
}

guint bb_flows_count(const BbFlows *flows)
{
    return flows->count;
}

gsize bb_flows_held(const BbFlows *flows)
{
    return flows->held;
}

void bb_flows_free(BbFlows *flows)
{
    if (!flows)
        return;
    bb_flows_finish(flows);
    g_free(flows->buckets);
    g_free(flows);
}
