// SPDX-License-Identifier: Apache-2.0
// In: a connection in Cassandra's CQL binary protocol, versions 3 to 5. Out: a call for each
// request, paired by stream id, with verb and table as label and the error's name as status; events
// are free messages.
//
// What is executed is labelled by the text it was prepared from on this connection, a batch by its
// first statement; `?` stands for what was not seen. Of compressed bodies (LZ4, Snappy) the
// beginning is unpacked. Version 5 puts messages into segments once READY or AUTHENTICATE has
// answered STARTUP: of a compressed one as much is read as its first 48 KiB stand for, as a rule
// all.
#include "capture/protocols/cassandra_message.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/statements.h"
#include "capture/protocols/unpack.h"

#define SEGMENT_READ (48u * 1024u) // bytes of a compressed segment that are waited for
#define PLAIN_SMALL (16u * 1024u) // bytes for which nothing is allocated; at most there are 128 KiB

// What comes next in a direction.
typedef enum {
    UNIT_MESSAGE, // or, where it is longer than its segment, the part in there
    UNIT_REST,    // of a message that began in another segment
    UNIT_SEGMENT, // the head of one
    UNIT_PACKED,  // a whole compressed one
    UNIT_TRAILER, // its CRC-32
} UnitKind;

typedef struct Unit {
    UnitKind kind;
    BbCassandraHead head;
    BbCassandraSegment segment;
    BbFrameSize size;
} Unit;

typedef struct Side {
    BbPart message;     // of which a part was read
    guint64 call;       // of the request under way
    guint32 status;     // of the reply under way
    guint32 label;      // of the event under way
    guint64 key;        // likewise
    guint32 rest;       // bytes of the message that are in segments to come
    guint32 in_segment; // bytes that the segment still has
    guint8 kind;        // UnitKind under way
    guint8 opcode;      // of the message under way
    bool segmented;
    bool trailer; // a segment's CRC-32 comes next
    bool starts;  // the message under way answers STARTUP: from there on there are segments
} Side;

typedef struct Cassandra {
    BbFrames frames;
    Side side[2];
    BbStatements *statements; // NULL until there are any
    guint8 compression;       // BbCassandraCompression
    bool started;             // compression is known
} Cassandra;

// ---- messages -----------------------------------------------------------------------------------

static guint32 name(BbDialog *dialog, const char *text)
{
    return bb_dialog_label(dialog, text, strlen(text));
}

static guint64 key_of(const BbCassandraHead *head)
{
    return (guint64)(guint16)head->stream + 1;
}

// The body of a message, or its beginning unpacked to room. False: it cannot be read.
static bool open_body(const Cassandra *cassandra, const BbCassandraHead *head, BbCursor *body,
                      guint8 *room, gsize size)
{
    gsize used = 0;
    if (!(head->flags & BB_CASSANDRA_COMPRESSED) || head->version >= BB_CASSANDRA_SEGMENTS)
        return true;
    if (cassandra->compression == BB_CASSANDRA_LZ4 && body->left > 4) // behind the plain length
        used = bb_unpack_lz4(room, size, body->at + 4, body->left - 4);
    else if (cassandra->compression == BB_CASSANDRA_SNAPPY)
        used = bb_unpack_snappy(room, size, body->at, body->left);
    *body = bb_cursor(room, used);
    return used > 0;
}

static guint32 known_statement(const Cassandra *cassandra, const BbCassandraBody *body)
{
    return body->id && cassandra->statements
               ? bb_statements_get(cassandra->statements, body->id, body->id_length)
               : BB_NAME_NONE;
}

static guint32 request_label(BbDialog *dialog, const Cassandra *cassandra, guint8 opcode,
                             const BbCassandraBody *body)
{
    static const char *const unknown[] = {
        [BB_CASSANDRA_QUERY] = "QUERY ?",
        [BB_CASSANDRA_EXECUTE] = "EXECUTE ?",
        [BB_CASSANDRA_BATCH] = "BATCH ?",
    };
    if (opcode == BB_CASSANDRA_PREPARE)
        return bb_statement_label(dialog, "PREPARE", body->text, body->text_length, body->text_cut);
    guint32 label = known_statement(cassandra, body);
    if (!label && body->text)
        label = bb_statement_label(dialog, NULL, body->text, body->text_length, body->text_cut);
    if (label)
        return label;
    bool has_statement = opcode < G_N_ELEMENTS(unknown) && unknown[opcode];
    return name(dialog, has_statement ? unknown[opcode] : bb_cassandra_opcode_name(opcode));
}

