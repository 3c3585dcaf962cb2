// SPDX-License-Identifier: Apache-2.0
// In: names of graphs, nodes and edges. Out: numbers, counted up from 1 by first use.
#include "viz/dot_ids.h"

#include "data/keys.h"

#include <glib.h>

typedef struct Ids {
    Agraph_t *graph;
    GHashTable *numbers; // name -> number
    // number -> name, NULL for an object without name. They are cgraph's own strings, which end
    // with the graph: whoever prints one looks for a mark in front of its first byte (aghtmlstr).
    GPtrArray *texts;
} Ids;

static void *ids_open(Agraph_t *graph, Agdisc_t *disc)
{
    (void)disc;
    Ids *ids = g_new(Ids, 1);
    ids->graph = graph;
    ids->numbers = g_hash_table_new(bb_text_key_hash, g_str_equal);
    ids->texts = g_ptr_array_new();
    g_ptr_array_add(ids->texts, NULL); // 0 is no number
    return ids;
}

static void ids_close(void *state)
{
    Ids *ids = state;
    g_hash_table_destroy(ids->numbers);
    g_ptr_array_unref(ids->texts);
    g_free(ids);
}

static long ids_map(void *state, int kind, char *name, IDTYPE *number, int create)
{
    (void)kind;
    Ids *ids = state;
    gpointer known = name ? g_hash_table_lookup(ids->numbers, name) : NULL;
    if (!known && !create)
        return 0;
    if (!known) {
        known = GUINT_TO_POINTER(ids->texts->len);
        char *text = name ? agstrdup(ids->graph, name) : NULL;
        g_ptr_array_add(ids->texts, text);
        if (text)
            g_hash_table_insert(ids->numbers, text, known);
    }
    *number = GPOINTER_TO_UINT(known);
    return 1;
}

// Numbers are never given out again.
static void ids_free(void *state, int kind, IDTYPE number)
{
    (void)state, (void)kind, (void)number;
}

static char *ids_print(void *state, int kind, IDTYPE number)
{
    (void)kind;
    const Ids *ids = state;
    return number < ids->texts->len ? g_ptr_array_index(ids->texts, number) : NULL;
}

// The functions that stay cgraph's keep no state.
Agiddisc_t bb_dot_ids(void)
{
    Agiddisc_t disc = AgIdDisc;
    disc.open = ids_open;
    disc.map = ids_map;
    disc.free = ids_free;
    disc.print = ids_print;
    disc.close = ids_close;
    return disc;
}
