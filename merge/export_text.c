// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a text trace (bbtrace-text(5)).
#include "merge/exporter.h"

#include "data/trace.h"

static gpointer text_open(const char *path, const BbNames *names, GError **error)
{
    return bb_trace_writer_open(path, BB_TRACE_TEXT, names, error);
}

static bool text_push(gpointer writing, const BbMessage *message, GError **error)
{
    return bb_trace_writer_push(writing, message, error);
}

static bool text_network(gpointer writing, const BbNetwork *network, GError **error)
{
    return bb_trace_writer_network(writing, network, error);
}

static bool text_note(gpointer writing, const char *text, GError **error)
{
    return bb_trace_writer_note(writing, text, error);
}

static bool text_finish(gpointer writing, const BbCounters *counters, GError **error)
{
    return bb_trace_writer_finish(writing, counters, error);
}

static void text_free(gpointer writing)
{
    bb_trace_writer_free(writing);
}

const BbExporter bb_exporter_text = {
    .name = "text",
    .about = "a trace in text form (bbtrace-text(5))",
    .endings = {"txt", "text"},
    .open = text_open,
    .push = text_push,
    .network = text_network,
    .note = text_note,
    .finish = text_finish,
    .free = text_free,
};
