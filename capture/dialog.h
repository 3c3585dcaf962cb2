// SPDX-License-Identifier: Apache-2.0
// A dialog: what a client and a server say to each other over one TCP connection or one pair of UDP
// endpoints, as a decoder sees it. It holds the open calls and pairs returns with them, never by
// position alone: TCP's own sequence and acknowledgement numbers say which reply can belong to
// which request, so that loss does not shift the pairs.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"
#include "data/names.h"

typedef struct BbDialog BbDialog;
struct BbDecoder;

typedef enum { BB_TO_SERVER = 0, BB_TO_CLIENT = 1 } BbDirection;

static inline BbDirection bb_direction_other(BbDirection direction)
{
    return direction == BB_TO_SERVER ? BB_TO_CLIENT : BB_TO_SERVER;
}

// Which packet carried which bytes of a view: bytes up to `end` (exclusive, from the view's start).
typedef struct BbMark {
    gint64 time_ns;
    guint64 ack; // position that this packet acknowledges
    BbPlace place;
    guint32 end;
    bool has_ack; // false for datagrams and segments without ACK
} BbMark;

// Contiguous bytes of one direction that no decoder has taken yet. Lent for one call.
typedef struct BbView {
    const guint8 *data;
    gsize length;
    BbDirection direction;
    bool closed; // no more bytes follow
    bool datagram;
    gsize missing;       // datagram: bytes at its end that the snap length cut
    guint64 seq;         // TCP: position of data[0] (capture/sequence.h)
    const BbMark *marks; // ascending; the last one's end is >= length
    guint n_marks;
} BbView;

// Where the bytes of the packet after the one with byte `at` begin; view->length if there are none.
// Messages begin with packets as a rule: where to look for the next one after a gap.
gsize bb_view_next_packet(const BbView *view, gsize at);

// A message being received, in the decoder's state: zero it, then add bytes.
typedef struct BbPart {
    gint64 first_ns;  // stamp of the packet with its first byte
    gint64 last_ns;   // of the last packet with any of its bytes, in whatever order they came
    guint64 bytes;    // seen so far, and those skipped of which only the number was seen
    guint64 seq, ack; // positions, of its first byte
    guint64 end_seq;  // behind its last byte, whatever holes are within
    BbPlace place;    // of its first byte
    guint32 print;    // of a datagram (BB_OFFSET_PRINT), from that byte on
    guint8 direction; // BbDirection
    bool begun : 1, has_ack : 1, is_tcp : 1, has_print : 1;
} BbPart;

// Adds bytes [from, to) of view. The first byte added is the message's first byte.
void bb_part_add(BbPart *part, const BbView *view, gsize from, gsize to);
// Adds a part that follows it, or is the first; nothing, if that has not begun.
void bb_part_join(BbPart *part, const BbPart *piece);
static inline void bb_part_reset(BbPart *part)
{
    *part = (BbPart){0};
}

// The next `count` bytes of direction belong to part but are of no interest: they are counted, not
// buffered and not shown; gaps among them do no harm. Bytes beyond what parse returned are meant.
// parse is called when they are over (at once if they were all there). part lives in the state.
// A decoder that asks for it again when parse has no bytes and the view is closed says that its
// message goes on: a gap that lies inside of the message does no harm either.
void bb_dialog_skip(BbDialog *dialog, BbDirection direction, guint64 count, BbPart *part);
// The same without an end: all to come in this direction (HTTP body until close).
#define BB_SKIP_REST G_MAXUINT64

// ---- calls ----------------------------------------------------------------------------------

// An open call as the decoder may look at it. Lent until the next bb_dialog_ function.
typedef struct BbOpenCall {
    guint64 call; // handle, never 0; later calls have higher ones
    guint64 key;  // the decoder's own (protocol id); 0 if order is all there is
    guint32 tag;  // the decoder's own (method, command)
    guint32 op;
    gint64 seen_ns; // when its request began, or was last sent again (bb_dialog_sent_again)
} BbOpenCall;

