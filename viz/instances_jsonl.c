// SPDX-License-Identifier: Apache-2.0
// In: path instances. Out: JSON Lines, one instance a line (bbpaths(1), --instances).
#include "viz/instance_form.h"

#include "data/path.h"

typedef struct {
    BbJson *json;
    GString *text; // scratch
} Writing;

static gpointer begin(BbJson *json, gint64 start_ns)
{
    (void)start_ns;
    Writing *writing = g_new(Writing, 1);
    *writing = (Writing){json, g_string_new(NULL)};
    return writing;
}

static void end(gpointer state)
{
    Writing *writing = state;
    g_string_free(writing->text, TRUE);
    g_free(writing);
}

static void put_id(Writing *writing, const char *key, const BbInstanceView *view, guint place)
{
    bb_instance_set_id(view, place, writing->text);
    bb_json_put_string(writing->json, key, writing->text->str);
}

static void put_call(Writing *writing, const BbInstanceView *view, guint place)
{
    BbJson *json = writing->json;
    const BbInstanceCall *call = &view->calls[place];
    bb_json_begin_object(json);
    put_id(writing, "id", view, place);
    bb_json_put_string(json, "from", bb_names_text(view->names, call->caller));
    bb_json_put_string(json, "to", bb_names_text(view->names, call->callee));
    bb_json_put_seconds(json, "call", call->call_ns);
    bb_json_key(json, "return");
    if (call->return_ns == BB_TIME_NONE)
        bb_json_null(json);
    else
        bb_json_seconds(json, call->return_ns);
    if (call->parent == BB_CALL_NO_PARENT) {
        bb_json_key(json, "parent");
        bb_json_null(json);
    } else {
        put_id(writing, "parent", view, call->parent);
    }
    bb_json_put_probability(json, "confidence", (double)call->confidence);
    bb_json_end_object(json);
}

static void write_instance(gpointer state, const BbInstanceView *view)
{
    Writing *writing = state;
    BbJson *json = writing->json;
    bb_json_begin_object(json);
    bb_json_key(json, "pattern");
    if (view->rank == 0)
        bb_json_null(json);
    else
        bb_json_uint(json, view->rank);
    bb_json_put_uint(json, "instance", view->number);
    bb_json_key(json, "calls");
    bb_json_begin_array(json);
    for (guint k = 0; k < view->count; k++)
        put_call(writing, view, k);
    bb_json_end_array(json);
    bb_json_end_object(json);
}

const BbInstanceForm bb_instance_form_jsonl = {
    .name = "jsonl",
    .about = "JSON Lines, an instance a line",
    .kept = BB_INSTANCE_CALL_LINKS,
    .begin = begin,
    .write = write_instance,
    .end = end,
};
