// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a text trace (bbtrace-text(5)). Out: its messages, and which lines are none.
#include "data/trace_form.h"
#include "data/trace_text_line.h"

#include <string.h>

#define READ_SIZE ((gsize)64 << 10)
#define LINE_MAX_SIZE ((gsize)1 << 20)

typedef struct {
    BbTraceReader base;
    char *buffer;
    gsize start, end, room; // buffer[start .. end) is read, but not yet taken
    guint64 line;           // number of the line last taken
    bool at_end;            // of the input
    bool cut_head;          // the input ends within the first line
    bool cut;               // the input ends within a line, which is not taken
    GString *extra;         // of the message last read
} TextReader;

typedef enum { LINE, LINE_LONG, LINE_NONE, LINE_FAILED } LineFound;

static BbTraceReader *text_open(BbInput *input, GError **error)
{
    TextReader *reader = g_new0(TextReader, 1);
    reader->room = READ_SIZE;
    reader->buffer = g_malloc(reader->room);
    reader->extra = g_string_new(NULL);
    char head[sizeof BB_TRACE_TEXT_HEAD];
    reader->cut_head = bb_input_peek(input, head, sizeof head) < strlen(BB_TRACE_TEXT_HEAD);
    return &reader->base;
}

static void text_free(BbTraceReader *base)
{
    TextReader *reader = (TextReader *)base;
    g_free(reader->buffer);
    g_string_free(reader->extra, TRUE);
    g_free(reader);
}

// Reads more behind what is there. One byte stays free for a NUL behind the last line.
static bool read_more(TextReader *reader, GError **error)
{
    memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    if (reader->end + 1 == reader->room) {
        reader->room *= 2;
        reader->buffer = g_realloc(reader->buffer, reader->room);
    }
    gsize want = reader->room - 1 - reader->end;
    gssize got = bb_input_read(reader->base.input, reader->buffer + reader->end, want, error);
    if (got < 0)
        return false;
    reader->end += (gsize)got;
    reader->at_end = (gsize)got < want;
    return true;
}

// Drops a line that is too long, to its end.
static LineFound pass_long_line(TextReader *reader, GError **error)
{
    for (;;) {
        char *found = memchr(reader->buffer + reader->start, '\n', reader->end - reader->start);
        reader->start = found ? (gsize)(found - reader->buffer) + 1 : reader->end;
        if (found || reader->at_end)
            return LINE_LONG;
        if (!read_more(reader, error))
            return LINE_FAILED;
    }
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\v\f\r")] == '\0';
}

// What follows the last line end: the rest of a number or a text may be missing, which nothing else
// would tell.
static LineFound leave_cut_line(TextReader *reader)
{
    char *line = reader->buffer + reader->start;
    reader->buffer[reader->end] = '\0';
    reader->start = reader->end;
    reader->cut = reader->line > 0 && !is_blank(line);
    if (reader->cut && line[0] != '#')
        bb_counters_add(reader->base.counters, BB_TRACE_LOST, 1);
    return LINE_NONE;
}

// Takes the next line, without its end, with a NUL behind it. *size tells of a NUL inside.
static LineFound take_line(TextReader *reader, char **line, gsize *size, GError **error)
{
    char *found = NULL;
    while (!(found = memchr(reader->buffer + reader->start, '\n', reader->end - reader->start)) &&
           !reader->at_end && reader->end - reader->start <= LINE_MAX_SIZE) {
        if (!read_more(reader, error))
            return LINE_FAILED;
    }
    gsize end = found ? (gsize)(found - reader->buffer) : reader->end;
    if (!found && end - reader->start <= LINE_MAX_SIZE)
        return leave_cut_line(reader);
    reader->line++;
    if (end - reader->start > LINE_MAX_SIZE)
        return pass_long_line(reader, error);
    *line = reader->buffer + reader->start;
    *size = end - reader->start;
    reader->start = end + 1;
    if (*size > 0 && (*line)[*size - 1] == '\r')
        --*size;
    (*line)[*size] = '\0';
    return LINE;
}

static void take_comment(TextReader *reader, const char *line)
{
    g_autofree char *name = NULL, *note = bb_trace_line_note(line);
    guint64 value = 0;
    BbNetworkEdge edge;
    if (bb_trace_line_counter(line, &name, &value))
        bb_counters_add(reader->base.counters, name, value);
    else if (note)
        bb_trace_reader_add_note(&reader->base, note);
    else if (bb_trace_line_network(line, reader->base.names, &edge))
        bb_network_add(reader->base.network, &edge);
}

// Counts a bad line, or fails with it.
static bool refuse_line(TextReader *reader, const char *reason, GError **error)
{
    if (reader->base.skip_bad_lines) {
        reader->base.bad_lines++;
        return true;
    }
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_LINE,
                "%s:%" G_GUINT64_FORMAT ": %s: correct the line, or use --skip-bad-lines to count "
                "and skip such lines",
                bb_input_name(reader->base.input), reader->line, reason);
    return false;
}

static void note_end(TextReader *reader)
{
    const char *damage = bb_input_damage(reader->base.input);
    if (reader->cut_head)
        bb_trace_reader_add_damage(&reader->base,
                                   "cut within its first line: no message recovered");
    if (damage)
        bb_trace_reader_add_damage(&reader->base, "%" G_GUINT64_FORMAT " messages recovered; %s",
                                   reader->base.messages, damage);
    else if (reader->cut)
        bb_trace_reader_add_damage(&reader->base,
                                   "its last line has no line end, may be cut, and is left out: "
                                   "if it is whole, put a line feed behind it");
}

static bool text_next(BbTraceReader *base, BbMessage *message, GError **error)
{
    TextReader *reader = (TextReader *)base;
    for (;;) {
        char *line = NULL;
        gsize size = 0;
        const char *reason = NULL;
        LineFound found = take_line(reader, &line, &size, error);
        if (found == LINE_NONE)
            note_end(reader);
        if (found == LINE_NONE || found == LINE_FAILED)
            return false;
        if (found == LINE_LONG)
            reason = "the line is longer than 1 MiB";
        else if (strlen(line) < size)
            reason = "the line has a NUL byte";
        else if (line[0] == '#')
            take_comment(reader, line);
        else if (!is_blank(line) &&
                 !(reason = bb_trace_line_parse(line, base->names, reader->extra, message)))
            return true;
        if (reason && !refuse_line(reader, reason, error))
            return false;
    }
}

const BbTraceReaderForm bb_trace_text_reader = {
    .form = BB_TRACE_TEXT,
    .open = text_open,
    .next = text_next,
    .free = text_free,
};
