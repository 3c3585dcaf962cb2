// SPDX-License-Identifier: Apache-2.0
// In: Chrome trace events: {"traceEvents": [...]} or an array of them, with or without its end.
// Out: what crossed from one process to another, as messages. A file is a trace of its own.
#include "merge/importer.h"

#include "merge/chrome_flows.h"
#include "merge/json_reading.h"
#include "merge/member.h"
#include "merge/span.h"

#include <string.h>

// Slices and steps of flows that are kept; some 100 bytes each.
#define EVENTS_MAX (1u << 22)

typedef struct Process {
    char *pid;
    guint32 name; // BB_NAME_NONE if it is not told
    guint32 node; // what it is called in the end
} Process;

// Of one file.
typedef struct Trace {
    const BbImport *import;
    BbChromeSlices *slices;
    GArray *steps;       // of BbChromeStep
    GArray *processes;   // of Process
    GHashTable *indices; // text of a process, thread or flow -> its index
    guint32 threads, keys, kept;
    guint64 first; // id of the first message, less one
} Trace;

typedef struct Reading {
    const BbImport *import;
    guint64 messages; // ids that were given
} Reading;

static void process_clear(gpointer data)
{
    g_free(((Process *)data)->pid);
}

static void trace_init(Trace *trace, const Reading *reading)
{
    *trace = (Trace){.import = reading->import, .first = reading->messages};
    trace->slices = bb_chrome_slices_new(reading->import->counters);
    trace->steps = g_array_new(FALSE, FALSE, sizeof(BbChromeStep));
    trace->processes = g_array_new(FALSE, FALSE, sizeof(Process));
    g_array_set_clear_func(trace->processes, process_clear);
    trace->indices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void trace_clear(Trace *trace)
{
    bb_chrome_slices_free(trace->slices);
    g_array_unref(trace->steps);
    g_array_unref(trace->processes);
    g_hash_table_unref(trace->indices);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trace, trace_clear)

static void count(const Trace *trace, const char *name)
{
    bb_counters_add(trace->import->counters, name, 1);
}

static Process *process_at(const Trace *trace, guint32 index)
{
    return &g_array_index(trace->processes, Process, index);
}

// ---- who, and which flow ----------------------------------------------------------------------

// The index of that text, *next when it is new. text is taken over.
static guint32 index_of(const Trace *trace, char *text, guint32 *next)
{
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(trace->indices, text, NULL, &found)) {
        g_free(text);
        return GPOINTER_TO_UINT(found);
    }
    g_hash_table_insert(trace->indices, text, GUINT_TO_POINTER(*next));
    return (*next)++;
}

static guint32 process_of(const Trace *trace, const char *pid)
{
    guint32 next = trace->processes->len;
    guint32 index = index_of(trace, g_strconcat("process ", pid, NULL), &next);
    if (next > trace->processes->len) {
        const Process process = {.pid = g_strdup(pid)};
        g_array_append_val(trace->processes, process);
    }
    return index;
}

static guint32 thread_of(Trace *trace, JsonObject *event, const char *pid)
{
    g_autofree char *tid = bb_node_text(bb_member_node(event, "tid"));
    return index_of(trace, g_strconcat("thread ", pid, "\x1f", tid, NULL), &trace->threads);
}

static guint32 name_of(const Trace *trace, const char *text)
{
    if (text && strlen(text) > BB_SPAN_NAME_MAX)
        count(trace, "chrome_names_cut");
    return bb_span_name(trace->import->names, text);
}

// The id of an event's flow, NULL without. id2 tells whether it is one of the process only.
static char *find_id(JsonObject *event, const char *pid)
{
    JsonObject *ids = bb_member_object(event, "id2");
    g_autofree char *local = bb_node_text(bb_member_node(ids, "local"));
    if (local)
        return g_strconcat(local, "\x1f", pid, NULL);
    char *global = bb_node_text(bb_member_node(ids, "global"));
    return global ? global : bb_node_text(bb_member_node(event, "id"));
}

// ---- events -----------------------------------------------------------------------------------

static bool number_ns(JsonNode *node, gint64 *ns)
{
    gint64 whole = 0;
    if (bb_node_integer(node, &whole)) {
        *ns = bb_span_time(whole, 1000);
        if (whole == 0)
            *ns = 0;
        return *ns != BB_TIME_NONE;
    }
    if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_DOUBLE)
        return false;
    double value = json_node_get_double(node) * 1000;
    if (!(value >= 0 && value < 9.2e18))
        return false;
    *ns = (gint64)(value + 0.5);
    return true;
}

