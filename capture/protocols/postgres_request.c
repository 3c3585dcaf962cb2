// SPDX-License-Identifier: Apache-2.0
// In: messages of a PostgreSQL client. Out: the label of the call that they make together.
#include "capture/protocols/postgres_request.h"

#include "capture/protocols/postgres_message.h"
#include "capture/protocols/sql_lexer.h"

void bb_postgres_request_clear(BbPostgresRequest *request)
{
    g_clear_pointer(&request->statements, bb_statements_free);
}

static void name_request(BbPostgresRequest *request, guint32 label, BbPostgresRank rank)
{
    if (rank <= request->rank || label == BB_NAME_NONE)
        return;
    request->label = label;
    request->rank = (guint8)rank;
}

static void name_by_statement(BbPostgresRequest *request, guint32 label)
{
    bool opens = label == request->opening[0] || label == request->opening[1];
    name_request(request, label, opens ? BB_POSTGRES_OPENING : BB_POSTGRES_STATEMENT);
}

void bb_postgres_request_command(BbPostgresRequest *request, BbDialog *dialog, const char *command)
{
    if (request->rank == BB_POSTGRES_UNNAMED)
        name_request(request, bb_dialog_label(dialog, command, strlen(command)),
                     BB_POSTGRES_COMMAND);
}

// ---- statements -------------------------------------------------------------------------------

// Takes a text that ends with NUL, or with the bytes that are there. ended: the NUL is there.
static const char *take_text(BbCursor *body, gsize *length, bool *ended)
{
    const guint8 *text = body->at;
    const guint8 *nul = body->left ? memchr(text, 0, body->left) : NULL;
    *ended = nul != NULL;
    *length = nul ? (gsize)(nul - text) : body->left;
    bb_cursor_skip(body, *length + *ended);
    return (const char *)text;
}

static void note_verb(BbPostgresRequest *request, guint32 label, const guint8 *text, gsize length)
{
    BbSqlLexer lexer = {.at = text, .end = text + length};
    BbSqlToken verb = bb_sql_next(&lexer);
    request->copies |= bb_sql_is_word(&verb, "COPY");
    if (bb_sql_is_word(&verb, "BEGIN"))
        request->opening[0] = label;
    if (bb_sql_is_word(&verb, "START"))
        request->opening[1] = label;
}

// cut: by what is there of the body.
static guint32 read_text(BbPostgresRequest *request, BbDialog *dialog, BbCursor body, bool cut)
{
    gsize length;
    bool ended;
    const guint8 *text = (const guint8 *)take_text(&body, &length, &ended);
    guint32 label = bb_statement_label(dialog, NULL, text, length, cut && !ended);
    note_verb(request, label, text, length);
    name_by_statement(request, label);
    return label;
}

static void read_query(BbPostgresRequest *request, BbDialog *dialog, BbCursor body, bool whole)
{
    (void)read_text(request, dialog, body, !whole && body.left < BB_POSTGRES_TEXT_MAX);
}

static void read_parse(BbPostgresRequest *request, BbDialog *dialog, BbCursor body, bool whole)
{
    bool cut = !whole && body.left < BB_POSTGRES_TEXT_MAX;
    gsize name_length;
    bool named;
    const char *name = take_text(&body, &name_length, &named);
    guint32 label = read_text(request, dialog, body, cut);
    if (!named)
        return;
    if (name_length == 0) {
        request->unnamed = label;
        return;
    }
    if (!request->statements)
        request->statements = bb_statements_new();
    bb_statements_set(request->statements, name, name_length, label);
}

static guint32 find_statement(const BbPostgresRequest *request, const char *name, gsize length)
{
    if (length == 0)
        return request->unnamed;
    return request->statements ? bb_statements_get(request->statements, name, length)
                               : BB_NAME_NONE;
}

// A message that uses a statement: named by it if it is known, else by what is done with it.
static void read_use(BbPostgresRequest *request, BbDialog *dialog, BbCursor body,
                     const char *command)
{
    gsize length;
    bool ended;
    const char *name = take_text(&body, &length, &ended);
    if (ended)
        name_by_statement(request, find_statement(request, name, length));
    bb_postgres_request_command(request, dialog, command);
}

// Describe and Close of a statement ('S') or of a portal ('P').
static void read_target(BbPostgresRequest *request, BbDialog *dialog, BbCursor body, guint8 type)
{
    bool statement = bb_cursor_u8(&body) == 'S';
    if (type == 'D' && statement) {
        read_use(request, dialog, body, "DESCRIBE");
        return;
    }
    gsize length;
    bool ended;
    const char *name = take_text(&body, &length, &ended);
    if (statement && ended && request->statements)
        bb_statements_remove(request->statements, name, length);
    bb_postgres_request_command(request, dialog, type == 'D' ? "DESCRIBE" : "CLOSE");
}

void bb_postgres_request_read(BbPostgresRequest *request, BbDialog *dialog, guint8 type,
                              BbCursor body, bool whole)
{
    gsize length;
    bool ended;
    switch (type) {
    case 'Q':
        read_query(request, dialog, body, whole);
        break;
    case 'P':
        read_parse(request, dialog, body, whole);
        break;
    case 'B':
        (void)take_text(&body, &length, &ended); // the portal
        read_use(request, dialog, body, "EXECUTE");
        break;
    case 'D':
    case 'C':
        read_target(request, dialog, body, type);
        break;
    case 'E':
        bb_postgres_request_command(request, dialog, "EXECUTE");
        break;
    case 'F':
        bb_postgres_request_command(request, dialog, "FunctionCall");
        break;
    default:
        break;
    }
}

// ---- the call ---------------------------------------------------------------------------------

void bb_postgres_request_open(BbPostgresRequest *request, BbDialog *dialog, guint32 tag)
{
    request->call = bb_dialog_open(dialog, &request->part, request->label, 0, tag);
}

bool bb_postgres_request_wait(BbPostgresRequest *request, BbDialog *dialog, guint32 tag)
{
    if (!request->copies || request->waits)
        return false;
    if (!request->call)
        bb_postgres_request_open(request, dialog, tag);
    bb_dialog_grown(dialog, request->call, &request->part);
    request->waits = true;
    bb_part_reset(&request->data); // what came behind an error
    return true;
}

void bb_postgres_request_end(BbPostgresRequest *request, BbDialog *dialog, guint32 tag)
{
    if (!request->call)
        bb_postgres_request_open(request, dialog, tag);
    if (request->waits)
        bb_part_join(&request->part, &request->data);
    bb_dialog_sent(dialog, request->call, &request->part);
    request->call = 0;
    request->label = BB_NAME_NONE;
    request->rank = BB_POSTGRES_UNNAMED;
    request->copies = request->waits = false;
    bb_part_reset(&request->part);
}
