// SPDX-License-Identifier: Apache-2.0
// In: records of application data that cannot be read. Out: calls and returns by turns, and free
// messages.
#include "capture/protocols/tls_turns.h"

#include "capture/protocols/tls_record.h"

#define MS (G_GINT64_CONSTANT(1000000))
#define BURST_NS (100 * MS)   // after so much silence, free bytes are another message
#define ANSWER_NS (1000 * MS) // and so are those after the end of an answer

// RFC 8446, 4.6.1: servers send one to four tickets (OpenSSL two), all of the same size.
#define TICKETS_MAX 4u
#define TICKET_MIN 64u
#define TICKET_MAX 2048u

static bool is_dialogue(const BbTlsTurns *turns)
{
    return turns->spoke[BB_TO_SERVER] && turns->spoke[BB_TO_CLIENT];
}

// ---- turns ------------------------------------------------------------------------------------

static void end_turn(BbDialog *dialog, BbTlsTurns *turns, bool answered)
{
    BbPart *part = &turns->part;
    if (!part->begun)
        return;
    bool server = part->direction == BB_TO_CLIENT;
    bool free =
        server ? turns->pushing : !answered && (!is_dialogue(turns) || turns->left[BB_TO_SERVER]);
    if (free)
        bb_dialog_message(dialog, part, BB_NAME_NONE, BB_NAME_NONE);
    else if (server)
        bb_dialog_return(dialog, turns->call, part, bb_dialog_status(dialog, "ok", 2));
    else
        bb_dialog_call(dialog, part, BB_NAME_NONE, 0, 0);
    turns->call = 0;
    bb_part_reset(part);
}

static void begin_turn(BbDialog *dialog, BbTlsTurns *turns, const BbPart *record, bool answer)
{
    turns->part = *record;
    turns->pushing = record->direction == BB_TO_CLIENT && !answer;
    if (record->direction == BB_TO_SERVER || turns->pushing)
        return;
    const BbOpenCall *open = bb_dialog_oldest(dialog, record);
    turns->call = open ? open->call : 0;
}

// Whether record goes on with a turn of its own direction that was silent for long.
static bool is_new_burst(const BbTlsTurns *turns, const BbPart *record)
{
    const BbPart *part = &turns->part;
    gint64 silence = record->first_ns - part->last_ns;
    if (!part->begun)
        return false;
    if (part->direction == BB_TO_CLIENT)
        return silence >= (turns->pushing ? BURST_NS : ANSWER_NS);
    return !is_dialogue(turns) && silence >= BURST_NS;
}

static void take(BbDialog *dialog, BbTlsTurns *turns, const BbPart *record)
{
    bool changed = turns->speaking && turns->direction != record->direction;
    if (changed || is_new_burst(turns, record))
        end_turn(dialog, turns, changed);
    if (changed)
        turns->broken = false;
    turns->speaking = true;
    turns->direction = record->direction;
    turns->spoke[record->direction] = true;
    if (turns->part.begun)
        bb_part_join(&turns->part, record);
    else if (!turns->broken)
        begin_turn(dialog, turns, record, changed);
}

// ---- what is no application data --------------------------------------------------------------

static void end_tickets(BbDialog *dialog, BbTlsTurns *turns, const BbPart *answer)
{
    BbPart taken = *answer;
    bb_part_reset(&turns->tickets);
    turns->expects_tickets = false;
    if (taken.begun)
        take(dialog, turns, &taken);
}

static void take_tickets(BbDialog *dialog, BbTlsTurns *turns)
{
    end_tickets(dialog, turns, &turns->tickets);
}

static bool is_apart(const BbPart *record, const BbPart *before)
{
    return record->first_ns > before->last_ns; // a packet of its own
}

static void add_ticket(BbTlsTurns *turns, const BbPart *record, guint16 length)
{
    if (is_apart(record, &turns->newest))
        bb_part_reset(&turns->newest);
    bb_part_join(&turns->newest, record);
    bb_part_join(&turns->tickets, record);
    turns->ticket_length = length;
    turns->n_tickets++;
}

// Whether the record is kept back as a ticket. What they turn out to be otherwise is taken: the
// answer itself, or its beginning.
static bool is_ticket(BbDialog *dialog, BbTlsTurns *turns, const BbPart *record, guint16 length)
{
    if (!turns->expects_tickets)
        return false;
    if (record->direction == BB_TO_SERVER) {
        if (turns->tickets.begun && turns->spoke[BB_TO_SERVER])
            take_tickets(dialog, turns); // all the answer there was
        bb_part_reset(&turns->tickets);  // others may follow
        return false;
    }
    bool alike = turns->n_tickets == 0 ? length >= TICKET_MIN && length <= TICKET_MAX
                                       : length == turns->ticket_length;
    if (alike && turns->n_tickets < TICKETS_MAX) {
        add_ticket(turns, record, length);
        return true;
    }
    if (turns->n_tickets == TICKETS_MAX)
        take_tickets(dialog, turns);
    else if (turns->tickets.begun && !is_apart(record, &turns->newest))
        end_tickets(dialog, turns, &turns->newest); // the answer came with these
    bb_part_reset(&turns->tickets);
    turns->expects_tickets = false;
    return false;
}

static void take_held(BbDialog *dialog, BbTlsTurns *turns, BbDirection direction)
{
    BbPart held = turns->held[direction];
    bb_part_reset(&turns->held[direction]);
    if (held.begun)
        take(dialog, turns, &held);
}

void bb_tls_turns_add(BbDialog *dialog, BbTlsTurns *turns, const BbPart *record, guint16 length)
{
    BbDirection direction = record->direction;
    turns->left[direction] = false;
    if (is_ticket(dialog, turns, record, length))
        return;
    if (length == turns->alert_length && !turns->held[direction].begun) {
        turns->held[direction] = *record;
        return;
    }
    if (turns->left[bb_direction_other(direction)]) // nothing follows it
        bb_part_reset(&turns->held[bb_direction_other(direction)]);
    take_held(dialog, turns, bb_direction_other(direction));
    take_held(dialog, turns, direction);
    take(dialog, turns, record);
}

void bb_tls_turns_forget(BbTlsTurns *turns, BbDirection direction)
{
    if (turns->part.begun && turns->part.direction == direction) {
        bb_part_reset(&turns->part);
        turns->spoke[direction] = turns->speaking = false;
    }
}

void bb_tls_turns_leave(BbTlsTurns *turns, BbDirection direction)
{
    turns->left[direction] = true;
}

// ---- ends -------------------------------------------------------------------------------------

void bb_tls_turns_gap(BbDialog *dialog, BbTlsTurns *turns, BbDirection direction)
{
    take_tickets(dialog, turns);
    take_held(dialog, turns, BB_TO_SERVER);
    take_held(dialog, turns, BB_TO_CLIENT);
    turns->spoke[direction] = true;
    turns->broken = turns->speaking && turns->direction == direction;
    end_turn(dialog, turns, true);
}

void bb_tls_turns_finish(BbDialog *dialog, BbTlsTurns *turns)
{
    if (turns->tickets.begun && turns->spoke[BB_TO_SERVER])
        take_tickets(dialog, turns);
    for (guint direction = 0; direction < 2; direction++)
        turns->left[direction] |= turns->held[direction].begun;
    end_turn(dialog, turns, false);
}
