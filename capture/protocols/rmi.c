// SPDX-License-Identifier: Apache-2.0
// In: Java RMI (JRMP, Java Remote Method Invocation Specification, chapter 10): the stream protocol
// and the single operation. Out: calls and their returns, in turns; pings; the acknowledgements of
// distributed garbage collection as free messages. The opening of a connection is a call `connect`.
//
// A serialized stream does not say where it ends. The protocol has no pipelining: a call goes on
// until the server speaks, a return until the client does; where what was said in between was not
// seen, acknowledgement numbers tell of it.
#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/label.h"
#include "capture/protocols/lost.h"

#include <string.h>

#define VERSION 2u
#define HEADER 7u        // "JRMI", version, protocol
#define HOST_MAX 255u    // bytes of a host's name
#define CALL_BLOCK 34u   // object (22), operation (4), hash (8); simple arguments may follow
#define RETURN_BLOCK 15u // type of the return (1), unique id (14)
#define DGC_ACK 15u      // with its unique id
#define REGISTRY_HASH G_GUINT64_CONSTANT(0x44154dc9d4e63bdf)
#define DGC_HASH G_GUINT64_CONSTANT(0xf6b6898d8bf28643)

enum { PROTOCOL_STREAM = 0x4b, PROTOCOL_SINGLE = 0x4c, PROTOCOL_MULTIPLEX = 0x4d };
enum { PROTOCOL_ACK = 0x4e, PROTOCOL_NOT_SUPPORTED = 0x4f };
enum { CALL = 0x50, RETURN = 0x51, PING = 0x52, PING_ACK = 0x53, DGC = 0x54 };
enum { RETURNED = 1, THREW = 2 };

typedef enum {
    PHASE_MESSAGES,
    PHASE_ACK,      // server: the answer to the header is to come
    PHASE_ENDPOINT, // client: says how the server sees it
} Phase;

typedef struct Side {
    BbPart part; // of the message under way
    guint32 status;
    Phase phase;
    bool body; // in a stream that goes on until the other side speaks
    bool lost;
} Side;

typedef struct Rmi {
    Side side[2];
    guint64 call; // under way
    bool good;    // a message was read
} Rmi;

typedef enum { READ_BAD, READ_MORE, READ_OK } Verdict;

// ---- calls and returns --------------------------------------------------------------------------

static gsize call_label(gint32 operation, guint64 hash, char *out)
{
    static const char *const registry[] = {"bind", "list", "lookup", "rebind", "unbind"};
    static const char *const dgc[] = {"clean", "dirty"};
    const gsize size = BB_LABEL_MAX + 1;
    if (hash == REGISTRY_HASH && operation >= 0 && operation < (gint32)G_N_ELEMENTS(registry))
        return (gsize)g_snprintf(out, size, "Registry.%s", registry[operation]);
    if (hash == DGC_HASH && operation >= 0 && operation < (gint32)G_N_ELEMENTS(dgc))
        return (gsize)g_snprintf(out, size, "DGC.%s", dgc[operation]);
    // From version 1.2 of the stubs on the hash is that of the method, else of the interface.
    if (operation == -1)
        return (gsize)g_snprintf(out, size, "method %016" G_GINT64_MODIFIER "x", hash);
    return (gsize)g_snprintf(out, size, "interface %016" G_GINT64_MODIFIER "x.%d", hash, operation);
}

static guint32 intern(BbDialog *dialog, const char *text)
{
    return bb_dialog_label(dialog, text, strlen(text));
}

// Magic and version of object serialization, and a block of primitive values.
static Verdict read_block(BbCursor *c, guint min)
{
    static const guint8 magic[] = {0xac, 0xed, 0x00, 0x05, 0x77};
    if (memcmp(c->at, magic, MIN(c->left, sizeof magic)) != 0)
        return READ_BAD;
    bb_cursor_skip(c, sizeof magic);
    guint8 length = bb_cursor_u8(c);
    if (!bb_cursor_ok(c))
        return READ_MORE;
    return length < min ? READ_BAD : READ_OK;
}

