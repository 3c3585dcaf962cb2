// SPDX-License-Identifier: Apache-2.0
// In: PostgreSQL, protocol 3 (Frontend/Backend Protocol, Message Flow). Out: one call for each
// ReadyForQuery (a simple query, or a Sync with everything before it), with verb and table as label
// and the SQLSTATE as status.
//
// The session up to the first ReadyForQuery is one call `startup`, passwords included; SSLRequest
// and GSSENCRequest are calls before it. Notices and parameter reports that come unasked are
// nothing, notifications are free messages. COPY data that the client sends belong to the call that
// the server asks for them in, and the CopyInResponse that asks is nothing. A replication is
// answered by its CopyBothResponse: what both sides say then, up to the next ReadyForQuery, is free
// messages (Streaming Replication Protocol). One that was joined in the middle shows by what
// nothing else says.
//
// Gaps: each side knows the sequence number at which the message under way ends, so a gap inside of
// one does no harm. After any other gap messages are looked for at the start of each packet.
#include "capture/protocols/postgres_message.h"
#include "capture/protocols/postgres_request.h"

typedef enum {
    PHASE_START,   // nothing was said, or encryption was refused
    PHASE_ASKED,   // the client asked for encryption; the answer is one byte
    PHASE_LOGIN,   // up to the first ReadyForQuery: an error ends it
    PHASE_SESSION, // each call is ended by a ReadyForQuery
} Phase;

// Types of the packets that have none; letters are those of the protocol.
enum { PACKET_STARTUP = 1, PACKET_ENCRYPT, PACKET_CANCEL };

// Tag of a call that a Sync ended.
#define TAG_EXTENDED 1u
#define AUTHENTICATED 0u // in an authentication request

typedef struct Stream {
    guint64 end_seq; // in_message: position behind it
    guint8 type;     // of the message under way
    bool in_message;
    bool lost;        // does not know where the next message begins
    bool known;       // a message was read
    BbPart *part;     // where the bytes of the message under way belong
    BbPart aside;     // bytes of no call: notifications, passwords
    const char *told; // label of the message under way, which is a free one of a replication
} Stream;

typedef struct Postgres {
    Stream stream[2];
    BbPostgresRequest request;
    BbPart reply;
    guint32 status, ok;
    guint8 phase;
    bool streaming;  // a replication
    bool data_only;  // the reply begun has nothing but CopyData
    bool prelude;    // nothing but ParseComplete and BindComplete
    bool copy_ended; // CopyDone or CopyFail was sent for an open call, no ReadyForQuery came since
    bool completed;  // a statement of the reply begun is complete
    bool several;    // a reply to several statements was seen
    bool headless;   // the beginning of what the server sends is missing
    bool passing;    // what it sends up to the next ReadyForQuery answers nothing we know
} Postgres;

// One parse: where it reads, and which bytes are not accounted for yet.
typedef struct Reader {
    BbDialog *dialog;
    Postgres *pg;
    Stream *stream;
    const BbView *view;
    gsize at, from; // bytes [from, at) are read but not added to part
    BbPart *part;
} Reader;

static void flush(Reader *reader)
{
    if (reader->part)
        bb_part_add(reader->part, reader->view, reader->from, reader->at);
    reader->from = reader->at;
}

static void belong(Reader *reader, BbPart *part)
{
    if (part == reader->part)
        return;
    flush(reader);
    reader->part = part;
}

// Writes the message under way, which is no part of a call.
static void tell(Reader *reader, const char *name)
{
    bb_dialog_message(reader->dialog, &reader->stream->aside,
                      bb_dialog_label(reader->dialog, name, strlen(name)), BB_NAME_NONE);
}

// What a CopyData of a replication is.
static const char *stream_label(BbCursor body)
{
    switch (bb_cursor_u8(&body)) {
    case 'w':
        return "XLogData";
    case 'k':
        return "PrimaryKeepalive";
    case 'r':
        return "StandbyStatusUpdate";
    case 'h':
        return "HotStandbyFeedback";
    default:
        return "CopyData";
    }
}

