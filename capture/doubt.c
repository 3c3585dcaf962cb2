// SPDX-License-Identifier: Apache-2.0
// In: requests, replies and gaps of a dialog. Out: which calls are ambiguous.
#include "capture/doubt.h"

#include "capture/tcp.h"

typedef struct Side {
    bool said;  // a message of this side was seen; the last one ended before said_end
    bool known; // one that is no reply to what was lost was seen
    bool cut;   // bytes were missing since its last message: they may be of one reply
    bool asked; // it called; its last call in order acknowledged asked_ack
    guint64 said_end, asked_ack; // positions
    guint64 said_ack;            // that the last message seen acknowledged; 0: there was none
    guint64 matched_end;         // of the last one that is known whose it is
    guint64 known_seq; // likewise, or that there is another one for each reply that was due before
    guint32 due;       // replies to it, at most, that may come and belong to no open call
    guint32 sure;      // of these, at least
    guint32 lost;      // of due, to requests that were missing behind its last message
    guint32 fresh;     // of lost: no reply came that may be theirs
    bool missing;      // bytes were missing since it last called: a request that waits, maybe
    guint32 smallest;  // bytes of its smallest message of a call in order; 0: none was seen
} Side;

struct BbDoubt {
    Side side[2];
    gint64 said_ns;    // end of the last message
    gint64 slowest_ns; // longest time that a reply in order took
    gint64 asked_ns;   // when the last call came
    gint64 lag_ns;     // in doubt: longest time between a reply and the call that came before it
    bool waves;        // many calls were asked together, and answered before the next
    bool rolls;        // one was asked when others had been answered and others not
    guint8 alone;      // calls in a row that were asked when no other was open
    guint8 together;   // those that were asked when another was; both up to BB_DOUBT_HABIT
    guint8 turns;      // calls in a row that came when one reply had come since the one before
    guint8 replies;    // in doubt, since the last call
    guint8 rests;      // in doubt: calls that came after a rest
    bool gap;          // likewise: bytes were missing
};

static void note_size(const BbDialog *dialog, guint number, guint64 bytes)
{
    Side *side = &dialog->doubt->side[number];
    guint32 size = (guint32)MIN(bytes, G_MAXUINT32);
    if (!dialog->side[number].torn && (!side->smallest || size < side->smallest))
        side->smallest = size;
}

// Bytes that waited for a hole come behind younger ones of the other side: that is no clock that
// was set back.
static void note_time(BbDoubt *doubt, gint64 time_ns)
{
    bool was_set = time_ns < doubt->said_ns - BB_TCP_PATIENCE_NS;
    doubt->said_ns = was_set ? time_ns : MAX(doubt->said_ns, time_ns);
}

static void note_seen(BbDoubt *doubt, guint number, const BbPart *part, bool accounted)
{
    Side *side = &doubt->side[number];
    note_time(doubt, part->last_ns);
    if (!part->is_tcp)
        return;
    side->said = true;
    side->cut = false;
    side->said_end = part->end_seq;
    side->said_ack = part->ack;
    side->lost = side->fresh = 0;
    side->known |= accounted;
    if (accounted)
        side->known_seq = side->matched_end = side->said_end;
}

// What would be known if the first call, which is open, had been looked at.
static void recall(BbDialog *dialog)
{
    const BbOpenEntry *first = dialog->n_open ? &dialog->open[0] : NULL;
    if (!first || !dialog->asked)
        return;
    guint number = bb_dialog_side(dialog, first->request.direction);
    Side *caller = &dialog->doubt->side[number];
    note_seen(dialog->doubt, number, &first->request, true);
    caller->asked = bb_dialog_in_order(first);
    caller->asked_ack = first->request.ack;
    if (first->sent && caller->asked)
        note_size(dialog, number, first->request.bytes);
}

static BbDoubt *doubt_of(BbDialog *dialog)
{
    if (!dialog->doubt) {
        dialog->doubt = g_new0(BbDoubt, 1);
        recall(dialog);
    }
    return dialog->doubt;
}

void bb_doubt_free(BbDoubt *doubt)
{
    g_free(doubt);
}

