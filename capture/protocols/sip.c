// SPDX-License-Identifier: Apache-2.0
// In: SIP (RFC 3261) over UDP and TCP. Out: a call for each transaction (Call-ID, CSeq, branch),
// ended by its final response; retransmissions are the same call, ACK is free, provisional
// responses are no messages. Either side may ask.
#include "capture/protocols/label.h"
#include "capture/protocols/lost.h"
#include "capture/protocols/sip_message.h"

#include <string.h>

// Transactions that are over: what is sent of them again is known. Beyond the most of them the
// oldest is forgotten.
#define OVER_FEW 32u // room for these at first
#define OVER_MOST 1024u
#define CODE_FINAL 200u

typedef struct Side {
    BbPart part;
    guint64 transaction; // of the message under way
    guint32 op;          // request
    guint code;          // response
    gsize scanned;       // bytes of a head that were searched for its end
    bool one_way;
    bool passing; // its body is being skipped
    bool lost;    // does not know where the next message begins
    bool known;   // a message was read
} Side;

typedef struct Sip {
    Side side[2];
    guint32 *over;  // of the keys that are over, half their bits
    guint64 n_over; // ever
    guint32 over_room;
} Sip;

// ---- transactions that are over -----------------------------------------------------------------

static guint32 half_key(guint64 key)
{
    return (guint32)(key ^ key >> 32);
}

static bool is_over(const Sip *sip, guint64 key)
{
    guint64 kept = MIN(sip->n_over, sip->over_room);
    for (guint64 i = 0; i < kept; i++)
        if (sip->over[i] == half_key(key))
            return true;
    return false;
}

static void set_over(Sip *sip, guint64 key)
{
    if (sip->n_over == sip->over_room && sip->over_room < OVER_MOST) {
        sip->over_room = MAX(OVER_FEW, sip->over_room * 2);
        sip->over = g_renew(guint32, sip->over, sip->over_room);
    }
    sip->over[sip->n_over++ % sip->over_room] = half_key(key);
}

static void forget_over(Sip *sip)
{
    g_clear_pointer(&sip->over, g_free);
    sip->n_over = sip->over_room = 0;
}

// ---- what a message means -----------------------------------------------------------------------

static void take_request(BbDialog *dialog, Sip *sip, const Side *side)
{
    guint64 key = side->transaction;
    // As a reply to it would find the open request that this one repeats.
    BbPart reply = side->part;
    reply.direction = bb_direction_other(reply.direction);
    if (key && (is_over(sip, key) || bb_dialog_find(dialog, &reply, key)))
        bb_dialog_repeated(dialog);
    else
        bb_dialog_call(dialog, &side->part, side->op, MAX(key, 1), 0);
}

static void take_response(BbDialog *dialog, Sip *sip, const Side *side)
{
    guint code = side->code;
    guint64 key = side->transaction;
    if (code < CODE_FINAL)
        return;
    const BbOpenCall *open = key ? bb_dialog_find(dialog, &side->part, key) : NULL;
    if (!open && key && is_over(sip, key)) {
        bb_dialog_repeated(dialog);
        return;
    }
    if (key)
        set_over(sip, key);
    bb_dialog_return(dialog, open ? open->call : 0, &side->part,
                     bb_dialog_status_code(dialog, code));
}

static void end_message(BbDialog *dialog, Sip *sip, Side *side)
{
    if (side->code)
        take_response(dialog, sip, side);
    else if (side->one_way)
        bb_dialog_message(dialog, &side->part, side->op, BB_NAME_NONE);
    else
        take_request(dialog, sip, side);
    bb_part_reset(&side->part);
    side->passing = false;
}

static void read_head(BbDialog *dialog, Side *side, const BbSipMessage *message)
{
    char label[BB_LABEL_MAX + 1];
    side->transaction = message->transaction;
    side->code = message->code;
    side->known = true;
    if (message->code)
        return;
    gsize length = bb_label_word(label, message->method, message->method_length);
    side->op = bb_dialog_label(dialog, label, length);
    side->one_way = strcmp(label, "ACK") == 0;
}

// ---- datagrams ----------------------------------------------------------------------------------

