// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be packets of MySQL. Out: whether they are, and who sent them.
#include "capture/protocols/mysql_packet.h"
#include "capture/protocols/statements.h"

#define GREETING_LEAST 40u
#define GREETING_MOST 512u
#define RESPONSE_LEAST 32u // an SSLRequest
#define BELIEVED_MAX (16u * 1024u)

// The first packet.
typedef struct First {
    BbMysqlHead head;
    BbCursor payload; // as far as it is there
    BbCursor rest;    // behind it
    bool whole;
} First;

static First first_packet(const guint8 *data, gsize length)
{
    First first = {.head = bb_mysql_head(data)};
    gsize seen = MIN(length - BB_MYSQL_HEAD, first.head.length);
    first.payload = bb_cursor(data + BB_MYSQL_HEAD, seen);
    first.rest = bb_cursor(data + BB_MYSQL_HEAD + seen, length - BB_MYSQL_HEAD - seen);
    first.whole = seen == first.head.length;
    return first;
}

// ---- the client ---------------------------------------------------------------------------------

// Whether packets that begin at c are commands, as far as they are there.
static bool are_commands(BbCursor c)
{
    while (c.left > BB_MYSQL_HEAD) {
        BbMysqlHead head = bb_mysql_head(c.at);
        const BbMysqlCommand *command = bb_mysql_command(c.at[BB_MYSQL_HEAD]);
        if (head.sequence != 0 || !command || head.length < command->least ||
            head.length > command->most)
            return false;
        bb_cursor_skip(&c, BB_MYSQL_HEAD + MIN((gsize)head.length, c.left - BB_MYSQL_HEAD));
    }
    return true;
}

static bool holds(const guint8 *bytes, gsize from, gsize to, bool (*fits)(guint8))
{
    for (gsize i = from; i < to; i++)
        if (!fits(bytes[i]))
            return false;
    return true;
}

static bool is_name_byte(guint8 c)
{
    return c >= ' ' && c != 0x7f;
}

// Whether the payload of a command is as it has to be, in more than its length.
static bool fits_command(const First *first, guint8 code)
{
    BbCursor c = first->payload;
    bool whole;
    switch (code) {
    case BB_MYSQL_QUERY: {
        BbCursor text = bb_mysql_query_text(c, false);
        return bb_statement_begins(text.at, text.left, &whole) && (whole || first->whole);
    }
    case BB_MYSQL_STMT_PREPARE:
        return bb_statement_begins(c.at + 1, c.left - 1, &whole) && (whole || first->whole);
    case BB_MYSQL_STMT_EXECUTE: // id, flags, 1
        bb_cursor_skip(&c, 5);
        return bb_cursor_u8(&c) <= 0x0f && bb_cursor_le32(&c) == 1 && bb_cursor_ok(&c);
    case 0x02: // names
    case 0x05:
    case 0x06:
        return first->whole && holds(c.at, 1, c.left, is_name_byte);
    default:
        return first->whole;
    }
}

static BbMatch probe_command(const First *first)
{
    guint8 code = first->payload.at[0];
    const BbMysqlCommand *command = bb_mysql_command(code);
    if (!command || first->head.length < command->least || first->head.length > command->most)
        return BB_MATCH_NO;
    if (fits_command(first, code))
        return are_commands(first->rest) ? BB_MATCH_LIKELY : BB_MATCH_NO;
    bool text = code == BB_MYSQL_QUERY || code == BB_MYSQL_STMT_PREPARE;
    bool open = !first->whole && (text || first->head.length <= BELIEVED_MAX);
    bool short_text = first->payload.left < 64;
    return open && (!text || short_text) ? BB_MATCH_MORE : BB_MATCH_NO;
}

static BbMatch probe_response(const First *first)
{
    guint32 capabilities;
    if (first->head.length < RESPONSE_LEAST || first->head.length > BELIEVED_MAX)
        return BB_MATCH_NO;
    if (bb_mysql_response_read(first->payload, &capabilities))
        return BB_MATCH_REQUEST;
    return first->payload.left < RESPONSE_LEAST ? BB_MATCH_MORE : BB_MATCH_NO;
}

BbMatch bb_mysql_probe_client(const guint8 *data, gsize length)
{
    if (length < BB_MYSQL_HEAD)
        return BB_MATCH_MORE;
    First first = first_packet(data, length);
    if (first.head.length == 0 || first.head.sequence > 2) // 2: a login behind an SSLRequest
        return BB_MATCH_NO;
    if (!first.payload.left)
        return BB_MATCH_MORE;
    return first.head.sequence ? probe_response(&first) : probe_command(&first);
}

// ---- the server ---------------------------------------------------------------------------------

static BbMatch probe_greeting(const First *first)
{
    BbMysqlGreeting greeting;
    BbCursor c = first->payload;
    if (first->head.length < GREETING_LEAST || first->head.length > GREETING_MOST)
        return BB_MATCH_NO;
    if (bb_mysql_greeting_read(&greeting, first->payload))
        return BB_MATCH_REPLY;
    if (first->whole || bb_cursor_u8(&c) != 10)
        return BB_MATCH_NO;
    for (gsize i = 0; i < c.left && c.at[i]; i++) // the version
        if (!is_name_byte(c.at[i]) || (i < 2 && !g_ascii_isdigit(c.at[0])))
            return BB_MATCH_NO;
    return BB_MATCH_MORE;
}

