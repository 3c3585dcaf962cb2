// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be messages of PostgreSQL's protocol 3. Out: whether they are, and what kind.
#include "capture/protocols/postgres_message.h"

#include "capture/cursor.h"
#include "capture/protocols/statements.h"

#define LENGTH_MAX (1u << 30)      // of any message (the server's own limit)
#define LENGTH_BELIEVED (1u << 24) // of a message that is looked for among unknown bytes
#define LENGTH_FIRST (1u << 16)    // of the first one, where its body does not tell it
#define COLUMNS_MAX 1664u          // of a result (MaxTupleAttributeNumber)
#define AUTHENTICATION_MAX 12u     // AuthenticationSASLFinal
#define PROBE_MAX 4000u            // bytes after which an unfinished message must do

// ---- heads ------------------------------------------------------------------------------------

// Body length of each type of message, in bytes: least, and whether there is only this one.
typedef struct Shape {
    guint8 least;
    bool known, fixed;
} Shape;

#define AT_LEAST(bytes)    \
    {                      \
        bytes, true, false \
    }
#define EXACTLY(bytes)    \
    {                     \
        bytes, true, true \
    }

static const Shape shapes[2][128] = {
    [BB_TO_SERVER] =
        {
            ['B'] = AT_LEAST(8),
            ['C'] = AT_LEAST(2),
            ['c'] = EXACTLY(0),
            ['D'] = AT_LEAST(2),
            ['d'] = AT_LEAST(0),
            ['E'] = AT_LEAST(5),
            ['F'] = AT_LEAST(10),
            ['f'] = AT_LEAST(1),
            ['H'] = EXACTLY(0),
            ['P'] = AT_LEAST(4),
            ['p'] = AT_LEAST(1),
            ['Q'] = AT_LEAST(1),
            ['S'] = EXACTLY(0),
            ['X'] = EXACTLY(0),
        },
    [BB_TO_CLIENT] =
        {
            ['1'] = EXACTLY(0),  ['2'] = EXACTLY(0),  ['3'] = EXACTLY(0),  ['A'] = AT_LEAST(6),
            ['C'] = AT_LEAST(1), ['c'] = EXACTLY(0),  ['D'] = AT_LEAST(2), ['d'] = AT_LEAST(0),
            ['E'] = AT_LEAST(1), ['G'] = AT_LEAST(3), ['H'] = AT_LEAST(3), ['I'] = EXACTLY(0),
            ['K'] = AT_LEAST(8), ['N'] = AT_LEAST(1), ['n'] = EXACTLY(0),  ['R'] = AT_LEAST(4),
            ['S'] = AT_LEAST(2), ['s'] = EXACTLY(0),  ['T'] = AT_LEAST(2), ['t'] = AT_LEAST(2),
            ['V'] = AT_LEAST(4), ['v'] = AT_LEAST(8), ['W'] = AT_LEAST(3), ['Z'] = EXACTLY(1),
        },
};

static bool is_type(BbDirection direction, guint8 type)
{
    return type < 128 && shapes[direction][type].known;
}

bool bb_postgres_head(BbDirection direction, const guint8 *head, gsize *total)
{
    BbCursor cursor = bb_cursor(head, BB_POSTGRES_HEAD);
    guint8 type = bb_cursor_u8(&cursor);
    guint32 length = bb_cursor_be32(&cursor);
    if (!is_type(direction, type))
        return false;
    const Shape *shape = &shapes[direction][type];
    if (length < 4u + shape->least || length > LENGTH_MAX)
        return false;
    *total = 1u + (gsize)length;
    return !shape->fixed || length == 4u + shape->least;
}

// ---- bodies -----------------------------------------------------------------------------------

// The body of a message as far as it is there.
typedef struct Body {
    const guint8 *data;
    gsize seen, length;
} Body;

static bool is_text(const guint8 *text, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (text[i] < ' ' && !(text[i] >= '\t' && text[i] <= '\r'))
            return false;
    return true;
}

// Bytes up to the first NUL; the whole if there is none.
static gsize text_length(const Body *body, gsize from)
{
    const guint8 *nul = from < body->seen ? memchr(body->data + from, 0, body->seen - from) : NULL;
    return nul ? (gsize)(nul - body->data) - from : body->seen - MIN(from, body->seen);
}

static bool fits_one_text(const Body *body, gsize from)
{
    gsize length = text_length(body, from);
    bool ends = from + length < body->seen;
    return is_text(body->data + MIN(from, body->seen), length) &&
           (ends ? from + length + 1 == body->length : body->seen < body->length);
}

static bool fits_parse(const Body *body)
{
    gsize name = text_length(body, 0);
    gsize text = text_length(body, name + 1);
    return is_text(body->data, name) &&
           (name >= body->seen || is_text(body->data + name + 1, text));
}

