// SPDX-License-Identifier: Apache-2.0
// In: a file of JSON. Out: its values, to what takes them.
#include "merge/json_reading.h"

// Returns false, with the error set, where reading cannot go on.
static bool take(const BbImport *import, const BbJsonForm *form, gpointer user,
                 const BbJsonValues *values, JsonNode *value, GError **error)
{
    GError *failure = NULL;
    if (JSON_NODE_HOLDS_OBJECT(value) && form->take(user, json_node_get_object(value), &failure))
        return true;
    if (failure) {
        g_propagate_error(error, failure);
        return false;
    }
    if (!import->skip_bad) {
        bb_json_values_refuse(values, form->wanted, error);
        return false;
    }
    bb_counters_add(import->counters, "json_bad_values", 1);
    return true;
}

// What is malformed is skipped where that is wanted and the input itself is whole.
static bool pass_bad(const BbImport *import, const BbJsonValues *values)
{
    if (!import->skip_bad || !bb_json_values_may_go_on(values))
        return false;
    bb_counters_add(import->counters, "json_bad_values", 1);
    return true;
}

bool bb_json_reading_run(const BbImport *import, const BbJsonForm *form, gpointer user,
                         const char *path, GError **error)
{
    g_autoptr(BbJsonValues) values = bb_json_values_open(path, form->lists, error);
    if (!values)
        return false;
    for (;;) {
        g_autoptr(GError) failure = NULL;
        JsonNode *value = bb_json_values_next(values, &failure);
        if (value) {
            if (!take(import, form, user, values, value, error))
                return false;
        } else if (!failure) {
            break;
        } else if (!pass_bad(import, values)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return false;
        }
    }
    if (bb_json_values_damage(values) && !(form->open && bb_json_values_lacks_brackets(values)))
        import->warn(bb_json_values_damage(values));
    return true;
}
