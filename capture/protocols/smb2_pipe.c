// SPDX-License-Identifier: Apache-2.0
// In: what is written to named pipes and read from them. Out: the calls of DCE/RPC in it.
#include "capture/protocols/smb2_pipe.h"

#include "capture/protocols/dcerpc_packet.h"

#define PIPE_BYTES 1024u // what a dialog takes, about, that holds nothing

typedef struct BbSmb2Pipe Pipe;

bool bb_smb2_pipe_fits(const guint8 *data, gsize there, gsize length)
{
    BbDcerpcPacket packet = {0};
    return bb_dcerpc_packet_read(&packet, data, there) == BB_DCERPC_READ &&
           packet.length == length && bb_dcerpc_from_client(packet.kind);
}

// ---- the pipes ----------------------------------------------------------------------------------

static Pipe *pipe_of(BbSmb2Pipes *pipes, guint32 number)
{
    Pipe *pipe = &pipes->pipe[number % BB_SMB2_PIPES];
    return number && pipe->dialog && pipe->number == number ? pipe : NULL;
}

guint32 bb_smb2_pipes_find(const BbSmb2Pipes *pipes, const guint8 *file)
{
    for (guint i = 0; i < BB_SMB2_PIPES; i++)
        if (pipes->pipe[i].dialog && memcmp(pipes->pipe[i].file, file, BB_SMB2_FILE) == 0)
            return pipes->pipe[i].number;
    return 0;
}

guint32 bb_smb2_pipes_open(BbSmb2Pipes *pipes, const BbDialog *outer, const guint8 *file)
{
    guint32 number = ++pipes->made ? pipes->made : ++pipes->made;
    Pipe *pipe = &pipes->pipe[number % BB_SMB2_PIPES];
    bb_dialog_free(pipe->dialog);
    pipe->dialog = bb_dialog_new_inner(outer);
    bb_dialog_expect(pipe->dialog, &bb_decoder_dcerpc);
    memcpy(pipe->file, file, BB_SMB2_FILE);
    pipe->number = number;
    return number;
}

static void close_pipe(Pipe *pipe)
{
    bb_dialog_free(pipe->dialog);
    pipe->dialog = NULL;
}

void bb_smb2_pipes_close(BbSmb2Pipes *pipes, guint32 number)
{
    Pipe *pipe = pipe_of(pipes, number);
    if (pipe)
        close_pipe(pipe);
}

void bb_smb2_pipes_clear(BbSmb2Pipes *pipes)
{
    for (guint i = 0; i < BB_SMB2_PIPES; i++)
        close_pipe(&pipes->pipe[i]);
}

// ---- what is said in them -----------------------------------------------------------------------

static guint side_of(const BbDialog *outer, BbDirection direction)
{
    guint client = bb_dialog_client(outer);
    return direction == BB_TO_SERVER ? client : !client;
}

// With the stamps and positions of the packets in which it came: no message of SMB2 begins
// where one of a pipe does.
static void feed_marks(BbDialog *dialog, guint side, const BbView *view, gsize from, gsize to)
{
    for (guint i = 0; i < view->n_marks && from < to; i++) {
        const BbMark *mark = &view->marks[i];
        if (mark->end <= from)
            continue;
        BbPiece piece = {
            .data = view->data + from,
            .length = (guint32)(MIN(mark->end, to) - from),
            .seq = view->seq + from,
            .ack = mark->ack,
            .has_ack = mark->has_ack,
            .time_ns = mark->time_ns,
            .place = mark->place,
        };
        bb_dialog_feed(dialog, side, &piece);
        from += piece.length;
    }
}

void bb_smb2_pipes_feed(BbSmb2Pipes *pipes, const BbDialog *outer, guint32 number,
                        const BbView *view, gsize from, gsize to)
{
    Pipe *pipe = pipe_of(pipes, number);
    if (!pipe)
        return;
    guint side = side_of(outer, view->direction);
    gsize seen = MIN(to, view->length);
    feed_marks(pipe->dialog, side, view, from, seen);
    if (seen < to && from < to)
        bb_dialog_gap(pipe->dialog, side, view->seq + MAX(seen, from),
                      (guint32)(to - MAX(seen, from)));
}

void bb_smb2_pipes_gap(BbSmb2Pipes *pipes, const BbDialog *outer, BbDirection direction)
{
    for (guint i = 0; i < BB_SMB2_PIPES; i++)
        if (pipes->pipe[i].dialog)
            bb_dialog_lose(pipes->pipe[i].dialog, side_of(outer, direction));
}

// ---- memory -------------------------------------------------------------------------------------

gsize bb_smb2_pipes_held(const BbSmb2Pipes *pipes)
{
    gsize held = 0;
    for (guint i = 0; i < BB_SMB2_PIPES; i++)
        if (pipes->pipe[i].dialog)
            held += PIPE_BYTES + bb_dialog_held(pipes->pipe[i].dialog);
    return held;
}
