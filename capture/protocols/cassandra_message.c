// SPDX-License-Identifier: Apache-2.0
// In: heads, bodies and segments of CQL. Out: what they say, without values.
#include "capture/protocols/cassandra_message.h"

#include "capture/protocols/statements.h"

#define BODY_MAX (256u * 1024u * 1024u) // the server's own limit
#define VERSION_LEAST 3u
#define VERSION_MOST 5u
#define PREPARED_RESULT 4u // kind of a RESULT

// ---- heads --------------------------------------------------------------------------------------

typedef struct Opcode {
    const char *name;
    bool known, response;
    guint32 least, most; // bytes of its body
} Opcode;

#define ANY BODY_MAX
#define FEW 65536u

static const Opcode opcodes[] = {
    [BB_CASSANDRA_ERROR] = {"ERROR", true, true, 6, ANY},
    [BB_CASSANDRA_STARTUP] = {"STARTUP", true, false, 2, FEW},
    [BB_CASSANDRA_READY] = {"READY", true, true, 0, FEW},
    [BB_CASSANDRA_AUTHENTICATE] = {"AUTHENTICATE", true, true, 2, FEW},
    [0x05] = {"OPTIONS", true, false, 0, FEW},
    [0x06] = {"SUPPORTED", true, true, 2, FEW},
    [BB_CASSANDRA_QUERY] = {"QUERY", true, false, 7, ANY},
    [BB_CASSANDRA_RESULT] = {"RESULT", true, true, 4, ANY},
    [BB_CASSANDRA_PREPARE] = {"PREPARE", true, false, 5, ANY},
    [BB_CASSANDRA_EXECUTE] = {"EXECUTE", true, false, 5, ANY},
    [0x0b] = {"REGISTER", true, false, 2, FEW},
    [BB_CASSANDRA_EVENT] = {"EVENT", true, true, 2, FEW},
    [BB_CASSANDRA_BATCH] = {"BATCH", true, false, 5, ANY},
    [0x0e] = {"AUTH_CHALLENGE", true, true, 4, FEW},
    [0x0f] = {"AUTH_RESPONSE", true, false, 4, FEW},
    [0x10] = {"AUTH_SUCCESS", true, true, 4, FEW},
};

const char *bb_cassandra_opcode_name(guint8 opcode)
{
    return opcode < G_N_ELEMENTS(opcodes) && opcodes[opcode].known ? opcodes[opcode].name : "*";
}

bool bb_cassandra_head_read(BbCassandraHead *head, const guint8 *data)
{
    // Flags that a version has.
    static const guint8 flags[] = {[3] = 0x03, [4] = 0x0f, [5] = 0x1f};
    BbCursor c = bb_cursor(data, BB_CASSANDRA_HEAD);
    guint8 first = bb_cursor_u8(&c);
    head->version = first & 0x7f;
    head->response = first & 0x80;
    head->flags = bb_cursor_u8(&c);
    head->stream = (gint16)bb_cursor_be16(&c);
    head->opcode = bb_cursor_u8(&c);
    head->length = bb_cursor_be32(&c);
    if (head->version < VERSION_LEAST || head->version > VERSION_MOST ||
        head->flags & ~flags[head->version] || head->opcode >= G_N_ELEMENTS(opcodes))
        return false;
    const Opcode *opcode = &opcodes[head->opcode];
    bool event = head->opcode == BB_CASSANDRA_EVENT;
    guint32 least = head->flags & BB_CASSANDRA_COMPRESSED ? 1 : opcode->least;
    return opcode->known && opcode->response == head->response && event == (head->stream < 0) &&
           head->length >= MIN(least, opcode->least) && head->length <= opcode->most;
}

// ---- bodies -------------------------------------------------------------------------------------

// Of [bytes] and [short bytes], [string] and [long string]: what is there of length bytes.
static const guint8 *take_text(BbCursor *c, gsize length, gsize *seen)
{
    *seen = MIN(length, c->left);
    return bb_cursor_take(c, *seen);
}

