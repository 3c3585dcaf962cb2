// SPDX-License-Identifier: Apache-2.0
// In: GIOP 1.0 to 1.2 over TCP (IIOP), either byte order. Out: requests with their replies, by
// request id and of either side (bidirectional GIOP); oneway requests, cancellations and what ends
// the connection are free messages. Fragments belong to their message.
//
// MIOP (requests of groups in datagrams) is free messages. What ZIOP compressed is free messages
// labelled `?`: its request ids are compressed too.
#include "capture/protocols/framing.h"
#include "capture/protocols/giop_message.h"
#include "capture/protocols/meaning.h"

#define TORN_MAX 8u // messages of a side of which fragments are to come; the oldest is ended

// A message of which fragments are to come.
typedef struct Torn {
    guint64 key;
    BbMeaning meaning;
    BbPart part;
} Torn;

typedef struct Side {
    BbGiopMessage message; // under way
    BbMeaning meaning;
    Torn torn[TORN_MAX]; // oldest first
    guint used;
} Side;

typedef struct Giop {
    BbFrames frames;
    Side side[2];
    bool compressed; // a compressed message was seen
    bool read;       // datagrams: one was
} Giop;

static guint64 key_of(const BbGiopMessage *message)
{
    return (guint64)message->id + 1;
}

// ---- fragments ----------------------------------------------------------------------------------

static void end_torn(BbDialog *dialog, Side *side, guint i)
{
    Torn torn = side->torn[i];
    side->used--;
    memmove(&side->torn[i], &side->torn[i + 1], (side->used - i) * sizeof torn);
    bb_meaning_end(&torn.meaning, dialog, &torn.part);
}

static void tear(BbDialog *dialog, Side *side, const BbPart *part)
{
    if (side->used == TORN_MAX) {
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
        end_torn(dialog, side, 0);
    }
    side->torn[side->used++] =
        (Torn){.key = key_of(&side->message), .meaning = side->meaning, .part = *part};
    side->meaning = (BbMeaning){0};
}

// Fragments of 1.1, which have no id, are those of the message before.
static void end_fragment(BbDialog *dialog, Side *side, const BbPart *part)
{
    guint i = side->used;
    while (i > 0 && side->message.has_id && side->torn[i - 1].key != key_of(&side->message))
        i--;
    if (i == 0)
        return; // its beginning was not seen
    bb_part_join(&side->torn[i - 1].part, part);
    if (!side->message.more)
        end_torn(dialog, side, i - 1);
}

// ---- what a message means -----------------------------------------------------------------------

static guint32 label_of(BbDialog *dialog, const BbGiopMessage *message)
{
    static const char *const names[] = {
        [BB_GIOP_CANCEL_REQUEST] = "CancelRequest",
        [BB_GIOP_LOCATE_REQUEST] = "LocateRequest",
        [BB_GIOP_CLOSE_CONNECTION] = "CloseConnection",
        [BB_GIOP_MESSAGE_ERROR] = "MessageError",
        [BB_GIOP_FRAGMENT] = NULL,
    };
    const char *name = names[message->type] ? names[message->type] : message->operation;
    return bb_dialog_label(dialog, name, strlen(name));
}

static void understand_reply(BbMeaning *meaning, BbDialog *dialog, const BbGiopMessage *message)
{
    const char *status =
        message->has_id ? bb_giop_status_name(message->type, message->status) : "error";
    meaning->means = BB_MEANS_RETURN;
    meaning->status = bb_dialog_status(dialog, status, strlen(status));
}

static void understand_free(BbMeaning *meaning, BbDialog *dialog, const BbGiopMessage *message)
{
    meaning->means = BB_MEANS_FREE;
    meaning->op = label_of(dialog, message);
    if (message->type == BB_GIOP_MESSAGE_ERROR)
        meaning->status = bb_dialog_status(dialog, "error", 5);
}

