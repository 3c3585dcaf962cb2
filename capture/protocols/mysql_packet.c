// SPDX-License-Identifier: Apache-2.0
// In: payloads of MySQL's packets. Out: what they say, without values.
#include "capture/protocols/mysql_packet.h"

#define ATTRIBUTES_MAX 512u // query attributes of a statement that are passed over
#define VERSION_MAX 120u    // bytes of a server's version
#define PROGRESS 0xffffu    // "error" of a MariaDB server that tells how far it is
#define ZEROS 19u           // bytes of a HandshakeResponse that are always 0

BbMysqlHead bb_mysql_head(const guint8 *head)
{
    return (BbMysqlHead){
        .length = head[0] | (guint32)head[1] << 8 | (guint32)head[2] << 16,
        .sequence = head[3],
    };
}

guint64 bb_mysql_number(BbCursor *c)
{
    guint8 first = bb_cursor_u8(c);
    if (first < 0xfb)
        return first;
    guint64 low = 0;
    switch (first) {
    case 0xfc:
        return bb_cursor_le16(c);
    case 0xfd:
        low = bb_cursor_le16(c);
        return low | (guint64)bb_cursor_u8(c) << 16;
    case 0xfe:
        low = bb_cursor_le32(c);
        return low | (guint64)bb_cursor_le32(c) << 32;
    default:
        bb_cursor_skip(c, c->left + 1);
        return 0;
    }
}

// ---- commands ---------------------------------------------------------------------------------

#define ANY G_MAXUINT32
#define NAME 1024u // bytes of a payload that holds a name or two

static const BbMysqlCommand commands[] = {
    {"QUIT", 0x01, BB_MYSQL_ONE_WAY, 1, 1},
    {"INIT_DB", 0x02, BB_MYSQL_STATUS, 1, NAME},
    {"QUERY", BB_MYSQL_QUERY, BB_MYSQL_RESULT, 1, ANY},
    {"FIELD_LIST", 0x04, BB_MYSQL_FIELDS, 2, NAME},
    {"CREATE_DB", 0x05, BB_MYSQL_STATUS, 2, NAME},
    {"DROP_DB", 0x06, BB_MYSQL_STATUS, 2, NAME},
    {"REFRESH", 0x07, BB_MYSQL_STATUS, 2, 2},
    {"SHUTDOWN", 0x08, BB_MYSQL_STATUS, 1, 2},
    {"STATISTICS", 0x09, BB_MYSQL_TEXT, 1, 1},
    {"PROCESS_INFO", 0x0a, BB_MYSQL_RESULT, 1, 1},
    {"PROCESS_KILL", 0x0c, BB_MYSQL_STATUS, 5, 5},
    {"DEBUG", 0x0d, BB_MYSQL_STATUS, 1, 1},
    {"PING", 0x0e, BB_MYSQL_STATUS, 1, 1},
    {"CHANGE_USER", BB_MYSQL_CHANGE_USER, BB_MYSQL_LOGIN, 3, 64 * 1024},
    {"BINLOG_DUMP", 0x12, BB_MYSQL_STREAM, 11, NAME},
    {"TABLE_DUMP", 0x13, BB_MYSQL_RESULT, 3, NAME},
    {"REGISTER_SLAVE", 0x15, BB_MYSQL_STATUS, 18, NAME},
    {"STMT_PREPARE", BB_MYSQL_STMT_PREPARE, BB_MYSQL_PREPARE, 1, ANY},
    {"STMT_EXECUTE", BB_MYSQL_STMT_EXECUTE, BB_MYSQL_RESULT, 10, ANY},
    {"STMT_SEND_LONG_DATA", 0x18, BB_MYSQL_ONE_WAY, 7, ANY},
    {"STMT_CLOSE", BB_MYSQL_STMT_CLOSE, BB_MYSQL_ONE_WAY, 5, 5},
    {"STMT_RESET", 0x1a, BB_MYSQL_STATUS, 5, 5},
    {"SET_OPTION", 0x1b, BB_MYSQL_STATUS, 3, 3},
    {"STMT_FETCH", BB_MYSQL_STMT_FETCH, BB_MYSQL_ROWS, 9, 9},
    {"BINLOG_DUMP_GTID", 0x1e, BB_MYSQL_STREAM, 19, 64 * 1024},
    {"RESET_CONNECTION", 0x1f, BB_MYSQL_STATUS, 1, 1},
    {"STMT_BULK_EXECUTE", BB_MYSQL_BULK_EXECUTE, BB_MYSQL_RESULT, 7, ANY},
};

const BbMysqlCommand *bb_mysql_command(guint8 code)
{
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        if (commands[i].code == code)
            return &commands[i];
    return NULL;
}

// ---- query attributes -------------------------------------------------------------------------

// Passes over a value in the binary protocol.
static void skip_value(BbCursor *c, guint8 type)
{
    switch (type) {
    case 0x01: // TINY
        bb_cursor_skip(c, 1);
        break;
    case 0x02: // SHORT
    case 0x0d: // YEAR
        bb_cursor_skip(c, 2);
        break;
    case 0x03: // LONG
    case 0x04: // FLOAT
    case 0x09: // INT24
        bb_cursor_skip(c, 4);
        break;
    case 0x05: // DOUBLE
    case 0x08: // LONGLONG
        bb_cursor_skip(c, 8);
        break;
    case 0x06: // NULL
        break;
    case 0x07: // TIMESTAMP
    case 0x0a: // DATE
    case 0x0b: // TIME
    case 0x0c: // DATETIME
        bb_cursor_skip(c, bb_cursor_u8(c));
        break;
    default: // texts
        bb_cursor_skip(c, bb_mysql_number(c));
        break;
    }
}

