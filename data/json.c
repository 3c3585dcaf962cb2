// SPDX-License-Identifier: Apache-2.0
// In: values in the order of the document. Out: their JSON text in a FILE, through one buffer.
#include "data/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define BUFFER_BYTES ((gsize)64 * 1024)
#define NUMBER_BYTES 32 // any number we write, sign and point included

typedef struct Level {
    bool object;
    bool used;  // holds a value already
    bool keyed; // a key waits for its value
} Level;

struct BbJson {
    FILE *out;
    gsize used; // bytes in buffer
    bool line;  // a line break was asked for
    int error;  // errno of the first write that failed
    GArray *levels;
    char buffer[BUFFER_BYTES];
};

BbJson *bb_json_new(FILE *out)
{
    BbJson *json = g_new(BbJson, 1);
    json->out = out;
    json->used = 0;
    json->line = false;
    json->error = 0;
    json->levels = g_array_new(FALSE, TRUE, sizeof(Level));
    g_array_set_size(json->levels, 1); // the top level
    return json;
}

void bb_json_free(BbJson *json)
{
    if (!json)
        return;
    g_array_unref(json->levels);
    g_free(json);
}

static void flush(BbJson *json)
{
    if (json->error == 0 && fwrite(json->buffer, 1, json->used, json->out) != json->used)
        json->error = errno ? errno : EIO;
    json->used = 0;
}

static void put(BbJson *json, const char *text, gsize length)
{
    while (length > BUFFER_BYTES - json->used) {
        gsize part = BUFFER_BYTES - json->used;
        memcpy(json->buffer + json->used, text, part);
        json->used += part;
        text += part;
        length -= part;
        flush(json);
    }
    memcpy(json->buffer + json->used, text, length);
    json->used += length;
}

static void put_char(BbJson *json, char c)
{
    if (json->used == BUFFER_BYTES)
        flush(json);
    json->buffer[json->used++] = c;
}

static Level *top(BbJson *json)
{
    return &g_array_index(json->levels, Level, json->levels->len - 1);
}

// What stands between the previous value or bracket and the next one.
static void put_gap(BbJson *json, bool comma, bool blank)
{
    if (comma)
        put_char(json, ',');
    if (json->line)
        put_char(json, '\n');
    else if (blank)
        put_char(json, ' ');
    json->line = false;
}

static void begin_value(BbJson *json)
{
    Level *level = top(json);
    if (level->keyed) {
        level->keyed = false;
        return;
    }
    g_assert(!level->object);
    bool inside = json->levels->len > 1;
    if (!inside && level->used)
        json->line = true;
    put_gap(json, inside && level->used, level->used);
    level->used = true;
}

void bb_json_key(BbJson *json, const char *key)
{
    Level *level = top(json);
    g_assert(level->object && !level->keyed);
    put_gap(json, level->used, level->used);
    level->used = true;
    level->keyed = true;
    bb_json_string(json, key);
    put(json, ": ", 2);
    top(json)->keyed = true;
}

static void begin(BbJson *json, bool object)
{
    begin_value(json);
    put_char(json, object ? '{' : '[');
    Level level = {.object = object};
    g_array_append_val(json->levels, level);
}

static void end(BbJson *json, bool object)
{
    const Level *level = top(json);
    g_assert(json->levels->len > 1 && level->object == object && !level->keyed);
    g_array_set_size(json->levels, json->levels->len - 1);
    put_gap(json, false, false);
    put_char(json, object ? '}' : ']');
}

void bb_json_begin_object(BbJson *json)
{
    begin(json, true);
}

void bb_json_end_object(BbJson *json)
{
    end(json, true);
}

void bb_json_begin_array(BbJson *json)
{
    begin(json, false);
}

void bb_json_end_array(BbJson *json)
{
    end(json, false);
}

void bb_json_newline(BbJson *json)
{
    json->line = true;
}

