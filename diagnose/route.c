// SPDX-License-Identifier: Apache-2.0
// In: names of a call and its callers. Out: text, JSON.
#include "diagnose/route.h"

#include "data/caption.h"

#define NAME_MOST 48 // columns of a name

static void append_name(GString *out, const BbNames *names, guint32 name)
{
    g_autoptr(GString) caption = g_string_new(NULL);
    if (name == BB_NAME_NONE)
        g_string_append(caption, "(any client)");
    else
        bb_caption_append(caption, bb_names_text(names, name), "?");
    bb_caption_elide(caption, NAME_MOST);
    g_string_append_len(out, caption->str, (gssize)caption->len);
}

void bb_route_append_call(GString *out, const BbNames *names, guint32 node, guint32 op)
{
    append_name(out, names, node);
    if (op == BB_NAME_NONE)
        return;
    g_string_append_c(out, ' ');
    append_name(out, names, op);
}

void bb_route_append_unanswered(GString *out, bool unanswered)
{
    g_string_append(out, unanswered ? " (no return)" : "");
}

void bb_route_append_callers(GString *out, const BbNames *names, const guint32 *callers,
                             guint count)
{
    for (guint i = count; i-- > 0;) {
        append_name(out, names, callers[i]);
        g_string_append(out, i > 0 ? " -> " : "");
    }
}

void bb_route_write_call(BbJson *json, const BbNames *names, guint32 node, guint32 op)
{
    bb_json_put_string(json, "node", bb_names_text(names, node));
    if (op != BB_NAME_NONE) {
        bb_json_put_string(json, "op", bb_names_text(names, op));
        return;
    }
    bb_json_key(json, "op");
    bb_json_null(json);
}

void bb_route_write_unanswered(BbJson *json, bool unanswered)
{
    if (!unanswered)
        return;
    bb_json_key(json, "unanswered");
    bb_json_bool(json, true);
}

void bb_route_write_callers(BbJson *json, const char *key, const BbNames *names,
                            const guint32 *callers, guint count)
{
    bb_json_key(json, key);
    bb_json_begin_array(json);
    for (guint i = count; i-- > 0;) {
        if (callers[i] == BB_NAME_NONE)
            bb_json_null(json);
        else
            bb_json_string(json, bb_names_text(names, callers[i]));
    }
    bb_json_end_array(json);
}
