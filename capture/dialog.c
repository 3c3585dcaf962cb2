// SPDX-License-Identifier: Apache-2.0
// In: what a decoder recognised (parts of messages, which are calls, which are replies). Out:
// messages with call ids. The pairing is by key or by order, checked by TCP's numbers.
#include "capture/dialog.h"

#include "capture/doubt.h"
#include "capture/hold.h"
#include "capture/unanswered.h"
#include "data/status.h"

#include <string.h>

// ---- messages ---------------------------------------------------------------------------------

static const char *conn_text(BbDialog *dialog)
{
    if (!dialog->conn)
        dialog->conn = bb_endpoints_conn(dialog->endpoints);
    return dialog->conn;
}

static guint32 node_of(BbDialog *dialog, guint side)
{
    if (!dialog->node[side])
        dialog->node[side] =
            bb_context_node(dialog->context, dialog->endpoints, side, side != dialog->client);
    return dialog->node[side];
}

void bb_dialog_end_nodes(BbDialog *dialog)
{
    for (guint side = 0; side < 2; side++) {
        bb_context_end_node(dialog->context, dialog->node[side]);
        dialog->node[side] = BB_NAME_NONE;
    }
}

static const char *protocol_name(const BbDialog *dialog)
{
    if (dialog->decoder == &bb_decoder_turns)
        return dialog->is_tcp ? "tcp" : "udp";
    return dialog->decoder->name;
}

static guint32 protocol_of(BbDialog *dialog)
{
    if (!dialog->proto)
        dialog->proto = bb_context_protocol(dialog->context, protocol_name(dialog));
    return dialog->proto;
}

// proto: BB_NAME_NONE for the dialog's.
static BbMessage message_of(BbDialog *dialog, BbKind kind, const BbPart *part, guint64 id,
                            guint32 op, guint32 status, guint32 proto)
{
    static const BbLossKind counter[] = {
        [BB_CALL] = BB_CALLS, [BB_RETURN] = BB_RETURNS, [BB_FREE] = BB_FREES};
    dialog->context->loss->count[counter[kind]]++;
    guint sender = bb_dialog_side(dialog, part->direction);
    dialog->side[sender].strayed = false;
    BbMessage message = bb_message_empty();
    message.kind = kind;
    message.time_ns = part->first_ns;
    message.end_ns = part->last_ns;
    message.bytes = part->bytes;
    if (part->place.file) {
        message.file = part->place.file;
        message.frame = part->place.frame;
    }
    message.sender = node_of(dialog, sender);
    message.receiver = node_of(dialog, !sender);
    message.op = op;
    message.status = status;
    message.proto = proto ? proto : protocol_of(dialog);
    message.conn = conn_text(dialog);
    if (dialog->is_tcp)
        message.offset = (guint32)part->seq; // as TCP shows it
    else if (part->has_print)
        message.offset = BB_OFFSET_PRINT + part->print;
    if (id)
        message.id = bb_id_number(id);
    return message;
}

static void emit(BbDialog *dialog, BbKind kind, const BbPart *part, guint64 id, guint32 op,
                 guint32 status, guint32 proto)
{
    BbMessage message = message_of(dialog, kind, part, id, op, status, proto);
    bb_context_emit(dialog->context, &message);
}

static void write_call(BbDialog *dialog, BbOpenEntry *entry)
{
    if (entry->sent)
        return;
    entry->sent = true;
    emit(dialog, BB_CALL, &entry->request, entry->id, entry->open.op, BB_NAME_NONE, entry->proto);
}

// ---- open calls -------------------------------------------------------------------------------

static void remove_entry(BbDialog *dialog, BbOpenEntry *entry)
{
    bb_context_end_call(dialog->context, entry->id);
    dialog->n_replies -= entry->reply != NULL;
    g_clear_pointer(&entry->reply, g_free);
    bb_unanswered_remove(dialog, entry);
}

static void write_return(BbDialog *dialog, const BbOpenEntry *entry, const BbPart *reply,
                         guint32 status)
{
    BbMessage message =
        message_of(dialog, BB_RETURN, reply, entry->id, entry->open.op, status, entry->proto);
    BbHold *hold = dialog->context->hold;
    guint caller = !bb_dialog_side(dialog, reply->direction);
    if (hold && bb_hold_takes(hold, caller, entry->request.last_ns, message.time_ns))
        bb_hold_add(hold, caller, &message);
    else
        bb_context_emit(dialog->context, &message);
}