// Whether a CopyData is one that only a replication has: status and feedback of a standby, the
// primary's keepalive. Behind its type stands the high byte of a place in the log or of a time,
// which is 0, as nothing in a text is.
static bool is_of_replication(BbDirection direction, BbCursor body, gsize length)
{
    guint8 type = bb_cursor_u8(&body);
    bool zero = bb_cursor_u8(&body) == 0 && bb_cursor_ok(&body);
    if (direction == BB_TO_CLIENT)
        return zero && type == 'k' && length == 18;
    return zero && ((type == 'r' && length == 34) || (type == 'h' && length == 25));
}

// The beginning of a replication was not seen. What the server said of it so far was taken for the
// reply to something.
static void note_replication(Reader *reader, BbCursor body, gsize length)
{
    Postgres *pg = reader->pg;
    if (pg->streaming || pg->request.part.begun || bb_dialog_open_calls(reader->dialog) > 0 ||
        (pg->reply.begun && !pg->data_only) ||
        !is_of_replication(reader->view->direction, body, length))
        return;
    pg->streaming = true;
    pg->passing = pg->headless = false;
    bb_part_reset(&pg->reply);
}

// ---- the client ------------------------------------------------------------------------------

// Whether a Sync ends no call of its own: in the extended protocol a Sync sent before COPY data is
// ignored by the server, and the client sends another one behind them.
static bool is_second_sync(Reader *reader)
{
    Postgres *pg = reader->pg;
    const BbOpenCall *youngest = bb_dialog_youngest(reader->dialog);
    return !pg->request.part.begun && pg->copy_ended && youngest && youngest->tag == TAG_EXTENDED;
}

// A request that a gap broke goes on up to its Sync, unless it is answered by now.
static void check_torn_request(Reader *reader)
{
    BbPostgresRequest *request = &reader->pg->request;
    if (request->call && !bb_dialog_get(reader->dialog, request->call))
        bb_postgres_request_end(request, reader->dialog, 0);
}

// A COPY gets no more data, or asked for none.
static void end_waiting(Reader *reader)
{
    if (!reader->pg->request.waits)
        return;
    flush(reader);
    bb_postgres_request_end(&reader->pg->request, reader->dialog, 0);
}

static BbPart *client_part(Reader *reader, guint8 type)
{
    Postgres *pg = reader->pg;
    switch (type) {
    case 'd':
    case 'c':
    case 'f':
        // Behind an error these come when the call is answered, and no Sync is ignored.
        pg->copy_ended |= type != 'd' && bb_dialog_open_calls(reader->dialog) > 0;
        if (pg->request.waits)
            return &pg->request.data;
        return pg->request.part.begun ? &pg->request.part : &reader->stream->aside;
    case 'p':
    case 'X':
    case PACKET_CANCEL:
        return &reader->stream->aside;
    default:
        end_waiting(reader); // for data that do not come
        check_torn_request(reader);
        return type == 'S' && is_second_sync(reader) ? &reader->stream->aside : &pg->request.part;
    }
}

// The beginning of the body is there. whole: all of it is.
static void begin_client(Reader *reader, guint8 type, BbCursor body, bool whole)
{
    Postgres *pg = reader->pg;
    pg->streaming &= type == 'd' || type == 'c';
    reader->stream->told = pg->streaming && type == 'd' ? stream_label(body) : NULL;
    if (type == PACKET_STARTUP)
        bb_postgres_request_command(&pg->request, reader->dialog, "startup");
    else
        bb_postgres_request_read(&pg->request, reader->dialog, type, body, whole);
    if (type && strchr("PBDECQFS", type))
        pg->phase = PHASE_SESSION;
}

static void end_client(Reader *reader, guint8 type)
{
    Postgres *pg = reader->pg;
    bool apart = reader->part != &pg->request.part;
    guint32 tag = type == 'S' ? TAG_EXTENDED : 0;
    flush(reader);
    if (type == 'c' || type == 'f')
        end_waiting(reader);
    if (type == 'X' || type == PACKET_CANCEL)
        tell(reader, type == 'X' ? "Terminate" : "CancelRequest");
    if (reader->stream->told)
        tell(reader, reader->stream->told);
    if (apart || !strchr("QFS\1\2", type))
        return;
    if (type == 'S')
        bb_postgres_request_command(&pg->request, reader->dialog, "SYNC");
    if (!bb_postgres_request_wait(&pg->request, reader->dialog, tag))
        bb_postgres_request_end(&pg->request, reader->dialog, tag);
    reader->part = NULL;
    if (type == PACKET_STARTUP)
        pg->phase = PHASE_LOGIN;
}

