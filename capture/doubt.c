// SPDX-License-Identifier: Apache-2.0
// In: requests, replies and gaps of a dialog. Out: which calls are ambiguous.
#include "capture/doubt.h"

static void add_due(BbSide *caller, guint32 count)
{
    caller->due = MIN(caller->due + MIN(count, BB_DOUBT_MOST), BB_DOUBT_MOST);
}

void bb_doubt_seen(BbDialog *dialog, const BbPart *part, bool accounted)
{
    BbSide *side = &dialog->side[bb_dialog_side(dialog, part->direction)];
    dialog->said_ns = MAX(dialog->said_ns, MAX(part->first_ns, part->last_ns));
    if (!part->is_tcp)
        return;
    side->said = true;
    side->said_end = part->seq + (guint32)part->bytes;
    side->lost = 0;
    side->torn = (gint32)(side->seq - side->said_end) > 0; // what comes next is beyond its end
    if (accounted) {
        side->known = true;
        side->known_seq = side->said_end;
    }
}

// ---- requests ---------------------------------------------------------------------------------

// Nobody said anything for so long that all is answered that will be.
static bool after_silence(const BbDialog *dialog, const BbSide *callee, const BbPart *request)
{
    gint64 silence = MAX(BB_DOUBT_SILENCE_NS, dialog->slowest_ns * BB_DOUBT_SILENCE_TIMES);
    bool has_all = !callee->said || (gint32)(request->ack - callee->seq - callee->buffered) >= 0;
    return dialog->said_ns && request->first_ns - dialog->said_ns >= silence && has_all;
}

// The caller has acknowledged more than is accounted for: the answers to the lost.
static bool has_more(const BbSide *callee, const BbPart *request)
{
    if (!callee->known)
        return callee->said || callee->had_gap;
    return (gint32)(request->ack - callee->known_seq) > 0;
}

// Whether by the protocol nobody asks ahead, while much of what is said is not answered at all.
static bool takes_turns(const BbDialog *dialog)
{
    return dialog->decoder == &bb_decoder_turns || dialog->decoder == &bb_decoder_mysql ||
           dialog->decoder == &bb_decoder_tls || dialog->decoder == &bb_decoder_websocket;
}

// Nothing is due any more. Who waits for all replies before it asks more shows so by asking.
static bool is_settled(const BbDialog *dialog, const BbSide *caller, const BbSide *callee,
                       const BbPart *request)
{
    if (dialog->n_open || !request->has_ack)
        return false;
    if (takes_turns(dialog))
        return !callee->answered || (gint32)(request->ack - callee->answered_seq) > 0;
    return after_silence(dialog, callee, request) ||
           (!dialog->rolls && !caller->sure && has_more(callee, request));
}

// waits: another call was open, for all the caller knew. further: it had more bytes of the callee
// than when it asked last.
static void note_habit(BbDialog *dialog, bool waits, bool further)
{
    if (waits) {
        dialog->alone = 0;
        dialog->rolls |= further;
        dialog->together += dialog->together < BB_DOUBT_HABIT;
        return;
    }
    dialog->waves |= dialog->together == BB_DOUBT_HABIT;
    if (dialog->alone < BB_DOUBT_HABIT && ++dialog->alone == BB_DOUBT_HABIT) {
        dialog->rolls = dialog->waves = false;
        dialog->together = 0;
    }
}

bool bb_doubt_request(BbDialog *dialog, const BbPart *request, bool waits)
{
    guint number = bb_dialog_side(dialog, request->direction);
    BbSide *caller = &dialog->side[number];
    bool further = request->has_ack && (gint32)(request->ack - caller->asked_ack) > 0;
    if (caller->due && is_settled(dialog, caller, &dialog->side[!number], request))
        caller->due = caller->sure = 0;
    caller->gap_open = caller->due > 0;
    if (!caller->due)
        note_habit(dialog, waits, further);
    else
        dialog->rolls |= further && caller->sure && caller->asked;
    caller->asked = true;
    if (request->has_ack)
        caller->asked_ack = request->ack;
    return caller->due > 0;
}

void bb_doubt_ambiguous(BbDialog *dialog, const BbPart *request, bool answered)
{
    BbSide *caller = &dialog->side[bb_dialog_side(dialog, request->direction)];
    add_due(caller, 1);
    caller->sure += !answered;
}

static void note_size(BbSide *side, guint64 bytes)
{
    guint32 size = (guint32)MIN(bytes, G_MAXUINT32);
    if (!side->torn && (!side->smallest || size < side->smallest))
        side->smallest = size;
}

