// SPDX-License-Identifier: Apache-2.0
// In: a path. Out: the reader or writer of the form that its content, or its caller, asks for.
#include "data/trace.h"

#include "data/trace_form.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PEEK_SIZE 64
#define OUT_BUFFER (256 * 1024)

G_DEFINE_QUARK(bb - trace - error - quark, bb_trace_error)

// First bytes of other formats, and what to do with them. The remedy's %s is the path.
typedef struct {
    const char *bytes;
    gsize size;
    const char *what, *remedy;
} Foreign;

#define CAPTURE_REMEDY "run `bbtrace capture -r %s -w TRACE.bbt` first"
#define IMPORT_REMEDY \
    "`bbtrace import --from jaeger, zipkin or otlp -w TRACE.bbt %s` reads spans in JSON"

static const Foreign foreigns[] = {
    {"\xd4\xc3\xb2\xa1", 4, "a packet capture (pcap)", CAPTURE_REMEDY},
    {"\xa1\xb2\xc3\xd4", 4, "a packet capture (pcap)", CAPTURE_REMEDY},
    {"\x4d\x3c\xb2\xa1", 4, "a packet capture (pcap)", CAPTURE_REMEDY},
    {"\xa1\xb2\x3c\x4d", 4, "a packet capture (pcap)", CAPTURE_REMEDY},
    {"\x0a\x0d\x0d\x0a", 4, "a packet capture (pcapng)", CAPTURE_REMEDY},
    {"\x89"
     "BBT",
     4, "a .bbt whose first bytes were changed on the way, as by a transfer as text",
     "get %s again, as a binary file"},
    {"{", 1, "JSON", IMPORT_REMEDY},
    {"[", 1, "JSON", IMPORT_REMEDY},
};

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

static void refuse(const char *name, const char *head, gsize size, GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(foreigns); i++) {
        const Foreign *foreign = &foreigns[i];
        if (size < foreign->size || memcmp(head, foreign->bytes, foreign->size) != 0)
            continue;
        g_auto(GStrv) parts = g_strsplit(foreign->remedy, "%s", 2);
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM, "%s: no trace; it is %s: %s%s%s",
                    name, foreign->what, parts[0], name, parts[1]);
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
static const BbTraceReaderForm *tell_form(const char *name, const char *head, gsize size,
                                          GError **error)
{
    if (memcmp(head, BB_TRACE_BBT_MAGIC, MIN(size, BB_TRACE_BBT_MAGIC_SIZE)) == 0)
        return &bb_trace_bbt_reader;
    if (is_text_head(head, size))
        return &bb_trace_text_reader;
    refuse(name, head, size, error);
    return NULL;
}

BbTraceReader *bb_trace_reader_open(const char *path, BbNames *names, GError **error)
{
    g_autoptr(BbInput) input = bb_input_open(path, error);
    if (!input)
        return NULL;
    char head[PEEK_SIZE] = {0};
    gsize size = bb_input_peek(input, head, sizeof head);
    const BbTraceReaderForm *form = tell_form(bb_input_name(input), head, size, error);
    BbTraceReader *reader = form ? form->open(input, error) : NULL;
    if (!reader)
        return NULL;
    reader->form = form;
    reader->input = g_steal_pointer(&input);
    reader->names = names;
    reader->counters = bb_counters_new();
    reader->network = bb_network_new();
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

static void set_write_error(const BbTraceWriter *writer, const char *what, GError **error)
{
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "%s: cannot %s: %s (after %" G_GUINT64_FORMAT " messages): free space or rights "
                "there, or write to another place",
                writer->path, what, g_strerror(reason), writer->messages);
}

// Standard output is duplicated, so that finish can close it and see every failure.
static FILE *open_out(const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    if (out)
        setvbuf(out, NULL, _IOFBF, OUT_BUFFER);
    else if (fd >= 0)
        close(fd);
    return out;
}

BbTraceWriter *bb_trace_writer_open(const char *path, BbTraceForm form, const BbNames *names,
                                    GError **error)
{
    const BbTraceWriterForm *kind =
        form == BB_TRACE_BBT ? &bb_trace_bbt_writer : &bb_trace_text_writer;
    g_autoptr(BbTraceWriter) writer = kind->open();
    writer->form = kind;
    writer->names = names;
    writer->path = g_strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    writer->out = open_out(path);
    if (!writer->out) {
        set_write_error(writer, "open it to write", error);
        return NULL;
    }
    return kind->begin(writer, error) ? g_steal_pointer(&writer) : NULL;
}

void bb_trace_writer_free(BbTraceWriter *writer)
{
    if (!writer)
        return;
    if (writer->out)
        (void)fclose(writer->out);
    g_free(writer->path);
    writer->form->free(writer);
}

bool bb_trace_writer_put(BbTraceWriter *writer, gconstpointer bytes, gsize size, GError **error)
{
    if (fwrite(bytes, 1, size, writer->out) == size)
        return true;
    set_write_error(writer, "write", error);
    return false;
}

static bool is_time(gint64 time_ns)
{
    return time_ns >= 0 || time_ns == BB_TIME_NONE;
}

bool bb_trace_writer_push(BbTraceWriter *writer, const BbMessage *message, GError **error)
{
    if (message->time_ns < 0 || !is_time(message->recv_ns) || !is_time(message->end_ns)) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE,
                    "%s: message %" G_GUINT64_FORMAT " has a time before 1970, which no trace "
                    "can hold: set the clock of its source right, or shift it",
                    writer->path, writer->messages + 1);
        return false;
    }
    if (!writer->form->push(writer, message, error))
        return false;
    writer->messages++;
    return true;
}

bool bb_trace_writer_flush(BbTraceWriter *writer, GError **error)
{
    if (!writer->form->flush(writer, error))
        return false;
    if (fflush(writer->out) == 0)
        return true;
    set_write_error(writer, "write", error);
    return false;
}

bool bb_trace_writer_network(BbTraceWriter *writer, const BbNetwork *network, GError **error)
{
    return bb_network_count(network) == 0 || writer->form->network(writer, network, error);
}

bool bb_trace_writer_finish(BbTraceWriter *writer, const BbCounters *counters, GError **error)
{
    if (!writer->form->end(writer, counters, error))
        return false;
    if (fclose(g_steal_pointer(&writer->out)) == 0)
        return true;
    set_write_error(writer, "write", error);
    return false;
}
