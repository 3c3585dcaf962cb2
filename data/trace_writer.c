// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a file of the form that the caller asks for, by whole parts (data/output.h).
#include "data/trace_form.h"

#include <string.h>

BbTraceWriter *bb_trace_writer_open_with(const char *path, const BbTraceWriterOptions *options,
                                         const BbNames *names, GError **error)
{
    const BbTraceWriterForm *kind =
        options->form == BB_TRACE_BBT ? &bb_trace_bbt_writer : &bb_trace_text_writer;
    g_autoptr(BbTraceWriter) writer = kind->open();
    writer->form = kind;
    writer->names = names;
    writer->sync = options->sync;
    writer->out = bb_output_open(path, &options->output, error);
    if (!writer->out || !kind->begin(writer, error))
        return NULL;
    if (options->sync == BB_TRACE_SYNC_FLUSH && !bb_output_sync_folder(path, error))
        return NULL;
    return g_steal_pointer(&writer);
}

BbTraceWriter *bb_trace_writer_open(const char *path, BbTraceForm form, const BbNames *names,
                                    GError **error)
{
    const BbTraceWriterOptions options = {.form = form, .output.whole = true};
    return bb_trace_writer_open_with(path, &options, names, error);
}

void bb_trace_writer_free(BbTraceWriter *writer)
{
    if (!writer)
        return;
    if (writer->out)
        (void)bb_output_flush(writer->out, NULL);
    bb_output_free(writer->out);
    writer->form->free(writer);
}

void bb_trace_writer_put(BbTraceWriter *writer, gconstpointer bytes, gsize size)
{
    bb_output_put(writer->out, bytes, size);
}

bool bb_trace_writer_part(BbTraceWriter *writer, guint64 messages, GError **error)
{
    writer->whole = messages;
    if (!bb_output_part(writer->out, error))
        return false;
    if (bb_output_is_flushed(writer->out))
        writer->kept = messages;
    return true;
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
                    bb_output_name(writer->out), writer->messages + 1);
        return false;
    }
    if (!writer->form->push(writer, message, error))
        return false;
    writer->messages++;
    return true;
}

bool bb_trace_writer_flush(BbTraceWriter *writer, GError **error)
{
    bool sync = writer->sync == BB_TRACE_SYNC_FLUSH;
    if (!writer->form->flush(writer, error) || !bb_output_flush(writer->out, error))
        return false;
    writer->kept = writer->whole;
    return !sync || bb_output_sync(writer->out, error);
}

bool bb_trace_writer_pack(BbTraceWriter *writer, GError **error)
{
    return writer->form->flush(writer, error);
}

guint64 bb_trace_writer_size(const BbTraceWriter *writer)
{
    return bb_output_size(writer->out) + writer->form->waiting(writer);
}

guint64 bb_trace_writer_messages(const BbTraceWriter *writer)
{
    return writer->messages;
}

guint64 bb_trace_writer_kept(const BbTraceWriter *writer)
{
    return writer->kept;
}

bool bb_trace_writer_network(BbTraceWriter *writer, const BbNetwork *network, GError **error)
{
    return bb_network_count(network) == 0 || writer->form->network(writer, network, error);
}

bool bb_trace_writer_note(BbTraceWriter *writer, const char *text, GError **error)
{
    g_autofree char *cut = g_strndup(text, BB_TRACE_NOTE_SIZE);
    return !*cut || writer->form->note(writer, cut, error);
}

bool bb_trace_writer_notes(BbTraceWriter *writer, const GPtrArray *notes, GError **error)
{
    for (guint i = 0; i < notes->len; i++)
        if (!bb_trace_writer_note(writer, notes->pdata[i], error))
            return false;
    return true;
}

static bool close_out(BbTraceWriter *writer, GError **error)
{
    return bb_output_close(writer->out, writer->sync != BB_TRACE_SYNC_NEVER, error);
}

bool bb_trace_writer_finish(BbTraceWriter *writer, const BbCounters *counters, GError **error)
{
    if (!writer->form->flush(writer, error) || !writer->form->end(writer, counters, error))
        return false;
    writer->ended = true;
    bool closed = close_out(writer, error);
    if (bb_output_is_flushed(writer->out))
        writer->kept = writer->messages;
    return closed;
}

bool bb_trace_writer_salvage(BbTraceWriter *writer, const BbCounters *counters, GError **error)
{
    bool whole = writer->ended && bb_output_is_flushed(writer->out); // but for the disk's word
    if (whole || !bb_output_cut_back(writer->out))
        return true;
    writer->form->forget(writer, writer->kept);
    if (bb_output_size(writer->out) == 0 && !writer->form->begin(writer, error))
        return false;
    return writer->form->end(writer, counters, error) && close_out(writer, error);
}
