// SPDX-License-Identifier: Apache-2.0
// In: bytes of no known protocol. Out: calls by turn-taking: what the client says until the server
// answers is a call, what the server says then is its return. Where nobody answers, each burst is a
// free message; what a server says unasked (a greeting) is one too. Of datagrams the answer may be
// lost: another one of the client's, some time later, is another call, the same is a retry.
#include "capture/decoder.h"
#include "data/crc32c.h"

// Bytes of one side after so much silence are a new burst, where the other side never spoke.
#define BURST_NS (100 * G_GINT64_CONSTANT(1000000))

// Who asks something else after so long does not wait for an answer to what it asked before.
#define PATIENCE_NS (1000 * G_GINT64_CONSTANT(1000000))

typedef struct Turns {
    BbPart part;           // the turn under way
    guint32 print;         // datagrams: of the first one of part
    guint64 call;          // open call that the server's turn answers; 0: none
    BbDirection direction; // of the newest bytes
    bool speaking;         // direction is valid
    bool broken;           // bytes were missing in this turn: what follows of it is dropped
    bool spoke[2];
} Turns;

static BbMatch probe(const guint8 *data, gsize length)
{
    return BB_MATCH_NO; // the last resort is not probed
}

static bool is_dialogue(const Turns *turns)
{
    return turns->spoke[BB_TO_SERVER] && turns->spoke[BB_TO_CLIENT];
}

static void end_turn(BbDialog *dialog, Turns *turns, bool answered)
{
    if (!turns->part.begun)
        return;
    if (turns->part.direction == BB_TO_CLIENT) {
        if (turns->call || is_dialogue(turns))
            bb_dialog_return(dialog, turns->call, &turns->part, bb_dialog_status(dialog, "ok", 2));
        else
            bb_dialog_message(dialog, &turns->part, BB_NAME_NONE, BB_NAME_NONE);
    } else if (answered || is_dialogue(turns)) {
        bb_dialog_call(dialog, &turns->part, BB_NAME_NONE, 0, 0);
    } else {
        bb_dialog_message(dialog, &turns->part, BB_NAME_NONE, BB_NAME_NONE);
    }
    turns->call = 0;
    bb_part_reset(&turns->part);
}

// The client has asked, was not answered as far as was seen, and asks something else.
static bool is_abandoned(const Turns *turns, const BbView *view)
{
    return turns->part.begun && view->datagram && view->direction == BB_TO_SERVER &&
           turns->direction == BB_TO_SERVER && is_dialogue(turns) &&
           view->marks[0].time_ns - turns->part.last_ns > PATIENCE_NS &&
           bb_crc32c(0, view->data, view->length) != turns->print;
}

static void abandon_turn(BbDialog *dialog, Turns *turns)
{
    guint64 call = bb_dialog_call(dialog, &turns->part, BB_NAME_NONE, 0, 0);
    bb_dialog_give_up(dialog, call);
    bb_part_reset(&turns->part);
}

static void begin_turn(BbDialog *dialog, Turns *turns, const BbView *view)
{
    bb_part_add(&turns->part, view, 0, view->length);
    if (view->datagram && view->direction == BB_TO_SERVER)
        turns->print = bb_crc32c(0, view->data, view->length);
    if (view->direction == BB_TO_CLIENT) {
        const BbOpenCall *open = bb_dialog_oldest(dialog, &turns->part);
        turns->call = open ? open->call : 0;
    }
}

static bool is_new_burst(const Turns *turns, const BbView *view)
{
    return turns->part.begun && !is_dialogue(turns) &&
           (view->datagram || view->marks[0].time_ns - turns->part.last_ns >= BURST_NS);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Turns *turns = state;
    if (!view->length)
        return 0;
    bool changed = turns->speaking && turns->direction != view->direction;
    if (is_abandoned(turns, view))
        abandon_turn(dialog, turns);
    if (changed || is_new_burst(turns, view))
        end_turn(dialog, turns, changed);
    if (changed)
        turns->broken = false;
    turns->speaking = true;
    turns->direction = view->direction;
    turns->spoke[view->direction] = true;
    if (turns->part.begun)
        bb_part_add(&turns->part, view, 0, view->length);
    else if (!turns->broken)
        begin_turn(dialog, turns, view);
    return (gssize)view->length;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Turns *turns = state;
    turns->spoke[direction] = true;
    turns->broken = turns->speaking && turns->direction == direction;
    end_turn(dialog, turns, true);
}

static void finish(BbDialog *dialog, void *state)
{
    end_turn(dialog, state, false);
}

void bb_turns_end_request(BbDialog *dialog, void *state)
{
    end_turn(dialog, state, true);
}

void bb_turns_keep(BbDialog *dialog, void *state)
{
    if (is_dialogue(state))
        end_turn(dialog, state, true);
}

const BbDecoder bb_decoder_turns = {
    .name = "turns", // in the trace: tcp or udp
    .about = "unknown protocols: whoever answers ends the call",
    .tcp = true,
    .takes_turns = true,
    .udp = true,
    .state_size = sizeof(Turns),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
