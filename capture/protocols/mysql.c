// SPDX-License-Identifier: Apache-2.0
// In: a connection in MySQL's client/server protocol (MySQL Internals; MariaDB Knowledge Base).
// Out: a call for each command that is answered, in order, with verb and table as label and the
// error's number as status.
//
// The greeting is a free message; the login is one call, its rounds included. What the server asks
// for (a file, a password in another form) belongs to the call, and the question to nothing. What
// is executed is labelled by the text it was prepared from. A result ends with the last of its sets
// of rows. Of a binary log the first event is the return, those behind it are free messages.
//
// Compressed connections are not read: they are counted and left to the turns. After SSLRequest
// the connection is another protocol's.
#include "capture/protocols/framing.h"
#include "capture/protocols/mysql_reply.h"
#include "capture/protocols/sql_lexer.h"
#include "capture/protocols/statements.h"

#define GREETING_MAX 512u
#define RESPONSE_HEAD 36u // bytes of a HandshakeResponse that are looked at
#define SSL_REQUEST 32u   // its length
#define TAG_LONG 0x100u   // the request took several packets: the reply's first number is not 1
#define TAG_LOGIN 0x200u  // a HandshakeResponse
#define LAST_PREPARED G_MAXUINT32 // MariaDB: id of the statement prepared last
#define EVENT_SHOWN 20u           // bytes of a packet that tell an event
// First byte of what a replica says while it reads a binary log, and of what may stand before an
// event.
#define SEMI_SYNC 0xef

typedef enum { PHASE_START, PHASE_GREETED, PHASE_COMMANDS } Phase;

// What the packet under way is.
typedef enum {
    ROLE_NOTHING,
    ROLE_REQUEST,
    ROLE_SSL, // a request for encryption
    ROLE_REPLY,
    ROLE_FREE,
} Role;

typedef struct Way {
    guint32 label;  // of the request or the free message under way
    guint32 status; // likewise
    guint8 role;
    bool more; // its payload goes on in the next packet
} Way;

typedef struct Mysql {
    BbFrames frames;
    Way way[2];
    BbPart request, reply;
    guint64 call;     // of request; 0: it is one-way
    guint64 answered; // call of reply
    guint32 last_prepared;
    guint32 capabilities;
    BbMysqlReply answer;
    BbMysqlLayout layout;
    BbStatements *statements; // NULL until there are any
    guint8 phase;
    guint8 sequence; // of the server's last packet, or of the client's file behind it
    bool streaming;  // a binary log
    bool waits;      // request is not ended: the server may ask for more of it
    bool asked;      // it did, and its reply has not begun
} Mysql;

// ---- names --------------------------------------------------------------------------------------

static guint32 name(BbDialog *dialog, const char *text)
{
    return bb_dialog_label(dialog, text, strlen(text));
}

static guint32 error_status(BbDialog *dialog, guint16 code)
{
    char text[8];
    if (!code)
        return bb_dialog_status(dialog, "ok", 2);
    return bb_dialog_status(dialog, text, (gsize)g_snprintf(text, sizeof text, "%u", code));
}

// ---- requests -----------------------------------------------------------------------------------

static void end_request(BbDialog *dialog, Mysql *mysql)
{
    if (!mysql->request.begun)
        return;
    if (mysql->call)
        bb_dialog_sent(dialog, mysql->call, &mysql->request);
    else
        bb_dialog_message(dialog, &mysql->request, mysql->way[BB_TO_SERVER].label, BB_NAME_NONE);
    mysql->call = 0;
    mysql->waits = false;
    bb_part_reset(&mysql->request);
}

// The request is there, as far as it was not asked for.
static void rest_request(BbDialog *dialog, Mysql *mysql)
{
    if (mysql->waits)
        bb_dialog_grown(dialog, mysql->call, &mysql->request);
    else
        end_request(dialog, mysql);
}

