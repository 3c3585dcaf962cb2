// SPDX-License-Identifier: Apache-2.0
// In: WebSocket (RFC 6455) after the upgrade of HTTP. Out: a free message for each message,
// whatever number of frames it has; ping and pong, by their data, as a call.
//
// Payloads are skipped, but for those of pings and pongs (at most 125 bytes), of which a hash is
// kept. Gaps: as in http2.c; after a gap beyond the end of a frame one is looked for at the start
// of each packet. A long one is not waited for: it is taken for one, and forgotten if what stands
// behind it cannot be the next, or is missing.
#include "capture/cursor.h"
#include "capture/decoder.h"

#define CONTROL_MAX 125u
#define PINGS 8u             // of each side that a pong is compared with
#define SEARCH_MAX 16384u    // longer frames are not waited for to find the place
#define GUESS_MAX (1u << 24) // and of longer ones than these nothing is found
#define FIRST_OPCODE_CONTROL 8u

typedef enum {
    OP_CONTINUATION = 0,
    OP_TEXT = 1,
    OP_BINARY = 2,
    OP_CLOSE = 8,
    OP_PING = 9,
    OP_PONG = 10,
} Opcode;

typedef struct Frame {
    guint64 length; // of the payload
    guint8 head;    // bytes of the head
    guint8 opcode;
    bool final, masked;
    guint8 mask[4];
} Frame;

typedef enum { PHASE_HEAD, PHASE_PAYLOAD, PHASE_LOST, PHASE_BEHIND_GUESS } Phase;

typedef struct Side {
    BbPart message;  // under way
    BbPart tail;     // frames of a message whose start is missing
    guint32 op;      // of the message
    guint64 end_seq; // PHASE_PAYLOAD: position behind what is skipped
    guint64 pings[PINGS];
    guint n_pings;
    guint8 phase;
    bool final; // the frame under way ends the message
    bool known; // a frame was read
    bool gapped;
    bool guessed; // perhaps the frame under way is none
} Side;

typedef struct WebSocket {
    Side side[2];
} WebSocket;

typedef struct Reader {
    BbDialog *dialog;
    WebSocket *socket;
    Side *side;
    const BbView *view;
    gsize at;
} Reader;

typedef enum { STEP_ON, STEP_WAIT, STEP_BAD } Step;

// ---- frames (section 5.2) -----------------------------------------------------------------------

typedef enum { FRAME_GOOD, FRAME_SHORT, FRAME_BAD } Verdict;

static bool is_opcode(guint8 opcode)
{
    return opcode <= OP_BINARY || (opcode >= OP_CLOSE && opcode <= OP_PONG);
}

// Lengths have the fewest bytes that hold them.
static bool read_length(BbCursor *c, Frame *frame, guint8 code)
{
    frame->length = code;
    if (code == 126)
        frame->length = bb_cursor_be16(c);
    else if (code == 127)
        frame->length = bb_cursor_be64(c);
    if (!bb_cursor_ok(c))
        return true;
    return code < 126 || (code == 126 && frame->length >= 126) ||
           (frame->length > G_MAXUINT16 && frame->length <= G_MAXINT64);
}

// Frames of clients are masked, those of servers are not (5.1). An extension may use the first
// reserved bit (RFC 7692).
static Verdict read_frame(Frame *frame, const guint8 *data, gsize length, BbDirection direction)
{
    BbCursor c = bb_cursor(data, length);
    guint8 first = bb_cursor_u8(&c), second = bb_cursor_u8(&c);
    *frame = (Frame){.opcode = first & 0x0f, .final = first & 0x80, .masked = second & 0x80};
    if (!bb_cursor_ok(&c))
        return FRAME_SHORT;
    bool control = frame->opcode >= FIRST_OPCODE_CONTROL;
    guint8 code = second & 0x7f;
    if (first & 0x30 || !is_opcode(frame->opcode) ||
        (control && (!frame->final || code > CONTROL_MAX)) ||
        frame->masked != (direction == BB_TO_SERVER) || !read_length(&c, frame, code))
        return FRAME_BAD;
    const guint8 *mask = frame->masked ? bb_cursor_take(&c, sizeof frame->mask) : NULL;
    if (!bb_cursor_ok(&c))
        return FRAME_SHORT;
    if (mask)
        memcpy(frame->mask, mask, sizeof frame->mask);
    frame->head = (guint8)(length - c.left);
    return FRAME_GOOD;
}

// ---- ping and pong (sections 5.5.2, 5.5.3) ------------------------------------------------------

static guint32 hash_of(const Frame *frame, const guint8 *payload)
{
    guint32 hash = 0x811c9dc5u;
    for (gsize i = 0; i < frame->length; i++)
        hash = (hash ^ (payload[i] ^ frame->mask[i % sizeof frame->mask])) * 0x01000193u;
    return hash;
}