static void begin_request(BbDialog *dialog, Cassandra *cassandra, const BbCassandraHead *head,
                          const BbCassandraBody *body, const BbPart *part)
{
    Side *side = &cassandra->side[BB_TO_SERVER];
    guint32 label = request_label(dialog, cassandra, head->opcode, body);
    side->call = bb_dialog_open_by(dialog, part, label, key_of(head), head->opcode, BB_KEY_REUSED);
    if (head->opcode == BB_CASSANDRA_STARTUP) {
        cassandra->compression = (guint8)body->compression;
        cassandra->started = true;
    }
    if (head->opcode != BB_CASSANDRA_PREPARE || !body->text)
        return;
    if (!cassandra->statements)
        cassandra->statements = bb_statements_new();
    guint32 statement =
        bb_statement_label(dialog, NULL, body->text, body->text_length, body->text_cut);
    bb_statements_ask(cassandra->statements, side->call, statement);
}

static void keep_statement(Cassandra *cassandra, guint64 call, const BbCassandraBody *body)
{
    if (!body->id || !cassandra->statements)
        return;
    guint32 label = bb_statements_take_asked(cassandra->statements, call);
    if (label)
        bb_statements_set(cassandra->statements, body->id, body->id_length, label);
}

static void begin_reply(BbDialog *dialog, Cassandra *cassandra, const BbCassandraHead *head,
                        const BbCassandraBody *body, const BbPart *part)
{
    Side *side = &cassandra->side[BB_TO_CLIENT];
    if (head->opcode == BB_CASSANDRA_EVENT) {
        side->label = name(dialog, "EVENT");
        return;
    }
    side->starts =
        head->version >= BB_CASSANDRA_SEGMENTS &&
        (head->opcode == BB_CASSANDRA_READY || head->opcode == BB_CASSANDRA_AUTHENTICATE);
    const char *status = "ok";
    if (head->opcode == BB_CASSANDRA_ERROR)
        status = body->error ? body->error : "error";
    side->status = bb_dialog_status(dialog, status, strlen(status));
    side->key = key_of(head);
    const BbOpenCall *open = bb_dialog_find(dialog, part, side->key);
    if (open)
        keep_statement(cassandra, open->call, body);
}

// front: the body as far as it is there.
static void begin_message(BbDialog *dialog, Cassandra *cassandra, const BbCassandraHead *head,
                          BbCursor front, const BbPart *part)
{
    guint8 room[BB_CASSANDRA_TEXT_MAX];
    BbCassandraBody body = {0};
    if (open_body(cassandra, head, &front, room, sizeof room))
        body = bb_cassandra_body_read(head, front);
    cassandra->side[part->direction].opcode = head->opcode;
    if (head->response)
        begin_reply(dialog, cassandra, head, &body, part);
    else
        begin_request(dialog, cassandra, head, &body, part);
}

static void end_message(BbDialog *dialog, Cassandra *cassandra, const BbPart *part)
{
    Side *side = &cassandra->side[part->direction];
    if (part->direction == BB_TO_SERVER) {
        bb_dialog_sent(dialog, side->call, part);
        side->call = 0;
    } else if (side->opcode == BB_CASSANDRA_EVENT) {
        bb_dialog_message(dialog, part, side->label, BB_NAME_NONE);
    } else {
        const BbOpenCall *open = bb_dialog_find(dialog, part, side->key);
        bb_dialog_return(dialog, open ? open->call : 0, part, side->status);
    }
}

// ---- units --------------------------------------------------------------------------------------

static BbFrameVerdict look_at_message(const Side *side, BbDirection direction, const guint8 *data,
                                      gsize length, Unit *unit)
{
    if (length < BB_CASSANDRA_HEAD)
        return BB_FRAME_MORE;
    if (!bb_cassandra_head_read(&unit->head, data) ||
        unit->head.response != (direction == BB_TO_CLIENT))
        return BB_FRAME_BAD;
    gsize total = BB_CASSANDRA_HEAD + (gsize)unit->head.length;
    unit->kind = UNIT_MESSAGE;
    unit->size.length = side->segmented ? MIN(total, side->in_segment) : total;
    unit->size.wanted = MIN(unit->size.length, BB_CASSANDRA_HEAD + BB_CASSANDRA_TEXT_MAX);
    return BB_FRAME_OK;
}