// RFC 8259, section 7: what must be escaped, in its shortest form.
static void put_escape(BbJson *json, guchar c)
{
    static const char digits[] = "0123456789abcdef";
    static const char shorts[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (const char *s = shorts; *s; s += 2)
        if ((guchar)s[0] == c) {
            put(json, (char[]){'\\', s[1]}, 2);
            return;
        }
    put(json, (char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
}

static bool is_plain(guchar c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

// Whether all of eight bytes are plain: of each byte the top bit is looked at, which is set if the
// byte has it, is below 0x20, or is 0 after an exclusive or with the quote or backslash.
static bool are_plain(const char *text)
{
    const guint64 ones = G_GUINT64_CONSTANT(0x0101010101010101);
    guint64 bytes;
    memcpy(&bytes, text, sizeof bytes);
    guint64 quotes = bytes ^ ones * '"';
    guint64 slashes = bytes ^ ones * '\\';
    guint64 found = bytes | (bytes - ones * 0x20) | (quotes - ones) | (slashes - ones);
    return (found & ones * 0x80) == 0;
}

// Where the plain bytes from text on end.
static const char *skip_plain(const char *text, const char *end)
{
    while (end - text >= 8 && are_plain(text))
        text += 8;
    while (text < end && is_plain((guchar)*text))
        text++;
    return text;
}

// Bytes of the UTF-8 character at text, 0 if there is none.
static gsize character_bytes(const char *text, gsize left)
{
    gunichar c = g_utf8_get_char_validated(text, (gssize)MIN(left, 6));
    if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
        return 0;
    return (gsize)(g_utf8_next_char(text) - text);
}

void bb_json_string(BbJson *json, const char *text)
{
    begin_value(json);
    put_char(json, '"');
    const char *end_of_text = text + strlen(text);
    while (text < end_of_text) {
        const char *plain = text;
        text = skip_plain(text, end_of_text);
        put(json, plain, (gsize)(text - plain));
        if (text == end_of_text)
            break;
        if ((guchar)*text < 0x80) {
            put_escape(json, (guchar)*text++);
            continue;
        }
        gsize bytes = character_bytes(text, (gsize)(end_of_text - text));
        put(json, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
        text += bytes ? bytes : 1;
    }
    put_char(json, '"');
}

// Writes the digits of value so that they end before end, at least width of them. Returns the
// first.
static char *digits_before(char *end_of_digits, guint64 value, guint width)
{
    char *first = end_of_digits;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0 || (guint)(end_of_digits - first) < width);
    return first;
}

// A number of 10^-decimals units.
static void put_fixed(BbJson *json, bool negative, guint64 value, guint decimals)
{
    guint64 scale = 1;
    for (guint i = 0; i < decimals; i++)
        scale *= 10;
    char text[NUMBER_BYTES];
    char *first = text + sizeof text;
    if (decimals > 0) {
        first = digits_before(first, value % scale, decimals);
        *--first = '.';
    }
    first = digits_before(first, value / scale, 1);
    if (negative)
        *--first = '-';
    begin_value(json);
    put(json, first, (gsize)(text + sizeof text - first));
}

static guint64 magnitude(gint64 value)
{
    return value < 0 ? -(guint64)value : (guint64)value;
}

void bb_json_uint(BbJson *json, guint64 value)
{
    put_fixed(json, false, value, 0);
}

void bb_json_int(BbJson *json, gint64 value)
{
    put_fixed(json, value < 0, magnitude(value), 0);
}

void bb_json_seconds(BbJson *json, gint64 ns)
{
    put_fixed(json, ns < 0, magnitude(ns), 9);
}

void bb_json_microseconds(BbJson *json, gint64 ns)
{
    put_fixed(json, ns < 0, magnitude(ns), 3);
}

void bb_json_share(BbJson *json, double value)
{
    double scaled = round(fabs(value) * 1e4);
    if (!(scaled < 1e18)) {
        bb_json_null(json);
        return;
    }
    put_fixed(json, value < 0 && scaled > 0, (guint64)scaled, 4);
}

void bb_json_bool(BbJson *json, bool value)
{
    begin_value(json);
    put(json, value ? "true" : "false", value ? 4 : 5);
}

void bb_json_null(BbJson *json)
{
    begin_value(json);
    put(json, "null", 4);
}

bool bb_json_finish(BbJson *json)
{
    g_assert(json->levels->len == 1);
    if (top(json)->used)
        put_char(json, '\n');
    flush(json);
    if (json->error == 0 && (ferror(json->out) || fflush(json->out) != 0))
        json->error = errno ? errno : EIO;
    errno = json->error;
    return json->error == 0;
}

// ---- keys with their values --------------------------------------------------------------------

void bb_json_put_string(BbJson *json, const char *key, const char *text)
{
    bb_json_key(json, key);
    bb_json_string(json, text);
}

void bb_json_put_uint(BbJson *json, const char *key, guint64 value)
{
    bb_json_key(json, key);
    bb_json_uint(json, value);
}

void bb_json_put_seconds(BbJson *json, const char *key, gint64 ns)
{
    bb_json_key(json, key);
    bb_json_seconds(json, ns);
}

void bb_json_put_share(BbJson *json, const char *key, double value)
{
    bb_json_key(json, key);
    bb_json_share(json, value);
}

void bb_json_put_probability(BbJson *json, const char *key, double value)
{
    bb_json_put_share(json, key, value < 0 ? NAN : value);
}
