// SPDX-License-Identifier: Apache-2.0
// In: counts by name. Out: their sums, in order of first use.
#include "data/counters.h"

#include "data/keys.h"

#include <string.h>

typedef struct {
    char *name;
    guint64 value;
} Counter;

struct BbCounters {
    GArray *list;      // of Counter
    GHashTable *index; // name, owned by list -> place in list
};

static void counter_clear(gpointer counter)
{
    g_free(((Counter *)counter)->name);
}

BbCounters *bb_counters_new(void)
{
    BbCounters *counters = g_new0(BbCounters, 1);
    counters->list = g_array_new(FALSE, FALSE, sizeof(Counter));
    g_array_set_clear_func(counters->list, counter_clear);
    counters->index = g_hash_table_new(bb_text_key_hash, g_str_equal);
    return counters;
}

void bb_counters_free(BbCounters *counters)
{
    if (!counters)
        return;
    g_hash_table_destroy(counters->index);
    g_array_unref(counters->list);
    g_free(counters);
}

static Counter *counter_at(const BbCounters *counters, guint index)
{
    g_assert(index < counters->list->len);
    return &g_array_index(counters->list, Counter, index);
}

static Counter *counter_find(const BbCounters *counters, const char *name)
{
    gpointer place = NULL;
    if (!g_hash_table_lookup_extended(counters->index, name, NULL, &place))
        return NULL;
    return counter_at(counters, GPOINTER_TO_UINT(place));
}

bool bb_counters_is_name(const char *text)
{
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.")] == '\0';
}

void bb_counters_add(BbCounters *counters, const char *name, guint64 value)
{
    Counter *counter = counter_find(counters, name);
    if (!counter) {
        Counter fresh = {.name = g_strdup(name)};
        g_hash_table_insert(counters->index, fresh.name, GUINT_TO_POINTER(counters->list->len));
        g_array_append_val(counters->list, fresh);
        counter = counter_at(counters, counters->list->len - 1);
    }
    if (__builtin_add_overflow(counter->value, value, &counter->value))
        counter->value = G_MAXUINT64;
}

guint64 bb_counters_get(const BbCounters *counters, const char *name)
{
    const Counter *counter = counter_find(counters, name);
    return counter ? counter->value : 0;
}

guint bb_counters_count(const BbCounters *counters)
{
    return counters->list->len;
}

const char *bb_counters_name(const BbCounters *counters, guint index)
{
    return counter_at(counters, index)->name;
}

guint64 bb_counters_value(const BbCounters *counters, guint index)
{
    return counter_at(counters, index)->value;
}

void bb_counters_merge(BbCounters *counters, const BbCounters *other)
{
    guint count = bb_counters_count(other); // other may be counters itself
    for (guint i = 0; i < count; i++)
        bb_counters_add(counters, bb_counters_name(other, i), bb_counters_value(other, i));
}

BbCounters *bb_counters_since(const BbCounters *now, const BbCounters *then)
{
    BbCounters *grown = bb_counters_new();
    for (guint i = 0; now && i < bb_counters_count(now); i++) {
        const char *name = bb_counters_name(now, i);
        guint64 value = bb_counters_value(now, i), before = then ? bb_counters_get(then, name) : 0;
        if (value > before)
            bb_counters_add(grown, name, value - before);
    }
    return grown;
}