static void give_up(BbDialog *dialog, BbOpenEntry *entry)
{
    write_call(dialog, entry);
    if (entry->reply)
        write_return(dialog, entry, entry->reply, BB_NAME_NONE);
    else
        dialog->context->loss->count[BB_CALLS_UNRETURNED]++;
    remove_entry(dialog, entry);
}

// Its reply may still come, and is not to be taken for another's.
static void forget_oldest(BbDialog *dialog)
{
    BbOpenEntry *oldest = bb_unanswered_first(dialog);
    dialog->context->loss->count[BB_PENDING_LIMIT]++;
    dialog->forgotten += bb_dialog_in_order(oldest) && !oldest->ambiguous;
    give_up(dialog, oldest);
}

// Whether its reply may have been among missing bytes that were reported already: the request was
// held back behind a gap of its own.
static bool answered_in_gap(BbDialog *dialog, const BbPart *request)
{
    BbSide *other = &dialog->side[!bb_dialog_side(dialog, request->direction)];
    if (!request->has_ack || !other->had_gap)
        return false;
    other->had_gap = other->gap_end > request->ack; // later requests acknowledge more
    return other->had_gap;
}

// Of a key that is free again only when its call is answered.
static void give_up_key(BbDialog *dialog, BbDirection direction, guint64 key)
{
    BbOpenEntry *next, *entry = bb_unanswered_first_of(dialog, direction, key);
    for (; entry; entry = next) {
        next = bb_unanswered_next_of(dialog, entry);
        give_up(dialog, entry);
    }
}

// Whether another call that is answered in order (of this key, if it has one) was open, for all the
// caller knew when it sent this request.
static bool waits_already(const BbDialog *dialog, const BbPart *request, guint64 key)
{
    const BbSide *callee = &dialog->side[!bb_dialog_side(dialog, request->direction)];
    if (key)
        return bb_unanswered_first_of(dialog, request->direction, key) != NULL;
    if (callee->answered && request->has_ack && callee->answered_seq > request->ack)
        return true;
    return dialog->n_in_order[request->direction] > 0;
}

// Whether there is no telling which reply will be that of a call that is answered in order.
// *answered: or whether it was missing.
static bool is_ambiguous(BbDialog *dialog, const BbPart *request, guint64 key, bool *answered)
{
    bool waits = waits_already(dialog, request, key);
    dialog->pipelined |= key && waits;
    bool doubted = bb_doubt_request(dialog, request, waits) && (!key || dialog->pipelined);
    *answered = answered_in_gap(dialog, request);
    if (doubted || *answered)
        bb_doubt_ambiguous(dialog, request, *answered);
    return doubted || *answered;
}

guint64 bb_dialog_open_by(BbDialog *dialog, const BbPart *request, guint32 op, guint64 key,
                          guint32 tag, BbKeyUse use)
{
    if (use == BB_KEY_REUSED)
        give_up_key(dialog, request->direction, key);
    bool in_order = key == 0 || use == BB_KEY_QUEUED;
    bool answered = false, ambiguous = in_order && is_ambiguous(dialog, request, key, &answered);
    dialog->keyed |= !in_order;
    bb_doubt_seen(dialog, request, true);
    guint64 id, call = bb_context_new_call(dialog->context, &id);
    if (bb_unanswered_count(dialog) == BB_DIALOG_OPEN_CALLS)
        forget_oldest(dialog);
    const BbOpenEntry entry = {
        .open = {call, key, tag, op, request->first_ns},
        .id = id,
        .request = *request,
        .use = (guint8)use,
        .ambiguous = ambiguous,
        .answered = answered,
    };
    bb_unanswered_add(dialog, &entry);
    return call;
}

guint64 bb_dialog_open(BbDialog *dialog, const BbPart *request, guint32 op, guint64 key,
                       guint32 tag)
{
    return bb_dialog_open_by(dialog, request, op, key, tag, BB_KEY_UNIQUE);
}