static void add_due(Side *caller, guint32 count)
{
    caller->due = MIN(caller->due + MIN(count, BB_DOUBT_MOST), BB_DOUBT_MOST);
}

void bb_doubt_seen(BbDialog *dialog, const BbPart *part, bool accounted)
{
    guint number = bb_dialog_side(dialog, part->direction);
    BbSide *side = &dialog->side[number];
    if (part->is_tcp) // what comes next is beyond its end
        side->torn = side->seq > part->end_seq;
    if (dialog->doubt)
        note_seen(dialog->doubt, number, part, accounted);
}

guint32 bb_doubt_due(const BbDialog *dialog, guint number)
{
    return dialog->doubt ? dialog->doubt->side[number].due : 0;
}

// ---- requests ---------------------------------------------------------------------------------

// Nobody said anything for so long, and so many times longer than replies take. What was lost right
// before the request may have been sent just now, unless the callee had it before.
static bool was_silent(const BbDialog *dialog, guint callee, const BbPart *request, gint64 least_ns,
                       gint64 reply_ns)
{
    const BbDoubt *doubt = dialog->doubt;
    const BbSide *side = &dialog->side[callee];
    const Side *answers = &doubt->side[callee];
    gint64 silence_ns = request->first_ns - doubt->said_ns;
    bool has_all = !answers->said || request->ack >= side->seq + side->buffered;
    bool just_lost = doubt->side[!callee].lost && request->seq > answers->said_ack;
    return doubt->said_ns && !just_lost && silence_ns >= least_ns &&
           silence_ns / BB_DOUBT_SILENCE_TIMES >= reply_ns && has_all;
}

// All is answered that will be.
static bool after_silence(const BbDialog *dialog, guint callee, const BbPart *request)
{
    return was_silent(dialog, callee, request, BB_DOUBT_SILENCE_NS, dialog->doubt->slowest_ns);
}

// Counts the rests in which nothing came, though replies did between them.
static bool has_rested(BbDialog *dialog, guint callee, const BbPart *request)
{
    BbDoubt *doubt = dialog->doubt;
    gint64 reply_ns = MAX(doubt->slowest_ns, doubt->lag_ns);
    doubt->rests += doubt->rests < BB_DOUBT_RESTS && doubt->replies &&
                    was_silent(dialog, callee, request, BB_DOUBT_REST_NS, reply_ns);
    return doubt->rests >= BB_DOUBT_RESTS;
}

// The caller has acknowledged more than is accounted for: maybe the replies to the lost. Of what
// was lost right before the request they come behind all others.
static bool has_more(const BbDialog *dialog, guint caller, const BbPart *request)
{
    const Side *callee = &dialog->doubt->side[!caller];
    if (!callee->known)
        return callee->said || dialog->side[!caller].had_gap;
    bool just_lost = dialog->doubt->side[caller].lost > 0;
    return request->ack > (just_lost ? callee->known_seq : callee->matched_end);
}

// Nothing is due any more. Who waits for all replies before it asks more shows so by asking.
static bool is_settled(const BbDialog *dialog, guint caller, const BbPart *request)
{
    const BbDoubt *doubt = dialog->doubt;
    const BbSide *callee = &dialog->side[!caller];
    if (dialog->n_open || !request->has_ack)
        return false;
    if (dialog->decoder && dialog->decoder->takes_turns)
        return !callee->answered || request->ack > callee->answered_seq;
    return after_silence(dialog, !caller, request) ||
           (!doubt->rolls && !doubt->side[caller].sure && has_more(dialog, caller, request));
}

// Counts calls and replies that take turns; a turn of which bytes are missing says nothing. Who
// asks ahead at a steady depth looks like that for a while, too, but was seen to ask ahead before.
static bool takes_turns(BbDoubt *doubt, bool further)
{
    bool in_turn = further && doubt->replies == 1;
    if (!doubt->gap)
        doubt->turns = in_turn ? (guint8)MIN(doubt->turns + 1u, BB_DOUBT_TURNS) : 0;
    return doubt->turns == BB_DOUBT_TURNS && !doubt->together;
}

