// SPDX-License-Identifier: Apache-2.0
// In: DCE/RPC (C706, MS-RPCE) over TCP and UDP. Out: requests with their responses or faults, by
// call id; in datagrams by activity and sequence number. Fragments are one message. Binds and
// changes of context are calls of their own.
#include "capture/protocols/dcerpc_packet.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/gather.h"
#include "capture/protocols/label.h"

#include <string.h>

#define CONTEXTS 16u // interfaces a connection remembers; beyond it the oldest is `?`

typedef struct Dcerpc {
    BbFrames frames;
    BbDcerpcPacket packet[2];     // under way
    BbGather requests, responses; // the latter to requests that were not seen
    BbDcerpcBinding context[CONTEXTS];
    guint contexts; // ever bound
    bool read;      // datagrams: one was
} Dcerpc;

// ---- interfaces -------------------------------------------------------------------------------

static const char *interface_of(const Dcerpc *rpc, const BbDcerpcPacket *packet)
{
    if (packet->interface[0])
        return packet->interface;
    for (guint i = 1; i <= MIN(rpc->contexts, CONTEXTS); i++) {
        const BbDcerpcBinding *binding = &rpc->context[(rpc->contexts - i) % CONTEXTS];
        if (binding->context == packet->context)
            return binding->interface;
    }
    return "?";
}

static void learn_contexts(Dcerpc *rpc, const BbDcerpcPacket *packet)
{
    for (guint i = 0; i < packet->bindings; i++)
        rpc->context[rpc->contexts++ % CONTEXTS] = packet->binding[i];
}

static guint32 label_of(BbDialog *dialog, const Dcerpc *rpc, const BbDcerpcPacket *packet)
{
    char text[BB_LABEL_MAX + 1];
    int length;
    if (packet->kind == BB_DCERPC_REQUEST)
        length = g_snprintf(text, sizeof text, "%s.%u", interface_of(rpc, packet), packet->opnum);
    else
        length = g_snprintf(text, sizeof text, "%s%s%s", packet->name, packet->bindings ? " " : "",
                            packet->bindings ? packet->binding[0].interface : "");
    return bb_dialog_label(dialog, text, (gsize)length);
}

static guint32 status_of(BbDialog *dialog, const BbDcerpcPacket *packet)
{
    char text[BB_LABEL_MAX + 1] = "ok";
    bool refused = packet->kind == BB_DCERPC_BIND_NAK ||
                   ((packet->kind == BB_DCERPC_BIND_ACK || packet->kind == BB_DCERPC_ALTER_ACK) &&
                    !packet->accepted);
    if (packet->kind == BB_DCERPC_FAULT)
        bb_dcerpc_fault_format(packet->status, text, sizeof text);
    else if (refused)
        g_strlcpy(text, "bind_nak", sizeof text);
    return bb_dialog_status(dialog, text, strlen(text));
}

// ---- pairing ----------------------------------------------------------------------------------

// The open call of this id that was sent in the direction of part.
static guint64 open_call(BbDialog *dialog, const BbPart *part, guint64 id)
{
    BbPart reply = {.direction = bb_direction_other(part->direction)};
    const BbOpenCall *open = bb_dialog_find(dialog, &reply, id);
    return open && open->key == id ? open->call : 0;
}

// The id of a call is used anew: nobody waits for it any more, and of its request no more comes.
static void give_up(BbDialog *dialog, Dcerpc *rpc, guint64 call, guint64 id)
{
    const BbPart none = {0};
    BbPart seen = bb_gather_take(&rpc->requests, id, &none);
    if (seen.begun)
        bb_dialog_sent(dialog, call, &seen);
    bb_dialog_give_up(dialog, call);
}

static void begin_call(BbDialog *dialog, Dcerpc *rpc, const BbDcerpcPacket *packet,
                       const BbPart *part)
{
    guint64 open = open_call(dialog, part, packet->id);
    if (open && !part->is_tcp) {
        bb_dialog_repeated(dialog);
        return;
    }
    if (open)
        give_up(dialog, rpc, open, packet->id);
    bb_dialog_open(dialog, part, label_of(dialog, rpc, packet), packet->id, 0);
}

// A packet of the caller.
static void end_request(BbDialog *dialog, Dcerpc *rpc, const BbDcerpcPacket *packet,
                        const BbPart *part)
{
    guint64 call = open_call(dialog, part, packet->id);
    if (!call)
        return; // its beginning was not seen
    if (!packet->last) {
        bb_gather_add(&rpc->requests, dialog, packet->id, part);
        return;
    }
    BbPart whole = bb_gather_take(&rpc->requests, packet->id, part);
    if (packet->maybe)
        bb_dialog_one_way(dialog, call, &whole);
    else
        bb_dialog_sent(dialog, call, &whole);
}