// What an event is about.
typedef struct Place {
    const char *pid;
    gint64 time_ns;
    guint32 process, thread, name;
} Place;

static void add_step(Trace *trace, const Place *place, char *key, BbChromeStepKind kind,
                     bool nested, bool after)
{
    const BbChromeStep step = {.time_ns = place->time_ns,
                               .key = index_of(trace, key, &trace->keys),
                               .process = place->process,
                               .thread = place->thread,
                               .name = place->name,
                               .kind = kind,
                               .nested = nested,
                               .after = after};
    g_array_append_val(trace->steps, step);
    trace->kept++;
}

// A slice may be a step of flows itself.
static void take_bound(Trace *trace, JsonObject *event, const Place *place)
{
    g_autofree char *id = bb_node_text(bb_member_node(event, "bind_id"));
    JsonNode *in = bb_member_node(event, "flow_in"), *out = bb_member_node(event, "flow_out");
    bool comes = in && JSON_NODE_HOLDS_VALUE(in) && json_node_get_boolean(in);
    bool goes = out && JSON_NODE_HOLDS_VALUE(out) && json_node_get_boolean(out);
    if (!id || (!comes && !goes))
        return;
    Place unnamed = *place; // the name is the slice's
    unnamed.name = BB_NAME_NONE;
    add_step(trace, &unnamed, g_strconcat("bound ", id, NULL),
             comes && goes ? BB_CHROME_STEP
             : comes       ? BB_CHROME_END
                           : BB_CHROME_BEGIN,
             false, false);
}

static void take_slice(Trace *trace, JsonObject *event, char phase, const Place *place)
{
    gint64 duration_ns = 0, end_ns = 0;
    trace->kept++;
    if (phase == 'E') {
        bb_chrome_slices_end(trace->slices, place->thread, place->time_ns);
        return;
    }
    if (phase == 'B')
        bb_chrome_slices_begin(trace->slices, place->thread, place->name, place->time_ns);
    else if (number_ns(bb_member_node(event, "dur"), &duration_ns) &&
             !__builtin_add_overflow(place->time_ns, duration_ns, &end_ns))
        bb_chrome_slices_add(trace->slices, place->thread, place->name, place->time_ns, end_ns);
    else {
        bb_chrome_slices_add(trace->slices, place->thread, place->name, place->time_ns, G_MAXINT64);
        count(trace, "chrome_no_end");
    }
    take_bound(trace, event, place);
}

// Flow events are of one flow where category, name and id are the same; those of an asynchronous
// operation where category and id are.
static void take_step(Trace *trace, JsonObject *event, char phase, const Place *place)
{
    static const char begins[] = "sbS", ends[] = "feF";
    bool flow = strchr("stf", phase) != NULL;
    g_autofree char *id = find_id(event, place->pid);
    const char *category = bb_member_text(event, "cat"), *name = bb_member_text(event, "name");
    const char *scope = bb_member_text(event, "scope");
    BbChromeStepKind kind = strchr(begins, phase) ? BB_CHROME_BEGIN
                            : strchr(ends, phase) ? BB_CHROME_END
                                                  : BB_CHROME_STEP;
    if (!id) {
        count(trace, "chrome_no_id");
        return;
    }
    char *key = g_strjoin("\x1f", flow ? "flow" : "async", category ? category : "",
                          flow && name ? name : "", scope ? scope : "", id, NULL);
    bool encloses = g_strcmp0(bb_member_text(event, "bp"), "e") == 0;
    add_step(trace, place, key, kind, !flow, phase == 'f' && !encloses);
}

static void take_metadata(const Trace *trace, JsonObject *event, const char *pid)
{
    const char *name = bb_member_text(bb_member_object(event, "args"), "name");
    if (name && g_strcmp0(bb_member_text(event, "name"), "process_name") == 0)
        process_at(trace, process_of(trace, pid))->name = name_of(trace, name);
}

// An event that can be of use, of a process that is told.
static void take_phase(Trace *trace, JsonObject *event, char phase, const char *pid)
{
    Place place = {.pid = pid};
    if (!number_ns(bb_member_node(event, "ts"), &place.time_ns)) {
        count(trace, "chrome_no_time");
        return;
    }
    place.process = process_of(trace, pid);
    place.thread = thread_of(trace, event, pid);
    place.name = name_of(trace, bb_member_text(event, "name"));
    if (strchr("XBE", phase))
        take_slice(trace, event, phase, &place);
    else
        take_step(trace, event, phase, &place);
}