static guint32 executed_label(BbDialog *dialog, const Mysql *mysql, BbCursor payload)
{
    bb_cursor_skip(&payload, 1);
    const guint8 *id = bb_cursor_take(&payload, 4);
    BbCursor number = bb_cursor(id, id ? 4 : 0);
    guint32 label = BB_NAME_NONE;
    if (id && bb_cursor_le32(&number) == LAST_PREPARED)
        label = mysql->last_prepared;
    else if (id && mysql->statements)
        label = bb_statements_get(mysql->statements, id, 4);
    return label ? label : name(dialog, "EXECUTE ?");
}

// LOAD DATA, LOAD XML: maybe of a local file.
static bool loads(BbCursor text)
{
    BbSqlLexer lexer = {.at = text.at, .end = text.at + text.left};
    BbSqlToken verb = bb_sql_next(&lexer);
    return bb_sql_is_word(&verb, "LOAD");
}

static guint32 command_label(BbDialog *dialog, Mysql *mysql, const BbMysqlCommand *command,
                             BbCursor payload, bool cut)
{
    BbCursor text = payload;
    bb_cursor_skip(&text, 1);
    guint32 label = BB_NAME_NONE;
    switch (command->code) {
    case BB_MYSQL_QUERY:
        text = bb_mysql_query_text(payload, mysql->capabilities & BB_MYSQL_QUERY_ATTRIBUTES);
        label = bb_statement_label(dialog, NULL, text.at, text.left, cut);
        mysql->waits = loads(text);
        break;
    case BB_MYSQL_STMT_PREPARE:
        mysql->last_prepared = bb_statement_label(dialog, NULL, text.at, text.left, cut);
        label = bb_statement_label(dialog, "PREPARE", text.at, text.left, cut);
        break;
    case BB_MYSQL_STMT_EXECUTE:
    case BB_MYSQL_BULK_EXECUTE:
        label = executed_label(dialog, mysql, payload);
        break;
    default:
        break;
    }
    return label ? label : name(dialog, command->name);
}

static void note_statement(Mysql *mysql, const BbMysqlCommand *command, BbCursor payload)
{
    bb_cursor_skip(&payload, 1);
    const guint8 *id = bb_cursor_take(&payload, 4);
    if (command->code == BB_MYSQL_STMT_PREPARE) {
        if (!mysql->statements)
            mysql->statements = bb_statements_new();
        bb_statements_ask(mysql->statements, mysql->call, mysql->last_prepared);
    } else if (command->code == BB_MYSQL_STMT_CLOSE && mysql->statements && id) {
        bb_statements_remove(mysql->statements, id, 4);
    }
}

// front: the payload as far as it is there.
static Role begin_command(BbDialog *dialog, Mysql *mysql, BbCursor front, guint32 length,
                          const BbPart *part)
{
    const BbMysqlCommand *command = front.left ? bb_mysql_command(front.at[0]) : NULL;
    Way *way = &mysql->way[BB_TO_SERVER];
    end_request(dialog, mysql); // nobody asked for more of the last one
    mysql->phase = PHASE_COMMANDS;
    if (!command) {
        way->label = name(dialog, "SEMI_SYNC_ACK");
        way->status = BB_NAME_NONE;
        return ROLE_FREE;
    }
    bool cut = front.left < length && front.left <= BB_MYSQL_TEXT_MAX;
    mysql->streaming = false;
    mysql->waits = command->shape == BB_MYSQL_LOGIN;
    way->label = command_label(dialog, mysql, command, front, cut);
    mysql->call = 0;
    guint32 tag = command->code | (length == BB_MYSQL_FULL ? TAG_LONG : 0);
    if (command->shape != BB_MYSQL_ONE_WAY)
        mysql->call = bb_dialog_open(dialog, part, way->label, 0, tag);
    note_statement(mysql, command, front);
    return ROLE_REQUEST;
}