static BbFrameVerdict look_at_segment(const Cassandra *cassandra, const guint8 *data, gsize length,
                                      Unit *unit)
{
    BbCassandraCompression compression =
        cassandra->started ? (BbCassandraCompression)cassandra->compression : BB_CASSANDRA_UNKNOWN;
    BbMatch match = bb_cassandra_segment_read(&unit->segment, compression, data, length);
    if (match != BB_MATCH_REQUEST)
        return match == BB_MATCH_MORE ? BB_FRAME_MORE : BB_FRAME_BAD;
    const BbCassandraSegment *segment = &unit->segment;
    unit->kind = segment->plain ? UNIT_PACKED : UNIT_SEGMENT;
    unit->size.length = unit->size.wanted = segment->head;
    if (segment->plain) {
        unit->size.length += segment->length + BB_CASSANDRA_TRAILER;
        unit->size.wanted = MIN(unit->size.length, segment->head + SEGMENT_READ);
    }
    return BB_FRAME_OK;
}

static BbFrameVerdict look(const Cassandra *cassandra, BbDirection direction, const guint8 *data,
                           gsize length, Unit *unit)
{
    const Side *side = &cassandra->side[direction];
    *unit = (Unit){.kind = UNIT_TRAILER, .size = {.length = BB_CASSANDRA_TRAILER}};
    if (side->trailer)
        return BB_FRAME_OK;
    if (side->segmented && !side->in_segment)
        return look_at_segment(cassandra, data, length, unit);
    if (side->segmented && side->rest) {
        unit->kind = UNIT_REST;
        unit->size.length = MIN(side->rest, side->in_segment);
        return BB_FRAME_OK;
    }
    if (side->segmented && side->in_segment < BB_CASSANDRA_HEAD)
        return BB_FRAME_BAD;
    BbFrameVerdict verdict = look_at_message(side, direction, data, length, unit);
    if (verdict == BB_FRAME_BAD && !side->segmented) // joined in the middle
        verdict = look_at_segment(cassandra, data, length, unit);
    return verdict;
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    Unit unit;
    BbFrameVerdict verdict = look(state, direction, data, length, &unit);
    *frame = unit.size;
    return verdict;
}

// The message under way, of which a part was read, is over.
static void end_under_way(BbDialog *dialog, Cassandra *cassandra, BbDirection direction)
{
    Side *side = &cassandra->side[direction];
    if (side->message.begun)
        end_message(dialog, cassandra, &side->message);
    bb_part_reset(&side->message);
    side->rest = 0;
}

// The next bytes of the message under way, which came with part.
static void add_piece(BbDialog *dialog, Cassandra *cassandra, const BbPart *part, gsize bytes)
{
    Side *side = &cassandra->side[part->direction];
    BbPart piece = *part;
    piece.bytes = bytes;
    bb_part_join(&side->message, &piece);
    side->rest -= (guint32)bytes;
    if (!side->rest)
        end_under_way(dialog, cassandra, part->direction);
}

// What a compressed segment holds: a piece of one message, or messages. plain: as much as could be
// unpacked of its `left` bytes.
static void read_plain(BbDialog *dialog, Cassandra *cassandra, BbCursor plain, gsize left,
                       const BbPart *part)
{
    Side *side = &cassandra->side[part->direction];
    if (side->rest) {
        add_piece(dialog, cassandra, part, MIN(side->rest, left));
        return;
    }
    while (left >= BB_CASSANDRA_HEAD) {
        BbCassandraHead head;
        if (plain.left < BB_CASSANDRA_HEAD) {
            bb_dialog_count(dialog, BB_MESSAGE_LIMIT);
            return;
        }
        if (!bb_cassandra_head_read(&head, plain.at) ||
            head.response != (part->direction == BB_TO_CLIENT))
            return;
        gsize total = BB_CASSANDRA_HEAD + (gsize)head.length, there = MIN(total, plain.left);
        begin_message(dialog, cassandra, &head,
                      bb_cursor(plain.at + BB_CASSANDRA_HEAD, there - BB_CASSANDRA_HEAD), part);
        side->rest = (guint32)total;
        add_piece(dialog, cassandra, part, MIN(total, left));
        left -= MIN(total, left);
        bb_cursor_skip(&plain, there);
    }
}