void bb_dialog_grown(BbDialog *dialog, guint64 call, const BbPart *request)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (entry && !entry->sent)
        entry->request = *request;
}

void bb_dialog_sent(BbDialog *dialog, guint64 call, const BbPart *request)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (!entry || entry->sent)
        return;
    entry->request = *request;
    write_call(dialog, entry);
    bb_doubt_sent(dialog, entry);
    if (entry->ambiguous)
        give_up(dialog, entry);
}

guint64 bb_dialog_call(BbDialog *dialog, const BbPart *request, guint32 op, guint64 key,
                       guint32 tag)
{
    guint64 call = bb_dialog_open(dialog, request, op, key, tag);
    bb_dialog_sent(dialog, call, request);
    return call;
}

// A reply can only answer a request that its sender had received (the packet acknowledges the
// request's first byte) and that was made before the caller had received the reply.
static bool can_answer(const BbPart *reply, const BbPart *request)
{
    if (!reply->is_tcp || !request->is_tcp)
        return true;
    if (reply->has_ack && reply->ack <= request->seq)
        return false;
    return !request->has_ack || reply->seq >= request->ack;
}

const BbOpenCall *bb_dialog_oldest(BbDialog *dialog, const BbPart *reply)
{
    if (dialog->forgotten)
        return NULL; // the reply to one of those
    BbOpenEntry *entry = bb_unanswered_first(dialog);
    for (; entry; entry = bb_unanswered_next(dialog, entry)) {
        if (entry->request.direction == reply->direction || entry->ambiguous)
            continue;
        if (!can_answer(reply, &entry->request))
            return NULL; // and no younger call can be answered by it
        return &entry->open;
    }
    return NULL;
}

const BbOpenCall *bb_dialog_oldest_at(BbDialog *dialog, const BbView *view, gsize at)
{
    BbPart first = {0};
    bb_part_add(&first, view, at, at + 1);
    return bb_dialog_oldest(dialog, &first);
}

bool bb_dialog_is_unasked(BbDialog *dialog, const BbPart *reply)
{
    const BbSide *caller = &dialog->side[!bb_dialog_side(dialog, reply->direction)];
    return dialog->is_tcp && dialog->from_start && !dialog->holed && !caller->buffered &&
           !dialog->forgotten && !bb_dialog_oldest(dialog, reply);
}

// The oldest of a key; tag: NULL if any will do.
static BbOpenEntry *find_key(BbDialog *dialog, const BbPart *reply, guint64 key, const guint32 *tag)
{
    BbDirection asked = bb_direction_other(reply->direction);
    BbOpenEntry *entry = bb_unanswered_first_of(dialog, asked, key);
    for (guint looked = 0; entry && looked < BB_DIALOG_TAGGED; looked++) {
        if (!entry->ambiguous && (!tag || entry->open.tag == *tag))
            return entry;
        entry = bb_unanswered_next_of(dialog, entry);
    }
    return NULL;
}

// Of keys that return: the reply may also be that of another call.
static bool may_be_answer(const BbDialog *dialog, const BbPart *reply, const BbOpenEntry *entry)
{
    if (entry->use == BB_KEY_UNIQUE)
        return true;
    bool forgotten = entry->use == BB_KEY_QUEUED && dialog->forgotten;
    return !forgotten && can_answer(reply, &entry->request);
}

const BbOpenCall *bb_dialog_find_tagged(BbDialog *dialog, const BbPart *reply, guint64 key,
                                        guint32 tag)
{
    const BbOpenEntry *found = find_key(dialog, reply, key, &tag);
    return found && may_be_answer(dialog, reply, found) ? &found->open : NULL;
}

const BbOpenCall *bb_dialog_find(BbDialog *dialog, const BbPart *reply, guint64 key)
{
    BbOpenEntry *found = find_key(dialog, reply, key, NULL);
    if (found && !may_be_answer(dialog, reply, found))
        return NULL;
    // A request that was adopted is the first of its dialog.
    BbOpenEntry *oldest = bb_unanswered_first(dialog);
    if (!found && oldest && oldest->adopted && oldest->request.direction != reply->direction &&
        can_answer(reply, &oldest->request))
        found = oldest;
    return found ? &found->open : NULL;
}

