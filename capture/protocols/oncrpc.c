// SPDX-License-Identifier: Apache-2.0
// In: ONC RPC (RFC 5531) over UDP and TCP. Out: calls with their replies by xid, of either side:
// servers of NFS v4 call their clients back over the client's connection.
//
// Over TCP a message is a record of one fragment or more (section 11). Its head lies in the first;
// the others belong to it. A call that is sent again is one call: over TCP while it is open, over
// UDP also when it was answered a little while ago. Its second answer belongs to nothing.
#include "capture/protocols/framing.h"
#include "capture/protocols/meaning.h"
#include "capture/protocols/oncrpc_message.h"
#include "capture/protocols/recent_calls.h"
#include "data/text_hash.h"

#define MARK 4u
#define LAST_FRAGMENT 0x80000000u
#define FRAGMENT_MAX (64u << 20) // bytes; servers of files take a few MiB

// A record under way.
typedef struct Record {
    BbMeaning meaning;
    BbPart part; // of the fragments that are over
    bool under_way, last;
    bool tls; // the reply that grants TLS
} Record;

typedef struct Rpc {
    BbFrames frames;
    Record record[2];
    BbRecentCalls recent; // UDP: all; TCP: those that were sent again
    bool read;            // datagrams: one was
} Rpc;

static guint64 key_of(const BbRpcMessage *message)
{
    return (guint64)message->xid + 1;
}

// ---- what a message means -----------------------------------------------------------------------

// The open call of this id that was sent in the direction of part, of any age: clients of NFS send
// a call again for as long as it takes, and an xid is of 32 bits.
static const BbOpenCall *open_call(BbDialog *dialog, const BbPart *part, guint64 key)
{
    BbPart reply = {.direction = bb_direction_other(part->direction)};
    const BbOpenCall *open = bb_dialog_find(dialog, &reply, key);
    return open && open->key == key ? open : NULL;
}

static void understand_call(BbMeaning *meaning, BbDialog *dialog, Rpc *rpc,
                            const BbRpcMessage *message, const BbPart *part)
{
    char text[BB_LABEL_MAX + 1];
    guint32 op = bb_dialog_label(dialog, text, bb_rpc_message_label(message, text));
    const BbOpenCall *open = open_call(dialog, part, key_of(message));
    if (open && open->op == op) {
        (void)bb_recent_calls_sent_again(&rpc->recent, part, key_of(message), 0);
        bb_dialog_repeated(dialog);
        return;
    }
    meaning->means = BB_MEANS_CALL;
    // Another call under the id of one that is open: nobody waits for that any more.
    meaning->use = open ? BB_KEY_REUSED : BB_KEY_UNIQUE;
    meaning->op = op;
    meaning->tag = bb_rpc_message_tag(message);
}

static void understand_reply(BbMeaning *meaning, BbDialog *dialog, const Rpc *rpc,
                             const BbRpcMessage *message, const BbPart *part)
{
    if (bb_recent_calls_answered_again(&rpc->recent, dialog, part, key_of(message))) {
        bb_dialog_repeated(dialog);
        return;
    }
    char text[BB_RPC_STATUS_MAX];
    const BbOpenCall *open = bb_dialog_find(dialog, part, key_of(message));
    gsize length = bb_rpc_message_status(message, open ? open->tag : 0, text);
    meaning->means = BB_MEANS_RETURN;
    meaning->status = bb_dialog_status(dialog, text, length);
}

static void understand(BbMeaning *meaning, BbDialog *dialog, Rpc *rpc, const BbRpcMessage *message,
                       const BbPart *part)
{
    *meaning = (BbMeaning){.key = key_of(message)};
    if (message->is_reply)
        understand_reply(meaning, dialog, rpc, message, part);
    else
        understand_call(meaning, dialog, rpc, message, part);
    bb_meaning_begin(meaning, dialog, part);
}

