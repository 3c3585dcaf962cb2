// SPDX-License-Identifier: Apache-2.0
// Inside of a dialog, shared by dialog.c (open calls, messages), feed.c (bytes to the
// decoder) and choice.c (which decoder).
#pragma once

#include "capture/context.h"
#include "capture/decoder.h"
#include "capture/feed.h"

#define BB_DIALOG_BUFFER (64u * 1024u) // bytes a direction may hold for its decoder
#define BB_DIALOG_MARKS 512u           // packets whose stamps a buffer remembers one by one
#define BB_DIALOG_KEPT_BUFFER 512u     // larger ones, and more marks than these, are given back
#define BB_DIALOG_KEPT_MARKS 16u       // when they are empty
#define BB_DIALOG_PROBE (8u * 1024u)   // bytes after which an undecided probe is a no
#define BB_DIALOG_LIKELY (16u * 1024u) // and those that may wait for the other side's answer
// Turns of an unknown protocol that are probed again, whatever they begin with. Later ones are as
// long as nobody spoke for a while before, as a message begins then, and not more often than that.
#define BB_DIALOG_REPROBES 16u
#define BB_DIALOG_REST_NS (100 * G_GINT64_CONSTANT(1000000))
#define BB_DIALOG_REPROBE_NS (1000 * G_GINT64_CONSTANT(1000000))
#define BB_DIALOG_NO_PROBES G_MAXUINT16 // none are

typedef struct BbOpenEntry {
    BbOpenCall open;
    guint64 id; // that its messages have
    BbPart request;
    BbPart *reply;      // so far, where it comes in pieces; NULL: nothing
    guint32 proto;      // name of its protocol; BB_NAME_NONE: the dialog's
    guint32 newer;      // places in entries of those beside it in its bucket (capture/unanswered.h)
    guint32 older;      //
    guint8 use;         // BbKeyUse
    bool over : 1;      // no longer open: its place is not given back yet
    bool doubted : 1;   // BB_KEY_REUSED: its reply may have been among missing bytes
    bool sent : 1;      // the call message is written
    bool adopted : 1;   // read before the protocol was known: its key is not
    bool ambiguous : 1; // no telling which reply is its own: it waits for its last byte only
    bool answered : 1;  // ambiguous: maybe its reply was missing
    bool closed : 1;    // that an end has closed the connection over it is written
} BbOpenEntry;

typedef struct BbDoubt BbDoubt;

typedef struct BbSide {
    guint8 *buffer; // bytes that the decoder has not taken yet
    BbMark *marks;
    guint32 buffered, capacity;
    guint16 n_marks, marks_capacity;
    bool closed : 1;
    bool had_gap : 1;
    bool headless : 1;  // bytes were missing before the first that were seen, or were passed over
    bool answered : 1;  // this side has answered a call; the answer ended before answered_seq
    bool torn : 1;      // its last message was cut off by a gap
    bool continues : 1; // bb_dialog_continues
    bool one_way : 1;   // messages of this side were seen that nobody answers or asked for
    bool strayed : 1;   // bytes were passed over unread since its last message
    guint64 gap_end;    // had_gap: position behind the last missing bytes
    guint64 answered_seq;
    guint64 seq;  // of the first byte in the buffer, or of the next to come
    guint64 skip; // bytes to come that belong to skip_part
    BbPart *skip_part;
} BbSide;

