// SPDX-License-Identifier: Apache-2.0
// Named pipes of an SMB2 connection with DCE/RPC in them (MS-RPCE, 2.1.1.2): what is written to a
// file and read from it is a dialog of its own, of the same endpoints. Which files are pipes is
// told by what the client writes first: a packet of DCE/RPC that fills the write. Its calls are
// written besides those of SMB2, which each have a MessageId and a status of their own.
#pragma once

#include "capture/feed.h"
#include "capture/protocols/smb2_message.h"

#define BB_SMB2_PIPES 16u     // of a connection; beyond it the oldest is given up
#define BB_SMB2_PIPE_LOOK 16u // bytes of data that tell a packet
// Bytes of a message that are kept to be read; what lies behind is missing in the pipe.
#define BB_SMB2_PIPE_MESSAGE (16u * 1024u)

// Zeroed it has none. Files have numbers, never 0, and none is given twice.
typedef struct BbSmb2Pipes {
    struct BbSmb2Pipe {
        BbDialog *dialog; // NULL: none
        guint8 file[BB_SMB2_FILE];
        guint32 number;
    } pipe[BB_SMB2_PIPES];
    guint32 made;
} BbSmb2Pipes;

// Whether data is the begin of a packet of a client that is so long.
bool bb_smb2_pipe_fits(const guint8 *data, gsize there, gsize length);

// 0: it is none.
guint32 bb_smb2_pipes_find(const BbSmb2Pipes *pipes, const guint8 *file);
guint32 bb_smb2_pipes_open(BbSmb2Pipes *pipes, const BbDialog *outer, const guint8 *file);
// Bytes [from, to) of view were written to it, or read from it; view->length may be less than to.
// No effect if it is closed.
void bb_smb2_pipes_feed(BbSmb2Pipes *pipes, const BbDialog *outer, guint32 number,
                        const BbView *view, gsize from, gsize to);
// Bytes of outer are missing: they may have been anybody's.
void bb_smb2_pipes_gap(BbSmb2Pipes *pipes, const BbDialog *outer, BbDirection direction);
void bb_smb2_pipes_close(BbSmb2Pipes *pipes, guint32 number);
void bb_smb2_pipes_clear(BbSmb2Pipes *pipes);

gsize bb_smb2_pipes_held(const BbSmb2Pipes *pipes);