// A HandshakeResponse, or an answer in a later round.
static Role begin_login(BbDialog *dialog, Mysql *mysql, BbCursor front, guint32 length,
                        const BbPart *part)
{
    Way *way = &mysql->way[BB_TO_SERVER];
    guint32 capabilities;
    if (bb_dialog_open_calls(dialog) > 0)
        return ROLE_NOTHING;
    if (!bb_mysql_response_read(front, &capabilities))
        capabilities = 0;
    bool greeted = mysql->phase == PHASE_GREETED;
    mysql->capabilities = greeted ? mysql->capabilities & capabilities : capabilities;
    if (mysql->capabilities) {
        mysql->layout.known = true;
        mysql->layout.eof = !(mysql->capabilities & BB_MYSQL_DEPRECATE_EOF);
        mysql->layout.optional_metadata = mysql->capabilities & BB_MYSQL_OPTIONAL_METADATA;
    }
    bool ssl = length == SSL_REQUEST && mysql->capabilities & BB_MYSQL_SSL;
    mysql->phase = PHASE_GREETED;
    way->label = name(dialog, ssl ? "SSLRequest" : "login");
    mysql->call = ssl ? 0 : bb_dialog_open(dialog, part, way->label, 0, TAG_LOGIN);
    mysql->waits = !ssl;
    return ssl ? ROLE_SSL : ROLE_REQUEST;
}

// Whether the client is to send a local file, which goes up to a packet without payload. Its
// packets have any number: they go round after 255.
static bool wants_file(const Mysql *mysql)
{
    return mysql->answer.asks && mysql->answer.shape == BB_MYSQL_RESULT;
}

static Role begin_client(BbDialog *dialog, Mysql *mysql, BbCursor front, BbMysqlHead head,
                         const BbPart *part)
{
    Role asked_for = mysql->waits && mysql->asked ? ROLE_REQUEST : ROLE_NOTHING;
    if (wants_file(mysql)) {
        mysql->answer.asks = head.length > 0;
        mysql->waits &= head.length > 0;
        mysql->sequence = head.sequence; // where the server's go on
        return asked_for;
    }
    if (head.sequence == 0)
        return begin_command(dialog, mysql, front, head.length, part);
    if (asked_for == ROLE_REQUEST || mysql->phase == PHASE_COMMANDS) // a password
        return asked_for;
    return begin_login(dialog, mysql, front, head.length, part);
}

// ---- replies ------------------------------------------------------------------------------------

static void keep_statement(Mysql *mysql)
{
    const BbMysqlReply *answer = &mysql->answer;
    guint32 number = GUINT32_TO_LE(answer->statement);
    if (!answer->prepared || !mysql->statements)
        return;
    guint32 label = bb_statements_take_asked(mysql->statements, mysql->answered);
    if (label)
        bb_statements_set(mysql->statements, &number, sizeof number, label);
}

static bool is_compressed(const Mysql *mysql)
{
    return mysql->layout.known && mysql->capabilities & (BB_MYSQL_COMPRESS | BB_MYSQL_ZSTD);
}

static void end_login(BbDialog *dialog, Mysql *mysql)
{
    mysql->phase = PHASE_COMMANDS;
    if (mysql->answer.error || !is_compressed(mysql))
        return;
    bb_dialog_count(dialog, BB_COMPRESSED_STREAMS);
    bb_dialog_switch_to(dialog, &bb_decoder_turns);
}

static void end_reply(BbDialog *dialog, Mysql *mysql)
{
    BbMysqlReply *answer = &mysql->answer;
    if (!mysql->reply.begun)
        return;
    bool known = answer->over || answer->error;
    guint32 status = known ? error_status(dialog, answer->error) : BB_NAME_NONE;
    keep_statement(mysql);
    bb_dialog_return(dialog, mysql->answered, &mysql->reply, status);
    bb_part_reset(&mysql->reply);
    if (answer->shape == BB_MYSQL_STREAM && answer->over)
        mysql->streaming = !answer->error;
    if (answer->shape == BB_MYSQL_LOGIN && answer->over && mysql->phase == PHASE_GREETED)
        end_login(dialog, mysql);
    bb_mysql_reply_begin(answer, NULL);
    mysql->answered = 0;
}

// No more of it is to be seen.
static void give_up_reply(BbDialog *dialog, Mysql *mysql)
{
    end_reply(dialog, mysql);
    if (mysql->asked)
        bb_mysql_reply_begin(&mysql->answer, NULL);
    mysql->asked = false;
}