struct BbDialog {
    BbContext *context;
    const BbDecoder *decoder; // NULL: not decided
    const BbDecoder *next;    // what bb_dialog_switch_to asked for
    void *state;
    const BbEndpoints *endpoints;
    BbSide side[2];       // of the first and second endpoint
    BbOpenEntry *entries; // room for open_capacity
    BbOpenEntry *open;    // n_open of them, oldest first, so with rising handles; n_over of these
                          // are over, but never the first or the last
    struct BbOpenBucket *buckets; // by key; NULL: few are found by looking at all
    BbDoubt *doubt;               // capture/doubt.h; NULL: no reason yet
    char *conn;                   // for the trace; made with the first message
    guint32 node[2];              // of the endpoints (bb_context_node); 0 = not asked yet
    guint32 proto;
    guint32 n_open, n_over, open_capacity;
    guint32 n_in_order[2]; // open calls that are answered in order, by BbDirection
    guint32 n_reused;      // those whose key is used again
    guint32 n_replies;     // those with a reply that comes in pieces
    guint64 reckoned[2];  // by BbDirection: of open calls with lower handles it is known that their
                          // replies may be among missing bytes
    guint64 doubted[2];   // likewise: the lowest handle that may be of a doubted one; 0: none is
    guint64 likely;       // what the first turn looked like: bits by place in bb_decoders
    guint64 refused;      // decoders that gave up, likewise
    guint32 forgotten;    // calls dropped at the limit whose replies are still to come
    guint32 head_left;    // bytes of a proxy's head that are still to be passed over
    gint64 turn_ns;       // newest bytes of an unknown protocol
    gint64 probed_ns;     // when a turn was probed last, after BB_DIALOG_REPROBES of them
    guint16 turns_probed; // at most BB_DIALOG_REPROBES; BB_DIALOG_NO_PROBES
    guint8 client;        // side that calls
    guint8 last_spoke;    // side that spoke last, plus 1; 0: nobody
    guint8 pieces;        // taken so far; 2 stands for more
    guint8 answering; // side, plus 1, whose first bytes wait in its buffer, since more of them may
                      // tell what the other one's are; 0: none
    guint8 turning;   // side, plus 1, whose turn, of a protocol that is not known, begins with the
                      // bytes in its buffer, since more of them may tell; 0: none
    bool begun : 1;   // the client's first bytes were looked at: no such head comes any more
    bool client_known : 1; // by a handshake, maybe of others, or by content
    bool from_start : 1;   // by the handshake: no byte came before those that were seen
    bool holed : 1;        // bytes were missing since, or were passed over unread
    bool is_tcp : 1;
    bool switching : 1; // the decoder asked for bb_dialog_switch
    bool told : 1;      // the decoder was chosen by people (BbDecodeAs), if only for a while
    bool finished : 1;
    bool inner : 1;     // bb_dialog_new_inner: its positions are its own
    bool asked : 1;     // a call that is answered in order was made
    bool pipelined : 1; // two calls of one key that are answered in order were open at once
    bool keyed : 1;     // there are calls that are not answered in order
};

// Its reply is told by order alone.
static inline bool bb_dialog_in_order(const BbOpenEntry *entry)
{
    return !entry->over && (entry->open.key == 0 || entry->use == BB_KEY_QUEUED);
}

static inline BbDirection bb_dialog_direction(const BbDialog *dialog, guint side)
{
    return side == dialog->client ? BB_TO_SERVER : BB_TO_CLIENT;
}

static inline guint bb_dialog_side(const BbDialog *dialog, BbDirection direction)
{
    return direction == BB_TO_SERVER ? dialog->client : !dialog->client;
}

// Ends what the decoder has under way. What follows is for another one.
void bb_dialog_end_decoder(BbDialog *dialog, bool give_up_calls);

// Who calls is not who it was thought to be: nodes have to be asked for anew.
void bb_dialog_end_nodes(BbDialog *dialog);
// Gives up (writes and counts) the open calls of side whose reply may have been among bytes of the
// other direction before seq that were never seen. So those of the other side
// whose key may have been used again among them.
void bb_dialog_give_up_before(BbDialog *dialog, guint side, guint64 seq);
// The open calls were read before their protocol was known.
void bb_dialog_adopt(BbDialog *dialog);
// Writes that side closes the connection over the calls that it waited for, or is waited for with;
// nothing where it does not (capture/hold.h).
void bb_dialog_tell_closed(BbDialog *dialog, guint side);
// Gives up all of them.
void bb_dialog_give_up_all(BbDialog *dialog);
// The same at the memory limit, where replies to them may still come. Gives their room back.
void bb_dialog_forget_calls(BbDialog *dialog);
