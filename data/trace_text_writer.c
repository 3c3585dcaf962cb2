// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a text trace (bbtrace-text(5)), one line a message.
#include "data/percent.h"
#include "data/trace_form.h"

#include <string.h>

typedef struct {
    BbTraceWriter base;
    GString *line, *id;
} TextWriter;

static BbTraceWriter *text_open(void)
{
    TextWriter *writer = g_new0(TextWriter, 1);
    writer->line = g_string_new(NULL);
    writer->id = g_string_new(NULL);
    return &writer->base;
}

static void text_free(BbTraceWriter *base)
{
    TextWriter *writer = (TextWriter *)base;
    g_string_free(writer->line, TRUE);
    g_string_free(writer->id, TRUE);
    g_free(writer);
}

static bool text_begin(BbTraceWriter *base, GError **error)
{
    bb_trace_writer_put(base, BB_TRACE_TEXT_HEAD "\n", strlen(BB_TRACE_TEXT_HEAD "\n"));
    return bb_trace_writer_part(base, 0, error);
}

// Decimal digits of value, at least width of them.
static void append_number(GString *line, guint64 value, gsize width)
{
    char digits[20];
    gsize at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0 || sizeof digits - at < width);
    g_string_append_len(line, digits + at, (gssize)(sizeof digits - at));
}

// Microseconds, as most captures have them, or nanoseconds where there are any.
static void append_time(GString *line, gint64 time_ns)
{
    append_number(line, (guint64)(time_ns / 1000000000), 1);
    g_string_append_c(line, '.');
    guint64 fraction = (guint64)(time_ns % 1000000000);
    if (fraction % 1000 == 0)
        append_number(line, fraction / 1000, 6);
    else
        append_number(line, fraction, 9);
}

static void append_key_time(GString *line, const char *key, gint64 time_ns)
{
    if (time_ns == BB_TIME_NONE)
        return;
    g_string_append(line, key);
    append_time(line, time_ns);
}

static void append_key_number(GString *line, const char *key, guint64 value, guint64 none)
{
    if (value == none)
        return;
    g_string_append(line, key);
    append_number(line, value, 1);
}

static void append_key_name(TextWriter *writer, const char *key, guint32 name)
{
    if (name == BB_NAME_NONE)
        return;
    g_string_append(writer->line, key);
    bb_percent_append(writer->line, bb_names_text(writer->base.names, name), "%");
}

static void append_id(TextWriter *writer, BbId id)
{
    g_string_truncate(writer->id, 0);
    bb_id_append(writer->id, writer->base.names, id);
    bb_percent_append(writer->line, writer->id->str, "%");
}

static void append_key_id(TextWriter *writer, const char *key, BbId id)
{
    if (!bb_id_is_known(id))
        return;
    g_string_append(writer->line, key);
    append_id(writer, id);
}

// No name is `-`; a node of that very name is %2D.
static void append_node(TextWriter *writer, guint32 name)
{
    const char *text = bb_names_text(writer->base.names, name);
    g_string_append_c(writer->line, ' ');
    if (name == BB_NAME_NONE)
        g_string_append_c(writer->line, '-');
    else if (strcmp(text, "-") == 0)
        g_string_append(writer->line, "%2D");
    else
        bb_percent_append(writer->line, text, "%=");
}

static void append_fields(TextWriter *writer, const BbMessage *message)
{
    static const char *const operations[][2] = {
        [BB_CALL] = {" CALL_SENT", " CALL_RECV"},
        [BB_RETURN] = {" RET_SENT", " RET_RECV"},
        [BB_FREE] = {" MSG_SENT", " MSG_RECV"},
    };
    append_time(writer->line, message->time_ns);
    g_string_append(writer->line, operations[message->kind][message->at_receiver]);
    append_node(writer, message->sender);
    append_node(writer, message->receiver);
    g_string_append_c(writer->line, ' ');
    append_id(writer, message->id);
}

