// SPDX-License-Identifier: Apache-2.0
// In: conditions, and how many instances meet them. Out: words and JSON on that.
#include "data/chosen.h"

#include "data/caption.h"
#include "data/quantity.h"

bool bb_chosen_append(GString *out, const BbChosen *chosen, const char *noun)
{
    if (!chosen || !chosen->by)
        return false;
    g_string_append(out, "Chosen by ");
    bb_caption_append(out, chosen->by, "");
    if (chosen->counted) {
        g_string_append(out, ": ");
        bb_quantity_append_count(out, chosen->instances);
        g_string_append(out, " of ");
        bb_quantity_append_counted(out, chosen->of, noun);
    }
    return true;
}

static void write_count(BbJson *json, const char *key, const BbChosen *chosen, guint64 count)
{
    bb_json_key(json, key);
    if (chosen->counted)
        bb_json_uint(json, count);
    else
        bb_json_null(json);
}

void bb_chosen_write(const BbChosen *chosen, BbJson *json)
{
    if (!chosen || !chosen->by)
        return;
    bb_json_key(json, "chosen");
    bb_json_begin_object(json);
    bb_json_put_string(json, "by", chosen->by);
    write_count(json, "instances", chosen, chosen->instances);
    write_count(json, "of", chosen, chosen->of);
    bb_json_end_object(json);
}

void bb_chosen_append_whole(GString *out, const BbChosen *chosen, const char *what)
{
    g_string_append_printf(out, chosen && chosen->by ? " of the chosen %s" : " of all %s", what);
}