// Codes are 1000 and above; before the login no SQLSTATE stands between them and their text.
static bool is_error(const First *first)
{
    BbCursor c = first->payload;
    guint16 code = bb_mysql_error_code(c);
    bb_cursor_skip(&c, 3);
    if (code < 1000 || !bb_cursor_ok(&c))
        return false;
    if (first->head.sequence == 0)
        return first->whole && c.left > 8 && !first->rest.left &&
               holds(c.at, 0, c.left, is_name_byte);
    if (bb_cursor_u8(&c) != '#' || c.left < 5)
        return false;
    for (gsize i = 0; i < 5; i++)
        if (!g_ascii_isdigit(c.at[i]) && !g_ascii_isupper(c.at[i]))
            return false;
    return true;
}

// Whether a column definition follows, packet number 2.
static BbMatch probe_definition(const First *first)
{
    BbCursor rest = first->rest;
    const guint8 *data = bb_cursor_take(&rest, BB_MYSQL_HEAD);
    if (!data)
        return first->rest.left && first->rest.at[0] == 0 ? BB_MATCH_NO : BB_MATCH_MORE;
    BbMysqlHead head = bb_mysql_head(data);
    if (head.sequence != first->head.sequence + 1 || head.length < 20)
        return BB_MATCH_NO;
    if (rest.left < 4)
        return BB_MATCH_MORE;
    return bb_mysql_is_definition(rest) ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

// What may stand behind the flags and warnings of an OK packet: a text, or texts with their
// lengths.
static bool ends_as_ok(BbCursor rest, guint16 flags)
{
    guint texts = flags & BB_MYSQL_STATE_CHANGED ? 2 : 1;
    if (holds(rest.at, 0, rest.left, is_name_byte))
        return true;
    for (guint i = 0; i < texts; i++)
        bb_cursor_skip(&rest, (gsize)bb_mysql_number(&rest));
    return bb_cursor_ok(&rest) && rest.left == 0;
}

static BbMatch probe_ok(const First *first)
{
    BbCursor c = first->payload;
    if (!first->whole)
        return first->head.length <= GREETING_MOST ? BB_MATCH_MORE : BB_MATCH_NO;
    if (first->head.length == 12 || first->head.length == 13) { // of a prepared statement
        bb_cursor_skip(&c, 5);
        guint16 columns = bb_cursor_le16(&c), parameters = bb_cursor_le16(&c);
        if (bb_cursor_u8(&c) == 0 && columns + parameters > 0 &&
            probe_definition(first) == BB_MATCH_LIKELY)
            return BB_MATCH_LIKELY;
    }
    c = first->payload;
    bb_cursor_skip(&c, 1);
    (void)bb_mysql_number(&c);
    (void)bb_mysql_number(&c);
    guint16 flags = bb_cursor_le16(&c);
    bb_cursor_skip(&c, 2);
    if (!bb_cursor_ok(&c) || first->rest.left || flags >= 0x8000 || !ends_as_ok(c, flags))
        return BB_MATCH_NO;
    return flags & 0x0003 ? BB_MATCH_LIKELY : BB_MATCH_MAYBE;
}

// A column definition that no number of columns precedes, whole: COM_FIELD_LIST is answered so.
static BbMatch probe_field(const First *first)
{
    if (first->payload.left >= 4 && !bb_mysql_is_definition(first->payload))
        return BB_MATCH_NO;
    if (first->head.length > GREETING_MOST)
        return BB_MATCH_NO;
    if (!first->whole)
        return BB_MATCH_MORE;
    return BB_MATCH_LIKELY;
}

static BbMatch probe_answer(const First *first)
{
    bool with_definitions;
    switch (first->payload.at[0]) {
    case BB_MYSQL_OK:
        return first->head.length < 7 ? BB_MATCH_NO : probe_ok(first);
    case BB_MYSQL_ERROR:
        if (is_error(first))
            return BB_MATCH_LIKELY;
        return first->payload.left < 9 && !first->whole ? BB_MATCH_MORE : BB_MATCH_NO;
    case BB_MYSQL_EOF:
        return first->whole && first->head.length >= 5 && !first->rest.left ? BB_MATCH_MAYBE
                                                                            : BB_MATCH_NO;
    case 3: // "def": of a list of fields
        if (first->head.length >= 20)
            return probe_field(first);
        G_GNUC_FALLTHROUGH;
    default:
        if (first->head.length > 4)
            return BB_MATCH_NO;
        if (!first->whole)
            return BB_MATCH_MORE;
        return bb_mysql_column_count(first->payload, false, &with_definitions)
                   ? probe_definition(first)
                   : BB_MATCH_NO;
    }
}

BbMatch bb_mysql_probe_server(const guint8 *data, gsize length)
{
    if (length < BB_MYSQL_HEAD)
        return BB_MATCH_MORE;
    First first = first_packet(data, length);
    if (first.head.length == 0 || first.head.sequence > 1)
        return BB_MATCH_NO;
    if (!first.payload.left)
        return BB_MATCH_MORE;
    if (first.head.sequence == 1)
        return probe_answer(&first);
    if (first.payload.at[0] != BB_MYSQL_ERROR)
        return probe_greeting(&first);
    if (is_error(&first))
        return BB_MATCH_LIKELY;
    return first.whole || first.head.length > GREETING_MOST ? BB_MATCH_NO : BB_MATCH_MORE;
}

// ---- either -------------------------------------------------------------------------------------

BbMatch bb_mysql_probe(const guint8 *data, gsize length)
{
    BbMatch client = bb_mysql_probe_client(data, length);
    BbMatch server = bb_mysql_probe_server(data, length);
    if (client > BB_MATCH_MAYBE || server == BB_MATCH_NO)
        return client;
    if (server > BB_MATCH_MAYBE || client == BB_MATCH_NO)
        return server;
    return MIN(client, server); // MORE before MAYBE
}