static Role begin_free(BbDialog *dialog, Mysql *mysql, const char *label, BbCursor front)
{
    guint8 first = front.left ? front.at[0] : 0;
    guint16 error = first == BB_MYSQL_ERROR ? bb_mysql_error_code(front) : 0;
    Way *way = &mysql->way[BB_TO_CLIENT];
    way->label = label ? name(dialog, label) : BB_NAME_NONE;
    way->status = error ? error_status(dialog, error) : BB_NAME_NONE;
    return ROLE_FREE;
}

static Role begin_greeting(BbDialog *dialog, Mysql *mysql, BbCursor front)
{
    BbMysqlGreeting greeting;
    mysql->capabilities = G_MAXUINT32;
    if (bb_mysql_greeting_read(&greeting, front))
        mysql->capabilities = greeting.capabilities;
    mysql->phase = PHASE_GREETED;
    return begin_free(dialog, mysql, "greeting", front);
}

// The first packet of a reply. False: it is of none, the rest of one that was not seen.
static bool begin_reply(BbDialog *dialog, Mysql *mysql, BbMysqlHead head, const BbPart *part)
{
    const BbOpenCall *open = bb_dialog_oldest(dialog, part);
    bool login = mysql->phase == PHASE_GREETED || (open && open->tag & TAG_LOGIN);
    if (head.sequence != 1 && !login && !(open && open->tag & TAG_LONG))
        return false;
    mysql->answered = open ? open->call : 0;
    bb_mysql_reply_begin(&mysql->answer, open ? bb_mysql_command((guint8)open->tag) : NULL);
    if (login)
        mysql->answer.shape = BB_MYSQL_LOGIN;
    return true;
}

// Reads a packet of a reply, or a question that comes before it.
static Role read_reply(BbDialog *dialog, Mysql *mysql, BbCursor front, guint32 length)
{
    bb_mysql_reply_read(&mysql->answer, &mysql->layout, front, length);
    mysql->asked = mysql->answer.asks && !mysql->reply.begun;
    if (mysql->asked)
        return ROLE_NOTHING;
    if (mysql->waits && mysql->answered == mysql->call)
        end_request(dialog, mysql);
    return ROLE_REPLY;
}

// before: number of the packet before.
static Role begin_server(BbDialog *dialog, Mysql *mysql, BbCursor front, BbMysqlHead head,
                         guint8 before, const BbPart *part)
{
    guint8 first = front.left ? front.at[0] : 0;
    if (mysql->streaming) {
        mysql->streaming = first == BB_MYSQL_OK;
        return begin_free(dialog, mysql, "BINLOG", front);
    }
    if (head.sequence == 0 && mysql->phase == PHASE_START)
        return begin_greeting(dialog, mysql, front);
    if (head.sequence == 0 && first == BB_MYSQL_ERROR && !mysql->reply.begun) // then it closes
        return begin_free(dialog, mysql, NULL, front);
    if (mysql->phase == PHASE_START)
        mysql->phase = PHASE_COMMANDS;
    if (head.sequence == 1 && before != 0 && !wants_file(mysql))
        give_up_reply(dialog, mysql); // this is another one, whatever was missing of the last
    bool begun = mysql->reply.begun || mysql->asked;
    if (!begun && !begin_reply(dialog, mysql, head, part)) {
        if (first == BB_MYSQL_EOF && head.length == 5)
            mysql->layout.known = mysql->layout.eof = true;
        return ROLE_NOTHING;
    }
    return read_reply(dialog, mysql, front, head.length);
}

// ---- packets ------------------------------------------------------------------------------------

static bool is_possible(const Mysql *mysql, BbDirection direction, BbMysqlHead head,
                        BbCursor payload)
{
    if (mysql->way[direction].more || (direction == BB_TO_SERVER && wants_file(mysql)))
        return true;
    if (head.length == 0) // the end of a local file
        return direction == BB_TO_SERVER && head.sequence != 0;
    if (direction == BB_TO_CLIENT)
        return !mysql->reply.begun || bb_mysql_reply_fits(&mysql->answer, payload);
    if (head.sequence != 0)
        return mysql->phase != PHASE_COMMANDS || mysql->reply.begun || mysql->call;
    const BbMysqlCommand *command = bb_mysql_command(payload.at[0]);
    if (!command)
        return mysql->streaming && payload.at[0] == SEMI_SYNC;
    return head.length >= command->least && head.length <= command->most;
}