// The caller asks though something may be due. A request that was lost is due for sure if it has
// nothing yet that could be the reply, and so is what it asks now. From then on it asks ahead.
static void stay(BbDialog *dialog, guint number, const BbPart *request, bool further)
{
    BbDoubt *doubt = dialog->doubt;
    Side *caller = &doubt->side[number];
    bool answered = request->has_ack && has_more(dialog, number, request);
    caller->sure += caller->missing && !answered;
    if (!further || !caller->sure || !caller->asked)
        return;
    doubt->rolls = true;
    doubt->alone = 0;
}

// waits: another call was open, for all the caller knew. further: it had more bytes of the callee
// than when it asked last.
static void note_habit(BbDoubt *doubt, bool waits, bool further)
{
    if (waits) {
        doubt->alone = 0;
        doubt->rolls |= further;
        doubt->together += doubt->together < BB_DOUBT_HABIT;
        return;
    }
    doubt->waves |= doubt->together == BB_DOUBT_HABIT;
    if (doubt->alone < BB_DOUBT_HABIT && ++doubt->alone == BB_DOUBT_HABIT) {
        doubt->rolls = doubt->waves = false;
        doubt->together = 0;
    }
}

bool bb_doubt_request(BbDialog *dialog, const BbPart *request, bool waits)
{
    guint number = bb_dialog_side(dialog, request->direction);
    if (!dialog->doubt && !dialog->asked) { // the first one
        dialog->asked = true;
        return false;
    }
    BbDoubt *doubt = doubt_of(dialog);
    Side *caller = &doubt->side[number];
    bool further = request->has_ack && request->ack > caller->asked_ack;
    bool in_turns = caller->due && takes_turns(doubt, further) && !dialog->n_open;
    bool rested = caller->due && has_rested(dialog, !number, request) && !dialog->n_open;
    doubt->rolls &= !in_turns;
    if (in_turns || rested || (caller->due && is_settled(dialog, number, request)))
        caller->due = caller->sure = 0;
    if (caller->due) {
        stay(dialog, number, request, further);
    } else {
        note_habit(doubt, waits, further);
        doubt->turns = doubt->rests = 0;
        doubt->lag_ns = 0;
    }
    doubt->asked_ns = request->first_ns;
    doubt->gap = caller->missing = false;
    doubt->replies = 0;
    dialog->asked = caller->asked = true;
    if (request->has_ack)
        caller->asked_ack = request->ack;
    return caller->due > 0;
}

void bb_doubt_ambiguous(BbDialog *dialog, const BbPart *request, bool answered)
{
    Side *caller = &doubt_of(dialog)->side[bb_dialog_side(dialog, request->direction)];
    add_due(caller, 1);
    caller->sure += !answered;
}

void bb_doubt_sent(BbDialog *dialog, const BbOpenEntry *entry)
{
    guint number = bb_dialog_side(dialog, entry->request.direction);
    bb_doubt_seen(dialog, &entry->request, true);
    if (dialog->doubt && bb_dialog_in_order(entry))
        note_size(dialog, number, entry->request.bytes);
}