static guint32 name_of(BbDialog *dialog, const char *name)
{
    return bb_dialog_label(dialog, name, strlen(name));
}

static void take_ping(Reader *r, const BbPart *part, guint32 hash)
{
    Side *side = r->side;
    side->pings[side->n_pings++ % PINGS] =
        bb_dialog_call(r->dialog, part, name_of(r->dialog, "ping"), 0, hash);
}

// A pong may leave out older pings, and nobody need have asked for it.
static void take_pong(Reader *r, const BbPart *part, guint32 hash)
{
    const Side *asker = &r->socket->side[bb_direction_other(r->view->direction)];
    guint kept = MIN(asker->n_pings, PINGS);
    for (guint i = 0; i < kept; i++) {
        guint64 call = asker->pings[(asker->n_pings - kept + i) % PINGS];
        const BbOpenCall *open = bb_dialog_get(r->dialog, call);
        if (open && open->tag == hash) {
            bb_dialog_return(r->dialog, call, part, bb_dialog_status(r->dialog, "ok", 2));
            return;
        }
    }
    bb_dialog_message(r->dialog, part, name_of(r->dialog, "pong"), BB_NAME_NONE);
}

static Step take_control(Reader *r, const Frame *frame)
{
    BbPart part = {0};
    gsize size = frame->head + (gsize)frame->length;
    const guint8 *payload = r->view->data + r->at + frame->head;
    if (r->view->length - r->at < size)
        return STEP_WAIT;
    bb_part_add(&part, r->view, r->at, r->at + size);
    r->at += size;
    r->side->known = true;
    if (frame->opcode == OP_CLOSE)
        bb_dialog_message(r->dialog, &part, name_of(r->dialog, "close"), BB_NAME_NONE);
    else if (frame->opcode == OP_PING)
        take_ping(r, &part, hash_of(frame, payload));
    else
        take_pong(r, &part, hash_of(frame, payload));
    return STEP_ON;
}

// ---- messages (section 5.4) ---------------------------------------------------------------------

static void end_message(BbDialog *dialog, Side *side)
{
    if (side->message.begun)
        bb_dialog_message(dialog, &side->message, side->op, BB_NAME_NONE);
    bb_part_reset(&side->message);
    bb_part_reset(&side->tail);
}

// What was under way is no message, as far as can be told.
static void drop_guess(BbDialog *dialog, BbDirection direction, Side *side)
{
    if (!side->guessed)
        return;
    bb_dialog_unread(dialog, direction, (gsize)(side->message.bytes + side->tail.bytes));
    bb_part_reset(&side->message);
    bb_part_reset(&side->tail);
    side->guessed = false;
}

static BbPart *part_of(Side *side)
{
    return side->message.begun ? &side->message : &side->tail;
}

static Step begin_data(Reader *r, const Frame *frame)
{
    Side *side = r->side;
    gsize end = r->at + frame->head;
    if (frame->opcode != OP_CONTINUATION) {
        end_message(r->dialog, side); // one that lost its end
        side->op = name_of(r->dialog, frame->opcode == OP_TEXT ? "text" : "binary");
        bb_part_add(&side->message, r->view, r->at, end);
    } else {
        bb_part_add(part_of(side), r->view, r->at, end);
    }
    r->at = end;
    side->known = true;
    side->final = frame->final;
    side->phase = PHASE_PAYLOAD;
    side->end_seq = r->view->seq + end + frame->length;
    return STEP_ON;
}

static Step read_payload(Reader *r)
{
    Side *side = r->side;
    gint64 rest = (gint64)(side->end_seq - (r->view->seq + r->at));
    if (rest < 0) { // a gap went beyond its end
        side->phase = PHASE_LOST;
        drop_guess(r->dialog, r->view->direction, side);
        end_message(r->dialog, side);
        return STEP_ON;
    }
    gsize count = MIN((gsize)rest, r->view->length - r->at);
    bb_part_add(part_of(side), r->view, r->at, r->at + count);
    r->at += count;
    if (count < (gsize)rest) {
        bb_dialog_skip(r->dialog, r->view->direction, (gsize)rest - count, part_of(side));
        return STEP_WAIT;
    }
    side->phase = side->guessed ? PHASE_BEHIND_GUESS : PHASE_HEAD;
    if (side->final && !side->guessed)
        end_message(r->dialog, side);
    return STEP_ON;
}

// ---- finding the place again --------------------------------------------------------------------

typedef enum { HERE_NOT, HERE, HERE_PERHAPS, HERE_LONG } Here;