void bb_doubt_sent(BbDialog *dialog, const BbOpenEntry *entry)
{
    bb_doubt_seen(dialog, &entry->request, true);
    if (bb_dialog_in_order(entry))
        note_size(&dialog->side[bb_dialog_side(dialog, entry->request.direction)],
                  entry->request.bytes);
}

void bb_doubt_unasked(BbDialog *dialog, const BbOpenEntry *entry)
{
    BbSide *caller = &dialog->side[bb_dialog_side(dialog, entry->request.direction)];
    caller->due -= entry->ambiguous && caller->due;
    caller->sure -= entry->ambiguous && caller->sure;
}

// ---- replies ----------------------------------------------------------------------------------

static bool is_awaited(const BbDialog *dialog, const BbPart *reply)
{
    for (guint i = 0; i < dialog->n_open; i++)
        if (bb_dialog_in_order(&dialog->open[i]) && !dialog->open[i].ambiguous &&
            dialog->open[i].request.direction != reply->direction)
            return true;
    return false;
}

void bb_doubt_reply(BbDialog *dialog, const BbPart *reply)
{
    BbSide *caller = &dialog->side[!bb_dialog_side(dialog, reply->direction)];
    if (dialog->forgotten) {
        dialog->forgotten--;
    } else if (caller->due && !dialog->keyed && !is_awaited(dialog, reply)) {
        caller->due--;
        caller->sure -= caller->sure > 0;
    }
}

void bb_doubt_answered(BbDialog *dialog, const BbOpenEntry *entry, const BbPart *reply)
{
    bb_doubt_seen(dialog, reply, true);
    if (!bb_dialog_in_order(entry))
        return;
    dialog->slowest_ns = MAX(dialog->slowest_ns, reply->first_ns - entry->request.first_ns);
    note_size(&dialog->side[bb_dialog_side(dialog, reply->direction)], reply->bytes);
}

// ---- gaps -------------------------------------------------------------------------------------

// A request is under way, or was ended by the gap.
static bool is_torn(const BbDialog *dialog, guint number)
{
    const BbOpenEntry *youngest = dialog->n_open ? &dialog->open[dialog->n_open - 1] : NULL;
    bool under_way = youngest && !youngest->sent &&
                     bb_dialog_side(dialog, youngest->request.direction) == number;
    return under_way || dialog->side[number].torn;
}

// The most messages of a side that its missing bytes up to seq can be.
static guint32 most_lost(const BbSide *side, guint32 seq)
{
    gint32 bytes = side->said ? (gint32)(seq - side->said_end) : 0;
    return side->smallest && bytes > 0 ? (guint32)bytes / side->smallest : 0;
}

static void lose_requests(BbDialog *dialog, guint number, guint32 seq, bool hole)
{
    BbSide *caller = &dialog->side[number];
    const BbSide *callee = &dialog->side[!number];
    guint32 most = dialog->rolls ? most_lost(caller, seq) : 0;
    guint32 more = most > caller->lost ? most - caller->lost : 0;
    if (hole || !caller->lost)
        more = MAX(more, 1);
    // One is still to be answered, unless it needs no answer or that was lost, too.
    bool answered = callee->had_gap && (gint32)(callee->gap_end - callee->said_end) > 0;
    if (hole && !is_torn(dialog, number) && !answered && !caller->one_way && !dialog->keyed)
        caller->sure++;
    caller->lost += more;
    add_due(caller, more);
}

static void lose_replies(BbDialog *dialog, guint number, guint32 seq, bool hole, guint32 given_up)
{
    BbSide *caller = &dialog->side[!number];
    const BbSide *callee = &dialog->side[number];
    guint32 more = given_up + dialog->forgotten;
    dialog->forgotten = 0;
    add_due(caller, more);
    caller->sure += more;
    // One reply at least was lost, unless it may be the rest of one, or what nobody asked for.
    if (hole && caller->due && !callee->torn && !callee->one_way && !dialog->keyed)
        caller->due--;
    // Of several it is taken to be one, but of who was seen to wait for all that it can be.
    bool all = given_up < 2 || (dialog->waves && most_lost(callee, seq) >= given_up);
    caller->sure = all ? 0 : caller->sure - 1;
}

void bb_doubt_lost(BbDialog *dialog, guint number, guint32 seq, bool hole, guint32 given_up)
{
    lose_replies(dialog, number, seq, hole, given_up);
    lose_requests(dialog, number, seq, hole);
}