static void end_call(BbDialog *dialog, Rmi *rmi)
{
    Side *side = &rmi->side[BB_TO_SERVER];
    if (side->body)
        bb_dialog_sent(dialog, rmi->call, &side->part);
    side->body = false;
    rmi->call = 0;
    bb_part_reset(&side->part);
}

static void end_return(BbDialog *dialog, Rmi *rmi)
{
    Side *side = &rmi->side[BB_TO_CLIENT];
    if (side->body) {
        const BbOpenCall *open = bb_dialog_oldest(dialog, &side->part);
        bb_dialog_return(dialog, open ? open->call : 0, &side->part, side->status);
    }
    side->body = false;
    bb_part_reset(&side->part);
}

static void end_message(BbDialog *dialog, Rmi *rmi, BbDirection direction)
{
    if (direction == BB_TO_SERVER)
        end_call(dialog, rmi);
    else
        end_return(dialog, rmi);
}

static Verdict begin_call(BbDialog *dialog, Rmi *rmi, const BbView *view, gsize *taken)
{
    char text[BB_LABEL_MAX + 1];
    Side *side = &rmi->side[BB_TO_SERVER];
    BbCursor c = bb_cursor(view->data + 1, view->length - 1);
    Verdict verdict = read_block(&c, CALL_BLOCK);
    if (verdict != READ_OK)
        return verdict;
    bb_cursor_skip(&c, 22);
    gint32 operation = (gint32)bb_cursor_be32(&c);
    guint64 hash = bb_cursor_be64(&c);
    if (!bb_cursor_ok(&c))
        return READ_MORE;
    *taken = view->length - c.left;
    bb_part_add(&side->part, view, 0, *taken);
    gsize length = call_label(operation, hash, text);
    rmi->call = bb_dialog_open(dialog, &side->part, bb_dialog_label(dialog, text, length), 0, 0);
    side->body = true;
    return READ_OK;
}

static Verdict begin_return(BbDialog *dialog, Rmi *rmi, const BbView *view, gsize *taken)
{
    Side *side = &rmi->side[BB_TO_CLIENT];
    BbCursor c = bb_cursor(view->data + 1, view->length - 1);
    Verdict verdict = read_block(&c, RETURN_BLOCK);
    if (verdict != READ_OK)
        return verdict;
    guint8 type = bb_cursor_u8(&c);
    if (!bb_cursor_ok(&c))
        return READ_MORE;
    if (type != RETURNED && type != THREW)
        return READ_BAD;
    *taken = view->length - c.left;
    bb_part_add(&side->part, view, 0, *taken);
    side->status = intern(dialog, type == RETURNED ? "ok" : "exception");
    side->body = true;
    return READ_OK;
}

// ---- messages of fixed length -------------------------------------------------------------------

static void answer(BbDialog *dialog, const BbView *view, gsize length, const char *status)
{
    BbPart part = {0};
    bb_part_add(&part, view, 0, length);
    const BbOpenCall *open = bb_dialog_oldest(dialog, &part);
    bb_dialog_return(dialog, open ? open->call : 0, &part, intern(dialog, status));
}

static void call_at_once(BbDialog *dialog, const BbView *view, gsize length, const char *label)
{
    BbPart part = {0};
    bb_part_add(&part, view, 0, length);
    (void)bb_dialog_call(dialog, &part, intern(dialog, label), 0, 0);
}

// A host and a port: those of the client, as a server says them and as the client does itself.
static Verdict read_endpoint(const BbView *view, gsize from, gsize *taken)
{
    BbCursor c = bb_cursor(view->data + from, view->length - from);
    guint16 length = bb_cursor_be16(&c);
    if (bb_cursor_ok(&c) && length > HOST_MAX)
        return READ_BAD;
    bb_cursor_skip(&c, length);
    guint32 port = bb_cursor_be32(&c);
    *taken = view->length - c.left;
    return !bb_cursor_ok(&c) ? READ_MORE : port > 0xffff ? READ_BAD : READ_OK;
}

