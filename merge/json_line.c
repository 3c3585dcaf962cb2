// SPDX-License-Identifier: Apache-2.0
// In: a JSON object (RFC 8259) in one line. Out: its members.
#include "merge/json_line.h"

#include <string.h>

static void skip_space(char **at)
{
    *at += strspn(*at, " \t\r");
}

static bool take_char(char **at, char c)
{
    skip_space(at);
    if (**at != c)
        return false;
    ++*at;
    return true;
}

// Four hexadecimal digits; -1 if they are none.
static gint32 take_hex(char **at)
{
    gint32 value = 0;
    for (guint i = 0; i < 4; i++) {
        gint digit = g_ascii_xdigit_value((*at)[0]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
        ++*at;
    }
    return value;
}

// What stands behind \u, two of them for a character beyond 16 bits. Its UTF-8 is never longer.
static const char *take_unicode(char **at, char **to)
{
    gint32 first = take_hex(at);
    if (first < 0)
        return "\\u has no four hexadecimal digits";
    if (first == 0)
        return "a text has a NUL character, which no name can hold";
    if (first >= 0xd800 && first < 0xe000) {
        gint32 second = -1;
        if (first < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
            *at += 2;
            second = take_hex(at);
        }
        if (second < 0xdc00 || second >= 0xe000)
            return "\\u has half of a surrogate pair";
        first = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    }
    *to += g_unichar_to_utf8((gunichar)first, *to);
    return NULL;
}

static const char *take_escape(char **at, char **to)
{
    static const char shorts[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    char c = **at;
    if (c == 'u') {
        ++*at;
        return take_unicode(at, to);
    }
    for (const char *s = shorts; *s; s += 2) {
        if (s[0] == c) {
            *(*to)++ = s[1];
            ++*at;
            return NULL;
        }
    }
    return "a text has a backslash that escapes nothing";
}

// A string at *at, decoded in place.
static const char *take_string(char **at, char **text)
{
    if (!take_char(at, '"'))
        return "a text in quotes is missing";
    char *to = *text = *at;
    while (**at != '"') {
        const char *reason = NULL;
        if ((guchar) * *at < 0x20)
            return **at ? "a text has a control character" : "a text has no closing quote";
        if (**at == '\\') {
            ++*at;
            reason = take_escape(at, &to);
        } else {
            *to++ = *(*at)++;
        }
        if (reason)
            return reason;
    }
    ++*at;
    *to = '\0';
    return NULL;
}

// Behind an object or array, by its brackets alone.
static const char *pass_nested(char **at)
{
    gsize depth = 0;
    do {
        char *ignored = NULL;
        const char *reason = NULL;
        *at += strcspn(*at, "\"[]{}");
        if (**at == '\0')
            return "an object or array has no closing bracket";
        if (**at == '"') {
            if ((reason = take_string(at, &ignored)))
                return reason;
            continue;
        }
        bool opens = **at == '[' || **at == '{';
        depth = opens ? depth + 1 : depth - 1;
        ++*at;
    } while (depth > 0);
    return NULL;
}

// A number, true, false or null, up to *at.
static const char *take_word(char **at, BbJsonMember *member)
{
    char *word = *at;
    gsize length = strspn(word, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    *at += length;
    if (g_ascii_isdigit(*word) || (*word == '-' && g_ascii_isdigit(word[1]))) {
        member->kind = BB_JSON_NUMBER;
        member->text = word;
        return strspn(word, "+-.0123456789eE") == length ? NULL : "a number has letters";
    }
    member->kind = length == 4 && strncmp(word, "null", 4) == 0 ? BB_JSON_NULL : BB_JSON_OTHER;
    if (member->kind == BB_JSON_NULL || (length == 4 && strncmp(word, "true", 4) == 0) ||
        (length == 5 && strncmp(word, "false", 5) == 0))
        return NULL;
    return "a value is missing";
}

static const char *take_value(char **at, BbJsonMember *member)
{
    skip_space(at);
    switch (**at) {
    case '"':
        member->kind = BB_JSON_STRING;
        return take_string(at, &member->text);
    case '{':
    case '[':
        member->kind = BB_JSON_OTHER;
        return pass_nested(at);
    default:
        return take_word(at, member);
    }
}

// The first member, or one behind a comma. *more tells whether another follows.
static const char *take_member(char **at, GArray *members, bool *more)
{
    BbJsonMember member = {0};
    const char *reason = take_string(at, &member.key);
    if (!reason && !take_char(at, ':'))
        reason = "a colon is missing behind a key";
    if (!reason)
        reason = take_value(at, &member);
    if (reason)
        return reason;
    char *end = *at;
    *more = take_char(at, ',');
    if (!*more && !take_char(at, '}'))
        return "a comma or a closing brace is missing";
    if (member.kind == BB_JSON_NUMBER)
        *end = '\0'; // what stood there has been read
    g_array_append_val(members, member);
    return NULL;
}

const char *bb_json_line_parse(char *line, GArray *members)
{
    char *at = line;
    bool more = true;
    g_array_set_size(members, 0);
    if (!take_char(&at, '{'))
        return "the line is no JSON object";
    if (take_char(&at, '}'))
        more = false;
    while (more) {
        const char *reason = take_member(&at, members, &more);
        if (reason)
            return reason;
    }
    skip_space(&at);
    return *at ? "there is text behind the object" : NULL;
}
