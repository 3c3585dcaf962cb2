// SPDX-License-Identifier: Apache-2.0
// In: a map as the user gives it, names of columns. Out: the fields they are.
#include "merge/columns.h"

#include "data/keys.h"

#include <string.h>

struct BbColumns {
    GHashTable *by_name; // name of a column, owned -> BbColumn, owned
    GHashTable *mapped;  // BbField that the map has -> name of its column, owned
};

static void add(BbColumns *columns, const char *name, const BbField *field, BbStampUnit unit)
{
    BbColumn *column = g_new(BbColumn, 1);
    *column = (BbColumn){field, unit};
    g_hash_table_insert(columns->by_name, g_strdup(name), column);
}

// "COLUMN" or "COLUMN:UNIT"; a colon before anything but a unit belongs to the name.
static char *split_unit(const char *text, BbStampUnit *unit)
{
    const char *colon = strrchr(text, ':');
    *unit = BB_STAMP_ANY;
    return colon && bb_stamp_unit_find(colon + 1, unit) ? g_strndup(text, (gsize)(colon - text))
                                                        : g_strdup(text);
}

static char *list_fields(void)
{
    const BbField *field = NULL;
    GString *list = g_string_new(NULL);
    for (gsize i = 0; (field = bb_field_at(i)); i++)
        if (!field->write_only)
            g_string_append_printf(list, "%s%s", i ? ", " : "", field->name);
    return g_string_free(list, FALSE);
}

// One FIELD=COLUMN[:UNIT] of the map. Returns what is wrong with it.
static char *add_mapping(BbColumns *columns, const char *mapping)
{
    const char *equals = strchr(mapping, '=');
    g_autofree char *name = equals ? g_strndup(mapping, (gsize)(equals - mapping)) : NULL;
    const BbField *field = name ? bb_field_find(name) : NULL;
    BbStampUnit unit = BB_STAMP_ANY;
    if (!equals || !equals[1])
        return g_strdup_printf("'%s' is not FIELD=COLUMN, as time=ts:ms", mapping);
    if (!field || field->write_only) {
        g_autofree char *list = list_fields();
        return g_strdup_printf("'%s' is no field: there are %s", name, list);
    }
    g_autofree char *column =
        field->form == BB_FIELD_TIME ? split_unit(equals + 1, &unit) : g_strdup(equals + 1);
    if (!*column || g_hash_table_contains(columns->by_name, column))
        return g_strdup_printf("'%s' names no column, or one that stands for another field",
                               mapping);
    if (!g_hash_table_insert(columns->mapped, (gpointer)field, g_strdup(column)))
        return g_strdup_printf("'%s' stands twice", name);
    add(columns, column, field, unit);
    return NULL;
}

// The names that a field has of itself, unless the map says otherwise of either.
static void add_own_names(BbColumns *columns, const BbField *field)
{
    static const struct {
        const char *suffix;
        BbStampUnit unit;
    } times[] = {
        {"", BB_STAMP_ANY},   {"_s", BB_STAMP_S},   {"_ms", BB_STAMP_MS},
        {"_us", BB_STAMP_US}, {"_ns", BB_STAMP_NS},
    };
    gsize count = field->form == BB_FIELD_TIME ? G_N_ELEMENTS(times) : 1;
    if (field->write_only || g_hash_table_contains(columns->mapped, field))
        return;
    for (gsize i = 0; i < count; i++) {
        g_autofree char *name = g_strconcat(field->name, times[i].suffix, NULL);
        if (!g_hash_table_contains(columns->by_name, name))
            add(columns, name, field, times[i].unit);
    }
}

BbColumns *bb_columns_new(const char *map, char **problem)
{
    g_autoptr(BbColumns) columns = g_new0(BbColumns, 1);
    columns->by_name = g_hash_table_new_full(bb_text_key_hash, g_str_equal, g_free, g_free);
    columns->mapped = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_auto(GStrv) mappings = g_strsplit(map ? map : "", ",", -1); // none for an empty map
    for (char **mapping = mappings; *mapping; mapping++) {
        char *wrong = add_mapping(columns, *mapping);
        if (!wrong)
            continue;
        *problem = wrong;
        return NULL;
    }
    const BbField *field = NULL;
    for (gsize i = 0; (field = bb_field_at(i)); i++)
        add_own_names(columns, field);
    return g_steal_pointer(&columns);
}

char *bb_columns_check(const BbImport *import)
{
    char *problem = NULL;
    bb_columns_free(bb_columns_new(bb_import_setting(import, BB_COLUMNS_SETTING), &problem));
    return problem;
}

void bb_columns_free(BbColumns *columns)
{
    if (!columns)
        return;
    g_hash_table_destroy(columns->by_name);
    g_hash_table_destroy(columns->mapped);
    g_free(columns);
}

const char *bb_columns_mapped(const BbColumns *columns, const BbField *field)
{
    return g_hash_table_lookup(columns->mapped, field);
}

bool bb_columns_find(const BbColumns *columns, const char *name, BbColumn *column)
{
    const BbColumn *found = g_hash_table_lookup(columns->by_name, name);
    if (found)
        *column = *found;
    return found != NULL;
}
