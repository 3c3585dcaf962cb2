// SPDX-License-Identifier: Apache-2.0
// In: AJP 1.3 over TCP (Apache Tomcat Connectors, "AJP Protocol Reference"). Out: a call for each
// forwarded request with its body, its return from SEND_HEADERS to END_RESPONSE, and CPING with
// CPONG; in order, since a connection has one at a time.
#include "capture/protocols/ajp_message.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/label.h"

enum { TAG_REQUEST, TAG_CPING };

typedef struct Ajp {
    BbFrames frames;
    BbAjpMessage message[2]; // under way; its texts are not valid any more
    bool asked;              // what the client says next may be the body of its last request
    BbPart request, reply;
    guint64 call;    // the last request's
    guint64 answers; // what reply is the return of, 0: an orphan
    guint16 status;
} Ajp;

// ---- messages -----------------------------------------------------------------------------------

// A body may still come where the server has answered without it: it belongs to nothing then.
static void end_request(BbDialog *dialog, Ajp *ajp)
{
    if (ajp->request.begun)
        bb_dialog_sent(dialog, ajp->call, &ajp->request);
    bb_part_reset(&ajp->request);
}

static void end_reply(BbDialog *dialog, Ajp *ajp)
{
    guint code = ajp->status;
    if (!ajp->reply.begun)
        return;
    if (ajp->answers == ajp->call)
        end_request(dialog, ajp);
    bb_dialog_return(dialog, ajp->answers, &ajp->reply,
                     code ? bb_dialog_status_code(dialog, code) : BB_NAME_NONE);
    bb_part_reset(&ajp->reply);
    ajp->status = 0;
}

static guint64 oldest(BbDialog *dialog, const BbPart *reply, guint32 tag)
{
    const BbOpenCall *open = bb_dialog_oldest(dialog, reply);
    return open && open->tag == tag ? open->call : 0;
}

static guint32 label_of(BbDialog *dialog, const BbAjpMessage *message)
{
    char text[BB_LABEL_MAX + 1], method[BB_LABEL_MAX + 1];
    gsize length =
        message->method ? bb_label_word(method, message->method, message->method_length) : 0;
    if (!length)
        length = g_strlcpy(method, "?", sizeof method);
    if (message->uri)
        length =
            bb_label_http(text, (const guint8 *)method, length, message->uri, message->uri_length);
    else
        length = (gsize)g_snprintf(text, sizeof text, "%s ?", method);
    return bb_dialog_label(dialog, text, length);
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Ajp *ajp = state;
    BbAjpMessage message;
    switch (bb_ajp_message_read(&message, direction, ajp->asked, data, length)) {
    case BB_AJP_BAD:
        return BB_FRAME_BAD;
    case BB_AJP_SHORT:
        return BB_FRAME_MORE;
    default:
        break;
    }
    frame->length = message.length;
    frame->wanted = message.code == BB_AJP_FORWARD ? MIN(message.length, BB_AJP_WANTED)
                                                   : MIN(message.length, BB_AJP_TELLS);
    return BB_FRAME_OK;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Ajp *ajp = state;
    BbAjpMessage *message = &ajp->message[part->direction];
    if (bb_ajp_message_read(message, part->direction, ajp->asked, data, seen) != BB_AJP_READ) {
        *message = (BbAjpMessage){.code = BB_AJP_PING};
        return;
    }
    if (message->code == BB_AJP_FORWARD) {
        end_reply(dialog, ajp); // its end was not seen
        end_request(dialog, ajp);
        bb_ajp_forward_read(message, data, seen);
        ajp->call = bb_dialog_open(dialog, part, label_of(dialog, message), 0, TAG_REQUEST);
        ajp->asked = true;
    } else if (message->code == BB_AJP_CPING) {
        ajp->asked = false;
    } else if (message->code == BB_AJP_SEND_HEADERS) {
        end_reply(dialog, ajp);
        ajp->status = message->status;
    }
}

static void end_to_server(BbDialog *dialog, Ajp *ajp, const BbPart *part)
{
    switch (ajp->message[BB_TO_SERVER].code) {
    case BB_AJP_FORWARD:
        bb_part_join(&ajp->request, part);
        break;
    case BB_AJP_DATA:
        if (ajp->request.begun)
            bb_part_join(&ajp->request, part);
        break;
    case BB_AJP_CPING:
        bb_dialog_call(dialog, part, bb_dialog_label(dialog, "CPING", 5), 0, TAG_CPING);
        break;
    case BB_AJP_PING:
        bb_dialog_message(dialog, part, bb_dialog_label(dialog, "PING", 4), BB_NAME_NONE);
        break;
    default:
        bb_dialog_message(dialog, part, bb_dialog_label(dialog, "SHUTDOWN", 8), BB_NAME_NONE);
    }
}

static void end_to_client(BbDialog *dialog, Ajp *ajp, const BbPart *part)
{
    switch (ajp->message[BB_TO_CLIENT].code) {
    case BB_AJP_SEND_HEADERS:
        ajp->answers = oldest(dialog, part, TAG_REQUEST);
        bb_part_join(&ajp->reply, part);
        break;
    case BB_AJP_SEND_BODY:
    case BB_AJP_END_RESPONSE:
        if (!ajp->reply.begun)
            break; // the rest of one whose beginning was not seen, or that a gap has ended
        bb_part_join(&ajp->reply, part);
        if (ajp->message[BB_TO_CLIENT].code == BB_AJP_END_RESPONSE)
            end_reply(dialog, ajp);
        break;
    case BB_AJP_CPONG:
        bb_dialog_return(dialog, oldest(dialog, part, TAG_CPING), part,
                         bb_dialog_status(dialog, "ok", 2));
        break;
    default: // GET_BODY, which only asks for more of the request
        break;
    }
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    if (part->direction == BB_TO_SERVER)
        end_to_server(dialog, state, part);
    else
        end_to_client(dialog, state, part);
}

static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    Ajp *ajp = state;
    if (direction == BB_TO_CLIENT) {
        end_reply(dialog, ajp);
    } else {
        end_request(dialog, ajp);
        ajp->asked = false;
    }
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_ajp_match,
    .begin = begin,
    .end = end,
    .lose = lose,
};

// ---- the decoder --------------------------------------------------------------------------------

static void finish(BbDialog *dialog, void *state)
{
    Ajp *ajp = state;
    bb_frames_finish(dialog, state);
    end_request(dialog, ajp);
    end_reply(dialog, ajp);
}

const BbDecoder bb_decoder_ajp = {
    .name = "ajp",
    .about = "AJP 1.3: in order of the requests",
    .tcp = true,
    .ports = {8009},
    .state_size = sizeof(Ajp),
    .framing = &framing,
    .probe = bb_ajp_match,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = finish,
};