// Opens a call whose request begins with part (at least its first byte). Returns its handle.
// op is a name (bb_dialog_label) or BB_NAME_NONE. Too many open calls: the oldest is given up, and
// where pairs go by order its reply will be an orphan.
guint64 bb_dialog_open(BbDialog *dialog, const BbPart *request, guint32 op, guint64 key,
                       guint32 tag);
// The same where a protocol gives its keys out again, so that after a loss a reply could be taken
// for that of another call of its key.
typedef enum {
    BB_KEY_UNIQUE, // not again for long: as bb_dialog_open
    BB_KEY_REUSED, // free again once it is answered (MQTT's packet ids): an older call that is open
                   // under it was answered unseen, and is given up
    BB_KEY_QUEUED, // of many calls that are answered in order (those of a channel of AMQP), so that
                   // loss is reckoned with as for key 0; but that a lost request may be waiting
                   // only where two were seen to wait at once. Found by bb_dialog_find
} BbKeyUse;
guint64 bb_dialog_open_by(BbDialog *dialog, const BbPart *request, guint32 op, guint64 key,
                          guint32 tag, BbKeyUse use);
// More is known of the request of a call that is not written yet.
void bb_dialog_grown(BbDialog *dialog, guint64 call, const BbPart *request);
// The request is complete: the call message is written. No effect if the call is gone or written.
void bb_dialog_sent(BbDialog *dialog, guint64 call, const BbPart *request);
// Both at once.
guint64 bb_dialog_call(BbDialog *dialog, const BbPart *request, guint32 op, guint64 key,
                       guint32 tag);

// The open call that a reply in order belongs to: the oldest one it can answer by TCP's numbers.
// Older ones that can no longer be answered are given up (counted). NULL: the reply is an orphan.
const BbOpenCall *bb_dialog_oldest(BbDialog *dialog, const BbPart *reply);
// The same of a reply that begins at a byte of view.
const BbOpenCall *bb_dialog_oldest_at(BbDialog *dialog, const BbView *view, gsize at);
// Whether nobody asked for reply, which is in order: all of the connection was seen from its start,
// and no call is open, nor was a request begun, that its sender had received. A server that sends
// an error then (it is full, it has waited for too long) speaks by itself: a free message.
bool bb_dialog_is_unasked(BbDialog *dialog, const BbPart *reply);
// The open call with this key and of the other direction, oldest first; NULL if there is none. A
// request that was read before the protocol was known (then of key 0) answers to any key.
const BbOpenCall *bb_dialog_find(BbDialog *dialog, const BbPart *reply, guint64 key);
// The same of those that have this tag, if it is among the oldest BB_DIALOG_TAGGED of the key.
#define BB_DIALOG_TAGGED 1024u
const BbOpenCall *bb_dialog_find_tagged(BbDialog *dialog, const BbPart *reply, guint64 key,
                                        guint32 tag);
// The open call of this handle, NULL if it was given up.
const BbOpenCall *bb_dialog_get(BbDialog *dialog, guint64 call);
// The youngest open call, whatever its direction; NULL if none.
const BbOpenCall *bb_dialog_youngest(BbDialog *dialog);
guint bb_dialog_open_calls(const BbDialog *dialog);
// Replies in order to what was asked in a direction that may still come, at most: those of open
// calls, and of calls that were lost.
guint32 bb_dialog_awaited(const BbDialog *dialog, BbDirection asked);

// The call is answered by reply: the return message is written (after the call's, if that was not
// written yet). call 0 or gone: an orphan return, written without id and counted. op of an orphan
// is BB_NAME_NONE. status is a name: "ok", "error" or the protocol's own code.
void bb_dialog_return(BbDialog *dialog, guint64 call, const BbPart *reply, guint32 status);
// piece is of the reply to an open call, more of which is to come between those to others: it is
// kept with the call, and bb_dialog_return adds its own. A call that is given up meanwhile is
// answered by what there was, without a status. No effect if the call is gone.
void bb_dialog_answering(BbDialog *dialog, guint64 call, const BbPart *piece);