static void read_packed(BbDialog *dialog, Cassandra *cassandra, const Unit *unit, BbCursor packed,
                        const BbPart *part)
{
    guint8 small[PLAIN_SMALL];
    gsize room = unit->segment.plain;
    g_autofree guint8 *large = room > sizeof small ? g_malloc(room) : NULL;
    guint8 *plain = large ? large : small;
    gsize used =
        bb_unpack_lz4(plain, room, packed.at, MIN(packed.left, (gsize)unit->segment.length));
    read_plain(dialog, cassandra, bb_cursor(plain, used), room, part);
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Cassandra *cassandra = state;
    Side *side = &cassandra->side[part->direction];
    Unit unit;
    if (look(cassandra, part->direction, data, seen, &unit) != BB_FRAME_OK)
        unit.kind = UNIT_TRAILER; // cut
    side->kind = (guint8)unit.kind;
    BbCursor c = bb_cursor(data, seen);
    switch (unit.kind) {
    case UNIT_MESSAGE:
        bb_cursor_skip(&c, BB_CASSANDRA_HEAD);
        begin_message(dialog, cassandra, &unit.head, c, part);
        side->rest = BB_CASSANDRA_HEAD + unit.head.length - (guint32)unit.size.length;
        break;
    case UNIT_REST:
        side->rest -= (guint32)unit.size.length;
        break;
    case UNIT_SEGMENT:
        side->segmented = true;
        side->in_segment = unit.segment.length;
        if (unit.segment.self_contained)
            end_under_way(dialog, cassandra, part->direction);
        return;
    case UNIT_PACKED:
        side->segmented = true;
        bb_cursor_skip(&c, unit.segment.head);
        if (unit.segment.self_contained)
            end_under_way(dialog, cassandra, part->direction);
        read_packed(dialog, cassandra, &unit, c, part);
        return;
    case UNIT_TRAILER:
        side->trailer = false;
        return;
    }
    if (!side->segmented)
        return;
    side->in_segment -= (guint32)unit.size.length;
    side->trailer = side->in_segment == 0;
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Cassandra *cassandra = state;
    Side *side = &cassandra->side[part->direction];
    if (side->kind != UNIT_MESSAGE && side->kind != UNIT_REST)
        return;
    if (side->kind == UNIT_MESSAGE || side->message.begun)
        bb_part_join(&side->message, part);
    if (side->rest || !side->message.begun)
        return;
    end_under_way(dialog, cassandra, part->direction);
    if (side->starts)
        cassandra->side[BB_TO_SERVER].segmented = side->segmented = true;
    side->starts = false;
}

// What a direction had under way is over.
static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    Cassandra *cassandra = state;
    Side *side = &cassandra->side[direction];
    end_under_way(dialog, cassandra, direction);
    *side = (Side){.segmented = side->segmented};
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_cassandra_probe,
    .begin = begin,
    .end = end,
    .lose = lose,
    .anywhere = true,
};

// ---- the decoder --------------------------------------------------------------------------------

static void finish(BbDialog *dialog, void *state)
{
    Cassandra *cassandra = state;
    bb_frames_finish(dialog, state);
    lose(dialog, state, BB_TO_SERVER);
    lose(dialog, state, BB_TO_CLIENT);
    g_clear_pointer(&cassandra->statements, bb_statements_free);
}

static gsize held(const void *state)
{
    const BbStatements *statements = ((const Cassandra *)state)->statements;
    return statements ? bb_statements_held(statements) : 0;
}

// Their executions are labelled `EXECUTE ?` from now on.
static void let_go(BbDialog *dialog, void *state)
{
    g_clear_pointer(&((Cassandra *)state)->statements, bb_statements_free);
}

const BbDecoder bb_decoder_cassandra = {
    .name = "cassandra",
    .about = "Cassandra CQL v3 to v5: by stream id",
    .tcp = true,
    .ports = {9042, 9142},
    .state_size = sizeof(Cassandra),
    .framing = &framing,
    .probe = bb_cassandra_probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