static void skip_bytes_map(BbCursor *c)
{
    guint count = bb_cursor_be16(c);
    for (guint i = 0; i < count && bb_cursor_ok(c); i++) {
        bb_cursor_skip(c, bb_cursor_be16(c));
        gint32 length = (gint32)bb_cursor_be32(c);
        bb_cursor_skip(c, (gsize)MAX(length, 0));
    }
}

static void skip_string_list(BbCursor *c)
{
    guint count = bb_cursor_be16(c);
    for (guint i = 0; i < count && bb_cursor_ok(c); i++)
        bb_cursor_skip(c, bb_cursor_be16(c));
}

// What flags put before the body proper.
static void skip_extras(const BbCassandraHead *head, BbCursor *c)
{
    if (head->response && head->flags & BB_CASSANDRA_TRACING)
        bb_cursor_skip(c, 16);
    if (head->response && head->flags & BB_CASSANDRA_WARNING)
        skip_string_list(c);
    if (head->flags & BB_CASSANDRA_PAYLOAD)
        skip_bytes_map(c);
}

static const char *error_name(guint32 code)
{
    static const struct {
        guint32 code;
        const char *name;
    } errors[] = {
        {0x0000, "ServerError"},     {0x000a, "ProtocolError"},   {0x0100, "BadCredentials"},
        {0x1000, "Unavailable"},     {0x1001, "Overloaded"},      {0x1002, "IsBootstrapping"},
        {0x1003, "TruncateError"},   {0x1100, "WriteTimeout"},    {0x1200, "ReadTimeout"},
        {0x1300, "ReadFailure"},     {0x1400, "FunctionFailure"}, {0x1500, "WriteFailure"},
        {0x1600, "CDCWriteFailure"}, {0x1700, "CASWriteUnknown"}, {0x2000, "SyntaxError"},
        {0x2100, "Unauthorized"},    {0x2200, "Invalid"},         {0x2300, "ConfigError"},
        {0x2400, "AlreadyExists"},   {0x2500, "Unprepared"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(errors); i++)
        if (errors[i].code == code)
            return errors[i].name;
    return NULL;
}

static void read_statement(BbCassandraBody *out, BbCursor *c)
{
    gsize length = bb_cursor_be32(c);
    if (!bb_cursor_ok(c))
        return;
    out->text = take_text(c, length, &out->text_length);
    out->text_cut = out->text_length < length;
}

static void read_id(BbCassandraBody *out, BbCursor *c)
{
    gsize length = bb_cursor_be16(c);
    const guint8 *id = bb_cursor_take(c, length);
    if (length)
        out->id = id;
    out->id_length = length;
}

// The first statement of a batch, by its text or id.
static void read_batch(BbCassandraBody *out, BbCursor *c)
{
    bb_cursor_skip(c, 1);
    guint16 count = bb_cursor_be16(c);
    guint8 kind = bb_cursor_u8(c);
    if (!bb_cursor_ok(c) || count == 0 || kind > 1)
        return;
    if (kind == 0)
        read_statement(out, c);
    else
        read_id(out, c);
}

static void read_startup(BbCassandraBody *out, BbCursor *c)
{
    guint count = bb_cursor_be16(c);
    for (guint i = 0; i < count && bb_cursor_ok(c); i++) {
        gsize length = bb_cursor_be16(c);
        const guint8 *key = bb_cursor_take(c, length);
        bool compression = key && length == 11 && memcmp(key, "COMPRESSION", 11) == 0;
        length = bb_cursor_be16(c);
        const guint8 *value = bb_cursor_take(c, length);
        if (!compression || !value || !length)
            continue;
        bool lz4 = length == 3 && g_ascii_strncasecmp((const char *)value, "lz4", 3) == 0;
        bool snappy = length == 6 && g_ascii_strncasecmp((const char *)value, "snappy", 6) == 0;
        out->compression = lz4      ? BB_CASSANDRA_LZ4
                           : snappy ? BB_CASSANDRA_SNAPPY
                                    : BB_CASSANDRA_UNKNOWN;
    }
}

BbCassandraBody bb_cassandra_body_read(const BbCassandraHead *head, BbCursor body)
{
    BbCassandraBody out = {.compression = BB_CASSANDRA_PLAIN};
    skip_extras(head, &body);
    switch (head->opcode) {
    case BB_CASSANDRA_QUERY:
    case BB_CASSANDRA_PREPARE:
        read_statement(&out, &body);
        break;
    case BB_CASSANDRA_EXECUTE:
        read_id(&out, &body);
        break;
    case BB_CASSANDRA_BATCH:
        read_batch(&out, &body);
        break;
    case BB_CASSANDRA_STARTUP:
        read_startup(&out, &body);
        break;
    case BB_CASSANDRA_RESULT:
        if (bb_cursor_be32(&body) == PREPARED_RESULT)
            read_id(&out, &body);
        break;
    case BB_CASSANDRA_ERROR: {
        guint32 code = bb_cursor_be32(&body);
        const char *name = bb_cursor_ok(&body) ? error_name(code) : NULL;
        out.error = name ? name : "error";
        break;
    }
    default:
        break;
    }
    return out;
}

// ---- segments -----------------------------------------------------------------------------------

// Of the low `bytes` bytes of value, first byte first (native_protocol_v5.spec, 2.2).
static guint32 crc24(guint64 value, guint bytes)
{
    guint32 crc = 0x875060;
    for (guint i = 0; i < bytes; i++, value >>= 8) {
        crc ^= (guint32)(value & 0xff) << 16;
        for (guint bit = 0; bit < 8; bit++) {
            crc <<= 1;
            if (crc & 0x1000000)
                crc ^= 0x1974f0b;
        }
    }
    return crc;
}

// A head of `bytes` bytes, of which `bits` bits are used, and their CRC-24.
static BbMatch take_head(const guint8 *data, gsize length, guint bytes, guint bits, guint64 *value)
{
    BbCursor c = bb_cursor(data, length);
    *value = 0;
    for (guint i = 0; i < bytes; i++)
        *value |= (guint64)bb_cursor_u8(&c) << 8 * i;
    if (*value >> bits)
        return BB_MATCH_NO;
    guint32 crc = bb_cursor_le16(&c);
    crc |= (guint32)bb_cursor_u8(&c) << 16;
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    return crc == crc24(*value, bytes) ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

static BbMatch read_plain_head(BbCassandraSegment *segment, const guint8 *data, gsize length)
{
    guint64 value;
    BbMatch match = take_head(data, length, 3, 18, &value);
    *segment = (BbCassandraSegment){
        .length = value & 0x1ffff,
        .head = BB_CASSANDRA_SEGMENT_HEAD,
        .self_contained = value >> 17 & 1,
    };
    return match;
}

static BbMatch read_lz4_head(BbCassandraSegment *segment, const guint8 *data, gsize length)
{
    guint64 value;
    BbMatch match = take_head(data, length, 5, 35, &value);
    *segment = (BbCassandraSegment){
        .length = value & 0x1ffff,
        .plain = (guint32)(value >> 17 & 0x1ffff),
        .head = BB_CASSANDRA_SEGMENT_HEAD_LZ4,
        .self_contained = value >> 34 & 1,
    };
    return match;
}

BbMatch bb_cassandra_segment_read(BbCassandraSegment *segment, BbCassandraCompression compression,
                                  const guint8 *data, gsize length)
{
    BbMatch match = BB_MATCH_NO;
    if (compression != BB_CASSANDRA_LZ4)
        match = read_plain_head(segment, data, length);
    if (match == BB_MATCH_NO && compression != BB_CASSANDRA_PLAIN)
        match = read_lz4_head(segment, data, length);
    return match == BB_MATCH_REQUEST && segment->length == 0 ? BB_MATCH_NO : match;
}

// ---- the probe ----------------------------------------------------------------------------------

// Whether the body is as it has to be in 16 bits or more, as far as it is there.
static BbMatch probe_body(const BbCassandraHead *head, BbCursor c)
{
    bool whole = c.left >= head->length, word;
    c.left = MIN(c.left, head->length);
    if (head->flags & BB_CASSANDRA_COMPRESSED)
        return BB_MATCH_LIKELY;
    if (head->length == 0)
        return BB_MATCH_REQUEST;
    if (c.left < MIN(16u, head->length))
        return BB_MATCH_MORE;
    BbCassandraBody body = bb_cassandra_body_read(head, c);
    if (head->flags)
        return BB_MATCH_LIKELY;
    switch (head->opcode) {
    case BB_CASSANDRA_STARTUP: { // the number of options, and the name of the first: CQL_VERSION
        guint16 options = bb_cursor_be16(&c), name = bb_cursor_be16(&c);
        bool named = name && g_ascii_isupper(bb_cursor_u8(&c));
        return options && options < 512 && named ? BB_MATCH_REQUEST : BB_MATCH_NO;
    }
    case BB_CASSANDRA_QUERY:
    case BB_CASSANDRA_PREPARE:
        if (!body.text || body.text_length + 4 > head->length || (whole && body.text_cut))
            return BB_MATCH_NO;
        return bb_statement_begins(body.text, body.text_length, &word) ? BB_MATCH_REQUEST
                                                                       : BB_MATCH_LIKELY;
    case BB_CASSANDRA_EXECUTE:
        return body.id_length == 16 ? BB_MATCH_REQUEST : BB_MATCH_LIKELY;
    case BB_CASSANDRA_BATCH:
        return c.at[0] <= 2 && (body.text || body.id) ? BB_MATCH_LIKELY : BB_MATCH_NO;
    case BB_CASSANDRA_ERROR:
        return strcmp(body.error, "error") != 0 ? BB_MATCH_REQUEST : BB_MATCH_NO;
    case BB_CASSANDRA_RESULT: {
        guint32 kind = bb_cursor_be32(&c);
        return kind >= 1 && kind <= 5 ? BB_MATCH_REQUEST : BB_MATCH_NO;
    }
    case 0x0e: // authentication: [bytes] that fill the body
    case 0x0f:
    case 0x10: {
        guint32 bytes = bb_cursor_be32(&c);
        return bytes == G_MAXUINT32 || bytes == head->length - 4 ? BB_MATCH_REQUEST : BB_MATCH_NO;
    }
    default: { // begins with a string, or the number of strings, and ends with one
        guint16 first = bb_cursor_be16(&c);
        return first < 512 && (first == 0 || head->length > first) ? BB_MATCH_REQUEST : BB_MATCH_NO;
    }
    }
}

static BbMatch probe_message(const guint8 *data, gsize length)
{
    BbCassandraHead head;
    if (data[0] < VERSION_LEAST || (data[0] & 0x7f) > VERSION_MOST ||
        (data[0] & 0x7f) < VERSION_LEAST)
        return BB_MATCH_NO;
    if (length < BB_CASSANDRA_HEAD)
        return BB_MATCH_MORE;
    if (!bb_cassandra_head_read(&head, data))
        return BB_MATCH_NO;
    BbMatch match =
        probe_body(&head, bb_cursor(data + BB_CASSANDRA_HEAD, length - BB_CASSANDRA_HEAD));
    return match == BB_MATCH_REQUEST && head.response ? BB_MATCH_REPLY : match;
}

// A segment of a connection that was joined in the middle: its head, and a message's in it.
static BbMatch probe_segment(const guint8 *data, gsize length)
{
    BbCassandraSegment segment;
    BbCassandraHead head;
    BbMatch match = bb_cassandra_segment_read(&segment, BB_CASSANDRA_UNKNOWN, data, length);
    if (match != BB_MATCH_REQUEST)
        return match;
    if (segment.plain || segment.length < BB_CASSANDRA_HEAD)
        return BB_MATCH_LIKELY;
    if (length - segment.head < BB_CASSANDRA_HEAD)
        return BB_MATCH_MORE;
    if (!bb_cassandra_head_read(&head, data + segment.head))
        return segment.self_contained ? BB_MATCH_NO : BB_MATCH_LIKELY;
    return head.response ? BB_MATCH_REPLY : BB_MATCH_REQUEST;
}

BbMatch bb_cassandra_probe(const guint8 *data, gsize length)
{
    if (length == 0)
        return BB_MATCH_MORE;
    BbMatch message = probe_message(data, length);
    return message == BB_MATCH_NO ? probe_segment(data, length) : message;
}