const BbOpenCall *bb_dialog_get(BbDialog *dialog, guint64 call)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    return entry ? &entry->open : NULL;
}

const BbOpenCall *bb_dialog_youngest(BbDialog *dialog)
{
    return dialog->n_open ? &dialog->open[dialog->n_open - 1].open : NULL;
}

guint bb_dialog_open_calls(const BbDialog *dialog)
{
    return bb_unanswered_count(dialog);
}

guint32 bb_dialog_awaited(const BbDialog *dialog, BbDirection asked)
{
    return dialog->n_in_order[asked] + dialog->forgotten +
           bb_doubt_due(dialog, bb_dialog_side(dialog, asked));
}

void bb_dialog_return(BbDialog *dialog, guint64 call, const BbPart *reply, guint32 status)
{
    BbSide *side = &dialog->side[bb_dialog_side(dialog, reply->direction)];
    BbOpenEntry *entry = call ? bb_unanswered_find(dialog, call) : NULL;
    if (!entry) {
        bb_doubt_reply(dialog, reply);
        dialog->context->loss->count[BB_RETURNS_ORPHANED]++;
        emit(dialog, BB_RETURN, reply, 0, BB_NAME_NONE, status, BB_NAME_NONE);
        return;
    }
    if (entry->reply) {
        bb_part_join(entry->reply, reply);
        reply = entry->reply;
    }
    side->answered = true;
    side->answered_seq = reply->end_seq;
    bb_doubt_answered(dialog, entry, reply);
    write_call(dialog, entry);
    write_return(dialog, entry, reply, status);
    remove_entry(dialog, entry);
}

void bb_dialog_answering(BbDialog *dialog, guint64 call, const BbPart *piece)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (!entry)
        return;
    if (!entry->reply) {
        entry->reply = g_new0(BbPart, 1);
        dialog->n_replies++;
    }
    bb_part_join(entry->reply, piece);
}

void bb_dialog_one_way(BbDialog *dialog, guint64 call, const BbPart *request)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (!entry)
        return;
    if (entry->sent) {
        give_up(dialog, entry);
        return;
    }
    guint32 op = entry->open.op;
    bb_doubt_unasked(dialog, entry);
    remove_entry(dialog, entry);
    bb_dialog_message(dialog, request, op, BB_NAME_NONE);
}

void bb_dialog_give_up(BbDialog *dialog, guint64 call)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (!entry)
        return;
    bb_doubt_unasked(dialog, entry);
    give_up(dialog, entry);
}

void bb_dialog_sent_again(BbDialog *dialog, guint64 call, const BbPart *part)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (entry)
        entry->open.seen_ns = part->first_ns;
    bb_dialog_repeated(dialog);
}

void bb_dialog_message(BbDialog *dialog, const BbPart *part, guint32 op, guint32 status)
{
    dialog->side[bb_dialog_side(dialog, part->direction)].one_way = true;
    bb_doubt_seen(dialog, part, true);
    emit(dialog, BB_FREE, part, 0, op, status, BB_NAME_NONE);
}

void bb_dialog_repeated(BbDialog *dialog)
{
    dialog->context->loss->count[BB_REPEATED]++;
}

// Its reply may be among missing bytes of the callee before seq.
static bool may_be_missing(const BbOpenEntry *entry, guint64 seq)
{
    return !entry->request.has_ack || seq > entry->request.ack;
}

// The reply may be missing. A key that may be used again is lost where the next call of its key may
// be missing, too, whichever of both is known first.
static bool is_lost_or_doubted(BbDialog *dialog, BbOpenEntry *entry)
{
    BbDirection asked = entry->request.direction;
    const BbSide *caller = &dialog->side[bb_dialog_side(dialog, asked)];
    if (bb_dialog_in_order(entry))
        return true;
    if (entry->use != BB_KEY_REUSED)
        return false;
    if (caller->had_gap && caller->gap_end > entry->request.seq)
        return true;
    entry->doubted = true;
    if (!dialog->doubted[asked] || dialog->doubted[asked] > entry->open.call)
        dialog->doubted[asked] = entry->open.call;
    return false;
}