// ---- records ------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Rpc *rpc = state;
    BbRpcMessage message;
    BbCursor c = bb_cursor(data, length);
    guint32 size = bb_cursor_be32(&c) & ~LAST_FRAGMENT;
    if (!bb_cursor_ok(&c))
        return BB_FRAME_MORE;
    *frame = (BbFrameSize){.length = MARK + size, .wanted = MARK + BB_RPC_FRONT};
    if (size > FRAGMENT_MAX)
        return BB_FRAME_BAD;
    if (rpc->record[direction].under_way)
        return BB_FRAME_OK;
    if (size < BB_RPC_REPLY_MIN)
        return BB_FRAME_BAD;
    switch (bb_rpc_message_read(&message, c.at, MIN(c.left, size))) {
    case BB_RPC_BAD:
        return BB_FRAME_BAD;
    case BB_RPC_SHORT:
        return c.left < size ? BB_FRAME_MORE : BB_FRAME_BAD;
    case BB_RPC_CUT:
        return c.left < size ? BB_FRAME_OK : BB_FRAME_BAD;
    default:
        return BB_FRAME_OK;
    }
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Rpc *rpc = state;
    Record *record = &rpc->record[part->direction];
    BbRpcMessage message;
    BbCursor c = bb_cursor(data, seen);
    record->last = bb_cursor_be32(&c) & LAST_FRAGMENT;
    if (record->under_way)
        return;
    record->under_way = true;
    record->part = (BbPart){0};
    record->meaning = (BbMeaning){0};
    if (bb_rpc_message_read(&message, c.at, c.left) < BB_RPC_CUT)
        return;
    record->tls = message.is_reply && message.starts_tls;
    understand(&record->meaning, dialog, rpc, &message, part);
}

static void end_record(BbDialog *dialog, Record *record)
{
    record->under_way = false;
    bb_meaning_end(&record->meaning, dialog, &record->part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Record *record = &((Rpc *)state)->record[part->direction];
    bb_part_join(&record->part, part);
    if (!record->last)
        return;
    end_record(dialog, record);
    if (record->tls)
        bb_dialog_switch(dialog);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_rpc_probe_record,
    .begin = begin,
    .end = end,
    .anywhere = true,
};

// ---- datagrams ----------------------------------------------------------------------------------

// A call that is sent again is the same byte for byte.
static bool is_sent_again(Rpc *rpc, const BbRpcMessage *message, const BbView *view,
                          const BbPart *part)
{
    guint64 hash = bb_text_hash_bytes(BB_TEXT_HASH_START, view->data, view->length);
    return !message->is_reply &&
           bb_recent_calls_sent_again(&rpc->recent, part, key_of(message), hash);
}

static gssize parse_datagram(BbDialog *dialog, Rpc *rpc, const BbView *view)
{
    BbPart part = {0};
    BbMeaning meaning;
    BbRpcMessage message;
    BbRpcVerdict verdict = bb_rpc_message_read(&message, view->data, view->length);
    if (verdict != BB_RPC_READ && !(verdict == BB_RPC_CUT && view->missing)) {
        if (!rpc->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    rpc->read = true;
    bb_part_add(&part, view, 0, view->length);
    if (is_sent_again(rpc, &message, view, &part)) {
        bb_dialog_repeated(dialog);
        return (gssize)view->length;
    }
    understand(&meaning, dialog, rpc, &message, &part);
    bb_meaning_end(&meaning, dialog, &part);
    return (gssize)view->length;
}

// ---- the decoder --------------------------------------------------------------------------------

static BbMatch probe(const guint8 *data, gsize length)
{
    BbMatch datagram = bb_rpc_probe_message(data, length);
    BbMatch record = bb_rpc_probe_record(data, length);
    return MAX(datagram, record);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Rpc *rpc = state;
    if (view->datagram)
        return view->length ? parse_datagram(dialog, rpc, view) : 0;
    return bb_frames_parse(dialog, state, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Rpc *rpc = state;
    bb_frames_gap(dialog, state, direction);
    if (rpc->record[direction].under_way)
        end_record(dialog, &rpc->record[direction]);
}

static void finish(BbDialog *dialog, void *state)
{
    Rpc *rpc = state;
    bb_frames_finish(dialog, state);
    for (guint i = 0; i < 2; i++)
        if (rpc->record[i].under_way)
            end_record(dialog, &rpc->record[i]);
}

const BbDecoder bb_decoder_oncrpc = {
    .name = "oncrpc",
    .about = "ONC RPC (portmap, NFS 2 to 4, mount, NLM) over TCP and UDP: by xid",
    .tcp = true,
    .udp = true,
    .ports = {111, 2049},
    .state_size = sizeof(Rpc),
    .framing = &framing,
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
