// SPDX-License-Identifier: Apache-2.0
// In: the packets that answer a command of MySQL. Out: where the answer ends, and its error.
#include "capture/protocols/mysql_reply.h"

typedef enum {
    STAGE_HEAD,       // OK, ERR, a count of columns, ...
    STAGE_COLUMNS,    // definitions
    STAGE_BEHIND,     // an EOF behind the definitions, or the first row
    STAGE_ROWS,       // up to an EOF
    STAGE_PARAMETERS, // definitions of a prepared statement
    STAGE_BETWEEN,    // an EOF behind those, or the first column
    STAGE_RESULT,     // definitions of its columns
    STAGE_LAST_EOF,
} Stage;

void bb_mysql_reply_begin(BbMysqlReply *reply, const BbMysqlCommand *command)
{
    *reply = (BbMysqlReply){
        .shape = command ? command->shape : BB_MYSQL_RESULT,
        .cursor_opens = command && command->code == BB_MYSQL_STMT_EXECUTE,
        .stage = command && command->shape == BB_MYSQL_ROWS ? STAGE_ROWS : STAGE_HEAD,
    };
}

// An OK packet or an EOF of 5 bytes that ends a result: another one may follow.
static void end_result(BbMysqlReply *reply, BbCursor payload, guint32 length)
{
    bool more = bb_mysql_status_flags(payload, length) & BB_MYSQL_MORE_RESULTS;
    reply->stage = STAGE_HEAD;
    reply->over = !more || reply->shape != BB_MYSQL_RESULT;
}

static void read_error(BbMysqlReply *reply, BbCursor payload)
{
    guint16 code = bb_mysql_error_code(payload);
    if (!code) // of progress
        return;
    reply->error = code;
    reply->over = true;
}

static void read_columns(BbMysqlReply *reply, const BbMysqlLayout *layout, BbCursor payload)
{
    bool with_definitions;
    reply->columns = bb_mysql_column_count(payload, layout->optional_metadata, &with_definitions);
    reply->over = reply->columns == 0; // whatever it is, no set of rows
    if (!with_definitions)
        reply->columns = 0;
    reply->stage = reply->columns ? STAGE_COLUMNS : STAGE_BEHIND;
}

// ---- prepared statements ------------------------------------------------------------------------

// Behind the definitions of its columns.
static void end_definitions(BbMysqlReply *reply, const BbMysqlLayout *layout)
{
    reply->stage = STAGE_LAST_EOF;
    reply->over = !layout->known || !layout->eof;
}

static void read_prepared(BbMysqlReply *reply, const BbMysqlLayout *layout, BbCursor payload)
{
    bb_cursor_skip(&payload, 1);
    reply->statement = bb_cursor_le32(&payload);
    reply->columns = bb_cursor_le16(&payload);
    reply->parameters = bb_cursor_le16(&payload);
    reply->prepared = bb_cursor_ok(&payload);
    bb_cursor_skip(&payload, 3); // filler, warnings
    bool no_definitions = layout->optional_metadata && payload.left && payload.at[0] == 0;
    if (no_definitions || (!reply->columns && !reply->parameters) || !reply->prepared)
        reply->over = true;
    else
        reply->stage = reply->parameters ? STAGE_PARAMETERS : STAGE_RESULT;
}

// ---- packets ------------------------------------------------------------------------------------

static void read_result_head(BbMysqlReply *reply, const BbMysqlLayout *layout, BbCursor payload,
                             guint32 length)
{
    guint8 first = payload.left ? payload.at[0] : 0;
    if (first == BB_MYSQL_LOCAL_INFILE)
        reply->asks = true;
    else if (first == BB_MYSQL_EOF || (first == BB_MYSQL_OK && length >= 7))
        end_result(reply, payload, length);
    else
        read_columns(reply, layout, payload);
}

// caching_sha2_password: what the client sent will do, and OK follows.
static bool is_known_password(BbCursor payload)
{
    return bb_cursor_u8(&payload) == BB_MYSQL_AUTH_MORE && bb_cursor_u8(&payload) == 3;
}

