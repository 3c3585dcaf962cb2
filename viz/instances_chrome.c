// SPDX-License-Identifier: Apache-2.0
// In: path instances. Out: trace events of Chrome as JSON, for Perfetto and its like.
//
// A node is a process; a call is a slice there while the callee works on it, with an arrow from the
// caller's slice. Slices of a thread must not overlap, so a node has as many threads as it has
// calls at once, or a few more: before its last slice a thread is not looked at again. Whoever
// begins a path has a slice while it waits. Times count from the second in which the trace begins:
// since 1970 a double has no room for nanoseconds.
#include "viz/instance_form.h"

#include "data/path.h"
#include "data/quantity.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

// Where a slice is.
typedef struct {
    guint32 process, thread; // both from 1
} Lane;

typedef struct {
    BbJson *json;
    const BbNames *names; // of the instance
    gint64 origin_ns;
    GPtrArray *nodes; // by name: NULL, or a GArray of gint64, from when on each thread is free
    GArray *lanes;    // of Lane: those of an instance's calls
    GArray *free;     // of gint64: from when on these are free
    guint64 arrows;
    GString *text; // scratch
} Writing;

static void free_threads(gpointer threads)
{
    if (threads)
        g_array_unref(threads);
}

static gpointer begin(BbJson *json, gint64 start_ns)
{
    Writing *writing = g_new(Writing, 1);
    gint64 origin_ns = start_ns == BB_TIME_NONE ? 0 : start_ns - start_ns % SECOND;
    *writing = (Writing){
        .json = json,
        .origin_ns = origin_ns,
        .nodes = g_ptr_array_new_with_free_func(free_threads),
        .lanes = g_array_new(FALSE, FALSE, sizeof(Lane)),
        .free = g_array_new(FALSE, FALSE, sizeof(gint64)),
        .text = g_string_new(NULL),
    };
    bb_json_begin_object(json);
    bb_json_put_string(json, "displayTimeUnit", "ns");
    bb_json_key(json, "otherData");
    bb_json_begin_object(json);
    bb_json_put_string(json, "producer", "bbtrace " BB_VERSION);
    bb_json_put_seconds(json, "origin_s", origin_ns);
    bb_json_end_object(json);
    bb_json_key(json, "traceEvents");
    bb_json_begin_array(json);
    return writing;
}

static void end(gpointer state)
{
    Writing *writing = state;
    bb_json_newline(writing->json);
    bb_json_end_array(writing->json);
    bb_json_end_object(writing->json);
    g_ptr_array_unref(writing->nodes);
    g_array_unref(writing->lanes);
    g_array_unref(writing->free);
    g_string_free(writing->text, TRUE);
    g_free(writing);
}

// ---- events ------------------------------------------------------------------------------------

static void begin_event(BbJson *json, const char *phase, Lane lane)
{
    bb_json_newline(json);
    bb_json_begin_object(json);
    bb_json_put_string(json, "ph", phase);
    bb_json_put_uint(json, "pid", lane.process);
    bb_json_put_uint(json, "tid", lane.thread);
}

static void put_time(const Writing *writing, const char *key, gint64 from_ns, gint64 ns)
{
    bb_json_key(writing->json, key);
    bb_json_microseconds(writing->json, bb_time_between(from_ns, ns));
}

// What a process or thread is called.
static void put_title(const Writing *writing, const char *event, Lane lane, const char *title)
{
    BbJson *json = writing->json;
    begin_event(json, "M", lane);
    bb_json_put_string(json, "name", event);
    bb_json_key(json, "args");
    bb_json_begin_object(json);
    bb_json_put_string(json, "name", title);
    bb_json_end_object(json);
    bb_json_end_object(json);
}

// ---- lanes -------------------------------------------------------------------------------------

static GArray *threads_of(const Writing *writing, guint32 node)
{
    if (writing->nodes->len <= node)
        g_ptr_array_set_size(writing->nodes, (gint)node + 1);
    if (!writing->nodes->pdata[node])
        writing->nodes->pdata[node] = g_array_new(FALSE, FALSE, sizeof(gint64));
    return writing->nodes->pdata[node];
}

static Lane new_thread(const Writing *writing, guint32 node, GArray *threads)
{
    Lane lane = {node, threads->len + 1};
    const gint64 never = G_MININT64;
    g_array_append_val(threads, never);
    if (lane.thread == 1)
        put_title(writing, "process_name", lane, bb_instance_node(writing->names, node));
    g_string_printf(writing->text, "at once: %u", lane.thread);
    put_title(writing, "thread_name", lane, writing->text->str);
    return lane;
}

// The first thread of node that is free from then on, which it is no longer until free_ns.
static Lane take_lane(const Writing *writing, guint32 node, gint64 from_ns, gint64 free_ns)
{
    GArray *threads = threads_of(writing, node);
    Lane lane = {node, 1};
    while (lane.thread <= threads->len && g_array_index(threads, gint64, lane.thread - 1) > from_ns)
        lane.thread++;
    if (lane.thread > threads->len)
        lane = new_thread(writing, node, threads);
    g_array_index(threads, gint64, lane.thread - 1) = MAX(from_ns, free_ns);
    return lane;
}