static Verdict check_header(const guint8 *data, gsize length)
{
    static const guint8 magic[] = {'J', 'R', 'M', 'I', 0, VERSION};
    if (memcmp(data, magic, MIN(length, sizeof magic)) != 0)
        return READ_BAD;
    if (length < HEADER)
        return READ_MORE;
    bool known = data[6] >= PROTOCOL_STREAM && data[6] <= PROTOCOL_MULTIPLEX;
    return known ? READ_OK : READ_BAD;
}

static Verdict read_header(BbDialog *dialog, Rmi *rmi, const BbView *view, gsize *taken)
{
    Verdict verdict = check_header(view->data, view->length);
    if (verdict != READ_OK)
        return verdict;
    *taken = HEADER;
    if (view->data[6] == PROTOCOL_SINGLE)
        return READ_OK; // the call follows at once
    call_at_once(dialog, view, HEADER, "connect");
    rmi->side[BB_TO_SERVER].phase = PHASE_ENDPOINT;
    rmi->side[BB_TO_CLIENT].phase = PHASE_ACK;
    return READ_OK;
}

static Verdict read_ack(BbDialog *dialog, Rmi *rmi, const BbView *view, gsize *taken)
{
    Verdict verdict = READ_OK;
    *taken = 1;
    if (view->data[0] == PROTOCOL_ACK)
        verdict = read_endpoint(view, 1, taken);
    else if (view->data[0] != PROTOCOL_NOT_SUPPORTED)
        return READ_BAD;
    if (verdict != READ_OK)
        return verdict;
    answer(dialog, view, *taken, view->data[0] == PROTOCOL_ACK ? "ok" : "error");
    rmi->side[BB_TO_CLIENT].phase = PHASE_MESSAGES;
    return READ_OK;
}

// ---- sides --------------------------------------------------------------------------------------

static Verdict read_client(BbDialog *dialog, Rmi *rmi, const BbView *view, gsize *taken)
{
    if (rmi->side[BB_TO_SERVER].phase == PHASE_ENDPOINT) {
        Verdict verdict = read_endpoint(view, 0, taken);
        if (verdict == READ_OK)
            rmi->side[BB_TO_SERVER].phase = PHASE_MESSAGES;
        return verdict;
    }
    switch (view->data[0]) {
    case 'J':
        return read_header(dialog, rmi, view, taken);
    case CALL:
        return begin_call(dialog, rmi, view, taken);
    case PING:
        *taken = 1;
        call_at_once(dialog, view, 1, "Ping");
        return READ_OK;
    case DGC: {
        BbPart part = {0};
        if (view->length < DGC_ACK)
            return READ_MORE;
        *taken = DGC_ACK;
        bb_part_add(&part, view, 0, DGC_ACK);
        bb_dialog_message(dialog, &part, intern(dialog, "DgcAck"), BB_NAME_NONE);
        return READ_OK;
    }
    default:
        return READ_BAD;
    }
}

static Verdict read_server(BbDialog *dialog, Rmi *rmi, const BbView *view, gsize *taken)
{
    if (rmi->side[BB_TO_CLIENT].phase == PHASE_ACK)
        return read_ack(dialog, rmi, view, taken);
    if (view->data[0] == RETURN)
        return begin_return(dialog, rmi, view, taken);
    if (view->data[0] != PING_ACK)
        return READ_BAD;
    *taken = 1;
    answer(dialog, view, 1, "ok");
    return READ_OK;
}