// Bytes of the callee of those asked in that direction are missing before seq, and so are bytes of
// the caller of the others: of these, who is doubted is lost.
static bool is_lost_in_gap(BbDialog *dialog, BbOpenEntry *entry, BbDirection asked, guint64 seq)
{
    if (entry->request.direction != asked)
        return entry->doubted;
    return entry->open.call >= dialog->reckoned[asked] && may_be_missing(entry, seq) &&
           is_lost_or_doubted(dialog, entry);
}

// Those that may be missing are not looked at again, since many may be open, and holes many: only
// missing bytes of their caller make them lost now.
static void reckon(BbDialog *dialog, BbDirection asked, guint64 seq)
{
    BbOpenEntry *entry = bb_unanswered_from(dialog, dialog->reckoned[asked]);
    for (; entry; entry = bb_unanswered_next(dialog, entry)) {
        if (entry->request.direction == asked && !may_be_missing(entry, seq))
            return;
        dialog->reckoned[asked] = entry->open.call + 1;
    }
}

// Returns how many are given up of which a reply in order may still come.
static guint32 give_up_lost(BbDialog *dialog, guint side, guint64 seq)
{
    BbDirection asked = bb_dialog_direction(dialog, side), other = bb_direction_other(asked);
    guint64 from = dialog->reckoned[asked];
    guint32 given_up = 0;
    if (!dialog->n_in_order[0] && !dialog->n_in_order[1] && !dialog->n_reused)
        return 0; // keys that are used once tell whose what comes is
    if (dialog->doubted[other])
        from = MIN(from, dialog->doubted[other]);
    BbOpenEntry *next, *entry = bb_unanswered_from(dialog, from);
    for (; entry; entry = next) {
        next = bb_unanswered_next(dialog, entry);
        if (!is_lost_in_gap(dialog, entry, asked, seq))
            continue;
        given_up += bb_dialog_in_order(entry) && !entry->ambiguous;
        give_up(dialog, entry);
    }
    dialog->doubted[other] = 0;
    reckon(dialog, asked, seq);
    return given_up;
}

// Bytes of the other side before seq are missing (hole), or were passed over.
static void give_up_before(BbDialog *dialog, guint side, guint64 seq, bool hole)
{
    guint32 given_up = give_up_lost(dialog, side, seq);
    bb_doubt_lost(dialog, !side, seq, hole, given_up);
}

void bb_dialog_give_up_before(BbDialog *dialog, guint side, guint64 seq)
{
    give_up_before(dialog, side, seq, true);
}

static void tell_closed(BbDialog *dialog, BbOpenEntry *entry, guint side)
{
    const BbHold *hold = dialog->context->hold;
    const BbPart end = {.first_ns = hold->closed_ns[side],
                        .last_ns = hold->closed_ns[side],
                        .seq = hold->closed_at[side],
                        .direction = bb_dialog_direction(dialog, side)};
    guint32 status = bb_dialog_status(dialog, BB_STATUS_CLOSED, strlen(BB_STATUS_CLOSED));
    entry->closed = true;
    dialog->context->loss->count[BB_CALLS_CLOSED]++;
    emit(dialog, BB_FREE, &end, entry->id, entry->open.op, status, entry->proto);
}

// Whether its reply may have begun: the callee has sent something since it was made.
static bool may_be_answered(const BbDialog *dialog, const BbOpenEntry *entry)
{
    const BbPart *request = &entry->request;
    const BbSide *callee = &dialog->side[!bb_dialog_side(dialog, request->direction)];
    guint64 next = callee->seq + callee->buffered;
    return entry->reply || (bb_dialog_in_order(entry) && request->has_ack && next > request->ack);
}

// Whether the call ends as side closes: it waited no longer, or will not answer who waits.
static bool is_ended_by(const BbDialog *dialog, const BbOpenEntry *entry, guint side)
{
    const BbHold *hold = dialog->context->hold;
    guint caller = bb_dialog_side(dialog, entry->request.direction);
    if (!entry->sent || entry->closed || entry->ambiguous || may_be_answered(dialog, entry))
        return false;
    if (side == caller)
        return bb_hold_has_waited(hold, side, entry->request.last_ns);
    return hold->closed_ns[side] != BB_TIME_NONE && hold->closed_ns[caller] == BB_TIME_NONE;
}