// ---- the server -------------------------------------------------------------------------------

static guint32 final_status(BbDialog *dialog, Postgres *pg)
{
    if (pg->status != BB_NAME_NONE)
        return pg->status;
    if (pg->ok == BB_NAME_NONE)
        pg->ok = bb_dialog_status(dialog, "ok", 2);
    return pg->ok;
}

static void reset_reply(Postgres *pg)
{
    pg->status = BB_NAME_NONE;
    pg->completed = false;
    bb_part_reset(&pg->reply);
}

static void end_reply(BbDialog *dialog, Postgres *pg, guint32 status)
{
    if (pg->reply.begun) {
        const BbOpenCall *open = bb_dialog_oldest(dialog, &pg->reply);
        bb_dialog_return(dialog, open ? open->call : 0, &pg->reply, status);
    }
    reset_reply(pg);
}

// No reply begins with it: rows, copied data, and what comes behind them.
static bool is_rest(guint8 type, BbCursor body)
{
    static const char *const tags[] = {"SELECT", "FETCH", "COPY"}; // CommandComplete
    for (gsize i = 0; type == 'C' && i < G_N_ELEMENTS(tags); i++)
        if (bb_bytes_begin(body.at, body.left, tags[i]))
            return true;
    return type && strchr("DdcsZ", type);
}

// The first message behind a gap: whether it goes on with a reply that the gap cut off. Where
// several statements are answered at once there is no telling, but that a call waits for it. That
// call may be one that fetches more of its rows: it is given up, lest it gets the next reply.
static void leave_gap(Reader *reader, guint8 type, BbCursor body, bool asked)
{
    Postgres *pg = reader->pg;
    if (!pg->headless || type == 'N' || type == 'S') // of both kinds, and unasked
        return;
    pg->passing = is_rest(type, body) || (pg->several && !asked);
    pg->headless = false;
    if (pg->passing)
        bb_dialog_pass_over(reader->dialog, reader->view, reader->at + 1, reader->at + 1);
}

static BbPart *server_part(Reader *reader, guint8 type, BbCursor body)
{
    Postgres *pg = reader->pg;
    if (type == 'A' || type == 'G' || pg->passing || pg->streaming)
        return &reader->stream->aside;
    if (pg->reply.begun)
        return &pg->reply;
    // An extended request without its Sync may be answered already (Flush).
    if (pg->request.part.begun && !pg->request.call && bb_dialog_open_calls(reader->dialog) == 0)
        bb_postgres_request_open(&pg->request, reader->dialog, TAG_EXTENDED);
    bool asked = bb_dialog_oldest_at(reader->dialog, reader->view, reader->at) != NULL;
    leave_gap(reader, type, body, asked);
    bool unasked = !asked && (type == 'N' || type == 'S') && pg->phase != PHASE_LOGIN;
    return pg->passing || unasked ? &reader->stream->aside : &pg->reply;
}

// Passwords and COPY data belong to the call that the server asks for them in.
static void note_asked(Reader *reader, guint8 type, BbCursor body)
{
    bool asks = type == 'G' || (type == 'R' && bb_cursor_be32(&body) != AUTHENTICATED);
    if (asks || (type && strchr("RCEZ", type)))
        bb_dialog_continues(reader->dialog, BB_TO_SERVER, asks);
}

// What only leads to the request for data is nothing either. Other answers end the wait for them,
// unless they are those to an earlier call.
static void note_copy(Reader *reader, guint8 type)
{
    Postgres *pg = reader->pg;
    if (type == 'G' && pg->prelude)
        bb_part_reset(&pg->reply);
    if (reader->part == &pg->reply)
        pg->prelude = strchr("123n", type) && (pg->prelude || !pg->reply.begun);
    if (strchr("CEHWZ", type) && bb_dialog_open_calls(reader->dialog) == 1)
        end_waiting(reader);
}

