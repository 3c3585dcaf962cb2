// SPDX-License-Identifier: Apache-2.0
// In: SMB2 and SMB3 (MS-SMB2) in TCP, direct or by NetBIOS sessions. Out: commands with their
// responses, by MessageId, the parts of a compound one by one. An interim response (STATUS_PENDING)
// ends no call; CANCEL and breaks of oplocks are free messages.
//
// Of encrypted messages only their turns are known (hidden.h). Calls of DCE/RPC inside of named
// pipes are written, too (smb2_pipe.h).
#include "capture/protocols/framing.h"
#include "capture/protocols/hidden.h"
#include "capture/protocols/label.h"
#include "capture/protocols/smb2_pipe.h"

#include <string.h>

typedef struct Smb2 {
    BbFrames frames;
    BbSmb2Message message[2]; // under way
    gsize rest[2];            // bytes of the frame behind it: more of a compound
    guint64 call;             // that message[BB_TO_SERVER] opened
    guint64 hidden;           // encrypted call that waits for its answer
    BbSmb2Pipes *pipes;       // NULL: there never was one
    const BbView *view;       // what parse reads
} Smb2;

// ---- what a message means ---------------------------------------------------------------------

static guint64 key_of(const BbSmb2Message *message)
{
    return message->id + 1; // SMB1's negotiation is answered under id 0
}

static guint32 label_of(BbDialog *dialog, const BbSmb2Message *message)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(dialog, text, bb_smb2_message_label(message, text));
}

static guint32 status_of(BbDialog *dialog, const BbSmb2Message *message)
{
    char text[32];
    return bb_dialog_status(dialog, text,
                            bb_smb2_status_format(message->status, text, sizeof text));
}

static bool is_one_way(const BbSmb2Message *message)
{
    return message->command == BB_SMB2_CANCEL || message->id >= BB_HIDDEN_KEY - 1;
}

// The pipe that a request is about; 0: none.
static guint32 pipe_of(BbDialog *dialog, Smb2 *smb2, const BbSmb2Message *message,
                       const guint8 *data, gsize seen)
{
    guint32 number = 0;
    if (smb2->pipes && message->has_file)
        number = bb_smb2_pipes_find(smb2->pipes, message->file);
    if (number || !message->has_file || !message->data_length || message->data >= seen ||
        !bb_smb2_pipe_fits(data + message->data, seen - message->data, message->data_length))
        return number;
    if (!smb2->pipes)
        smb2->pipes = g_new0(BbSmb2Pipes, 1);
    return bb_smb2_pipes_open(smb2->pipes, dialog, message->file);
}

static void feed_pipe(BbDialog *dialog, Smb2 *smb2, const BbSmb2Message *message, guint32 number)
{
    if (number && message->data_length)
        bb_smb2_pipes_feed(smb2->pipes, dialog, number, smb2->view, message->data,
                           message->data + message->data_length);
}

static void begin_request(BbDialog *dialog, Smb2 *smb2, const guint8 *data, gsize seen,
                          const BbPart *part)
{
    const BbSmb2Message *message = &smb2->message[BB_TO_SERVER];
    smb2->call = 0;
    if (is_one_way(message))
        return;
    guint32 number = pipe_of(dialog, smb2, message, data, seen);
    smb2->call = bb_dialog_open(dialog, part, label_of(dialog, message), key_of(message), number);
    if (part->bytes == message->length) // so that it is written before what is in it
        bb_dialog_sent(dialog, smb2->call, part);
    feed_pipe(dialog, smb2, message, number);
    if (message->command == BB_SMB2_CLOSE && smb2->pipes)
        bb_smb2_pipes_close(smb2->pipes, number);
}

static void begin_response(BbDialog *dialog, Smb2 *smb2, const BbPart *part)
{
    const BbSmb2Message *message = &smb2->message[BB_TO_CLIENT];
    if (!smb2->pipes || !message->data_length)
        return;
    const BbOpenCall *open = bb_dialog_find(dialog, part, key_of(message));
    feed_pipe(dialog, smb2, message, open ? open->tag : 0);
}

static void end_response(BbDialog *dialog, const BbSmb2Message *message, const BbPart *part)
{
    if (message->status == BB_SMB2_STATUS_PENDING && message->async)
        return;
    const BbOpenCall *open = bb_dialog_find(dialog, part, key_of(message));
    bb_dialog_return(dialog, open ? open->call : 0, part, status_of(dialog, message));
}

// ---- frames -----------------------------------------------------------------------------------