void bb_doubt_unasked(BbDialog *dialog, const BbOpenEntry *entry)
{
    if (!dialog->doubt)
        return;
    Side *caller = &dialog->doubt->side[bb_dialog_side(dialog, entry->request.direction)];
    caller->due -= entry->ambiguous && caller->due;
    caller->sure -= entry->ambiguous && !entry->answered && caller->sure;
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

// Whoever waits asked for what was lost when it had all replies to what it asked before: so what
// was sent when the callee had that is no older one.
static void take_due(BbDoubt *doubt, Side *caller, Side *callee, const BbPart *reply)
{
    bool has_lost = reply->has_ack && caller->said && reply->ack > caller->said_end;
    bool older = caller->due > caller->fresh && !(caller->fresh && has_lost);
    caller->due--;
    caller->fresh -= !older;
    caller->sure -= caller->sure > 0;
    doubt->replies += doubt->replies < 2;
    doubt->lag_ns = MAX(doubt->lag_ns, reply->first_ns - doubt->asked_ns);
    if (older || !caller->due)
        callee->known_seq = reply->end_seq;
    if (!caller->due) {
        callee->known = true;
        callee->matched_end = reply->end_seq;
    }
    // Who waits has its reply from somebody who has the request.
    if (reply->has_ack && caller->said && reply->ack < caller->said_end)
        doubt->turns = 0;
}

void bb_doubt_reply(BbDialog *dialog, const BbPart *reply)
{
    guint number = bb_dialog_side(dialog, reply->direction);
    BbDoubt *doubt = doubt_of(dialog);
    Side *caller = &doubt->side[!number];
    bb_doubt_seen(dialog, reply, false);
    if (dialog->forgotten)
        dialog->forgotten--;
    else if (caller->due && !dialog->keyed && !is_awaited(dialog, reply))
        take_due(doubt, caller, &doubt->side[number], reply);
}

void bb_doubt_answered(BbDialog *dialog, const BbOpenEntry *entry, const BbPart *reply)
{
    BbDoubt *doubt = doubt_of(dialog);
    bb_doubt_seen(dialog, reply, true);
    if (!bb_dialog_in_order(entry))
        return;
    doubt->slowest_ns = MAX(doubt->slowest_ns, reply->first_ns - entry->request.first_ns);
    note_size(dialog, bb_dialog_side(dialog, reply->direction), reply->bytes);
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
static guint32 most_lost(const Side *side, guint64 seq)
{
    guint64 bytes = side->said && seq > side->said_end ? seq - side->said_end : 0;
    return side->smallest ? (guint32)MIN(bytes / side->smallest, BB_DOUBT_MOST) : 0;
}

static void lose_requests(BbDialog *dialog, guint number, guint64 seq, bool hole)
{
    Side *caller = &dialog->doubt->side[number];
    const BbSide *callee = &dialog->side[!number];
    bool torn = is_torn(dialog, number);
    bool waits = dialog->doubt->alone == BB_DOUBT_HABIT;
    if ((torn && waits) || dialog->side[number].continues)
        return; // the rest of a request
    guint64 said_end = dialog->doubt->side[!number].said_end;
    guint32 most = dialog->doubt->rolls ? most_lost(caller, seq) : 0;
    guint32 more = most > caller->lost ? most - caller->lost : 0;
    if (hole || !caller->lost)
        more = MAX(more, 1);
    // One is still to be answered, unless it needs no answer or that was lost, too.
    bool answered = callee->had_gap && callee->gap_end > said_end;
    bool one_way = dialog->side[number].one_way;
    caller->missing |= hole && !torn && !answered && !one_way && !dialog->keyed;
    caller->lost += more;
    caller->fresh += more;
    add_due(caller, more);
}

static void lose_replies(BbDialog *dialog, guint number, guint64 seq, bool hole, guint32 given_up)
{
    Side *caller = &dialog->doubt->side[!number];
    Side *callee = &dialog->doubt->side[number];
    bool torn = dialog->side[number].torn;
    bool again = callee->cut;
    callee->cut |= hole;
    guint32 more = given_up + dialog->forgotten;
    dialog->forgotten = 0;
    add_due(caller, more);
    caller->sure += more;
    // One reply at least was lost, unless it may be more of one, or what nobody asked for.
    bool whole =
        hole && caller->due && !torn && !again && !dialog->side[number].one_way && !dialog->keyed;
    // One who waits may have lost a call behind them. What is no reply of its own tells nothing.
    if (dialog->doubt->together && (torn || more || whole || again || !hole))
        callee->known_seq = seq;
    if (!more && (!hole || torn))
        return;
    caller->due -= whole;
    // Of several it is taken to be one, but of who was seen to wait for all that it can be.
    bool all = caller->sure < 2 || (dialog->doubt->waves && most_lost(callee, seq) >= caller->sure);
    caller->sure = all ? 0 : caller->sure - 1;
    caller->missing = false;
}

void bb_doubt_lost(BbDialog *dialog, guint number, guint64 seq, bool hole, guint32 given_up)
{
    doubt_of(dialog)->gap = true;
    dialog->doubt->rests = 0;
    lose_replies(dialog, number, seq, hole, given_up);
    lose_requests(dialog, number, seq, hole);
    dialog->side[!number].continues = false; // its end may be among them
}