// Attributes (MySQL 8.0.23): a bitmap of those that are NULL, types with names, values.
static void skip_attributes(BbCursor *c, guint64 count)
{
    guint8 types[ATTRIBUTES_MAX];
    if (count == 0)
        return;
    const guint8 *nulls = bb_cursor_take(c, ((gsize)MIN(count, ATTRIBUTES_MAX) + 7) / 8);
    bool bound = bb_cursor_u8(c) == 1;
    if (count > ATTRIBUTES_MAX || !nulls || !bound) {
        bb_cursor_skip(c, c->left + 1);
        return;
    }
    for (guint i = 0; i < count; i++) {
        types[i] = bb_cursor_u8(c);
        bb_cursor_skip(c, 1); // whether it is unsigned
        bb_cursor_skip(c, bb_mysql_number(c));
    }
    for (guint i = 0; i < count && bb_cursor_ok(c); i++)
        if (!(nulls[i / 8] >> i % 8 & 1))
            skip_value(c, types[i]);
}

BbCursor bb_mysql_query_text(BbCursor payload, bool attributes)
{
    BbCursor text = payload, c;
    bb_cursor_skip(&text, 1);
    c = text;
    guint64 count = bb_mysql_number(&c), sets = bb_mysql_number(&c);
    // No text begins with a control byte like these counts, so they show by themselves.
    bool seen = text.left > 1 && text.at[0] < '\t' && sets == 1;
    if (!seen && !(attributes && sets == 1))
        return text;
    skip_attributes(&c, count);
    return bb_cursor_ok(&c) ? c : bb_cursor(payload.at, 0);
}

// ---- what the server says -----------------------------------------------------------------------

guint16 bb_mysql_status_flags(BbCursor payload, guint32 length)
{
    guint8 first = bb_cursor_u8(&payload);
    if (first == BB_MYSQL_EOF && length == 5) { // warnings, status
        bb_cursor_skip(&payload, 2);
    } else { // rows, last id, status, warnings
        (void)bb_mysql_number(&payload);
        (void)bb_mysql_number(&payload);
    }
    guint16 flags = bb_cursor_le16(&payload);
    return bb_cursor_ok(&payload) ? flags : 0;
}

guint16 bb_mysql_error_code(BbCursor payload)
{
    bb_cursor_skip(&payload, 1);
    guint16 code = bb_cursor_le16(&payload);
    return bb_cursor_ok(&payload) && code != PROGRESS ? code : 0;
}

// MySQL puts a byte before the count that tells whether definitions follow, MariaDB (cached
// metadata) one behind it; which of them it is shows by the length, but for 1 before 1.
guint64 bb_mysql_column_count(BbCursor payload, bool optional, bool *with_definitions)
{
    BbCursor plain = payload;
    guint64 columns = bb_mysql_number(&plain);
    *with_definitions = true;
    if (bb_cursor_ok(&plain) && plain.left == 0)
        return columns;
    if (bb_cursor_ok(&plain) && plain.left == 1 && plain.at[0] <= 1 && !optional) {
        *with_definitions = plain.at[0];
        return columns;
    }
    *with_definitions = bb_cursor_u8(&payload) != 0;
    columns = bb_mysql_number(&payload);
    return bb_cursor_ok(&payload) && payload.left == 0 ? columns : 0;
}

// The catalog is always "def".
bool bb_mysql_is_definition(BbCursor payload)
{
    const guint8 *catalog = bb_cursor_take(&payload, 4);
    return catalog && memcmp(catalog, "\3def", 4) == 0;
}

// ---- the login ----------------------------------------------------------------------------------

static bool is_version(const guint8 *text, gsize length)
{
    if (length < 3 || length > VERSION_MAX || !g_ascii_isdigit(text[0]))
        return false;
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isprint(text[i]))
            return false;
    return memchr(text, '.', length) != NULL;
}

bool bb_mysql_greeting_read(BbMysqlGreeting *greeting, BbCursor payload)
{
    if (bb_cursor_u8(&payload) != 10 || !payload.left)
        return false;
    const guint8 *end = memchr(payload.at, 0, MIN(payload.left, VERSION_MAX + 1));
    if (!end || !is_version(payload.at, (gsize)(end - payload.at)))
        return false;
    bb_cursor_skip(&payload, (gsize)(end - payload.at) + 1 + 4 + 8); // thread, half of the salt
    if (bb_cursor_u8(&payload) != 0)
        return false;
    greeting->capabilities = bb_cursor_le16(&payload);
    if (!bb_cursor_ok(&payload) || !(greeting->capabilities & BB_MYSQL_PROTOCOL_41))
        return false;
    bb_cursor_skip(&payload, 3); // character set, status
    greeting->capabilities |= (guint32)bb_cursor_le16(&payload) << 16;
    bb_cursor_skip(&payload, 1); // length of the salt
    const guint8 *zeros = bb_cursor_take(&payload, 6);
    return zeros && memcmp(zeros, "\0\0\0\0\0", 6) == 0;
}

bool bb_mysql_response_read(BbCursor payload, guint32 *capabilities)
{
    *capabilities = bb_cursor_le32(&payload);
    bb_cursor_skip(&payload, 4 + 1); // largest packet, character set
    const guint8 *zeros = bb_cursor_take(&payload, ZEROS);
    bb_cursor_skip(&payload, 4); // zeros, or MariaDB's capabilities
    if (!bb_cursor_ok(&payload) || !(*capabilities & BB_MYSQL_PROTOCOL_41))
        return false;
    for (guint i = 0; i < ZEROS; i++)
        if (zeros[i])
            return false;
    return true;
}
