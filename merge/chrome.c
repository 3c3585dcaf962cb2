// SPDX-License-Identifier: Apache-2.0
// In: Chrome trace events: {"traceEvents": [...]} or an array of them, with or without its end.
// Out: what crossed from one process to another, as messages. A file is a trace of its own.
#include "merge/chrome_trace.h"

#include "merge/json_reading.h"

typedef struct Reading {
    const BbImport *import;
    guint64 messages; // ids that were given
} Reading;

static bool give(const BbChromeTrace *trace, const BbMessage *message, GError **error)
{
    return trace->import->sink(message, trace->import->user, error);
}

// What was done there says most of what was asked; then the flow's own name.
static guint32 label_of(const BbChromeTrace *trace, const BbChromeCrossing *crossing)
{
    guint32 label = crossing->to_slice != BB_CHROME_NONE
                        ? bb_chrome_slice(trace->slices, crossing->to_slice)->name
                        : BB_NAME_NONE;
    return label ? label : crossing->name;
}

static BbId id_of(const BbChromeTrace *trace, guint32 index)
{
    return bb_id_number(trace->first + index + 1);
}

static void set_truth(const BbChromeTrace *trace, const BbChromeCrossing *crossing,
                      BbMessage *message)
{
    if (crossing->cause == BB_CHROME_ROOT)
        message->parent = (BbId){.form = BB_ID_DASH};
    else if (crossing->cause != BB_CHROME_UNKNOWN)
        message->parent = id_of(trace, crossing->cause);
    else
        bb_counters_add(trace->import->counters, "chrome_parent_unknown", 1);
    if (crossing->path != BB_CHROME_NONE)
        message->path = id_of(trace, crossing->path);
}

static bool give_crossing(const BbChromeTrace *trace, const BbChromeCrossing *crossing,
                          guint32 index, GError **error)
{
    BbMessage message = bb_message_empty();
    message.kind = crossing->is_call ? BB_CALL : BB_FREE;
    message.id = id_of(trace, index);
    message.sender = bb_chrome_trace_process(trace, crossing->from)->node;
    message.receiver = bb_chrome_trace_process(trace, crossing->to)->node;
    message.op = label_of(trace, crossing);
    message.time_ns = crossing->sent_ns;
    message.recv_ns = crossing->received_ns;
    set_truth(trace, crossing, &message);
    if (!give(trace, &message, error))
        return false;
    if (!crossing->is_call)
        return true;
    message.kind = BB_RETURN;
    message.sender = bb_chrome_trace_process(trace, crossing->to)->node;
    message.receiver = bb_chrome_trace_process(trace, crossing->from)->node;
    message.time_ns = crossing->answer_sent_ns;
    message.recv_ns = crossing->answer_received_ns;
    return give(trace, &message, error);
}

static bool give_all(const BbChromeTrace *trace, const GArray *crossings, GError **error)
{
    bb_chrome_trace_name(trace);
    for (guint32 i = 0; i < crossings->len; i++)
        if (!give_crossing(trace, &g_array_index(crossings, BbChromeCrossing, i), i, error))
            return false;
    return true;
}

// ---- the importer -----------------------------------------------------------------------------

static gpointer chrome_begin(const BbImport *import)
{
    Reading *reading = g_new0(Reading, 1);
    reading->import = import;
    return reading;
}

// What could be read of a file counts, also where the rest could not.
static bool chrome_read(gpointer data, const char *path, GError **error)
{
    static const char *const lists[] = {"traceEvents", NULL};
    static const BbJsonForm form = {
        .lists = lists,
        .wanted = "no trace event of Chrome (ph, ts, pid): is it jaeger, zipkin or otlp?",
        .open = true,
        .take = bb_chrome_trace_take,
    };
    Reading *reading = data;
    g_autoptr(GError) failure = NULL;
    g_auto(BbChromeTrace) trace;
    bb_chrome_trace_init(&trace, reading->import);
    trace.first = reading->messages;
    bool good = bb_json_reading_run(reading->import, &form, &trace, path, &failure);
    bb_chrome_slices_finish(trace.slices);
    g_autoptr(GArray) crossings =
        bb_chrome_flows(trace.steps, trace.slices, reading->import->counters);
    reading->messages += crossings->len;
    if (!give_all(&trace, crossings, error))
        return false;
    if (!good)
        g_propagate_error(error, g_steal_pointer(&failure));
    return good;
}

static bool chrome_finish(gpointer data, GError **error)
{
    return true;
}

static const BbImportCount counts[] = {
    {"chrome_events", "events"},
    {"chrome_other", "events of no use (instants, counters, samples ...)"},
    {"chrome_no_process", "events that name no process: left out"},
    {"chrome_no_time", "events without a time from 0 on: left out"},
    {"chrome_no_id", "events of flows and operations without an id: left out"},
    {"chrome_no_begin", "ends of slices that did not begin: left out"},
    {"chrome_no_end", "slices that do not end"},
    {"chrome_deep", "slices in more than 512 others: left out"},
    {"chrome_flows_alone", "flows and operations with one event: no message"},
    {"chrome_inside", "steps of flows within a process: no message"},
    {"chrome_returns", "returns that are told as flows"},
    {"chrome_waited", "calls taken for such since their slice lasted longer than what it led to"},
    {"chrome_parent_unknown", "messages sent outside of all slices: their cause is not known"},
    {"chrome_names_cut", "names of more than 255 bytes: cut"},
    {"chrome_left_out", "events beyond the 4194304 that are kept: left out"},
    BB_JSON_READING_COUNTS,
    {NULL, NULL},
};

const BbImporter bb_importer_chrome = {
    .name = "chrome",
    .about = "Chrome trace events as JSON: flows between processes",
    .counts = counts,
    .begin = chrome_begin,
    .read = chrome_read,
    .finish = chrome_finish,
    .end = g_free,
};
