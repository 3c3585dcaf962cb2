// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: each in its flow (capture/connection.h). Bounds on the number of flows and on
// the bytes they hold back.
#include "capture/flow.h"

#include "capture/connection.h"
#include "capture/shed.h"
#include "data/mix.h"

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
    List lists[BB_FLOW_KINDS]; // each in order of the last packet
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

static void touch(BbFlows *flows, BbFlow *flow, BbFlowKind kind)
{
    if (flow->kind == kind && flows->lists[kind].newest == flow)
        return;
    list_remove(&flows->lists[flow->kind], flow);
    flow->kind = kind;
    list_append(&flows->lists[kind], flow);
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
    bool waits = flow->hold && flow->hold->returns;
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
    guint32 held = bb_flow_held(flow);
    account_waiting(flows, flow);
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
        bb_context_edge(flows->context, bb_flow_ends(flow), asked->side, false, false, &edge);
    }
    g_clear_pointer(&flow->asked, g_free);
}

static void remove_flow(BbFlows *flows, BbFlow *flow)
{
    drop_asked(flows, flow);
    bb_flow_end(flow, flows->context);
    account(flows, flow);
    list_remove(&flows->lists[flow->kind], flow);
    BbFlow **at = &flows->buckets[flow->hash & (flows->n_buckets - 1)];
    while (*at != flow)
        at = &(*at)->chain;
    *at = flow->chain;
    flows->count--;
    bb_flow_free(flow);
}

// Whether a flow only waits to be forgotten.
static bool is_over(const BbFlow *flow, gint64 now_ns)
{
    return flow->kind <= BB_FLOW_DATAGRAMS && now_ns - flow->last_ns >= BB_FLOW_IDLE_NS;
}

// A few at a time, so that no packet pays for many.
static void expire(BbFlows *flows, gint64 now_ns)
{
    for (BbFlowKind kind = BB_FLOW_CLOSED; kind <= BB_FLOW_DATAGRAMS; kind++)
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
    return flow->kind == BB_FLOW_TALKING || (flow->kind == BB_FLOW_DATAGRAMS && flow->dialog &&
                                             bb_dialog_open_calls(flow->dialog) > 0);
}

static void make_room(BbFlows *flows)
{
    while (flows->count >= flows->max) {
        BbFlowKind kind = BB_FLOW_CLOSED;
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
    bb_flow_release(flow, flows->context, now_ns);
    account(flows, flow);
}

static BbFlow *add(BbFlows *flows, const BbPacket *packet, guint32 hash)
{
    expire(flows, packet->time_ns);
    make_room(flows);
    if (flows->count >= flows->n_buckets)
        grow(flows);
    BbFlow *flow = bb_flow_new(packet, hash);
    BbFlow **bucket = &flows->buckets[hash & (flows->n_buckets - 1)];
    flow->chain = *bucket;
    *bucket = flow;
    list_append(&flows->lists[flow->kind], flow);
    flows->count++;
    flows->loss->count[BB_SEEN_CONNECTIONS]++;
    return flow;
}

// ---- packets ------------------------------------------------------------------------------------

// Only of a connection that nobody has ended. One with data (RFC 7413) expects to be taken.
static bool set_aside(BbFlows *flows, BbFlow *flow, guint side, const BbPacket *packet)
{
    bool lasts = flow->kind == BB_FLOW_TALKING ||
                 (flow->kind == BB_FLOW_EMPTY && bb_tcp_is_agreed(&flow->tcp));
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

// Bytes that wait longest are given up first when all together are too many.
static void bound_held(BbFlows *flows)
{
    while (flows->held > flows->max_held && flows->holders.oldest) {
        BbFlow *flow = flows->holders.oldest;
        if (bb_flow_drop_held(flow, flows->context))
            touch(flows, flow, BB_FLOW_CLOSED);
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
    guint8 client = (guint8)(bb_flow_client(old) ^ side);
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
    if (flow && is_tcp && bb_flow_is_another(flow, side, packet)) {
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
    if (G_UNLIKELY(packet->translated))
        note_hidden(flow, side, packet);
    touch(flows, flow, bb_flow_push(flow, flows->context, side, packet));
    account(flows, flow);
    if (G_UNLIKELY(flows->held > flows->max_held))
        bound_held(flows);
}

// ---- the end ------------------------------------------------------------------------------------

static BbFlowKind first_list(const BbFlows *flows)
{
    BbFlowKind kind = BB_FLOW_CLOSED;
    while (kind < BB_FLOW_KINDS && !flows->lists[kind].oldest)
        kind++;
    return kind;
}

guint64 bb_flows_rank(const BbFlows *flows)
{
    BbFlowKind kind = first_list(flows);
    return kind == BB_FLOW_KINDS ? G_MAXUINT64
                                 : (guint64)kind << 60 | flows->lists[kind].oldest->number;
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
    for (BbFlowKind kind = BB_FLOW_CLOSED; kind < BB_FLOW_KINDS; kind++)
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
