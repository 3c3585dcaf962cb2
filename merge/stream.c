// SPDX-License-Identifier: Apache-2.0
// In: a trace, nearly in order of time. Out: its messages on request, in order of time as far as
// the window goes.
#include "merge/stream.h"

#include "data/order.h"

struct BbStream {
    BbTraceReader *reader;
    BbStreamPrepare prepare;
    gpointer user;
    BbMessage message; // the last one read
    gint64 newest_ns;
    bool in_order, ended;
    BbOrder *order; // NULL where nothing is to be put in order
    GArray *ready;  // of BbMessage: what has come out of order
    GStringChunk *texts;
    guint next;      // of ready
    GError *failure; // of reading; what was read before is delivered first
};

static bool keep_ready(const BbMessage *message, gpointer user, GError **error)
{
    BbStream *stream = user;
    BbMessage copy = *message;
    if (copy.conn)
        copy.conn = g_string_chunk_insert(stream->texts, copy.conn);
    if (copy.extra)
        copy.extra = g_string_chunk_insert(stream->texts, copy.extra);
    g_array_append_val(stream->ready, copy);
    return true;
}

BbStream *bb_stream_open(const char *path, BbNames *names, gsize window, bool skip_bad_lines,
                         GError **error)
{
    BbTraceReader *reader = bb_trace_reader_open(path, names, error);
    if (!reader)
        return NULL;
    bb_trace_reader_skip_bad_lines(reader, skip_bad_lines);
    BbStream *stream = g_new0(BbStream, 1);
    stream->reader = reader;
    stream->newest_ns = G_MININT64;
    stream->in_order = true;
    if (!window)
        return stream;
    stream->order = bb_order_new(window, keep_ready, stream);
    stream->ready = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    stream->texts = g_string_chunk_new(16384);
    return stream;
}

void bb_stream_free(BbStream *stream)
{
    if (!stream)
        return;
    bb_trace_reader_free(stream->reader);
    bb_order_free(stream->order);
    g_clear_pointer(&stream->ready, g_array_unref);
    g_clear_pointer(&stream->texts, g_string_chunk_free);
    g_clear_error(&stream->failure);
    g_free(stream);
}

void bb_stream_prepare_by(BbStream *stream, BbStreamPrepare prepare, gpointer user)
{
    stream->prepare = prepare;
    stream->user = user;
}

const BbTraceReader *bb_stream_reader(const BbStream *stream)
{
    return stream->reader;
}

bool bb_stream_in_order(const BbStream *stream)
{
    return stream->in_order;
}

static bool read_message(BbStream *stream)
{
    bool wanted = false;
    while (!wanted && !stream->ended) {
        stream->ended = !bb_trace_reader_next(stream->reader, &stream->message, &stream->failure);
        wanted =
            !stream->ended && (!stream->prepare || stream->prepare(&stream->message, stream->user));
    }
    if (!wanted)
        return false;
    if (stream->message.time_ns < stream->newest_ns)
        stream->in_order = false;
    stream->newest_ns = MAX(stream->newest_ns, stream->message.time_ns);
    return true;
}

// Reads until something comes out of order, or all has come.
static void refill(BbStream *stream)
{
    g_array_set_size(stream->ready, 0);
    g_string_chunk_clear(stream->texts);
    stream->next = 0;
    while (stream->ready->len == 0 && read_message(stream))
        (void)bb_order_push(stream->order, &stream->message, NULL); // keep_ready never fails
    if (stream->ready->len == 0)
        (void)bb_order_drain(stream->order, NULL);
}

static const BbMessage *take_ready(BbStream *stream)
{
    if (stream->next == stream->ready->len)
        refill(stream);
    if (stream->next == stream->ready->len)
        return NULL;
    return &g_array_index(stream->ready, BbMessage, stream->next++);
}

const BbMessage *bb_stream_next(BbStream *stream, GError **error)
{
    const BbMessage *message = NULL;
    if (stream->order)
        message = take_ready(stream);
    else if (read_message(stream))
        message = &stream->message;
    if (!message && stream->failure)
        g_propagate_error(error, g_steal_pointer(&stream->failure));
    return message;
}