// A thread is free when the callee is done and all arrows have left: Perfetto lets an arrow come
// from the slice that began last on the thread, even if that is over.
static void find_free(const Writing *writing, const BbInstanceView *view)
{
    g_array_set_size(writing->free, view->count);
    gint64 *free_ns = (gint64 *)(gpointer)writing->free->data;
    for (guint k = 0; k < view->count; k++) {
        const BbInstanceCall *call = &view->calls[k];
        free_ns[k] = call->left_ns;
        if (call->parent != BB_CALL_NO_PARENT && call->call_ns >= free_ns[call->parent])
            free_ns[call->parent] = MIN(call->call_ns, G_MAXINT64 - 1) + 1;
    }
}

// ---- slices and arrows -------------------------------------------------------------------------

static void put_wait(const Writing *writing, const char *key, gint64 ns)
{
    if (ns <= 0)
        return;
    g_string_truncate(writing->text, 0);
    bb_quantity_append_duration(writing->text, ns);
    bb_json_put_string(writing->json, key, writing->text->str);
}

static void put_arguments(const Writing *writing, const BbInstanceView *view, guint place)
{
    BbJson *json = writing->json;
    const BbInstanceCall *call = &view->calls[place];
    const char *status = bb_names_text(view->names, call->status);
    bb_json_key(json, "args");
    bb_json_begin_object(json);
    bb_instance_set_id(view, place, writing->text);
    bb_json_put_string(json, "id", writing->text->str);
    bb_json_put_uint(json, "instance", view->number);
    if (view->rank > 0)
        bb_json_put_uint(json, "pattern", view->rank);
    if (*status)
        bb_json_put_string(json, "status", status);
    if (!view->messages && call->return_ns == BB_TIME_NONE)
        bb_json_put_string(json, "no return", "the caller went on");
    put_wait(writing, "waited for its turn", call->turn_ns);
    put_wait(writing, "waited for a pool", call->pool_ns);
    if (call->confidence >= 0)
        bb_json_put_share(json, "confidence", (double)call->confidence);
    bb_json_end_object(json);
}

static void put_slice(const Writing *writing, const BbInstanceView *view, guint place, Lane lane,
                      gint64 from_ns, gint64 to_ns)
{
    begin_event(writing->json, "X", lane);
    put_time(writing, "ts", writing->origin_ns, from_ns);
    put_time(writing, "dur", from_ns, MAX(from_ns, to_ns));
    bb_json_put_string(writing->json, "name", bb_instance_title(view->names, &view->calls[place]));
    put_arguments(writing, view, place);
    bb_json_end_object(writing->json);
}

// Whoever begins the path.
static Lane put_client(const Writing *writing, const BbInstanceView *view)
{
    const BbInstanceCall *root = &view->calls[0];
    Lane lane = take_lane(writing, root->caller, root->call_ns, root->back_ns);
    put_slice(writing, view, 0, lane, root->call_ns, root->back_ns);
    return lane;
}

static void put_arrow_end(const Writing *writing, const char *phase, Lane lane, gint64 ns)
{
    BbJson *json = writing->json;
    begin_event(json, phase, lane);
    put_time(writing, "ts", writing->origin_ns, ns);
    bb_json_put_uint(json, "id", writing->arrows);
    bb_json_put_string(json, "name", "call");
    bb_json_put_string(json, "cat", "call");
    if (*phase == 'f')
        bb_json_put_string(json, "bp", "e"); // it ends at the slice around it, not at the next one
    bb_json_end_object(json);
}

static void write_instance(gpointer state, const BbInstanceView *view)
{
    Writing *writing = state;
    writing->names = view->names;
    find_free(writing, view);
    g_array_set_size(writing->lanes, view->count);
    for (guint k = 0; k < view->count; k++) {
        const BbInstanceCall *call = &view->calls[k];
        gint64 free_ns = g_array_index(writing->free, gint64, k);
        Lane from = call->parent == BB_CALL_NO_PARENT
                        ? put_client(writing, view)
                        : g_array_index(writing->lanes, Lane, call->parent);
        Lane to = take_lane(writing, call->callee, call->arrived_ns, free_ns);
        put_slice(writing, view, k, to, call->arrived_ns, call->left_ns);
        g_array_index(writing->lanes, Lane, k) = to;
        writing->arrows++;
        put_arrow_end(writing, "s", from, call->call_ns);
        put_arrow_end(writing, "f", to, call->arrived_ns);
    }
}

const BbInstanceForm bb_instance_form_chrome = {
    .name = "chrome",
    .about = "trace events of Chrome (JSON): Perfetto, all nodes on one axis of time",
    .kept = BB_INSTANCE_CALL_WHOLE,
    .begin = begin,
    .write = write_instance,
    .end = end,
};
