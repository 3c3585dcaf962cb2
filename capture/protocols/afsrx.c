// SPDX-License-Identifier: Apache-2.0
// In: Rx (the RPC of AFS) over UDP. Out: calls by connection and call number, of either side: file
// servers call their clients back. The data packets of a side are one message; acknowledgements and
// authentication are nothing.
#include "capture/protocols/afsrx_packet.h"
#include "capture/protocols/label.h"

#include <string.h>

#define CALLS 16u // remembered; answered ones too, whose packets may be sent again
#define WINDOW 64u

// The packets of one side of a call that were seen: those before the highest as bits.
typedef struct Half {
    BbPart part;
    guint32 highest;
    guint64 window;
} Half;

typedef struct Call {
    guint64 key, connection;
    guint64 call; // 0: it was joined in the middle
    Half request, reply;
    bool done;
} Call;

typedef struct Rx {
    Call call[CALLS]; // oldest first
    guint used;
    bool read; // a packet was
} Rx;

// ---- calls ------------------------------------------------------------------------------------

static Call *find_call(Rx *rx, guint64 key)
{
    for (guint i = 0; i < rx->used; i++)
        if (rx->call[i].key == key)
            return &rx->call[i];
    return NULL;
}

static void end_call(BbDialog *dialog, Call *call, guint32 status)
{
    if (!call->done && call->reply.part.begun)
        bb_dialog_return(dialog, call->call, &call->reply.part, status);
    call->done = true;
}

// The oldest that is answered makes room, else the oldest.
static void make_room(BbDialog *dialog, Rx *rx)
{
    guint i = 0;
    if (rx->used < CALLS)
        return;
    while (i < rx->used && !rx->call[i].done)
        i++;
    if (i == rx->used) {
        i = 0;
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
        end_call(dialog, &rx->call[0], BB_NAME_NONE);
    }
    rx->used--;
    memmove(&rx->call[i], &rx->call[i + 1], (rx->used - i) * sizeof rx->call[0]);
}

static Call *get_call(BbDialog *dialog, Rx *rx, const BbRxPacket *packet)
{
    Call *call = find_call(rx, packet->key);
    if (call)
        return call;
    make_room(dialog, rx);
    call = &rx->call[rx->used++];
    *call = (Call){.key = packet->key, .connection = packet->connection};
    return call;
}

// Whether a packet of this number is new.
static bool note_sequence(Half *half, guint32 sequence)
{
    if (sequence > half->highest) {
        guint32 ahead = sequence - half->highest;
        half->window = ahead < WINDOW ? half->window << ahead : 0;
        half->window |= 1;
        half->highest = sequence;
        return true;
    }
    guint32 behind = half->highest - sequence;
    guint64 bit = behind < WINDOW ? G_GUINT64_CONSTANT(1) << behind : 0;
    bool fresh = bit && !(half->window & bit);
    half->window |= bit;
    return fresh;
}

// ---- packets ----------------------------------------------------------------------------------

static void take_request(BbDialog *dialog, Rx *rx, const BbRxPacket *packet, const BbView *view)
{
    char text[BB_LABEL_MAX + 1];
    Call *call = get_call(dialog, rx, packet);
    if (!note_sequence(&call->request, packet->sequence) || call->done) {
        bb_dialog_repeated(dialog);
        return;
    }
    bb_part_add(&call->request.part, view, 0, view->length);
    if (!call->call) {
        gsize length = bb_rx_packet_label(packet, text);
        call->call = bb_dialog_open(dialog, &call->request.part,
                                    bb_dialog_label(dialog, text, length), packet->key, 0);
    }
    if (packet->last)
        bb_dialog_sent(dialog, call->call, &call->request.part);
}

static void take_reply(BbDialog *dialog, Rx *rx, const BbRxPacket *packet, const BbView *view)
{
    Call *call = get_call(dialog, rx, packet);
    if (!note_sequence(&call->reply, packet->sequence) || call->done)
        return;
    bb_dialog_sent(dialog, call->call, &call->request.part);
    bb_part_add(&call->reply.part, view, 0, view->length);
    if (packet->last)
        end_call(dialog, call, bb_dialog_status(dialog, "ok", 2));
}

static bool is_about(const BbRxPacket *packet, const Call *call)
{
    return packet->call ? call->key == packet->key : call->connection == packet->connection;
}

// Of the callee: the error is the result of the call, or of all that the connection has. A caller's
// ends a call that nobody answers.
static void take_abort(BbDialog *dialog, Rx *rx, const BbRxPacket *packet, const BbView *view)
{
    char text[16];
    g_snprintf(text, sizeof text, "%d", (gint32)packet->word);
    for (guint i = 0; i < rx->used && !packet->from_caller; i++) {
        Call *call = &rx->call[i];
        if (call->done || !is_about(packet, call))
            continue;
        bb_dialog_sent(dialog, call->call, &call->request.part);
        bb_part_add(&call->reply.part, view, 0, view->length);
        end_call(dialog, call, bb_dialog_status(dialog, text, strlen(text)));
    }
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Rx *rx = state;
    BbRxPacket packet;
    if (!view->length)
        return 0;
    if (!bb_rx_packet_read(&packet, view->data, view->length)) {
        if (!rx->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    rx->read = true;
    if (packet.type == BB_RX_ABORT)
        take_abort(dialog, rx, &packet, view);
    else if (packet.type == BB_RX_DATA && packet.from_caller)
        take_request(dialog, rx, &packet, view);
    else if (packet.type == BB_RX_DATA)
        take_reply(dialog, rx, &packet, view);
    return (gssize)view->length;
}

static void finish(BbDialog *dialog, void *state)
{
    Rx *rx = state;
    for (guint i = 0; i < rx->used; i++)
        end_call(dialog, &rx->call[i], BB_NAME_NONE);
}

const BbDecoder bb_decoder_afsrx = {
    .name = "afsrx",
    .about = "AFS Rx: by connection and call number",
    .udp = true,
    .ports = {7000, 7001, 7002, 7003, 7004, 7005, 7007, 7008},
    .state_size = sizeof(Rx),
    .probe = bb_rx_probe,
    .parse = parse,
    .finish = finish,
};