// Bytes of the message that say all. Those of files are none of them.
static gsize wanted_of(const Smb2 *smb2, const BbSmb2Message *message, const guint8 *data,
                       gsize length)
{
    gsize end = message->data + message->data_length;
    bool carries =
        message->kind == BB_SMB2_PLAIN &&
        (message->command == BB_SMB2_IOCTL ||
         message->command == (message->response ? BB_SMB2_READ_FILE : BB_SMB2_WRITE_FILE));
    if (!carries || end > BB_SMB2_PIPE_MESSAGE)
        return carries && length < BB_SMB2_BODY ? BB_SMB2_BODY : BB_SMB2_WANTED;
    if (!message->data_length)
        return BB_SMB2_BODY;
    if (message->response)
        return smb2->pipes ? end : BB_SMB2_BODY;
    if (smb2->pipes && bb_smb2_pipes_find(smb2->pipes, message->file))
        return end;
    if (length < message->data + BB_SMB2_PIPE_LOOK)
        return message->data + BB_SMB2_PIPE_LOOK;
    return bb_smb2_pipe_fits(data + message->data, length - message->data, message->data_length)
               ? end
               : BB_SMB2_WANTED;
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Smb2 *smb2 = state;
    BbSmb2Message message;
    switch (bb_smb2_message_read(&message, data, length, smb2->rest[direction])) {
    case BB_SMB2_BAD:
        return BB_FRAME_BAD;
    case BB_SMB2_SHORT:
        return BB_FRAME_MORE;
    default:
        break;
    }
    bool seen = message.kind != BB_SMB2_NOTHING && message.kind != BB_SMB2_HIDDEN;
    if ((seen && message.response != (direction == BB_TO_CLIENT)) || message.kind == BB_SMB2_SMB1)
        return BB_FRAME_BAD;
    *frame =
        (BbFrameSize){.length = message.length, .wanted = wanted_of(smb2, &message, data, length)};
    return BB_FRAME_OK;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Smb2 *smb2 = state;
    BbSmb2Message *message = &smb2->message[part->direction];
    (void)bb_smb2_message_read(message, data, seen, smb2->rest[part->direction]);
    smb2->rest[part->direction] = message->frame - message->length;
    bool named = message->kind == BB_SMB2_PLAIN || message->kind == BB_SMB2_NEGOTIATE;
    if (named && part->direction == BB_TO_SERVER)
        begin_request(dialog, smb2, data, seen, part);
    else if (named)
        begin_response(dialog, smb2, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Smb2 *smb2 = state;
    const BbSmb2Message *message = &smb2->message[part->direction];
    if (message->kind == BB_SMB2_NOTHING)
        return;
    if (message->kind == BB_SMB2_HIDDEN)
        bb_hidden_take(&smb2->hidden, dialog, part);
    else if (is_one_way(message))
        bb_dialog_message(dialog, part, label_of(dialog, message), BB_NAME_NONE);
    else if (message->response)
        end_response(dialog, message, part);
    else
        bb_dialog_sent(dialog, smb2->call, part);
    if (message->kind == BB_SMB2_NEGOTIATE && message->response) // SMB1 it is
        bb_dialog_switch_to(dialog, &bb_decoder_turns);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_smb2_probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 'S', 5},
};

// ---- the decoder ------------------------------------------------------------------------------

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Smb2 *smb2 = state;
    if (smb2->frames.side[view->direction].lost)
        smb2->rest[view->direction] = 0;
    smb2->view = view;
    return bb_frames_parse(dialog, state, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Smb2 *smb2 = state;
    bb_frames_gap(dialog, state, direction);
    smb2->rest[direction] = 0;
    if (smb2->pipes)
        bb_smb2_pipes_gap(smb2->pipes, dialog, direction);
    bb_hidden_gap(&smb2->hidden, dialog, direction);
}

static void finish(BbDialog *dialog, void *state)
{
    Smb2 *smb2 = state;
    bb_frames_finish(dialog, state);
    if (smb2->pipes)
        bb_smb2_pipes_clear(smb2->pipes);
    g_clear_pointer(&smb2->pipes, g_free);
}

static gsize held(const void *state)
{
    const Smb2 *smb2 = state;
    return smb2->pipes ? bb_smb2_pipes_held(smb2->pipes) : 0;
}

static void let_go(BbDialog *dialog, void *state)
{
    Smb2 *smb2 = state;
    if (smb2->pipes)
        bb_smb2_pipes_clear(smb2->pipes);
}

const BbDecoder bb_decoder_smb2 = {
    .name = "smb2",
    .about = "SMB2 and SMB3: by MessageId; DCE/RPC in named pipes, too",
    .tcp = true,
    .ports = {445, 139},
    .state_size = sizeof(Smb2),
    .framing = &framing,
    .probe = bb_smb2_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
