// SPDX-License-Identifier: Apache-2.0
// In: paths of traces. Out: their messages, in order of time; a trace of what became of them.
#include "cli/traces.h"

#include "merge/importer.h"

void bb_traces_init(BbTraces *traces, bool skip_bad_lines)
{
    *traces = (BbTraces){.skip_bad_lines = skip_bad_lines};
    traces->names = bb_names_new();
    traces->counters = bb_counters_new();
    traces->network = bb_network_new();
    traces->notes = g_ptr_array_new_with_free_func(g_free);
    bb_stop_install();
}

void bb_traces_clear(BbTraces *traces)
{
    bb_trace_writer_free(traces->writer);
    bb_counters_free(traces->counters);
    bb_network_free(traces->network);
    g_clear_pointer(&traces->notes, g_ptr_array_unref);
    bb_names_free(traces->names);
}

// ---- writing ------------------------------------------------------------------------------------

void bb_traces_write_to(BbTraces *traces, const char *out)
{
    traces->out = out;
    traces->writes = true;
}

// Opens what is to be written, if it is not open.
static bool open_writer(BbTraces *traces, GError **error)
{
    const char *out = traces->out;
    if (!traces->writes || traces->writer)
        return true;
    traces->writer = bb_trace_writer_open(out ? out : "-", out ? BB_TRACE_BBT : BB_TRACE_TEXT,
                                          traces->names, error);
    return traces->writer &&
           (!traces->note || bb_trace_writer_note(traces->writer, traces->note, error));
}

bool bb_traces_write(const BbMessage *message, gpointer traces, GError **error)
{
    return bb_trace_writer_push(((BbTraces *)traces)->writer, message, error);
}

bool bb_traces_finish(BbTraces *traces, GError **error)
{
    if (!traces->writer && traces->failed)
        return true;
    return open_writer(traces, error) &&
           bb_trace_writer_network(traces->writer, traces->network, error) &&
           bb_trace_writer_notes(traces->writer, traces->notes, error) &&
           bb_trace_writer_finish(traces->writer, traces->counters, error);
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct Reading {
    BbTraces *traces;
    BbOrder *order;
    BbMessageSink sink;
    gpointer user; // of sink
    bool broken;   // the sink failed, or a signal came
} Reading;

static bool take_message(const BbMessage *message, gpointer user, GError **error)
{
    Reading *reading = user;
    BbTraces *traces = reading->traces;
    BbMessage changed = *message;
    traces->messages++;
    if (traces->change)
        traces->change(&changed, traces->user);
    reading->broken = !bb_stop_check(error) || !open_writer(traces, error) ||
                      !bb_order_push(reading->order, &changed, error);
    return !reading->broken;
}

static bool pass_on(const BbMessage *message, gpointer user, GError **error)
{
    const Reading *reading = user;
    return bb_stop_check(error) && reading->sink(message, reading->user, error);
}

static void warn(const char *sentence)
{
    bb_say("warning: %s", sentence);
}

// Returns false when the sink failed.
static bool read_path(Reading *reading, gpointer text, const char *path, GError **error)
{
    g_autoptr(GError) failure = NULL;
    if (bb_importer_text.read(text, path, &failure))
        return true;
    if (reading->broken) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    bb_say_error("%s", failure->message);
    reading->traces->failed = true;
    return true;
}

bool bb_traces_read(BbTraces *traces, char **paths, BbMessageSink sink, gpointer user,
                    GError **error)
{
    Reading reading = {.traces = traces, .sink = sink, .user = user};
    g_autoptr(BbOrder) order = bb_order_new(BB_TRACES_WINDOW, pass_on, &reading);
    reading.order = order;
    BbImport import = {
        .names = traces->names,
        .counters = traces->counters,
        .network = traces->network,
        .notes = traces->notes,
        .sink = take_message,
        .user = &reading,
        .warn = warn,
        .skip_bad = traces->skip_bad_lines,
        .may_be_empty = true,
    };
    gpointer text = bb_importer_text.begin(&import);
    bool good = true;
    for (char **path = paths; good && *path; path++)
        good = read_path(&reading, text, *path, error);
    bb_importer_text.end(text);
    if (!good || !bb_order_drain(order, error))
        return false;
    g_autofree char *late = bb_counted(bb_order_late(order), "message");
    if (bb_order_late(order))
        bb_say("warning: %s written late: out of order by more than %u messages", late,
               BB_TRACES_WINDOW);
    return true;
}

int bb_traces_check(const char *program, char **paths, const char *out, const char *other)
{
    int status = bb_check_paths(program, "trace", paths);
    if (status >= 0)
        return status;
    for (; *paths; paths++) {
        if ((out && bb_is_same_file(*paths, out)) || (other && bb_is_same_file(*paths, other)))
            return bb_say_usage(program, "this would overwrite %s: give another file to write",
                                *paths);
    }
    return -1;
}

int bb_traces_check_one(const char *program, char **paths, const char *out)
{
    if (*paths && paths[1])
        return bb_say_one_trace(program, false);
    return bb_traces_check(program, paths, out, NULL);
}