// Rows that are there whole are one frame together: there may be very many of them.
static gsize whole_rows(const Mysql *mysql, const guint8 *data, gsize length)
{
    gsize at = 0;
    while (length - at > BB_MYSQL_HEAD) {
        guint32 row = bb_mysql_head(data + at).length;
        if (!row || row == BB_MYSQL_FULL || row > length - at - BB_MYSQL_HEAD ||
            !bb_mysql_reply_is_row(&mysql->answer, data[at + BB_MYSQL_HEAD]))
            break;
        at += BB_MYSQL_HEAD + row;
    }
    return at;
}

static gsize wanted(const Mysql *mysql, BbDirection direction, BbMysqlHead head, guint8 first)
{
    if (direction == BB_TO_CLIENT)
        return mysql->phase == PHASE_START && head.sequence == 0 ? GREETING_MAX : BB_MYSQL_SHOWN;
    if (head.sequence != 0 || wants_file(mysql))
        return mysql->phase == PHASE_COMMANDS ? 0 : RESPONSE_HEAD;
    bool text = first == BB_MYSQL_QUERY || first == BB_MYSQL_STMT_PREPARE;
    return text ? 1 + BB_MYSQL_TEXT_MAX : BB_MYSQL_SHOWN;
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Mysql *mysql = state;
    if (length < BB_MYSQL_HEAD)
        return BB_FRAME_MORE;
    BbMysqlHead head = bb_mysql_head(data);
    const Way *way = &mysql->way[direction];
    BbCursor payload =
        bb_cursor(data + BB_MYSQL_HEAD, MIN(length - BB_MYSQL_HEAD, (gsize)head.length));
    if (payload.left < MIN(4u, head.length)) // enough to tell
        return BB_FRAME_MORE;
    if (!is_possible(mysql, direction, head, payload))
        return BB_FRAME_BAD;
    gsize rows = direction == BB_TO_CLIENT && mysql->reply.begun && !way->more
                     ? whole_rows(mysql, data, length)
                     : 0;
    gsize front =
        way->more || rows || !head.length ? 0 : wanted(mysql, direction, head, payload.at[0]);
    *frame = (BbFrameSize){
        .length = rows ? rows : BB_MYSQL_HEAD + head.length,
        .wanted = rows ? rows : BB_MYSQL_HEAD + MIN(front, (gsize)head.length),
    };
    return BB_FRAME_OK;
}

// Number of the last one of the packets whose heads are there.
static guint8 last_sequence(BbCursor c)
{
    guint8 sequence = 0;
    while (c.left >= BB_MYSQL_HEAD) {
        BbMysqlHead head = bb_mysql_head(bb_cursor_take(&c, BB_MYSQL_HEAD));
        sequence = head.sequence;
        bb_cursor_skip(&c, MIN((gsize)head.length, c.left));
    }
    return sequence;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Mysql *mysql = state;
    Way *way = &mysql->way[part->direction];
    BbMysqlHead head = bb_mysql_head(data);
    BbCursor front = bb_cursor(data + BB_MYSQL_HEAD, MIN(seen - BB_MYSQL_HEAD, (gsize)head.length));
    guint8 before = mysql->sequence;
    bool goes_on = way->more;
    way->more = head.length == BB_MYSQL_FULL;
    if (part->direction == BB_TO_CLIENT)
        mysql->sequence = last_sequence(bb_cursor(data, seen));
    if (goes_on)
        return;
    way->role = part->direction == BB_TO_SERVER
                    ? begin_client(dialog, mysql, front, head, part)
                    : begin_server(dialog, mysql, front, head, before, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Mysql *mysql = state;
    Way *way = &mysql->way[part->direction];
    switch ((Role)way->role) {
    case ROLE_NOTHING:
        break;
    case ROLE_FREE:
        bb_dialog_message(dialog, part, way->label, way->status);
        break;
    case ROLE_SSL:
    case ROLE_REQUEST:
        bb_part_join(&mysql->request, part);
        if (!way->more)
            rest_request(dialog, mysql);
        if (way->role == ROLE_SSL)
            bb_dialog_switch(dialog);
        break;
    case ROLE_REPLY:
        bb_part_join(&mysql->reply, part);
        if (mysql->answer.over && !way->more)
            end_reply(dialog, mysql);
        break;
    }
}

// What a direction had under way is over.
static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    Mysql *mysql = state;
    if (direction == BB_TO_SERVER)
        end_request(dialog, mysql);
    else
        give_up_reply(dialog, mysql);
    mysql->way[direction] = (Way){0};
}