// What begins a message when nothing else is known.
static BbMatch probe(const guint8 *data, gsize length)
{
    if (!length)
        return BB_MATCH_MORE;
    bool call = data[0] == CALL;
    if (call || data[0] == RETURN) {
        BbCursor c = bb_cursor(data + 1, length - 1);
        Verdict verdict = read_block(&c, call ? CALL_BLOCK : RETURN_BLOCK);
        if (verdict == READ_OK)
            return call ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
        return verdict == READ_MORE ? BB_MATCH_MORE : BB_MATCH_NO;
    }
    switch (check_header(data, length)) {
    case READ_OK:
        return BB_MATCH_REQUEST;
    case READ_MORE:
        return BB_MATCH_MORE;
    default:
        return BB_MATCH_NO;
    }
}

static bool is_start(BbDirection direction, const guint8 *data, gsize packet, BbMatch match)
{
    if (direction == BB_TO_CLIENT)
        return match == BB_MATCH_REPLY || (packet == 1 && data[0] == PING_ACK);
    return match == BB_MATCH_REQUEST || (packet == 1 && data[0] == PING) ||
           (packet == DGC_ACK && data[0] == DGC);
}

// Passes over bytes up to a packet that begins with a message.
static gssize find_start(BbDialog *dialog, Side *side, const BbView *view)
{
    gsize at = 0;
    while (at < view->length) {
        gsize next = bb_view_next_packet(view, at);
        BbMatch match = probe(view->data + at, view->length - at);
        if (is_start(view->direction, view->data + at, next - at, match)) {
            side->lost = false;
            bb_dialog_resynced(dialog);
            break;
        }
        if (match == BB_MATCH_MORE && !view->closed)
            break;
        at = next;
    }
    bb_dialog_unread(dialog, view->direction, at);
    return (gssize)at;
}

// Where in view the body under way ends: a packet that acknowledges more than the first of the
// message did was sent after the other side had spoken.
static gsize body_end(const Side *side, const BbView *view)
{
    for (guint i = 0; i < view->n_marks && side->part.has_ack; i++)
        if (view->marks[i].has_ack && view->marks[i].ack > side->part.ack)
            return i ? MIN(view->marks[i - 1].end, view->length) : 0;
    return view->length;
}

static gssize lose_place(BbDialog *dialog, const Rmi *rmi, Side *side, const BbView *view)
{
    return rmi->good ? bb_lost_here(&side->lost, dialog, view) : BB_PARSE_BAD;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Rmi *rmi = state;
    Side *side = &rmi->side[view->direction];
    gsize taken = 0;
    if (!view->length)
        return 0;
    end_message(dialog, rmi, bb_direction_other(view->direction));
    if (side->body) {
        gsize end = body_end(side, view);
        bb_part_add(&side->part, view, 0, end);
        if (end)
            return (gssize)end;
        end_message(dialog, rmi, view->direction);
    }
    if (side->lost) {
        gssize passed = find_start(dialog, side, view);
        if (passed != 0 || side->lost)
            return passed;
    }
    Verdict verdict = view->direction == BB_TO_SERVER ? read_client(dialog, rmi, view, &taken)
                                                      : read_server(dialog, rmi, view, &taken);
    if (verdict == READ_BAD)
        return lose_place(dialog, rmi, side, view);
    if (verdict == READ_MORE)
        return view->closed ? (gssize)view->length : 0;
    rmi->good = true;
    return (gssize)taken;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Rmi *rmi = state;
    end_message(dialog, rmi, bb_direction_other(direction));
    end_message(dialog, rmi, direction);
    rmi->side[direction].lost = true;
    rmi->side[BB_TO_SERVER].phase = rmi->side[BB_TO_CLIENT].phase = PHASE_MESSAGES;
}

static void finish(BbDialog *dialog, void *state)
{
    Rmi *rmi = state;
    end_call(dialog, rmi);
    end_return(dialog, rmi);
}

const BbDecoder bb_decoder_rmi = {
    .name = "rmi",
    .about = "Java RMI (JRMP): by turns, since serialized streams do not tell where they end",
    .tcp = true,
    .ports = {1099},
    .state_size = sizeof(Rmi),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