static void begin_server(Reader *reader, guint8 type, BbCursor body)
{
    Postgres *pg = reader->pg;
    note_asked(reader, type, body);
    note_copy(reader, type);
    if (type == 'R')
        pg->phase = PHASE_LOGIN;
    if (type == 'C') {
        pg->several |= pg->completed;
        pg->completed = true;
    }
    if (reader->part == &pg->reply)
        pg->data_only = type == 'd' && (pg->data_only || !pg->reply.begun);
    reader->stream->told = pg->streaming && type == 'd' ? stream_label(body) : NULL;
    if (type != 'E' || pg->status != BB_NAME_NONE)
        return;
    const char *code = bb_postgres_sqlstate(body.at, body.left);
    pg->status = code ? bb_dialog_status(reader->dialog, code, BB_POSTGRES_SQLSTATE)
                      : bb_dialog_status(reader->dialog, "error", 5);
}

// In a replication: a ReadyForQuery ends it, and answers nothing.
static void end_streamed(Reader *reader, guint8 type)
{
    Postgres *pg = reader->pg;
    if (type == 'E')
        bb_dialog_message(reader->dialog, &reader->stream->aside, BB_NAME_NONE, pg->status);
    reset_reply(pg); // the message under way when it was noted
    pg->streaming = type != 'Z';
    pg->copy_ended &= pg->streaming;
}

static void end_server(Reader *reader, guint8 type)
{
    Postgres *pg = reader->pg;
    flush(reader);
    if (type == 'A') {
        tell(reader, "NotificationResponse");
        return;
    }
    if (reader->stream->told)
        tell(reader, reader->stream->told);
    if (pg->streaming) {
        end_streamed(reader, type);
        return;
    }
    bool refused = type == 'E' && (pg->phase == PHASE_ASKED || pg->phase == PHASE_LOGIN);
    bool streams = type == 'W' && !pg->passing;
    if (type != 'Z' && !refused && !streams)
        return;
    pg->streaming = streams;
    if (pg->passing)
        bb_dialog_passed_rest(reader->dialog, &reader->stream->aside, true);
    end_reply(reader->dialog, pg, final_status(reader->dialog, pg));
    reader->part = NULL;
    pg->passing = pg->copy_ended = false;
    pg->phase = refused ? PHASE_START : PHASE_SESSION;
}

// The answer to SSLRequest and GSSENCRequest is one byte: encryption follows, or the client goes on
// in the clear ('N'). An ErrorResponse is possible, too, from servers before these requests.
static bool read_encryption(Reader *reader)
{
    Postgres *pg = reader->pg;
    guint8 answer = reader->view->data[reader->at];
    if (answer != 'S' && answer != 'G' && answer != 'N')
        return false;
    belong(reader, &pg->reply);
    reader->at++;
    flush(reader);
    reader->part = NULL;
    guint32 status =
        answer == 'N' ? bb_dialog_status(reader->dialog, "N", 1) : final_status(reader->dialog, pg);
    end_reply(reader->dialog, pg, status);
    pg->phase = PHASE_START;
    if (answer != 'N')
        bb_dialog_switch(reader->dialog);
    return true;
}

// ---- messages ---------------------------------------------------------------------------------

static bool is_client(const Reader *reader)
{
    return reader->view->direction == BB_TO_SERVER;
}

static gsize left(const Reader *reader)
{
    return reader->view->length - reader->at;
}

// Bytes of a body that are waited for before the message is looked at.
static gsize wanted(const Reader *reader, guint8 type)
{
    if (type == 'd')
        return 2;
    if (type == 'R' && !is_client(reader))
        return 4;
    if (type == 'C' && !is_client(reader))
        return reader->pg->headless ? 6 : 0;
    if (is_client(reader))
        return type && strchr("QPBDC", type) ? BB_POSTGRES_TEXT_MAX : 0;
    return type == 'E' ? 256 : 0;
}

