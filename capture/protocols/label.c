// SPDX-License-Identifier: Apache-2.0
// In: method and target of an HTTP request, or a command word, as bytes from outside.
// Out: a label with few values, in which what varies from call to call is `*`.
#include "capture/protocols/label.h"

#include <stdbool.h>
#include <string.h>

#define SEGMENT_MAX 40u // decoded bytes of a path segment that can still be the name of a route
#define METHOD_MAX 32u

typedef struct Label {
    char *out;
    gsize length;
    bool full; // cut: it ends in `*`
} Label;

// ---- one path segment -------------------------------------------------------------------------

typedef struct Segment {
    char text[SEGMENT_MAX + 8]; // room for what replaces a value
    gsize length;
} Segment;

static bool can_stand_in_path(guint8 c)
{
    switch (c) {
    case '"':
    case '#':
    case '%':
    case '/':
    case '<':
    case '>':
    case '?':
    case '\\':
    case '^':
    case '`':
    case '{':
    case '|':
    case '}':
    case 0x7f:
        return false;
    default:
        return c > ' ';
    }
}

static bool is_printable(const char *text, gsize length)
{
    if (!g_utf8_validate_len(text, length, NULL))
        return false;
    const char *end = text + length;
    for (const char *at = text; at < end; at = g_utf8_next_char(at))
        if (!g_unichar_isprint(g_utf8_get_char(at)))
            return false;
    return true;
}

// RFC 3986, section 2.1. False when the result is no text that a route could have.
static bool segment_decode(Segment *segment, const guint8 *raw, gsize length)
{
    bool ascii = true;
    segment->length = 0;
    for (gsize i = 0; i < length; i++) {
        guint8 c = raw[i];
        if (segment->length == SEGMENT_MAX)
            return false;
        if (c == '%') {
            if (length - i < 3 || !g_ascii_isxdigit(raw[i + 1]) || !g_ascii_isxdigit(raw[i + 2]))
                return false;
            c = (guint8)(g_ascii_xdigit_value((char)raw[i + 1]) << 4 |
                         g_ascii_xdigit_value((char)raw[i + 2]));
            i += 2;
        }
        if (!can_stand_in_path(c))
            return false;
        ascii &= c < 0x80;
        segment->text[segment->length++] = (char)c;
    }
    return ascii || is_printable(segment->text, segment->length);
}

// What a word (a run of letters and digits) is made of.
typedef struct Word {
    guint length, digits, digit_run; // digit_run: the longest
    guint hex;
    guint switches; // from letter to digit or back
    guint runs;     // of lower case, digits, or capitals that may begin a lower-case run (Camel)
} Word;

typedef enum { CLASS_NONE, CLASS_DIGIT, CLASS_UPPER, CLASS_LOWER } CharClass;

static CharClass char_class(char c)
{
    if (g_ascii_isdigit(c))
        return CLASS_DIGIT;
    if (g_ascii_isupper(c))
        return CLASS_UPPER;
    return g_ascii_islower(c) || (guint8)c >= 0x80 ? CLASS_LOWER : CLASS_NONE;
}

static Word word_measure(const char *text, gsize length)
{
    Word word = {0};
    CharClass before = CLASS_NONE;
    guint digit_run = 0;
    for (gsize i = 0; i < length; i++) {
        CharClass now = char_class(text[i]);
        if (now == CLASS_NONE)
            break;
        digit_run = now == CLASS_DIGIT ? digit_run + 1 : 0;
        word.digit_run = MAX(word.digit_run, digit_run);
        word.digits += now == CLASS_DIGIT;
        word.hex += g_ascii_isxdigit(text[i]);
        word.switches += word.length > 0 && (now == CLASS_DIGIT) != (before == CLASS_DIGIT);
        word.runs += now != before && !(before == CLASS_UPPER && now == CLASS_LOWER);
        word.length++;
        before = now;
    }
    return word;
}

static bool word_varies(const Word *word)
{
    if (word->digit_run >= 3)
        return true;
    if (word->length >= 6 && word->hex == word->length && word->digits > 0)
        return true;
    if (word->length >= 10 && word->switches >= 4)
        return true;
    return word->length >= 8 && word->length < 2 * word->runs; // runs shorter than 2 on average
}

static bool text_varies(const char *text, gsize length)
{
    guint letters = 0, digits = 0, hex = 0, dashes = 0;
    for (gsize i = 0; i < length;) {
        Word word = word_measure(text + i, length - i);
        if (word_varies(&word))
            return true;
        digits += word.digits;
        letters += word.length - word.digits;
        hex += word.hex;
        dashes += text[i] == '-';
        i += MAX(word.length, 1);
    }
    bool number = digits > 0 && letters == 0;
    return number || (hex > 15 && hex + dashes == length);
}