// Heads are short: the frames from here on must end where the data end, or be followed by a long
// one. HERE_LONG: the first one is long.
static Here frames_here(const BbView *view, gsize at)
{
    BbCursor c = bb_cursor(view->data + at, view->length - at);
    while (c.left) {
        Frame frame;
        Verdict verdict = read_frame(&frame, c.at, c.left, view->direction);
        bool good = verdict == FRAME_GOOD;
        if (verdict == FRAME_BAD || (good && frame.length > GUESS_MAX))
            return HERE_NOT;
        if (good && frame.length > SEARCH_MAX)
            return c.at == view->data + at ? HERE_LONG : HERE;
        if (!good || frame.head + frame.length > c.left)
            return view->closed ? HERE_NOT : HERE_PERHAPS;
        bb_cursor_skip(&c, frame.head + (gsize)frame.length);
    }
    return HERE;
}

static Step begin_guess(Reader *r)
{
    Frame frame;
    (void)read_frame(&frame, r->view->data + r->at, r->view->length - r->at, r->view->direction);
    r->side->guessed = true;
    return begin_data(r, &frame);
}

static Step search(Reader *r)
{
    while (r->at < r->view->length) {
        Here here = frames_here(r->view, r->at);
        if (here == HERE_PERHAPS)
            return STEP_WAIT;
        if (here == HERE_LONG)
            return begin_guess(r);
        if (here == HERE) {
            r->side->phase = PHASE_HEAD;
            bb_dialog_resynced(r->dialog);
            return STEP_ON;
        }
        gsize next = bb_view_next_packet(r->view, r->at);
        bb_dialog_unread(r->dialog, r->view->direction, next - r->at);
        r->at = next;
    }
    return STEP_WAIT;
}

// The next frame must begin here, or there was none.
static Step read_behind_guess(Reader *r)
{
    Frame next;
    Side *side = r->side;
    Verdict verdict =
        read_frame(&next, r->view->data + r->at, r->view->length - r->at, r->view->direction);
    if (verdict == FRAME_SHORT)
        return STEP_WAIT;
    if (verdict == FRAME_BAD) {
        drop_guess(r->dialog, r->view->direction, side);
        side->phase = PHASE_LOST;
        return STEP_ON;
    }
    side->guessed = false;
    side->phase = PHASE_HEAD;
    bb_dialog_resynced(r->dialog);
    if (side->final)
        end_message(r->dialog, side);
    return STEP_ON;
}

static Step read_head(Reader *r)
{
    Frame frame;
    Side *side = r->side;
    switch (
        read_frame(&frame, r->view->data + r->at, r->view->length - r->at, r->view->direction)) {
    case FRAME_SHORT:
        return STEP_WAIT;
    case FRAME_BAD:
        if (!side->known && !side->gapped)
            return STEP_BAD; // another protocol after all
        end_message(r->dialog, side);
        side->phase = PHASE_LOST;
        return STEP_ON;
    case FRAME_GOOD:
        break;
    }
    return frame.opcode >= FIRST_OPCODE_CONTROL ? take_control(r, &frame) : begin_data(r, &frame);
}

// ---- the decoder --------------------------------------------------------------------------------

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    static Step (*const steps[])(Reader *) = {[PHASE_HEAD] = read_head,
                                              [PHASE_PAYLOAD] = read_payload,
                                              [PHASE_LOST] = search,
                                              [PHASE_BEHIND_GUESS] = read_behind_guess};
    WebSocket *socket = state;
    Reader r = {dialog, socket, &socket->side[view->direction], view, 0};
    Step step;
    do
        step = steps[r.side->phase](&r);
    while (step == STEP_ON);
    return step == STEP_BAD ? BB_PARSE_BAD : (gssize)r.at;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Side *side = &((WebSocket *)state)->side[direction];
    side->gapped = true;
    if (side->phase == PHASE_PAYLOAD)
        return; // perhaps it is inside of the payload
    drop_guess(dialog, direction, side);
    end_message(dialog, side);
    side->phase = PHASE_LOST;
}

static void finish(BbDialog *dialog, void *state)
{
    WebSocket *socket = state;
    for (guint i = 0; i < G_N_ELEMENTS(socket->side); i++) {
        Side *side = &socket->side[i];
        side->guessed &= side->phase != PHASE_BEHIND_GUESS; // whole, and the last
        drop_guess(dialog, (BbDirection)i, side);
        end_message(dialog, side);
    }
}

const BbDecoder bb_decoder_websocket = {
    .name = "websocket",
    .about = "WebSocket (RFC 6455) after its upgrade: free messages, pings with pongs",
    .tcp = true,
    .takes_turns = true,
    .ports = {80, 8080},
    .state_size = sizeof(WebSocket),
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
