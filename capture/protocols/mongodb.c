// SPDX-License-Identifier: Apache-2.0
// In: a connection in MongoDB's wire protocol (OP_MSG, OP_COMPRESSED, and the operations before
// them). Out: a call for each request, paired by requestID and responseTo, with command and
// collection as label and the error's name as status.
//
// One-way: OP_INSERT and the like, and a request that says moreToCome (an unacknowledged write). Of
// several replies to one request (exhaust) the first ends the call, the others, each of which
// answers the one before, are free messages with its label, which is not known where the request
// was not seen. Of compressed bodies the beginning is unpacked (zlib, Snappy, zstd); where it
// cannot be, `?` is the label, and there is no status.
#include "capture/protocols/framing.h"
#include "capture/protocols/mongodb_message.h"

#define TAG_EXHAUST 1u // several replies are allowed

typedef struct Under {
    guint64 call;  // of a request, 0 if it is one-way; that a reply answers
    guint32 label; // of a free message
    guint32 status;
    bool free; // a free message
} Under;

typedef struct Mongodb {
    BbFrames frames;
    Under under[2];       // the messages under way
    guint32 next_answers; // streaming: what the next reply of the stream answers
    guint32 stream_label;
    bool streaming;
} Mongodb;

static guint64 key_of(guint32 id)
{
    return G_GUINT64_CONSTANT(1) << 32 | id;
}

static void begin_request(BbDialog *dialog, Under *under, const BbMongodbHead *head,
                          const BbMongodbBody *body, const BbPart *part)
{
    guint32 label = bb_dialog_label(dialog, body->label, strlen(body->label));
    *under = (Under){.label = label, .free = body->one_way};
    if (!body->one_way)
        under->call = bb_dialog_open_by(dialog, part, label, key_of(head->request),
                                        body->exhaust ? TAG_EXHAUST : 0, BB_KEY_REUSED);
}

// A reply of a stream, which is none to a call.
static void go_on(Mongodb *mongodb, const BbMongodbHead *head, const BbMongodbBody *body)
{
    Under *under = &mongodb->under[BB_TO_CLIENT];
    under->free = true;
    under->label = mongodb->stream_label;
    mongodb->streaming = body->more_to_come;
    mongodb->next_answers = head->request;
}

static guint32 status_of(BbDialog *dialog, const BbMongodbBody *body)
{
    const char *status = body->error[0] ? body->error : "ok";
    if (body->unread && !body->error[0])
        return BB_NAME_NONE;
    return bb_dialog_status(dialog, status, strlen(status));
}

static void begin_reply(BbDialog *dialog, Mongodb *mongodb, const BbMongodbHead *head,
                        const BbMongodbBody *body, const BbPart *part)
{
    Under *under = &mongodb->under[BB_TO_CLIENT];
    *under = (Under){.status = status_of(dialog, body)};
    const BbOpenCall *open = bb_dialog_find(dialog, part, key_of(head->response_to));
    bool goes_on = mongodb->streaming && head->response_to == mongodb->next_answers;
    if (!open && (goes_on || body->streams)) { // else what it answers is missing
        if (!mongodb->streaming)
            mongodb->stream_label = BB_NAME_NONE;
        go_on(mongodb, head, body);
    }
    if (!open)
        return;
    under->call = open->call;
    if (body->more_to_come && open->tag & TAG_EXHAUST) {
        mongodb->streaming = true;
        mongodb->next_answers = head->request;
        mongodb->stream_label = open->op;
    }
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbMongodbHead head;
    if (length < BB_MONGODB_HEAD)
        return BB_FRAME_MORE;
    if (!bb_mongodb_head_read(&head, data))
        return BB_FRAME_BAD;
    bool old_request = head.opcode >= BB_MONGODB_UPDATE && head.opcode <= BB_MONGODB_KILL_CURSORS;
    if (direction == BB_TO_SERVER ? head.opcode == BB_MONGODB_REPLY : old_request)
        return BB_FRAME_BAD;
    *frame = (BbFrameSize){
        .length = head.length,
        .wanted = MIN(head.length, BB_MONGODB_HEAD + BB_MONGODB_BODY_READ),
    };
    return BB_FRAME_OK;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Mongodb *mongodb = state;
    BbMongodbHead head;
    BbMongodbBody body;
    bool is_request = part->direction == BB_TO_SERVER;
    (void)bb_mongodb_head_read(&head, data);
    bb_mongodb_body_read(&body, head.opcode, is_request,
                         bb_cursor(data + BB_MONGODB_HEAD, seen - BB_MONGODB_HEAD));
    if (is_request)
        begin_request(dialog, &mongodb->under[BB_TO_SERVER], &head, &body, part);
    else
        begin_reply(dialog, mongodb, &head, &body, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Mongodb *mongodb = state;
    const Under *under = &mongodb->under[part->direction];
    if (under->free)
        bb_dialog_message(dialog, part, under->label, under->status);
    else if (part->direction == BB_TO_SERVER)
        bb_dialog_sent(dialog, under->call, part);
    else
        bb_dialog_return(dialog, under->call, part, under->status);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_mongodb_probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 0x07, 13},
};

// ---- the decoder --------------------------------------------------------------------------------

const BbDecoder bb_decoder_mongodb = {
    .name = "mongodb",
    .about = "MongoDB, OP_MSG and before: by request id",
    .tcp = true,
    .ports = {27017, 27018, 27019},
    .state_size = sizeof(Mongodb),
    .framing = &framing,
    .probe = bb_mongodb_probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
