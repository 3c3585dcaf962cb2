// SPDX-License-Identifier: Apache-2.0
// In: the head of a SIP message (RFC 3261, section 7). Out: method or status code, transaction,
// length of the body.
#include "capture/protocols/sip_message.h"

#include "capture/cursor.h"
#include "data/text_hash.h"

#include <string.h>

#define BODY_MAX (G_GUINT64_CONSTANT(1) << 32)

typedef struct Text {
    const guint8 *at;
    gsize length;
} Text;

typedef struct Fields {
    Text via, call_id, sequence, method; // the last two are those of CSeq
} Fields;

static bool is_space(guint8 c)
{
    return c == ' ' || c == '\t';
}

// Line ends stand where a line was folded.
static bool is_blank(guint8 c)
{
    return is_space(c) || c == '\r' || c == '\n';
}

static Text trim(Text t)
{
    while (t.length && is_blank(t.at[0])) {
        t.at++;
        t.length--;
    }
    while (t.length && is_blank(t.at[t.length - 1]))
        t.length--;
    return t;
}

// The bytes before the first `stop`, or all.
static Text before(Text t, char stop)
{
    const guint8 *found = t.length ? memchr(t.at, stop, t.length) : NULL;
    return found ? (Text){t.at, (gsize)(found - t.at)} : t;
}

static Text before_blank(Text t)
{
    gsize length = 0;
    while (length < t.length && !is_blank(t.at[length]))
        length++;
    return (Text){t.at, length};
}

static Text after(Text t, gsize count)
{
    return count < t.length ? (Text){t.at + count, t.length - count} : (Text){t.at, 0};
}

static bool is_word(Text t, const char *word)
{
    return t.length == strlen(word) && g_ascii_strncasecmp((const char *)t.at, word, t.length) == 0;
}

// ---- start lines --------------------------------------------------------------------------------

static BbMatch match_reply(const guint8 *data, gsize length)
{
    static const char pattern[] = "SIP/2.0 ddd ";
    for (gsize i = 0; i < MIN(length, sizeof pattern - 1); i++)
        if (pattern[i] == 'd' ? !g_ascii_isdigit(data[i]) : data[i] != (guint8)pattern[i])
            return BB_MATCH_NO;
    if (length < sizeof pattern - 1)
        return BB_MATCH_MORE;
    return data[8] >= '1' && data[8] <= '6' ? BB_MATCH_REPLY : BB_MATCH_NO;
}

static gsize method_length(const guint8 *data, gsize length)
{
    gsize n = 0;
    while (n < length && n <= BB_SIP_METHOD_MAX && g_ascii_isupper(data[n]))
        n++;
    return n;
}