// Whether an event of a binary log begins at c that is so long as it says.
static bool is_event(BbCursor c, guint32 length)
{
    bb_cursor_skip(&c, 4 + 1 + 4); // time, type, server
    return bb_cursor_le32(&c) == length && bb_cursor_ok(&c);
}

// Whether a packet with one begins here; semi-synchronous replication puts two bytes before it.
static bool is_event_packet(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data + BB_MYSQL_HEAD, length - BB_MYSQL_HEAD);
    guint32 rest = bb_mysql_head(data).length - 1;
    if (bb_cursor_u8(&c) != BB_MYSQL_OK)
        return false;
    BbCursor behind = c;
    bool marked = bb_cursor_u8(&behind) == SEMI_SYNC && bb_cursor_u8(&behind) <= 1;
    return is_event(c, rest) || (marked && is_event(behind, rest - 2));
}

// A plain OK without flags is a start only where somebody waits for it.
static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    const Mysql *mysql = state;
    const guint8 *data = view->data + at;
    gsize length = view->length - at;
    if (view->direction == BB_TO_SERVER)
        return bb_mysql_probe_client(data, length);
    if (mysql->streaming && length < EVENT_SHOWN)
        return BB_MATCH_MORE;
    if (mysql->streaming && is_event_packet(data, length))
        return BB_MATCH_LIKELY;
    BbMatch match = bb_mysql_probe_server(data, length);
    return match == BB_MATCH_MAYBE && bb_dialog_open_calls(dialog) ? BB_MATCH_LIKELY : match;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_mysql_probe,
    .find = find,
    .begin = begin,
    .end = end,
    .lose = lose,
};

// ---- the decoder --------------------------------------------------------------------------------

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Mysql *mysql = state;
    BbDirection direction = view->direction;
    bool is_tls = view->length >= 2 && view->data[0] == 0x16 && view->data[1] == 0x03;
    if (direction == BB_TO_SERVER && mysql->phase == PHASE_GREETED && is_tls &&
        !mysql->frames.side[direction].under_way) {
        bb_dialog_switch(dialog); // the SSLRequest was not seen
        return 0;
    }
    return bb_frames_parse(dialog, state, view);
}

static void finish(BbDialog *dialog, void *state)
{
    Mysql *mysql = state;
    bb_frames_finish(dialog, state);
    lose(dialog, state, BB_TO_SERVER);
    lose(dialog, state, BB_TO_CLIENT);
    g_clear_pointer(&mysql->statements, bb_statements_free);
}

static gsize held(const void *state)
{
    const BbStatements *statements = ((const Mysql *)state)->statements;
    return statements ? bb_statements_held(statements) : 0;
}

// Their executions are labelled `EXECUTE ?` from now on.
static void let_go(BbDialog *dialog, void *state)
{
    g_clear_pointer(&((Mysql *)state)->statements, bb_statements_free);
}

const BbDecoder bb_decoder_mysql = {
    .name = "mysql",
    .about = "MySQL and MariaDB: in order of the commands",
    .tcp = true,
    .takes_turns = true,
    .ports = {3306},
    .state_size = sizeof(Mysql),
    .framing = &framing,
    .probe = bb_mysql_probe,
    .parse = parse,
    .gap = bb_frames_gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