// Keep-alives and, once it is known to be SIP, what else is said between the same ports is passed
// over.
static gssize parse_datagram(BbDialog *dialog, Sip *sip, const BbView *view)
{
    Side *side = &sip->side[view->direction];
    BbSipMessage message;
    BbMatch match = bb_sip_match(view->data, view->length);
    if (match != BB_MATCH_REQUEST && match != BB_MATCH_REPLY) {
        bool pass = sip->side[0].known || sip->side[1].known ||
                    bb_sip_is_keep_alive(view->data, view->length);
        return pass ? (gssize)view->length : BB_PARSE_BAD;
    }
    gsize head = bb_sip_head(view->data, view->length, 0);
    bb_sip_message(&message, view->data, head ? head : view->length);
    bb_part_add(&side->part, view, 0, view->length);
    read_head(dialog, side, &message);
    end_message(dialog, sip, side);
    return (gssize)view->length;
}

// ---- TCP ----------------------------------------------------------------------------------------

static gssize lose_place(BbDialog *dialog, const Sip *sip, Side *side, const BbView *view)
{
    if (!sip->side[0].known && !sip->side[1].known)
        return BB_PARSE_BAD;
    side->scanned = 0;
    return bb_lost_here(&side->lost, dialog, view);
}

static gssize take_message(BbDialog *dialog, Sip *sip, const BbView *view, gsize head)
{
    Side *side = &sip->side[view->direction];
    BbSipMessage message;
    bb_sip_message(&message, view->data, head);
    guint64 whole = head + message.length; // RFC 3261, 20.14: over TCP it must be there
    gsize have = (gsize)MIN(whole, view->length);
    bb_part_add(&side->part, view, 0, have);
    read_head(dialog, side, &message);
    side->scanned = 0;
    if (have == whole) {
        end_message(dialog, sip, side);
    } else {
        side->passing = true;
        bb_dialog_skip(dialog, view->direction, whole - have, &side->part);
    }
    return (gssize)have;
}

static gssize parse_stream(BbDialog *dialog, Sip *sip, const BbView *view)
{
    Side *side = &sip->side[view->direction];
    if (side->passing)
        end_message(dialog, sip, side);
    if (side->lost) {
        gssize passed = bb_lost_find(&side->lost, dialog, view, bb_sip_match, BB_MATCH_REQUEST);
        if (passed > 0 || side->lost)
            return passed;
    }
    gsize blank = 0;
    while (blank < view->length && (view->data[blank] == '\r' || view->data[blank] == '\n'))
        blank++; // keep-alive
    if (blank || !view->length)
        return (gssize)blank;
    gsize head = bb_sip_head(view->data, view->length, side->scanned);
    if (!head && !view->closed && side->scanned >= BB_SIP_LINE_MAX) {
        side->scanned = view->length;
        return 0;
    }
    BbMatch match = bb_sip_match(view->data, view->length);
    if (match == BB_MATCH_NO || (match == BB_MATCH_MORE && (head || view->closed)))
        return lose_place(dialog, sip, side, view);
    if (!head && !view->closed) {
        side->scanned = view->length;
        return 0;
    }
    return take_message(dialog, sip, view, head ? head : view->length);
}

// ---- the decoder --------------------------------------------------------------------------------

// A keep-alive may come first, or for hours nothing else.
static BbMatch probe(const guint8 *data, gsize length)
{
    if (bb_sip_is_keep_alive(data, length))
        return BB_MATCH_MAYBE;
    gsize blank = 0;
    while (blank < length && (data[blank] == '\r' || data[blank] == '\n'))
        blank++;
    return bb_sip_match(data + blank, length - blank);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    return view->datagram ? parse_datagram(dialog, state, view) : parse_stream(dialog, state, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Sip *sip = state;
    Side *side = &sip->side[direction];
    if (side->passing)
        end_message(dialog, sip, side);
    side->lost = true;
    side->scanned = 0;
}

static void finish(BbDialog *dialog, void *state)
{
    Sip *sip = state;
    for (guint direction = 0; direction < 2; direction++)
        if (sip->side[direction].passing)
            end_message(dialog, sip, &sip->side[direction]);
    forget_over(sip);
}

static gsize held(const void *state)
{
    return ((const Sip *)state)->over_room * sizeof(guint32);
}

// What is sent again of them are new transactions from now on.
static void let_go(BbDialog *dialog, void *state)
{
    forget_over(state);
}

const BbDecoder bb_decoder_sip = {
    .name = "sip",
    .about = "SIP (RFC 3261) over UDP and TCP: by Call-ID, CSeq and branch",
    .tcp = true,
    .udp = true,
    .ports = {5060},
    .state_size = sizeof(Sip),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
