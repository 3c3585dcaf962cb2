// SPDX-License-Identifier: Apache-2.0
// In: a line of an event log. Out: its seven fields.
#include "merge/event_line.h"

#include <string.h>

#define BLANKS " \t\r"
#define FIELDS 7

bool bb_event_line_is_blank(const char *line)
{
    line += strspn(line, BLANKS);
    return *line == '\0' || *line == '#' || *line == '%';
}

static void skip_blanks(char **at)
{
    *at += strspn(*at, BLANKS);
}

static bool take_char(char **at, char c)
{
    skip_blanks(at);
    if (**at != c)
        return false;
    ++*at;
    return true;
}

// A text in quotes, decoded in place: a backslash or a second quote stands for what follows it.
static const char *take_quoted(char **at, const char **field)
{
    char quote = *(*at)++;
    char *to = *at;
    *field = to;
    for (;;) {
        char c = *(*at)++;
        if (c == '\\')
            c = *(*at)++;
        else if (c == quote && **at == quote)
            ++*at;
        else if (c == quote)
            break;
        if (c == '\0')
            return "a text in quotes does not end";
        *to++ = c;
    }
    *to = '\0';
    return NULL;
}

// A bare word, up to *at. *end is where its terminator goes, once what stands there was read.
static const char *take_bare(char **at, const char **field, char **end)
{
    char *start = *at;
    gsize length = strcspn(start, ",()'\"");
    *at += length;
    while (length > 0 && strchr(BLANKS, start[length - 1]))
        length--;
    *end = start + length;
    bool is_set = length > 0 && !(length == 1 && (*start == '-' || *start == '_'));
    *field = is_set ? start : NULL;
    return **at == ',' || **at == ')' ? NULL
                                      : "a field that holds quotes or parentheses must be quoted";
}

// A field and the mark behind it.
static const char *take_field(char **at, char mark, const char **field)
{
    char *end = NULL;
    skip_blanks(at);
    const char *reason =
        **at == '\'' || **at == '"' ? take_quoted(at, field) : take_bare(at, field, &end);
    if (reason)
        return reason;
    if (!take_char(at, mark))
        return "an event has not seven fields";
    if (end)
        *end = '\0';
    return NULL;
}

static const char *take_head(char **at)
{
    skip_blanks(at);
    if (strncmp(*at, "event", strlen("event")) != 0)
        return "the line is no event(...)";
    *at += strlen("event");
    return take_char(at, '(') ? NULL : "the line is no event(...)";
}

static const char *check(const char *const fields[FIELDS], BbEventLine *event)
{
    *event = (BbEventLine){.id = fields[0],
                           .process = fields[1],
                           .thread = fields[2],
                           .source = fields[3],
                           .tag = fields[5],
                           .value = fields[6]};
    if (!event->id || !*event->id || !event->process || !*event->process)
        return "an event has no id or no process";
    if (!fields[4] || (strcmp(fields[4], "act") != 0 && strcmp(fields[4], "sig") != 0))
        return "the fifth field is neither act nor sig";
    event->acts = *fields[4] == 'a';
    return NULL;
}

const char *bb_event_line_parse(char *line, BbEventLine *event)
{
    const char *fields[FIELDS] = {NULL};
    char *at = line;
    const char *reason = take_head(&at);
    for (guint i = 0; !reason && i < FIELDS; i++)
        reason = take_field(&at, i + 1 < FIELDS ? ',' : ')', &fields[i]);
    if (reason)
        return reason;
    (void)take_char(&at, '.');
    skip_blanks(&at);
    return *at ? "there is text behind the event" : check(fields, event);
}