// Begins a message whose first `prefix` bytes are there; they hold head and wanted body.
static void begin_message(Reader *reader, guint8 type, gsize head, gsize prefix, gsize total)
{
    Stream *stream = reader->stream;
    BbCursor body = bb_cursor(reader->view->data + reader->at + head, prefix - head);
    if (type == 'd')
        note_replication(reader, body, total - head);
    BbPart *part = is_client(reader) ? client_part(reader, type) : server_part(reader, type, body);
    flush(reader);
    if (part == &stream->aside)
        bb_part_reset(part);
    belong(reader, part);
    if (is_client(reader))
        begin_client(reader, type, body, prefix == total);
    else
        begin_server(reader, type, body);
    stream->part = part;
    stream->type = type;
    stream->in_message = true;
    stream->known = true;
    stream->end_seq = reader->view->seq + reader->at + total;
    reader->at += prefix;
    // What is sent over several packets is opened early: the rest may be missing.
    BbPostgresRequest *request = &reader->pg->request;
    if (part == &request->part && strchr("QF\1\2", type) && !request->call) {
        flush(reader);
        bb_postgres_request_open(request, reader->dialog, 0);
    }
}

typedef enum { STEP_ON, STEP_WAIT, STEP_BAD } Step;

// Packets without a type begin with the high byte of their length, which is 0.
static Step read_packet(Reader *reader)
{
    if (left(reader) < BB_POSTGRES_STARTUP_HEAD)
        return STEP_WAIT;
    BbCursor cursor = bb_cursor(reader->view->data + reader->at, BB_POSTGRES_STARTUP_HEAD);
    guint32 total = bb_cursor_be32(&cursor), code = bb_cursor_be32(&cursor);
    if (total < BB_POSTGRES_STARTUP_HEAD || total > BB_POSTGRES_STARTUP_MAX)
        return STEP_BAD;
    guint8 type = PACKET_STARTUP;
    if (code == BB_POSTGRES_CANCEL)
        type = PACKET_CANCEL;
    else if (code == BB_POSTGRES_SSL || code == BB_POSTGRES_GSS)
        type = PACKET_ENCRYPT;
    else if (code >> 16 != BB_POSTGRES_VERSION_3)
        return STEP_BAD;
    if (type == PACKET_ENCRYPT) {
        bb_postgres_request_command(&reader->pg->request, reader->dialog,
                                    code == BB_POSTGRES_SSL ? "SSLRequest" : "GSSENCRequest");
        reader->pg->phase = PHASE_ASKED;
    }
    begin_message(reader, type, BB_POSTGRES_STARTUP_HEAD, BB_POSTGRES_STARTUP_HEAD, total);
    return STEP_ON;
}

static Step read_head(Reader *reader)
{
    const guint8 *head = reader->view->data + reader->at;
    gsize total, there = left(reader);
    if (there < BB_POSTGRES_HEAD)
        return STEP_WAIT;
    if (!bb_postgres_head(reader->view->direction, head, &total))
        return STEP_BAD;
    gsize prefix = BB_POSTGRES_HEAD + MIN(wanted(reader, head[0]), total - BB_POSTGRES_HEAD);
    if (there < prefix && !reader->view->closed)
        return STEP_WAIT;
    begin_message(reader, head[0], BB_POSTGRES_HEAD, MIN(prefix, there), total);
    return STEP_ON;
}

static Step continue_message(Reader *reader)
{
    Stream *stream = reader->stream;
    gint64 rest = (gint64)(stream->end_seq - (reader->view->seq + reader->at));
    belong(reader, stream->part);
    stream->lost = rest < 0; // a gap went beyond its end
    rest = MAX(rest, 0);
    gsize count = MIN((gsize)rest, left(reader));
    reader->at += count;
    if (count < (gsize)rest) {
        flush(reader);
        bb_dialog_skip(reader->dialog, reader->view->direction, (gsize)rest - count, stream->part);
        return STEP_WAIT;
    }
    stream->in_message = false;
    if (is_client(reader))
        end_client(reader, stream->type);
    else
        end_server(reader, stream->type);
    return STEP_ON;
}

