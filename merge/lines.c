// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a file. Out: its lines, and which of them are none.
#include "merge/lines.h"

#include <string.h>

#define READ_SIZE ((gsize)64 << 10)

struct BbLines {
    BbInput *input;
    char *buffer;
    gsize start, end, room; // buffer[start .. end) is read, but not yet taken
    guint64 number;
    bool at_end;
    const char *reason;
};

BbLines *bb_lines_take(BbInput *input)
{
    BbLines *lines = g_new0(BbLines, 1);
    lines->input = input;
    lines->room = READ_SIZE;
    lines->buffer = g_malloc(lines->room);
    return lines;
}

BbLines *bb_lines_open(const char *path, GError **error)
{
    BbInput *input = bb_input_open_text(path, error);
    return input ? bb_lines_take(input) : NULL;
}

void bb_lines_free(BbLines *lines)
{
    if (!lines)
        return;
    bb_input_free(lines->input);
    g_free(lines->buffer);
    g_free(lines);
}

// Reads more behind what is there. One byte stays free for a NUL behind the last line.
static bool read_more(BbLines *lines, GError **error)
{
    memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
    lines->end -= lines->start;
    lines->start = 0;
    if (lines->end + 1 == lines->room) {
        lines->room *= 2;
        lines->buffer = g_realloc(lines->buffer, lines->room);
    }
    gsize want = lines->room - 1 - lines->end;
    gssize got = bb_input_some(lines->input, lines->buffer + lines->end, want, error);
    lines->at_end = got == 0;
    lines->end += (gsize)MAX(got, 0);
    return got >= 0;
}

static char *find_end(const BbLines *lines, gsize from)
{
    return memchr(lines->buffer + from, '\n', lines->end - from);
}

// Drops a line that is too long, to its end.
static BbLineState pass_long_line(BbLines *lines, GError **error)
{
    lines->reason = "the line is longer than 1 MiB";
    for (;;) {
        const char *found = find_end(lines, lines->start);
        lines->start = found ? (gsize)(found - lines->buffer) + 1 : lines->end;
        if (found || lines->at_end)
            return BB_LINE_BAD;
        if (!read_more(lines, error))
            return BB_LINE_FAILED;
    }
}

BbLineState bb_lines_next(BbLines *lines, char **line, GError **error)
{
    char *found = find_end(lines, lines->start);
    while (!found && !lines->at_end && lines->end - lines->start <= BB_LINE_MAX) {
        gsize seen = lines->end - lines->start;
        if (!read_more(lines, error))
            return BB_LINE_FAILED;
        found = find_end(lines, seen);
    }
    if (!found && (lines->start == lines->end || bb_lines_damage(lines)))
        return BB_LINE_END; // what an archive breaks off in is no line
    lines->number++;
    gsize end = found ? (gsize)(found - lines->buffer) : lines->end;
    if (end - lines->start > BB_LINE_MAX)
        return pass_long_line(lines, error);
    *line = lines->buffer + lines->start;
    lines->start = found ? end + 1 : end;
    lines->buffer[end] = '\0';
    lines->reason =
        strlen(*line) < (gsize)(lines->buffer + end - *line) ? "the line has a NUL byte" : NULL;
    return lines->reason ? BB_LINE_BAD : BB_LINE_GOOD;
}

const char *bb_lines_reason(const BbLines *lines)
{
    return lines->reason;
}

guint64 bb_lines_number(const BbLines *lines)
{
    return lines->number;
}

const char *bb_lines_name(const BbLines *lines)
{
    return bb_input_name(lines->input);
}

const char *bb_lines_damage(const BbLines *lines)
{
    return bb_input_damage(lines->input);
}
