// SPDX-License-Identifier: Apache-2.0
// The table of forms of path instances, and what they share.
#include "viz/instance_form.h"

#include "data/percent.h"

#include <string.h>

const BbInstanceForm *const bb_instance_forms[] = {
    &bb_instance_form_jsonl,
    &bb_instance_form_otlp,
    &bb_instance_form_chrome,
    NULL,
};

const BbInstanceForm *bb_instance_form_find(const char *name)
{
    for (gsize i = 0; bb_instance_forms[i]; i++)
        if (strcmp(bb_instance_forms[i]->name, name) == 0)
            return bb_instance_forms[i];
    return NULL;
}

const char *bb_instance_node(const BbNames *names, guint32 node)
{
    const char *text = bb_names_text(names, node);
    return *text ? text : "?";
}

const char *bb_instance_title(const BbNames *names, const BbInstanceCall *call)
{
    const char *op = bb_names_text(names, call->op);
    return *op ? op : bb_instance_node(names, call->callee);
}

void bb_instance_set_id(const BbInstanceView *view, guint place, GString *text)
{
    g_string_truncate(text, 0);
    bb_unique_ids_append(view->ids, view->calls[place].id, view->uses[place], text);
    if (g_utf8_validate(text->str, (gssize)text->len, NULL))
        return;
    g_autoptr(GString) raw = g_string_new_len(text->str, (gssize)text->len);
    g_string_truncate(text, 0);
    bb_percent_append(text, raw->str, "%");
}