// Columns of a DataRow: a count, then lengths with values; -1 is a NULL without a value.
static bool fits_row(const Body *body)
{
    BbCursor cursor = bb_cursor(body->data, body->seen);
    guint16 columns = bb_cursor_be16(&cursor);
    gsize left = body->length - 2;
    if (!bb_cursor_ok(&cursor))
        return true;
    if (columns > COLUMNS_MAX)
        return false;
    for (guint i = 0; i < columns; i++) {
        guint32 length = bb_cursor_be32(&cursor);
        if (!bb_cursor_ok(&cursor))
            return left >= 4u * (gsize)(columns - i);
        length = length == G_MAXUINT32 ? 0 : length;
        if (left < 4 || length > left - 4)
            return false;
        left -= 4 + (gsize)length;
        bb_cursor_skip(&cursor, length);
    }
    return left == 0;
}

// Columns of a RowDescription: a count, then names with 18 bytes each.
static bool fits_description(const Body *body)
{
    BbCursor cursor = bb_cursor(body->data, body->seen);
    guint16 columns = bb_cursor_be16(&cursor);
    if (!bb_cursor_ok(&cursor))
        return true;
    if (columns > COLUMNS_MAX || body->length < 2u + 19u * (gsize)columns)
        return false;
    gsize at = 2;
    for (guint i = 0; i < columns && at < body->seen; i++) {
        gsize name = text_length(body, at);
        if (!is_text(body->data + at, name))
            return false;
        at += name + 19;
    }
    return at == body->length || body->seen < body->length;
}

static bool fits_authentication(const Body *body)
{
    BbCursor cursor = bb_cursor(body->data, body->seen);
    guint32 code = bb_cursor_be32(&cursor);
    if (!bb_cursor_ok(&cursor))
        return true;
    return code <= AUTHENTICATION_MAX && (code != 0 || body->length == 4) &&
           (code != 5 || body->length == 8);
}

static bool begins_with(const Body *body, const char *letters)
{
    return body->seen == 0 || (body->data[0] && strchr(letters, body->data[0]));
}

static bool fits_client(guint8 type, const Body *body)
{
    switch (type) {
    case 'Q':
        return fits_one_text(body, 0);
    case 'P':
        return fits_parse(body);
    case 'C':
    case 'D':
        return begins_with(body, "SP") && fits_one_text(body, 1);
    case 'B':
        return is_text(body->data, text_length(body, 0));
    default:
        return true;
    }
}

static bool fits_server(guint8 type, const Body *body)
{
    switch (type) {
    case 'Z':
        return begins_with(body, "ITE");
    case 'C':
        return fits_one_text(body, 0);
    case 'D':
        return fits_row(body);
    case 'T':
        return fits_description(body);
    case 'E':
    case 'N':
        return begins_with(body, "S") && is_text(body->data, text_length(body, 0));
    case 'R':
        return fits_authentication(body);
    case 'S':
        return is_text(body->data, text_length(body, 0));
    default:
        return true;
    }
}

// Bytes of the body that tell whether it is one, for messages whose head alone is weak evidence.
static bool is_shown(guint8 type, const Body *body)
{
    return body->seen == body->length || (body->seen >= 8 && strchr("QPTDCENRB", type));
}

static bool is_believable(guint8 type, gsize at, gsize total)
{
    return total <= (at == 0 && type != 'Q' && type != 'P' ? LENGTH_FIRST : LENGTH_BELIEVED);
}

BbPostgresChain bb_postgres_chain(BbDirection direction, const guint8 *data, gsize length)
{
    BbPostgresChain chain = {.first = length ? data[0] : 0};
    gsize at = 0, total;
    while (length - at >= BB_POSTGRES_HEAD) {
        guint8 type = data[at];
        if (!bb_postgres_head(direction, data + at, &total) || !is_believable(type, at, total)) {
            chain.broken = true;
            return chain;
        }
        Body body = {
            .data = data + at + BB_POSTGRES_HEAD,
            .seen = MIN(total, length - at) - BB_POSTGRES_HEAD,
            .length = total - BB_POSTGRES_HEAD,
        };
        if (!(direction == BB_TO_SERVER ? fits_client : fits_server)(type, &body)) {
            chain.broken = true;
            return chain;
        }
        chain.shown |= at == 0 && is_shown(type, &body);
        if (total > length - at)
            return chain;
        chain.last = type;
        chain.complete++;
        at += total;
    }
    chain.exact = at == length && chain.complete > 0;
    // Of a cut head the type is there, and the first byte of the length, which is 0.
    chain.broken =
        at < length && (!is_type(direction, data[at]) || (length - at > 1 && data[at + 1] != 0));
    return chain;
}

// ---- errors -----------------------------------------------------------------------------------