// ---- finding the place again ------------------------------------------------------------------

// Looks for messages at the start of each packet: there answers and requests begin as a rule.
static Step find_message(Reader *reader)
{
    Stream *stream = reader->stream;
    belong(reader, NULL);
    while (left(reader)) {
        BbPostgresChain chain = bb_postgres_chain(reader->view->direction,
                                                  reader->view->data + reader->at, left(reader));
        if (!chain.broken && chain.shown) {
            stream->lost = false;
            bb_dialog_resynced(reader->dialog);
            return STEP_ON;
        }
        if (!chain.broken && !reader->view->closed && left(reader) < BB_POSTGRES_TEXT_MAX)
            return STEP_WAIT;
        gsize next = bb_view_next_packet(reader->view, reader->at);
        bb_dialog_pass_over(reader->dialog, reader->view, reader->at, next);
        reader->at = reader->from = next;
    }
    return STEP_WAIT;
}

static Step step(Reader *reader)
{
    Postgres *pg = reader->pg;
    if (reader->stream->in_message)
        return continue_message(reader);
    if (reader->stream->lost)
        return find_message(reader);
    if (!left(reader))
        return STEP_WAIT;
    guint8 first = reader->view->data[reader->at];
    bool early = pg->phase == PHASE_START || pg->phase == PHASE_ASKED;
    if (is_client(reader) && early && first == 0)
        return read_packet(reader);
    if (is_client(reader) && pg->phase == PHASE_ASKED && first == 0x16) {
        bb_dialog_switch(reader->dialog); // TLS: the answer was not seen
        return STEP_WAIT;
    }
    if (!is_client(reader) && pg->phase == PHASE_ASKED && read_encryption(reader))
        return STEP_WAIT; // called again, maybe as another decoder
    return read_head(reader);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Postgres *pg = state;
    Reader reader = {
        .dialog = dialog, .pg = pg, .stream = &pg->stream[view->direction], .view = view};
    Step next;
    do {
        next = step(&reader);
        // A side whose first bytes make no sense is no PostgreSQL, unless it was joined midway.
        if (next == STEP_BAD && !reader.stream->known && pg->phase != PHASE_SESSION)
            return BB_PARSE_BAD;
        reader.stream->lost |= next == STEP_BAD;
    } while (next != STEP_WAIT);
    flush(&reader);
    return (gssize)reader.at;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Postgres *pg = state;
    Stream *stream = &pg->stream[direction];
    stream->lost |= !stream->in_message;
    if (direction == BB_TO_SERVER) {
        if (pg->request.part.begun && !pg->request.call)
            bb_postgres_request_open(&pg->request, dialog, TAG_EXTENDED);
        return;
    }
    pg->headless = true;
    pg->passing = false; // the end of what is passed over may be among the missing
    end_reply(dialog, pg, pg->status);
    stream->part = &stream->aside;
}

static void finish(BbDialog *dialog, void *state)
{
    Postgres *pg = state;
    if (pg->request.part.begun)
        bb_postgres_request_end(&pg->request, dialog, TAG_EXTENDED);
    // An error that nobody asked for, then the end: the server shuts down.
    if (pg->reply.begun && bb_dialog_oldest(dialog, &pg->reply))
        end_reply(dialog, pg, pg->status);
    else if (pg->reply.begun)
        bb_dialog_message(dialog, &pg->reply, BB_NAME_NONE, pg->status);
    bb_postgres_request_clear(&pg->request);
}

static gsize held(const void *state)
{
    const BbStatements *statements = ((const Postgres *)state)->request.statements;
    return statements ? bb_statements_held(statements) : 0;
}

// Their executions are labelled EXECUTE from now on.
static void let_go(BbDialog *dialog, void *state)
{
    bb_postgres_request_clear(&((Postgres *)state)->request);
}

const BbDecoder bb_decoder_postgres = {
    .name = "postgresql",
    .about = "PostgreSQL, protocol 3: in order of the requests",
    .tcp = true,
    .ports = {5432, 6432}, // 6432: PgBouncer
    .state_size = sizeof(Postgres),
    .probe = bb_postgres_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