static void append_keys(TextWriter *writer, const BbMessage *message)
{
    GString *line = writer->line;
    append_key_time(line, " recv=", message->recv_ns);
    append_key_time(line, " end=", message->end_ns);
    append_key_name(writer, " op=", message->op);
    append_key_name(writer, " status=", message->status);
    append_key_number(line, " bytes=", message->bytes, BB_BYTES_NONE);
    if (message->conn) {
        g_string_append(line, " conn=");
        bb_percent_append(line, message->conn, "%");
    }
    append_key_number(line, " off=", message->offset, BB_OFFSET_NONE);
    append_key_name(writer, " obs=", message->observer);
    append_key_name(writer, " proto=", message->proto);
    append_key_name(writer, " file=", message->file);
    append_key_number(line, " frame=", message->frame, 0);
    append_key_id(writer, " path=", message->path);
    append_key_id(writer, " parent=", message->parent);
    if (message->extra) {
        g_string_append_c(line, ' ');
        g_string_append(line, message->extra);
    }
}

static bool text_push(BbTraceWriter *base, const BbMessage *message, GError **error)
{
    TextWriter *writer = (TextWriter *)base;
    g_string_truncate(writer->line, 0);
    append_fields(writer, message);
    append_keys(writer, message);
    g_string_append_c(writer->line, '\n');
    bb_trace_writer_put(base, writer->line->str, writer->line->len);
    return bb_trace_writer_part(base, base->messages + 1, error);
}

static bool text_flush(BbTraceWriter *base, GError **error)
{
    return true;
}

static gsize text_waiting(const BbTraceWriter *base)
{
    return 0; // lines are whole at once
}

// A comment, as counters are: "# network CLIENT SERVER connections=3 ...", zeros left out.
static bool text_network(BbTraceWriter *base, const BbNetwork *network, GError **error)
{
    TextWriter *writer = (TextWriter *)base;
    for (guint i = 0; i < bb_network_count(network); i++) {
        const BbNetworkEdge *edge = bb_network_at(network, i);
        g_string_assign(writer->line, "# network");
        append_node(writer, edge->client);
        append_node(writer, edge->server);
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++) {
            g_autofree char *key = g_strdup_printf(" %s=", bb_network_field_name(field));
            append_key_number(writer->line, key, bb_network_field(edge, field), 0);
        }
        g_string_append_c(writer->line, '\n');
        bb_trace_writer_put(base, writer->line->str, writer->line->len);
        if (!bb_trace_writer_part(base, base->messages, error))
            return false;
    }
    return true;
}

// A comment too: "# note SENTENCE", where what is no letter of a line is percent-encoded.
static bool text_note(BbTraceWriter *base, const char *text, GError **error)
{
    TextWriter *writer = (TextWriter *)base;
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    g_string_assign(writer->line, "# note");
    for (char **word = words; *word; word++) {
        g_string_append_c(writer->line, ' ');
        bb_percent_append(writer->line, *word, "%");
    }
    g_string_append_c(writer->line, '\n');
    bb_trace_writer_put(base, writer->line->str, writer->line->len);
    return bb_trace_writer_part(base, base->messages, error);
}

static bool text_end(BbTraceWriter *base, const BbCounters *counters, GError **error)
{
    for (guint i = 0; counters && i < bb_counters_count(counters); i++) {
        g_autofree char *line =
            g_strdup_printf("# counter %s %" G_GUINT64_FORMAT "\n", bb_counters_name(counters, i),
                            bb_counters_value(counters, i));
        bb_trace_writer_put(base, line, strlen(line));
    }
    return bb_trace_writer_part(base, base->messages, error);
}

static void text_forget(BbTraceWriter *base, guint64 messages)
{
    base->messages = messages;
}

const BbTraceWriterForm bb_trace_text_writer = {
    .form = BB_TRACE_TEXT,
    .open = text_open,
    .begin = text_begin,
    .push = text_push,
    .flush = text_flush,
    .waiting = text_waiting,
    .network = text_network,
    .note = text_note,
    .end = text_end,
    .forget = text_forget,
    .free = text_free,
};