static bool take_event(gpointer user, JsonObject *event, GError **error)
{
    Trace *trace = user;
    const char *phase = bb_member_text(event, "ph");
    g_autofree char *pid = bb_node_text(bb_member_node(event, "pid"));
    if (!phase)
        return false;
    count(trace, "chrome_events");
    if (phase[1] || !strchr("MXBEstfbneSTpF", *phase))
        count(trace, "chrome_other");
    else if (!pid)
        count(trace, "chrome_no_process");
    else if (*phase == 'M')
        take_metadata(trace, event, pid);
    else if (trace->kept == EVENTS_MAX)
        count(trace, "chrome_left_out");
    else
        take_phase(trace, event, *phase, pid);
    return true;
}

// ---- messages ---------------------------------------------------------------------------------

// A process is a node of its name; of several with one name, each has its number behind it.
static void name_processes(const Trace *trace)
{
    g_autoptr(GHashTable) uses = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < trace->processes->len; i++) {
        gpointer name = GUINT_TO_POINTER(process_at(trace, i)->name);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(uses, name));
        g_hash_table_insert(uses, name, GUINT_TO_POINTER(n + 1));
    }
    for (guint32 i = 0; i < trace->processes->len; i++) {
        Process *process = process_at(trace, i);
        gpointer name = GUINT_TO_POINTER(process->name);
        bool alone = GPOINTER_TO_UINT(g_hash_table_lookup(uses, name)) == 1;
        const char *text = bb_names_text(trace->import->names, process->name);
        g_autofree char *numbered =
            g_strconcat(process->name ? text : "process", ":", process->pid, NULL);
        process->node = process->name && alone ? process->name : name_of(trace, numbered);
    }
}

static bool give(const Trace *trace, const BbMessage *message, GError **error)
{
    return trace->import->sink(message, trace->import->user, error);
}

// What was done there says most of what was asked; then the flow's own name.
static guint32 label_of(const Trace *trace, const BbChromeCrossing *crossing)
{
    guint32 label = crossing->to_slice != BB_CHROME_NONE
                        ? bb_chrome_slice(trace->slices, crossing->to_slice)->name
                        : BB_NAME_NONE;
    return label ? label : crossing->name;
}

static BbId id_of(const Trace *trace, guint32 index)
{
    return bb_id_number(trace->first + index + 1);
}

static void set_truth(const Trace *trace, const BbChromeCrossing *crossing, BbMessage *message)
{
    if (crossing->cause == BB_CHROME_ROOT)
        message->parent = (BbId){.form = BB_ID_DASH};
    else if (crossing->cause != BB_CHROME_UNKNOWN)
        message->parent = id_of(trace, crossing->cause);
    else
        count(trace, "chrome_parent_unknown");
    if (crossing->path != BB_CHROME_NONE)
        message->path = id_of(trace, crossing->path);
}

static bool give_crossing(const Trace *trace, const BbChromeCrossing *crossing, guint32 index,
                          GError **error)
{
    BbMessage message = bb_message_empty();
    message.kind = crossing->is_call ? BB_CALL : BB_FREE;
    message.id = id_of(trace, index);
    message.sender = process_at(trace, crossing->from)->node;
    message.receiver = process_at(trace, crossing->to)->node;
    message.op = label_of(trace, crossing);
    message.time_ns = crossing->sent_ns;
    message.recv_ns = crossing->received_ns;
    set_truth(trace, crossing, &message);
    if (!give(trace, &message, error))
        return false;
    if (!crossing->is_call)
        return true;
    message.kind = BB_RETURN;
    message.sender = process_at(trace, crossing->to)->node;
    message.receiver = process_at(trace, crossing->from)->node;
    message.time_ns = crossing->answer_sent_ns;
    message.recv_ns = crossing->answer_received_ns;
    return give(trace, &message, error);
}

static bool give_all(const Trace *trace, const GArray *crossings, GError **error)
{
    name_processes(trace);
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
        .take = take_event,
    };
    Reading *reading = data;
    g_autoptr(GError) failure = NULL;
    g_auto(Trace) trace;
    trace_init(&trace, reading);
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