// The call's own request, which is complete, says that it wants no return (noreply): it is written
// as a free message. Where it was sent already, it is given up.
void bb_dialog_one_way(BbDialog *dialog, guint64 call, const BbPart *request);
// Another message tells that nobody answers the call any more (its channel is closed, its key is
// used again): it has no return, and is written as far as its request is known. No effect if it is
// gone.
void bb_dialog_give_up(BbDialog *dialog, guint64 call);
// The request of an open call was sent again as part, a datagram: counted (bb_dialog_repeated).
void bb_dialog_sent_again(BbDialog *dialog, guint64 call, const BbPart *part);
// A free message.
void bb_dialog_message(BbDialog *dialog, const BbPart *part, guint32 op, guint32 status);
// A request or reply came that was seen before, in a datagram or a stream: it is sent again, and
// counted only.
void bb_dialog_repeated(BbDialog *dialog);

// ---- services ---------------------------------------------------------------------------------

// Interns a label. There is a limit on different labels: beyond it the answer is the label `*`.
guint32 bb_dialog_label(BbDialog *dialog, const char *text, gsize length);
// Interns a status; the same limit.
guint32 bb_dialog_status(BbDialog *dialog, const char *text, gsize length);
// That of a code of three digits, as HTTP, SMTP and SIP have them.
guint32 bb_dialog_status_code(BbDialog *dialog, guint code);

// How the stream is cut into frames by the decoder that has the dialog (decoder.h).
const struct BbFraming *bb_dialog_framing(const BbDialog *dialog);

// Where messages are really something else from here on (HTTP Upgrade, CONNECT, TLS after
// SSLRequest): what follows in both directions is probed as if the connection began there.
void bb_dialog_switch(BbDialog *dialog);
// The same where it is known what follows: decoder has it, without a probe. Calls that are open
// stay so, and may be answered there (bb_dialog_find, bb_dialog_oldest).
void bb_dialog_switch_to(BbDialog *dialog, const struct BbDecoder *decoder);

// Where one decoder reads several protocols: this call and its return have this name, which is
// static; no effect once the call is written.
void bb_dialog_call_protocol(BbDialog *dialog, guint64 call, const char *name);

// Counts what the decoder met (capture/loss.h).
void bb_dialog_count(BbDialog *dialog, BbLossKind kind);

// Port of the side that is called, as far as that is known.
guint16 bb_dialog_server_port(const BbDialog *dialog);

// Secrets of TLS connections, NULL if none are known.
struct BbTlsKeylog *bb_dialog_keylog(const BbDialog *dialog);

// Bytes [from, to) of view are passed over unread, where the decoder has lost its place: what they
// may have asked or answered is reckoned with as if they were missing. Counted.
void bb_dialog_pass_over(BbDialog *dialog, const BbView *view, gsize from, gsize to);
// So many bytes are passed over unread where ids tell what belongs together: they are counted only.
void bb_dialog_unread(BbDialog *dialog, BbDirection direction, gsize count);

// part is the rest of a reply that a gap cut off, or of one whose call was abandoned: it answers
// nothing any more. ends: no more of that reply can come, or it does no harm; else it is passed
// over as if it were missing. Counted.
void bb_dialog_passed_rest(BbDialog *dialog, const BbPart *part, bool ends);

// Whether what that side sends now belongs to its open call (data that the other one asked for, a
// password): if bytes of it are missing, no request is.
void bb_dialog_continues(BbDialog *dialog, BbDirection direction, bool continues);

// The decoder found its place again after bytes it could not read: counted.
void bb_dialog_resynced(BbDialog *dialog);

// DNS: address has this name (used where --names-from-dns asks for it).
void bb_dialog_learn_name(BbDialog *dialog, const BbAddress *address, const char *name);