static bool is_extension(const char *text, gsize length)
{
    if (length < 1 || length > 5 || !g_ascii_isalpha(text[0]))
        return false;
    for (gsize i = 1; i < length; i++)
        if (!g_ascii_isalnum(text[i]))
            return false;
    return true;
}

static bool is_verb(const char *text, gsize length)
{
    if (length < 2)
        return false;
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalpha(text[i]))
            return false;
    return true;
}

// Where the part begins that stays when what is before it varies; length if there is none.
static gsize suffix_start(const char *text, gsize length)
{
    for (gsize i = length; i-- > 1;) {
        gsize rest = length - i - 1;
        if (text[i] == '.')
            return is_extension(text + i + 1, rest) ? i : length;
        if (text[i] == ':')
            return is_verb(text + i + 1, rest) ? i : length;
    }
    return length;
}

static void segment_set(Segment *segment, gsize at, const char *text)
{
    gsize length = strlen(text);
    memcpy(segment->text + at, text, length);
    segment->length = at + length;
}

static void segment_star(Segment *segment)
{
    if (segment->length > 1 && memchr(segment->text + 1, '@', segment->length - 1)) {
        segment_set(segment, 0, "*");
        return;
    }
    gsize suffix = suffix_start(segment->text, segment->length);
    if (!text_varies(segment->text, suffix))
        return;
    gsize rest = segment->length - suffix;
    memmove(segment->text + 1, segment->text + suffix, rest);
    segment->text[0] = '*';
    segment->length = 1 + rest;
}

// key=value and Name(value): true when the segment was one and its value is replaced.
static bool segment_star_value(Segment *segment)
{
    gsize key = 0;
    while (key < segment->length && segment->text[key] != '=' && segment->text[key] != '(')
        key++;
    if (key == 0 || segment->length - key < 2)
        return false;
    const char *value = segment->text + key;
    if (value[0] == '(' && value[1] == ')')
        return false;
    if (value[1] == '=' || text_varies(segment->text, key)) // base64 with its padding
        segment_set(segment, 0, "*");
    else
        segment_set(segment, key, value[0] == '=' ? "=*" : "(*)");
    return true;
}

static void segment_template(Segment *segment, const guint8 *raw, gsize length)
{
    const guint8 *matrix = length ? memchr(raw, ';', length) : NULL; // RFC 3986, section 3.3
    if (matrix)
        length = (gsize)(matrix - raw);
    if (!segment_decode(segment, raw, length))
        segment_set(segment, 0, "*");
    else if (!segment_star_value(segment))
        segment_star(segment);
}

typedef enum { SEGMENT_PLAIN, SEGMENT_NUMBER, SEGMENT_OTHER } SegmentKind;

// Most segments are short and of small letters (v1 as well), which none of the above would change,
// or numbers.
static SegmentKind segment_kind(const guint8 *raw, gsize length)
{
    guint letters = 0, digits = 0, dashes = 0;
    if (length > 15)
        return SEGMENT_OTHER;
    for (gsize i = 0; i < length; i++) {
        letters += raw[i] >= 'a' && raw[i] <= 'z';
        digits += raw[i] >= '0' && raw[i] <= '9';
        dashes += raw[i] == '-' || raw[i] == '_';
    }
    if (letters + digits + dashes < length)
        return SEGMENT_OTHER;
    if (digits == 0 || (letters > 0 && digits <= 2 && length <= 5))
        return SEGMENT_PLAIN;
    return letters == 0 ? SEGMENT_NUMBER : SEGMENT_OTHER;
}

// Appends both or, where they do not fit, a last `*` with the separator, which is one byte or none.
// Two bytes stay in reserve for that until the label is full.
static void label_append(Label *label, const char *separator, const char *text, gsize length)
{
    gsize before = separator[0] != '\0';
    if (label->full)
        return;
    if (label->length + before + length > BB_LABEL_MAX - 2) {
        label->full = true;
        text = "*";
        length = 1;
    }
    memcpy(label->out + label->length, separator, before);
    memcpy(label->out + label->length + before, text, length);
    label->length += before + length;
}

