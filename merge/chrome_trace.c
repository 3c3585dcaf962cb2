// SPDX-License-Identifier: Apache-2.0
// In: Chrome trace events. Out: the slices of threads, the steps of flows, the processes.
#include "merge/chrome_trace.h"

#include "data/keys.h"
#include "merge/member.h"
#include "merge/span.h"

#include <string.h>

static void process_clear(gpointer data)
{
    g_free(((BbChromeProcess *)data)->pid);
}

void bb_chrome_trace_init(BbChromeTrace *trace, const BbImport *import)
{
    *trace = (BbChromeTrace){.import = import};
    trace->slices = bb_chrome_slices_new(import->counters);
    trace->steps = g_array_new(FALSE, FALSE, sizeof(BbChromeStep));
    trace->processes = g_array_new(FALSE, FALSE, sizeof(BbChromeProcess));
    g_array_set_clear_func(trace->processes, process_clear);
    trace->indices = g_hash_table_new_full(bb_text_key_hash, g_str_equal, g_free, NULL);
}

void bb_chrome_trace_clear(BbChromeTrace *trace)
{
    bb_chrome_slices_free(trace->slices);
    g_array_unref(trace->steps);
    g_array_unref(trace->processes);
    g_hash_table_unref(trace->indices);
}
static void count(const BbChromeTrace *trace, const char *name)
{
    bb_counters_add(trace->import->counters, name, 1);
}

BbChromeProcess *bb_chrome_trace_process(const BbChromeTrace *trace, guint32 index)
{
    return &g_array_index(trace->processes, BbChromeProcess, index);
}

// ---- who, and which flow ----------------------------------------------------------------------

// The index of that text, *next when it is new. text is taken over; of a long one a digest stays.
static guint32 index_of(const BbChromeTrace *trace, char *text, guint32 *next)
{
    gpointer found = NULL;
    if (strlen(text) > BB_CHROME_KEY_MAX) {
        char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
        g_free(text);
        text = digest;
    }
    if (g_hash_table_lookup_extended(trace->indices, text, NULL, &found)) {
        g_free(text);
        return GPOINTER_TO_UINT(found);
    }
    g_hash_table_insert(trace->indices, text, GUINT_TO_POINTER(*next));
    return (*next)++;
}

static guint32 process_of(BbChromeTrace *trace, const char *pid)
{
    guint32 next = trace->processes->len;
    guint32 index = index_of(trace, g_strconcat("process ", pid, NULL), &next);
    if (next > trace->processes->len) {
        const BbChromeProcess process = {.pid = g_strndup(pid, BB_CHROME_KEY_MAX)};
        g_array_append_val(trace->processes, process);
        trace->kept++;
    }
    return index;
}

static guint32 thread_of(BbChromeTrace *trace, JsonObject *event, const char *pid)
{
    g_autofree char *tid = bb_node_text(bb_member_node(event, "tid"));
    return index_of(trace, g_strconcat("thread ", pid, "\x1f", tid, NULL), &trace->threads);
}

static guint32 name_of(const BbChromeTrace *trace, const char *text)
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

static void add_step(BbChromeTrace *trace, const Place *place, char *key, BbChromeStepKind kind,
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
static void take_bound(BbChromeTrace *trace, JsonObject *event, const Place *place)
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

static void take_slice(BbChromeTrace *trace, JsonObject *event, char phase, const Place *place)
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
static void take_step(BbChromeTrace *trace, JsonObject *event, char phase, const char *id,
                      const Place *place)
{
    static const char begins[] = "sbS", ends[] = "feF";
    bool flow = strchr("stf", phase) != NULL;
    const char *category = bb_member_text(event, "cat"), *name = bb_member_text(event, "name");
    const char *scope = bb_member_text(event, "scope");
    BbChromeStepKind kind = strchr(begins, phase) ? BB_CHROME_BEGIN
                            : strchr(ends, phase) ? BB_CHROME_END
                                                  : BB_CHROME_STEP;
    char *key = g_strjoin("\x1f", flow ? "flow" : "async", category ? category : "",
                          flow && name ? name : "", scope ? scope : "", id, NULL);
    bool encloses = g_strcmp0(bb_member_text(event, "bp"), "e") == 0;
    add_step(trace, place, key, kind, !flow, phase == 'f' && !encloses);
}

static void take_metadata(BbChromeTrace *trace, JsonObject *event, const char *pid)
{
    const char *name = bb_member_text(bb_member_object(event, "args"), "name");
    if (!name || g_strcmp0(bb_member_text(event, "name"), "process_name") != 0)
        return;
    BbChromeProcess *process = bb_chrome_trace_process(trace, process_of(trace, pid));
    guint32 before = process->name;
    process->name = name_of(trace, name);
    if (before && before != process->name)
        trace->kept++; // the name before stays in memory
}

// An event that can be of use, of a process that is told.
static void take_phase(BbChromeTrace *trace, JsonObject *event, char phase, const char *pid)
{
    Place place = {.pid = pid};
    if (!number_ns(bb_member_node(event, "ts"), &place.time_ns)) {
        count(trace, "chrome_no_time");
        return;
    }
    bool is_slice = strchr("XBE", phase) != NULL;
    g_autofree char *id = is_slice ? NULL : find_id(event, pid);
    if (!is_slice && !id) {
        count(trace, "chrome_no_id"); // before anything of it is kept
        return;
    }
    place.process = process_of(trace, pid);
    place.thread = thread_of(trace, event, pid);
    place.name = name_of(trace, bb_member_text(event, "name"));
    if (is_slice)
        take_slice(trace, event, phase, &place);
    else
        take_step(trace, event, phase, id, &place);
}

bool bb_chrome_trace_take(gpointer user, JsonObject *event, GError **error)
{
    BbChromeTrace *trace = user;
    const char *phase = bb_member_text(event, "ph");
    g_autofree char *pid = bb_node_text(bb_member_node(event, "pid"));
    if (!phase)
        return false;
    count(trace, "chrome_events");
    if (phase[1] || !strchr("MXBEstfbneSTpF", *phase))
        count(trace, "chrome_other");
    else if (!pid)
        count(trace, "chrome_no_process");
    else if (trace->kept >= BB_CHROME_EVENTS_MAX)
        count(trace, "chrome_left_out");
    else if (*phase == 'M')
        take_metadata(trace, event, pid);
    else
        take_phase(trace, event, *phase, pid);
    return true;
}

// ---- nodes ------------------------------------------------------------------------------------

void bb_chrome_trace_name(const BbChromeTrace *trace)
{
    g_autoptr(GHashTable) uses = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < trace->processes->len; i++) {
        gpointer name = GUINT_TO_POINTER(bb_chrome_trace_process(trace, i)->name);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(uses, name));
        g_hash_table_insert(uses, name, GUINT_TO_POINTER(n + 1));
    }
    for (guint32 i = 0; i < trace->processes->len; i++) {
        BbChromeProcess *process = bb_chrome_trace_process(trace, i);
        gpointer name = GUINT_TO_POINTER(process->name);
        bool alone = GPOINTER_TO_UINT(g_hash_table_lookup(uses, name)) == 1;
        const char *text = bb_names_text(trace->import->names, process->name);
        g_autofree char *numbered =
            g_strconcat(process->name ? text : "process", ":", process->pid, NULL);
        process->node = process->name && alone ? process->name : name_of(trace, numbered);
    }
}