// Fields of an ErrorResponse: a letter and a text each; `C` is the code.
const char *bb_postgres_sqlstate(const guint8 *body, gsize length)
{
    Body fields = {.data = body, .seen = length, .length = length};
    gsize at = 0;
    while (at < length && body[at]) {
        gsize text = text_length(&fields, at + 1);
        if (body[at] == 'C') {
            if (text != BB_POSTGRES_SQLSTATE)
                return NULL;
            for (gsize i = 0; i < text; i++)
                if (!g_ascii_isalnum(body[at + 1 + i]))
                    return NULL;
            return (const char *)body + at + 1;
        }
        at += text + 2;
    }
    return NULL;
}

// ---- the probe --------------------------------------------------------------------------------

static BbMatch probe_startup(const guint8 *data, gsize length)
{
    BbCursor cursor = bb_cursor(data, length);
    if (length < 4)
        return length < 2 || data[1] == 0 ? BB_MATCH_MORE : BB_MATCH_NO;
    guint32 total = bb_cursor_be32(&cursor);
    if (total < BB_POSTGRES_STARTUP_HEAD || total > BB_POSTGRES_STARTUP_MAX)
        return BB_MATCH_NO;
    guint32 code = bb_cursor_be32(&cursor);
    if (!bb_cursor_ok(&cursor))
        return BB_MATCH_MORE;
    if (code == BB_POSTGRES_SSL || code == BB_POSTGRES_GSS)
        return total == BB_POSTGRES_STARTUP_HEAD ? BB_MATCH_REQUEST : BB_MATCH_NO;
    if (code == BB_POSTGRES_CANCEL)
        return total >= 16 ? BB_MATCH_REQUEST : BB_MATCH_NO;
    guint8 first = bb_cursor_u8(&cursor);
    if (code >> 16 != BB_POSTGRES_VERSION_3 || total == BB_POSTGRES_STARTUP_HEAD)
        return BB_MATCH_NO;
    if (!bb_cursor_ok(&cursor))
        return BB_MATCH_MORE;
    bool name = g_ascii_isalpha(first) || first == '_';
    return name || (first == 0 && total == 9) ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

// Whether the statement of a Query or a Parse begins with a word of SQL. *seen: a word is there.
static bool begins_with_sql(const guint8 *data, gsize length, bool *seen)
{
    gsize from = BB_POSTGRES_HEAD;
    if (data[0] == 'P') { // behind the statement's name
        const guint8 *nul = memchr(data + from, 0, length - from);
        from = nul ? (gsize)(nul - data) + 1 : length;
    }
    return bb_statement_begins(data + from, length - from, seen);
}

// What chain says where nothing about it is certain.
static BbMatch weak_match(const BbPostgresChain *chain, gsize length)
{
    if (chain->broken)
        return BB_MATCH_NO;
    return chain->exact || length > PROBE_MAX ? BB_MATCH_MAYBE : BB_MATCH_MORE;
}

static BbMatch probe_client(const guint8 *data, gsize length)
{
    BbPostgresChain chain = bb_postgres_chain(BB_TO_SERVER, data, length);
    BbMatch weak = weak_match(&chain, length);
    if (weak == BB_MATCH_NO || length < BB_POSTGRES_HEAD)
        return weak;
    bool seen = false;
    if ((chain.first == 'Q' || chain.first == 'P') && begins_with_sql(data, length, &seen) &&
        (seen || chain.complete))
        return BB_MATCH_REQUEST;
    if (chain.exact && chain.complete >= 2 && chain.last == 'S')
        return BB_MATCH_REQUEST;
    return weak;
}

static BbMatch probe_server(const guint8 *data, gsize length)
{
    BbPostgresChain chain = bb_postgres_chain(BB_TO_CLIENT, data, length);
    BbMatch weak = weak_match(&chain, length);
    if (weak == BB_MATCH_NO || !chain.complete)
        return weak;
    if (chain.exact && chain.last == 'Z')
        return BB_MATCH_REPLY;
    if (chain.first == 'T' && chain.complete >= 2) // fields and rows that add up
        return BB_MATCH_REPLY;
    if (chain.first == 'R' && data[5] == 0 && data[6] == 0 && data[7] == 0)
        return BB_MATCH_REPLY;
    gsize total;
    if (chain.first == 'E' && bb_postgres_head(BB_TO_CLIENT, data, &total) &&
        bb_postgres_sqlstate(data + BB_POSTGRES_HEAD, total - BB_POSTGRES_HEAD))
        return BB_MATCH_REPLY;
    return weak;
}

BbMatch bb_postgres_probe(const guint8 *data, gsize length)
{
    if (length == 0)
        return BB_MATCH_MORE;
    if (data[0] == 0)
        return probe_startup(data, length);
    BbMatch client = probe_client(data, length), server = probe_server(data, length);
    if (client == BB_MATCH_REQUEST)
        return client;
    if (server == BB_MATCH_REPLY)
        return server;
    if (client == BB_MATCH_MORE || server == BB_MATCH_MORE)
        return BB_MATCH_MORE;
    return client == BB_MATCH_MAYBE ? client : server;
}