void bb_dialog_tell_closed(BbDialog *dialog, guint side)
{
    bool knows = dialog->context->hold && dialog->is_tcp;
    BbOpenEntry *entry = knows ? bb_unanswered_first(dialog) : NULL;
    for (; entry; entry = bb_unanswered_next(dialog, entry))
        if (is_ended_by(dialog, entry, side))
            tell_closed(dialog, entry, side);
}

void bb_dialog_give_up_all(BbDialog *dialog)
{
    while (dialog->n_open)
        give_up(dialog, dialog->open);
}

void bb_dialog_forget_calls(BbDialog *dialog)
{
    while (dialog->n_open)
        forget_oldest(dialog);
    bb_unanswered_free(dialog);
}

// ---- services ---------------------------------------------------------------------------------

guint32 bb_dialog_label(BbDialog *dialog, const char *text, gsize length)
{
    return bb_context_label(dialog->context, text, length);
}

guint32 bb_dialog_status(BbDialog *dialog, const char *text, gsize length)
{
    return bb_context_label(dialog->context, text, length);
}

guint32 bb_dialog_status_code(BbDialog *dialog, guint code)
{
    char text[] = {(char)('0' + code / 100 % 10), (char)('0' + code / 10 % 10),
                   (char)('0' + code % 10)};
    return bb_dialog_status(dialog, text, sizeof text);
}

const struct BbFraming *bb_dialog_framing(const BbDialog *dialog)
{
    return dialog->decoder->framing;
}

void bb_dialog_switch(BbDialog *dialog)
{
    dialog->switching = true;
}

void bb_dialog_switch_to(BbDialog *dialog, const BbDecoder *decoder)
{
    dialog->switching = true;
    dialog->next = decoder;
}

void bb_dialog_call_protocol(BbDialog *dialog, guint64 call, const char *name)
{
    BbOpenEntry *entry = bb_unanswered_find(dialog, call);
    if (entry && !entry->sent)
        entry->proto = bb_context_protocol(dialog->context, name);
}

void bb_dialog_count(BbDialog *dialog, BbLossKind kind)
{
    dialog->context->loss->count[kind]++;
}

guint16 bb_dialog_server_port(const BbDialog *dialog)
{
    return dialog->endpoints->port[!dialog->client];
}

struct BbTlsKeylog *bb_dialog_keylog(const BbDialog *dialog)
{
    return dialog->context->keylog;
}

void bb_dialog_adopt(BbDialog *dialog)
{
    for (guint32 i = 0; i < dialog->n_open; i++)
        dialog->open[i].adopted = true;
}

static void pass_over_until(BbDialog *dialog, guint number, guint64 seq)
{
    BbSide *side = &dialog->side[number];
    dialog->holed = side->headless = side->had_gap = true;
    side->gap_end = seq;
    give_up_before(dialog, !number, seq, false);
}

void bb_dialog_unread(BbDialog *dialog, BbDirection direction, gsize count)
{
    dialog->side[bb_dialog_side(dialog, direction)].strayed |= count > 0;
    dialog->context->loss->count[BB_DECODER_UNREAD] += count;
}

void bb_dialog_pass_over(BbDialog *dialog, const BbView *view, gsize from, gsize to)
{
    if (to == 0 || view->datagram)
        return;
    bb_dialog_unread(dialog, view->direction, to - from);
    pass_over_until(dialog, bb_dialog_side(dialog, view->direction), view->seq + to);
}

void bb_dialog_passed_rest(BbDialog *dialog, const BbPart *part, bool ends)
{
    dialog->context->loss->count[BB_REPLIES_PASSED]++;
    bb_doubt_seen(dialog, part, true);
    if (ends)
        return;
    guint number = bb_dialog_side(dialog, part->direction);
    dialog->side[number].torn = true;
    pass_over_until(dialog, number, part->end_seq);
}

void bb_dialog_continues(BbDialog *dialog, BbDirection direction, bool continues)
{
    dialog->side[bb_dialog_side(dialog, direction)].continues = continues;
}

void bb_dialog_resynced(BbDialog *dialog)
{
    dialog->context->loss->count[BB_DECODER_LOST]++;
}

void bb_dialog_learn_name(BbDialog *dialog, const BbAddress *address, const char *name)
{
    bb_context_learn(dialog->context, address, name);
}
