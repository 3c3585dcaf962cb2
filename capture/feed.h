// SPDX-License-Identifier: Apache-2.0
// How a dialog gets its bytes: holds what no decoder has taken yet, finds the decoder (content
// first, port second), keeps its skips, tells it of gaps and ends.
#pragma once

#include "capture/context.h"
#include "capture/dialog.h"
#include "capture/endpoints.h"

// A piece of one direction, in order.
typedef struct BbPiece {
    const guint8 *data;
    guint32 length;
    guint32 missing; // datagram: bytes that the snap length cut
    guint64 seq;     // TCP: position of its first byte (capture/sequence.h)
    guint64 ack;     // position
    bool has_ack;
    gint64 time_ns;
    gint64 took_ns; // datagram: until its last byte came
    BbPlace place;
} BbPiece;

// endpoints is lent and must outlive the dialog. client: which of them calls; client_known: whether
// that is certain (a handshake was seen; where it was another connection's, bb_dialog_joined
// follows).
BbDialog *bb_dialog_new(BbContext *context, const BbEndpoints *endpoints, bool is_tcp, guint client,
                        bool client_known);
// Nothing was fed yet, and bytes may have come before what will be.
void bb_dialog_joined(BbDialog *dialog);
// For what is said inside of outer (decrypted, unwrapped) by the same endpoints. A decoder that
// unwraps keeps it in its state, feeds it with pieces that have the stamps of outer and positions
// that count what is inside, counts bb_dialog_held to its own and frees it at its finish.
BbDialog *bb_dialog_new_inner(const BbDialog *outer);
// What is said in dialog, of which nothing was fed yet, is of this protocol.
void bb_dialog_expect(BbDialog *dialog, const struct BbDecoder *decoder);
// Finishes (below) what is not finished.
void bb_dialog_free(BbDialog *dialog);

void bb_dialog_feed(BbDialog *dialog, guint side, const BbPiece *piece);
void bb_dialog_gap(BbDialog *dialog, guint side, guint64 seq, guint32 missing);
// The same where they were seen to be sent, but not what they are (cut by a snap length): what is
// skipped of them counts to its message.
void bb_dialog_cut(BbDialog *dialog, guint side, guint64 seq, guint32 missing);
// As bb_dialog_gap where nobody knows how many bytes, or whether any.
void bb_dialog_lose(BbDialog *dialog, guint side);
void bb_dialog_close(BbDialog *dialog, guint side);
// Nothing more comes from either side: what is under way is written as far as it was seen, open
// calls are given up.
void bb_dialog_finish(BbDialog *dialog);

// Which of the endpoints calls, as far as it is known.
guint bb_dialog_client(const BbDialog *dialog);

// Bytes held: of messages not complete, of many open calls, of the decoder.
guint32 bb_dialog_held(const BbDialog *dialog);
// Forgets them (memory limit): those of messages as a gap, open calls as at their own limit.
void bb_dialog_drop_held(BbDialog *dialog);
