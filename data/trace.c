// SPDX-License-Identifier: Apache-2.0
// In: a path. Out: the reader of the form that its content asks for.
#include "data/trace.h"

#include "data/foreign.h"
#include "data/trace_form.h"

#include <string.h>

G_DEFINE_QUARK(bb - trace - error - quark, bb_trace_error)

static bool looks_like_text(const char *head, gsize size)
{
    for (gsize i = 0; i < size; i++) {
        if (g_ascii_iscntrl(head[i]) && !g_ascii_isspace(head[i]))
            return false;
    }
    return true;
}

static void refuse_text(const char *name, const char *head, gsize size, GError **error)
{
    const char version[] = "# bbtrace text ";
    g_autofree char *line = g_strndup(head, size);
    g_strdelimit(line, "\r\n", '\0');
    if (g_str_has_prefix(line, version)) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                    "%s: text trace of version '%s', but this program reads version 1: "
                    "use a newer bbtrace, or one that writes version 1",
                    name, g_strstrip(line + strlen(version)));
        return;
    }
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                "%s: no trace; it is text, but its first line is not `" BB_TRACE_TEXT_HEAD
                "`: if it is a text trace, put that line on top of it",
                name);
}

static void refuse(const char *path, const char *name, const char *head, gsize size, GError **error)
{
    g_autofree char *foreign = bb_foreign_tell(path, head, size, false);
    if (foreign) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM, "%s: no trace; %s", name, foreign);
        return;
    }
    if (looks_like_text(head, size)) {
        refuse_text(name, head, size, error);
        return;
    }
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                "%s: neither a .bbt nor a text trace (it begins with the bytes %02x %02x): "
                "make one with `bbtrace capture` or `bbtrace import`",
                name, (guint8)head[0], size > 1 ? (guint8)head[1] : 0);
}

// Is the first line the head of a text trace, or the file cut within it?
static bool is_text_head(const char *head, gsize size)
{
    const gsize expected = strlen(BB_TRACE_TEXT_HEAD);
    if (memcmp(head, BB_TRACE_TEXT_HEAD, MIN(size, expected)) != 0)
        return false;
    for (gsize i = expected; i < size && head[i] != '\n'; i++) {
        if (!g_ascii_isspace(head[i]))
            return false;
    }
    return true;
}

// Returns the form of what begins with head, NULL with an error if that is no trace.
static const BbTraceReaderForm *tell_form(const char *path, const char *name, const char *head,
                                          gsize size, GError **error)
{
    if (memcmp(head, BB_TRACE_BBT_MAGIC, MIN(size, BB_TRACE_BBT_MAGIC_SIZE)) == 0)
        return &bb_trace_bbt_reader;
    if (size >= BB_TRACE_RING_MAGIC_SIZE &&
        memcmp(head, BB_TRACE_RING_MAGIC, BB_TRACE_RING_MAGIC_SIZE) == 0)
        return &bb_trace_ring_reader;
    if (is_text_head(head, size))
        return &bb_trace_text_reader;
    refuse(path, name, head, size, error);
    return NULL;
}

BbTraceReader *bb_trace_reader_open(const char *path, BbNames *names, GError **error)
{
    g_autoptr(BbInput) input = bb_input_open(path, error);
    if (!input)
        return NULL;
    char head[BB_FOREIGN_PEEK] = {0};
    gsize size = bb_input_peek(input, head, sizeof head);
    const BbTraceReaderForm *form = tell_form(path, bb_input_name(input), head, size, error);
    BbTraceReader *reader = form ? form->open(input, error) : NULL;
    if (!reader)
        return NULL;
    reader->form = form;
    reader->input = g_steal_pointer(&input);
    reader->names = names;
    reader->empty = size == 0 && !bb_input_damage(reader->input);
    reader->counters = bb_counters_new();
    reader->network = bb_network_new();
    reader->notes = g_ptr_array_new_with_free_func(g_free);
    reader->damage = g_string_new(NULL);
    return reader;
}

void bb_trace_reader_free(BbTraceReader *reader)
{
    if (!reader)
        return;
    bb_input_free(reader->input);
    bb_counters_free(reader->counters);
    bb_network_free(reader->network);
    g_ptr_array_unref(reader->notes);
    g_string_free(reader->damage, TRUE);
    reader->form->free(reader);
}

void bb_trace_reader_skip_bad_lines(BbTraceReader *reader, bool skip)
{
    reader->skip_bad_lines = skip;
}

bool bb_trace_reader_next(BbTraceReader *reader, BbMessage *message, GError **error)
{
    reader->ended = reader->ended || !reader->form->next(reader, message, error);
    reader->messages += !reader->ended;
    return !reader->ended;
}

BbTraceForm bb_trace_reader_form(const BbTraceReader *reader)
{
    return reader->form->form;
}

bool bb_trace_reader_is_empty(const BbTraceReader *reader)
{
    return reader->empty;
}

guint64 bb_trace_reader_messages(const BbTraceReader *reader)
{
    return reader->messages;
}

guint64 bb_trace_reader_bad_lines(const BbTraceReader *reader)
{
    return reader->bad_lines;
}

const char *bb_trace_reader_damage(const BbTraceReader *reader)
{
    return reader->damage->len ? reader->damage->str : NULL;
}

const BbCounters *bb_trace_reader_counters(const BbTraceReader *reader)
{
    return reader->counters;
}

const BbNetwork *bb_trace_reader_network(const BbTraceReader *reader)
{
    return reader->network;
}

guint bb_trace_reader_notes(const BbTraceReader *reader)
{
    return reader->notes->len;
}

const char *bb_trace_reader_note(const BbTraceReader *reader, guint index)
{
    g_assert(index < reader->notes->len);
    return g_ptr_array_index(reader->notes, index);
}

void bb_trace_reader_add_note(BbTraceReader *reader, const char *text)
{
    if (reader->notes->len < BB_TRACE_NOTES)
        g_ptr_array_add(reader->notes, g_strndup(text, BB_TRACE_NOTE_SIZE));
}

void bb_trace_reader_add_damage(BbTraceReader *reader, const char *format, ...)
{
    if (reader->damage->len == 0)
        g_string_append_printf(reader->damage, "%s: ", bb_input_name(reader->input));
    else
        g_string_append(reader->damage, "; ");
    va_list args;
    va_start(args, format);
    g_string_append_vprintf(reader->damage, format, args);
    va_end(args);
}