static void append_segment(Label *label, const char *separator, const guint8 *raw, gsize length)
{
    Segment segment;
    switch (segment_kind(raw, length)) {
    case SEGMENT_PLAIN:
        label_append(label, separator, (const char *)raw, length);
        break;
    case SEGMENT_NUMBER:
        label_append(label, separator, "*", 1);
        break;
    case SEGMENT_OTHER:
        segment_template(&segment, raw, length);
        label_append(label, separator, segment.text, segment.length);
        break;
    }
}

// ---- method and path --------------------------------------------------------------------------

// RFC 9112, section 3.2: absolute-form begins with a scheme and a host.
static void skip_origin(const guint8 **path, gsize *length)
{
    gsize i = 0;
    while (i < *length && i < METHOD_MAX && g_ascii_isalnum((*path)[i]))
        i++;
    if (i > 0 && *length - i >= 3 && memcmp(*path + i, "://", 3) == 0) {
        gsize host = i + 3;
        while (host < *length && (*path)[host] != '/')
            host++;
        *path += host;
        *length -= host;
    }
    if (*length == 0) { // RFC 9110, section 4.2.3: the same as "/"
        *path = (const guint8 *)"/";
        *length = 1;
    }
}

static void label_path(Label *label, const guint8 *path, gsize length)
{
    skip_origin(&path, &length);
    if (length == 1 && path[0] == '*') { // asterisk-form
        label_append(label, "", "*", 1);
        return;
    }
    const char *separator = "";
    for (gsize at = 0; at < length && !label->full;) {
        if (path[at] == '/') {
            separator = "/";
            at++;
            if (at < length)
                continue; // several slashes are one
        }
        const guint8 *slash = at < length ? memchr(path + at, '/', length - at) : NULL;
        gsize end = slash ? (gsize)(slash - path) : length;
        append_segment(label, separator, path + at, end - at);
        at = end;
    }
}

// Authority-form, as it came but for its case.
static void label_authority(Label *label, const guint8 *text, gsize length)
{
    Segment host = {.length = 0};
    gsize most = MIN(length, SEGMENT_MAX);
    for (gsize i = 0; i < most && g_ascii_isgraph(text[i]); i++)
        host.text[host.length++] = g_ascii_tolower((char)text[i]);
    bool whole = host.length == length && length > 0;
    label_append(label, "", whole ? host.text : "*", whole ? host.length : 1);
}

static gsize path_end(const guint8 *path, gsize length)
{
    const guint8 *query = length ? memchr(path, '?', length) : NULL;
    gsize end = query ? (gsize)(query - path) : length;
    const guint8 *fragment = end ? memchr(path, '#', end) : NULL;
    return fragment ? (gsize)(fragment - path) : end;
}

gsize bb_label_http(char *out, const guint8 *method, gsize method_length, const guint8 *path,
                    gsize path_length)
{
    Label label = {.out = out};
    gsize most = MIN(method_length, METHOD_MAX);
    for (gsize i = 0; i < most && g_ascii_isgraph(method[i]); i++)
        out[label.length++] = (char)method[i];
    if (path_length > 0) {
        out[label.length++] = ' ';
        if (label.length == 8 && memcmp(out, "CONNECT", 7) == 0)
            label_authority(&label, path, path_length);
        else
            label_path(&label, path, path_end(path, path_length));
    }
    out[label.length] = '\0';
    return label.length;
}

gsize bb_label_topic(char *out, const char *verb, const guint8 *name, gsize length,
                     const char *separators)
{
    Label label = {.out = out};
    bool unknown = length == 1 && name[0] == '?';
    char separator[2] = {verb[0] ? ' ' : '\0', '\0'};
    for (; label.length < METHOD_MAX && verb[label.length]; label.length++)
        out[label.length] = verb[label.length];
    for (gsize at = 0, end; at <= length && length && !label.full; at = end + 1) {
        for (end = at; end < length && (!name[end] || !strchr(separators, name[end])); end++)
            continue;
        if (unknown)
            label_append(&label, separator, "?", 1);
        else
            append_segment(&label, separator, name + at, end - at);
        if (end < length)
            separator[0] = (char)name[end];
    }
    out[label.length] = '\0';
    return label.length;
}

gsize bb_label_word(char *out, const guint8 *word, gsize length)
{
    gsize most = MIN(length, BB_LABEL_MAX);
    gsize n = 0;
    while (n < most && g_ascii_isgraph(word[n])) {
        out[n] = g_ascii_toupper((char)word[n]);
        n++;
    }
    if (n == BB_LABEL_MAX && n < length && g_ascii_isgraph(word[n]))
        out[n - 1] = '*';
    out[n] = '\0';
    return n;
}