static void read_head(BbMysqlReply *reply, const BbMysqlLayout *layout, BbCursor payload,
                      guint32 length)
{
    guint8 first = payload.left ? payload.at[0] : 0;
    if (first == BB_MYSQL_ERROR) {
        read_error(reply, payload);
        return;
    }
    switch ((BbMysqlShape)reply->shape) {
    case BB_MYSQL_RESULT:
        read_result_head(reply, layout, payload, length);
        break;
    case BB_MYSQL_PREPARE:
        read_prepared(reply, layout, payload);
        break;
    case BB_MYSQL_LOGIN:
        reply->over = first == BB_MYSQL_OK;
        reply->asks = !reply->over && !is_known_password(payload);
        break;
    case BB_MYSQL_FIELDS:
        reply->over = first == BB_MYSQL_EOF && length < BB_MYSQL_FULL;
        break;
    case BB_MYSQL_ONE_WAY:
    case BB_MYSQL_STATUS:
    case BB_MYSQL_TEXT:
    case BB_MYSQL_ROWS:
    case BB_MYSQL_STREAM:
        reply->over = true;
        break;
    }
}

static void read_row(BbMysqlReply *reply, BbCursor payload, guint32 length)
{
    guint8 first = payload.left ? payload.at[0] : 0;
    if (first == BB_MYSQL_ERROR)
        read_error(reply, payload);
    else if (first == BB_MYSQL_EOF && length < BB_MYSQL_FULL) // a row would be longer
        end_result(reply, payload, length);
}

static bool is_short_eof(BbCursor payload, guint32 length)
{
    return length == 5 && payload.left && payload.at[0] == BB_MYSQL_EOF;
}

// An EOF of 5 bytes that is no OK packet (7 at least): the old layout.
static bool learn_eof(BbMysqlLayout *layout, BbCursor payload, guint32 length)
{
    if (!is_short_eof(payload, length))
        return false;
    layout->known = layout->eof = true;
    return true;
}

static void read_behind(BbMysqlReply *reply, BbMysqlLayout *layout, BbCursor payload,
                        guint32 length)
{
    reply->stage = STAGE_ROWS;
    if (!learn_eof(layout, payload, length)) {
        read_row(reply, payload, length);
        return;
    }
    guint16 flags = bb_mysql_status_flags(payload, length);
    if (reply->cursor_opens && flags & BB_MYSQL_CURSOR)
        end_result(reply, payload, length);
}

void bb_mysql_reply_read(BbMysqlReply *reply, BbMysqlLayout *layout, BbCursor payload,
                         guint32 length)
{
    reply->asks = false;
    switch ((Stage)reply->stage) {
    case STAGE_HEAD:
        read_head(reply, layout, payload, length);
        break;
    case STAGE_COLUMNS:
        if (--reply->columns == 0)
            reply->stage = STAGE_BEHIND;
        break;
    case STAGE_BEHIND:
        read_behind(reply, layout, payload, length);
        break;
    case STAGE_ROWS:
        read_row(reply, payload, length);
        break;
    case STAGE_PARAMETERS:
        if (--reply->parameters == 0 && reply->columns)
            reply->stage = STAGE_BETWEEN;
        else if (reply->parameters == 0)
            end_definitions(reply, layout);
        break;
    case STAGE_BETWEEN:
        reply->stage = STAGE_RESULT;
        if (!learn_eof(layout, payload, length))
            bb_mysql_reply_read(reply, layout, payload, length);
        break;
    case STAGE_RESULT:
        if (--reply->columns == 0)
            end_definitions(reply, layout);
        break;
    case STAGE_LAST_EOF:
        reply->over = true;
        break;
    }
}

bool bb_mysql_reply_fits(const BbMysqlReply *reply, BbCursor payload)
{
    switch ((Stage)reply->stage) {
    case STAGE_COLUMNS:
    case STAGE_PARAMETERS:
    case STAGE_RESULT:
        return bb_mysql_is_definition(payload);
    case STAGE_LAST_EOF:
        return payload.left && payload.at[0] == BB_MYSQL_EOF;
    default:
        return true;
    }
}

bool bb_mysql_reply_is_row(const BbMysqlReply *reply, guint8 first)
{
    return reply->stage == STAGE_ROWS && first != BB_MYSQL_EOF && first != BB_MYSQL_ERROR;
}