// A method, an address, and the version at the end of the line.
static BbMatch match_request(const guint8 *data, gsize length)
{
    static const char version[] = " SIP/2.0";
    gsize method = method_length(data, length), most = MIN(length, BB_SIP_LINE_MAX);
    if (method == length && method <= BB_SIP_METHOD_MAX)
        return BB_MATCH_MORE;
    if (method == 0 || method > BB_SIP_METHOD_MAX || data[method] != ' ')
        return BB_MATCH_NO;
    const guint8 *newline = memchr(data, '\n', most);
    gsize line = newline ? (gsize)(newline - data) : most;
    for (gsize i = method; i < line; i++)
        if (data[i] < 0x20 && !(data[i] == '\r' && i + 1 == line))
            return BB_MATCH_NO;
    if (!newline)
        return length < BB_SIP_LINE_MAX ? BB_MATCH_MORE : BB_MATCH_NO;
    line -= data[line - 1] == '\r';
    gsize tail = sizeof version - 1;
    bool ends = line > method + 1 + tail && memcmp(data + line - tail, version, tail) == 0;
    return ends ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

BbMatch bb_sip_match(const guint8 *data, gsize length)
{
    BbMatch match = match_reply(data, length);
    return match == BB_MATCH_NO ? match_request(data, length) : match;
}

// ---- keep-alives --------------------------------------------------------------------------------

#define ZEROS_MAX 4u // that proxies send to clients behind a NAT
#define STUN_HEAD 20u
#define STUN_COOKIE 0x2112a442u

// RFC 5389, section 6: two bits that are 0, a length in words, and a number that is always there.
static bool is_stun(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    guint16 type = bb_cursor_be16(&c), size = bb_cursor_be16(&c);
    return bb_cursor_be32(&c) == STUN_COOKIE && type < 0x4000 && size % 4 == 0 &&
           length == STUN_HEAD + (gsize)size;
}

bool bb_sip_is_keep_alive(const guint8 *data, gsize length)
{
    gsize ends = 0, zeros = 0;
    while (ends < length && (data[ends] == '\r' || data[ends] == '\n'))
        ends++;
    while (zeros < length && zeros <= ZEROS_MAX && data[zeros] == 0)
        zeros++;
    return length &&
           (ends == length || (zeros == length && zeros <= ZEROS_MAX) || is_stun(data, length));
}

// ---- header fields ------------------------------------------------------------------------------

gsize bb_sip_head(const guint8 *data, gsize length, gsize from)
{
    gsize at = from > 3 ? from - 3 : 0; // an end that was half there
    while (at < length) {
        const guint8 *newline = memchr(data + at, '\n', length - at);
        if (!newline)
            return 0;
        at = (gsize)(newline - data) + 1;
        gsize next = at;
        if (next < length && data[next] == '\r')
            next++;
        if (next < length && data[next] == '\n')
            return next + 1;
    }
    return 0;
}

static void read_length(BbSipMessage *message, Text value)
{
    message->length = 0;
    message->has_length = value.length > 0;
    for (gsize i = 0; i < value.length; i++) {
        if (!g_ascii_isdigit(value.at[i]) || message->length > BODY_MAX) {
            message->has_length = false;
            return;
        }
        message->length = message->length * 10 + (value.at[i] - '0');
    }
}

// RFC 3261, 7.3.3: some fields have a short form of one letter.
static void read_field(BbSipMessage *message, Fields *fields, Text line)
{
    Text name = before(line, ':');
    Text value = trim(after(line, name.length + 1));
    name = trim(name);
    if (!fields->via.at && (is_word(name, "Via") || is_word(name, "v"))) {
        fields->via = before(value, ','); // the topmost
    } else if (!fields->call_id.at && (is_word(name, "Call-ID") || is_word(name, "i"))) {
        fields->call_id = value;
    } else if (!fields->sequence.at && is_word(name, "CSeq")) {
        fields->sequence = before_blank(value);
        fields->method = trim(after(value, fields->sequence.length));
    } else if (is_word(name, "Content-Length") || is_word(name, "l")) {
        read_length(message, value);
    }
}

static Text branch_of(Text via)
{
    for (Text rest = via; rest.length;) {
        Text parameter = before(rest, ';');
        rest = after(rest, parameter.length + 1);
        parameter = trim(parameter);
        if (is_word(trim(before(parameter, '=')), "branch"))
            return trim(after(parameter, before(parameter, '=').length + 1));
    }
    return (Text){0};
}

static guint64 hash_text(guint64 hash, Text t)
{
    return (bb_text_hash_bytes(hash, t.at, t.length) ^ 0x100) * BB_TEXT_HASH_PRIME;
}

// RFC 3261, 17.1.3: branch and method tell a transaction. Older clients have no unique branch: the
// identity of the call and the sequence number are taken in.
static guint64 transaction_of(const Fields *fields)
{
    guint64 hash = BB_TEXT_HASH_START;
    if (!fields->call_id.at || !fields->method.length)
        return 0;
    hash = hash_text(hash, fields->call_id);
    hash = hash_text(hash, fields->sequence);
    hash = hash_text(hash, fields->method);
    hash = hash_text(hash, branch_of(fields->via));
    return MAX(hash, 1);
}

// A line goes on where the next one begins with a space (RFC 3261, 7.3.1).
static Text unfold(Text line, Text rest)
{
    while (line.length + 1 < rest.length && is_space(rest.at[line.length + 1]))
        line.length += 1 + before(after(rest, line.length + 1), '\n').length;
    return line;
}

void bb_sip_message(BbSipMessage *message, const guint8 *head, gsize length)
{
    Fields fields = {0};
    *message = (BbSipMessage){0};
    if (head[0] == 'S' && bb_sip_match(head, length) == BB_MATCH_REPLY) {
        message->code = (head[8] - '0') * 100u + (head[9] - '0') * 10u + (head[10] - '0');
    } else {
        message->method = head;
        message->method_length = method_length(head, length);
    }
    Text rest = {head, length};
    while (rest.length) {
        Text line = before(rest, '\n');
        if (line.at != head)
            line = unfold(line, rest);
        bool whole = line.length < rest.length;
        if (line.at != head && whole)
            read_field(message, &fields, line);
        rest = after(rest, line.length + 1);
    }
    message->transaction = transaction_of(&fields);
}