static void understand(BbMeaning *meaning, BbDialog *dialog, const BbGiopMessage *message)
{
    *meaning = (BbMeaning){.key = key_of(message), .use = BB_KEY_REUSED};
    bool expects = message->type == BB_GIOP_LOCATE_REQUEST ||
                   (message->type == BB_GIOP_REQUEST && message->answered);
    if (message->type == BB_GIOP_FRAGMENT)
        return;
    if (message->compressed) {
        understand_free(meaning, dialog, message);
    } else if (message->type == BB_GIOP_REPLY || message->type == BB_GIOP_LOCATE_REPLY) {
        understand_reply(meaning, dialog, message);
    } else if (expects && message->has_id) {
        meaning->means = BB_MEANS_CALL;
        meaning->op = label_of(dialog, message);
    } else {
        understand_free(meaning, dialog, message);
    }
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbGiopMessage message;
    switch (bb_giop_message_read(&message, data, length)) {
    case BB_GIOP_BAD:
        return BB_FRAME_BAD;
    case BB_GIOP_SHORT:
        return BB_FRAME_MORE;
    default:
        *frame = (BbFrameSize){.length = message.length, .wanted = BB_GIOP_FRONT};
        return BB_FRAME_OK;
    }
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Giop *giop = state;
    Side *side = &giop->side[part->direction];
    side->meaning = (BbMeaning){0};
    if (bb_giop_message_read(&side->message, data, seen) != BB_GIOP_READ)
        return;
    if (side->message.compressed && !giop->compressed)
        bb_dialog_count(dialog, BB_COMPRESSED_STREAMS);
    giop->compressed |= side->message.compressed;
    understand(&side->meaning, dialog, &side->message);
    bb_meaning_begin(&side->meaning, dialog, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Side *side = &((Giop *)state)->side[part->direction];
    if (side->message.type == BB_GIOP_FRAGMENT)
        end_fragment(dialog, side, part);
    else if (side->message.more && side->meaning.means != BB_MEANS_NOTHING)
        tear(dialog, side, part);
    else
        bb_meaning_end(&side->meaning, dialog, part);
}

// Either side may close, or complain.
static BbMatch probe(const guint8 *data, gsize length)
{
    BbGiopMessage message;
    BbCursor inside;
    if (bb_miop_open(data, length, &inside) != BB_GIOP_BAD)
        return BB_MATCH_REQUEST;
    switch (bb_giop_message_read(&message, data, length)) {
    case BB_GIOP_BAD:
        return length < 4 && memcmp(data, "MIOP", length) == 0 ? BB_MATCH_MORE : BB_MATCH_NO;
    case BB_GIOP_SHORT:
        return BB_MATCH_MORE;
    default:
        break;
    }
    switch (message.type) {
    case BB_GIOP_REQUEST:
    case BB_GIOP_CANCEL_REQUEST:
    case BB_GIOP_LOCATE_REQUEST:
        return BB_MATCH_REQUEST;
    case BB_GIOP_REPLY:
    case BB_GIOP_LOCATE_REPLY:
        return BB_MATCH_REPLY;
    default:
        return BB_MATCH_LIKELY;
    }
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 'G', 0},
};

// ---- the decoder --------------------------------------------------------------------------------

// A request of a group is a free message, with its operation if this is the first packet of it.
static gssize parse_datagram(BbDialog *dialog, Giop *giop, const BbView *view)
{
    BbCursor inside;
    BbGiopMessage message;
    BbPart part = {0};
    BbGiopVerdict verdict = bb_miop_open(view->data, view->length, &inside);
    if (verdict == BB_GIOP_READ)
        verdict = bb_giop_message_read(&message, inside.at, inside.left);
    if (verdict == BB_GIOP_BAD) {
        if (!giop->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    giop->read = true;
    bb_part_add(&part, view, 0, view->length);
    if (verdict == BB_GIOP_READ)
        bb_dialog_message(dialog, &part, label_of(dialog, &message), BB_NAME_NONE);
    else
        bb_dialog_message(dialog, &part, BB_NAME_NONE, BB_NAME_NONE);
    return (gssize)view->length;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Giop *giop = state;
    if (view->datagram)
        return view->length ? parse_datagram(dialog, giop, view) : 0;
    return bb_frames_parse(dialog, state, view);
}

static void end_all_torn(BbDialog *dialog, Side *side)
{
    while (side->used)
        end_torn(dialog, side, 0);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Giop *giop = state;
    bb_frames_gap(dialog, state, direction);
    end_all_torn(dialog, &giop->side[direction]);
}

static void finish(BbDialog *dialog, void *state)
{
    Giop *giop = state;
    bb_frames_finish(dialog, state);
    end_all_torn(dialog, &giop->side[BB_TO_SERVER]);
    end_all_torn(dialog, &giop->side[BB_TO_CLIENT]);
}

const BbDecoder bb_decoder_giop = {
    .name = "giop",
    .about = "GIOP 1.0 to 1.2 (IIOP; MIOP as free messages): by request id",
    .tcp = true,
    .udp = true,
    .ports = {683, 684, 2809},
    .state_size = sizeof(Giop),
    .framing = &framing,
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