static void end_response(BbDialog *dialog, Dcerpc *rpc, const BbDcerpcPacket *packet,
                         const BbPart *part)
{
    const BbOpenCall *open = bb_dialog_find(dialog, part, packet->id);
    guint64 call = open ? open->call : 0;
    if (packet->last) {
        BbPart whole = bb_gather_take(&rpc->responses, packet->id, part);
        bb_dialog_return(dialog, call, &whole, status_of(dialog, packet));
    } else if (call) {
        bb_dialog_answering(dialog, call, part);
    } else {
        bb_gather_add(&rpc->responses, dialog, packet->id, part);
    }
}

static void begin_packet(BbDialog *dialog, Dcerpc *rpc, const BbDcerpcPacket *packet,
                         const BbPart *part)
{
    learn_contexts(rpc, packet);
    if (bb_dcerpc_from_client(packet->kind) && packet->first)
        begin_call(dialog, rpc, packet, part);
}

static void end_packet(BbDialog *dialog, Dcerpc *rpc, const BbDcerpcPacket *packet,
                       const BbPart *part)
{
    if (bb_dcerpc_from_client(packet->kind))
        end_request(dialog, rpc, packet, part);
    else if (bb_dcerpc_from_server(packet->kind))
        end_response(dialog, rpc, packet, part);
    else if (packet->kind == BB_DCERPC_CANCEL)
        bb_dialog_message(dialog, part, label_of(dialog, rpc, packet), BB_NAME_NONE);
}

// ---- frames -----------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbDcerpcPacket packet = {0};
    switch (bb_dcerpc_packet_read(&packet, data, length)) {
    case BB_DCERPC_BAD:
        return BB_FRAME_BAD;
    case BB_DCERPC_SHORT:
        return BB_FRAME_MORE;
    default:
        break;
    }
    if (direction == BB_TO_SERVER ? bb_dcerpc_from_server(packet.kind)
                                  : bb_dcerpc_from_client(packet.kind))
        return BB_FRAME_BAD;
    *frame = (BbFrameSize){.length = packet.length, .wanted = packet.wanted};
    return BB_FRAME_OK;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Dcerpc *rpc = state;
    BbDcerpcPacket *packet = &rpc->packet[part->direction];
    (void)bb_dcerpc_packet_read(packet, data, seen);
    begin_packet(dialog, rpc, packet, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Dcerpc *rpc = state;
    end_packet(dialog, rpc, &rpc->packet[part->direction], part);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_dcerpc_probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 5, 0},
};

// ---- the decoder ------------------------------------------------------------------------------

static gssize parse_datagram(BbDialog *dialog, Dcerpc *rpc, const BbView *view)
{
    BbPart part = {0};
    BbDcerpcPacket packet = {0};
    if (bb_dcerpc_datagram_read(&packet, view->data, view->length, view->missing) !=
        BB_DCERPC_READ) {
        if (!rpc->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    rpc->read = true;
    bb_part_add(&part, view, 0, view->length);
    begin_packet(dialog, rpc, &packet, &part);
    end_packet(dialog, rpc, &packet, &part);
    return (gssize)view->length;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Dcerpc *rpc = state;
    if (view->datagram)
        return view->length ? parse_datagram(dialog, rpc, view) : 0;
    return bb_frames_parse(dialog, state, view);
}

// Requests whose last fragment was not seen are written as far as they were.
static void end_requests(BbDialog *dialog, Dcerpc *rpc)
{
    BbGathered found;
    while (bb_gather_pop(&rpc->requests, &found))
        bb_dialog_sent(dialog, open_call(dialog, &found.part, found.key), &found.part);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Dcerpc *rpc = state;
    bb_frames_gap(dialog, state, direction);
    if (direction == BB_TO_SERVER)
        end_requests(dialog, rpc);
}

static void finish(BbDialog *dialog, void *state)
{
    Dcerpc *rpc = state;
    BbGathered found;
    bb_frames_finish(dialog, state);
    end_requests(dialog, rpc);
    while (bb_gather_pop(&rpc->responses, &found))
        bb_dialog_return(dialog, 0, &found.part, BB_NAME_NONE);
}

const BbDecoder bb_decoder_dcerpc = {
    .name = "dcerpc",
    .about = "DCE/RPC over TCP and UDP: by call id, or activity and sequence number",
    .tcp = true,
    .udp = true,
    .ports = {135},
    .state_size = sizeof(Dcerpc),
    .framing = &framing,
    .probe = bb_dcerpc_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
