// SPDX-License-Identifier: Apache-2.0
// In: which names were seen with which addresses. Out: which of them are one host.
#include "merge/aliases.h"

typedef struct Sighting {
    guint32 name, address;
    guint32 kind;
} Sighting;

struct BbAliases {
    GArray *sightings; // of Sighting
    GHashTable *homes; // name -> address
    GHashTable *heads; // name or address -> what its host is called
};

BbAliases *bb_aliases_new(void)
{
    BbAliases *aliases = g_new0(BbAliases, 1);
    aliases->sightings = g_array_new(FALSE, FALSE, sizeof(Sighting));
    aliases->homes = g_hash_table_new(NULL, NULL);
    aliases->heads = g_hash_table_new(NULL, NULL);
    return aliases;
}

void bb_aliases_free(BbAliases *aliases)
{
    if (!aliases)
        return;
    g_array_unref(aliases->sightings);
    g_hash_table_destroy(aliases->homes);
    g_hash_table_destroy(aliases->heads);
    g_free(aliases);
}

void bb_aliases_add(BbAliases *aliases, BbAliasKind kind, guint32 name, guint32 address)
{
    Sighting sighting = {.name = name, .address = address, .kind = kind};
    g_array_append_val(aliases->sightings, sighting);
}

static gint compare_u32(guint32 a, guint32 b)
{
    return a < b ? -1 : a > b;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    const Sighting *x = a, *y = b;
    gint order = compare_u32(x->name, y->name);
    return order ? order : compare_u32(x->address, y->address);
}

static gint by_address(gconstpointer a, gconstpointer b)
{
    const Sighting *x = a, *y = b;
    gint order = compare_u32(x->address, y->address);
    order = order ? order : compare_u32(x->kind, y->kind);
    return order ? order : compare_u32(x->name, y->name);
}

static const Sighting *sighting_at(const BbAliases *aliases, guint index)
{
    return &g_array_index(aliases->sightings, Sighting, index);
}

// The middle of a sorted run [from .. to) is what more than half of it is, if anything is.
static bool is_majority(guint count, guint from, guint to)
{
    return 2 * (gsize)count > to - from;
}

static void find_homes(BbAliases *aliases)
{
    guint total = aliases->sightings->len;
    for (guint from = 0, to = 0; from < total; from = to) {
        guint32 name = sighting_at(aliases, from)->name;
        for (to = from; to < total && sighting_at(aliases, to)->name == name; to++)
            ;
        guint32 middle = sighting_at(aliases, from + (to - from) / 2)->address;
        guint count = 0;
        for (guint i = from; i < to; i++)
            count += sighting_at(aliases, i)->address == middle;
        if (is_majority(count, from, to))
            g_hash_table_insert(aliases->homes, GUINT_TO_POINTER(name), GUINT_TO_POINTER(middle));
    }
}

static bool is_home(const BbAliases *aliases, guint32 name, guint32 address)
{
    gpointer home = NULL;
    return g_hash_table_lookup_extended(aliases->homes, GUINT_TO_POINTER(name), NULL, &home) &&
           GPOINTER_TO_UINT(home) == address;
}

// The name that sightings [from .. to) of one address and kind have, if it is at home there.
static guint32 name_of(const BbAliases *aliases, guint from, guint to)
{
    const Sighting *middle = sighting_at(aliases, from + (to - from) / 2);
    guint count = 0;
    for (guint i = from; i < to; i++)
        count += sighting_at(aliases, i)->name == middle->name;
    return is_majority(count, from, to) && is_home(aliases, middle->name, middle->address)
               ? middle->name
               : BB_NAME_NONE;
}

static void call(BbAliases *aliases, guint32 name, guint32 head)
{
    if (name != head && name != BB_NAME_NONE)
        g_hash_table_insert(aliases->heads, GUINT_TO_POINTER(name), GUINT_TO_POINTER(head));
}

// Sightings [from .. to) are all those of one address, kind by kind.
static void join_names(BbAliases *aliases, guint from, guint to)
{
    guint32 found[BB_ALIAS_KINDS] = {BB_NAME_NONE}, head = BB_NAME_NONE;
    guint32 address = sighting_at(aliases, from)->address;
    for (guint at = from, end = from; at < to; at = end) {
        guint32 kind = sighting_at(aliases, at)->kind;
        while (end < to && sighting_at(aliases, end)->kind == kind)
            end++;
        found[kind] = name_of(aliases, at, end);
    }
    for (guint kind = 0; kind < BB_ALIAS_KINDS && head == BB_NAME_NONE; kind++)
        head = found[kind];
    if (head == BB_NAME_NONE)
        return;
    call(aliases, address, head);
    for (guint kind = 0; kind < BB_ALIAS_KINDS; kind++)
        call(aliases, found[kind], head);
    for (guint i = from; i < to; i++) {
        const Sighting *sighting = sighting_at(aliases, i);
        if (sighting->kind == BB_ALIAS_FOUND && is_home(aliases, sighting->name, address))
            call(aliases, sighting->name, head);
    }
}

void bb_aliases_settle(BbAliases *aliases)
{
    guint total = aliases->sightings->len;
    g_array_sort(aliases->sightings, by_name);
    find_homes(aliases);
    g_array_sort(aliases->sightings, by_address);
    for (guint from = 0, to = 0; from < total; from = to) {
        guint32 address = sighting_at(aliases, from)->address;
        while (to < total && sighting_at(aliases, to)->address == address)
            to++;
        join_names(aliases, from, to);
    }
    g_array_set_size(aliases->sightings, 0);
}

guint32 bb_aliases_find(const BbAliases *aliases, guint32 name)
{
    gpointer head = NULL;
    bool known = g_hash_table_lookup_extended(aliases->heads, GUINT_TO_POINTER(name), NULL, &head);
    return known ? GPOINTER_TO_UINT(head) : name;
}

guint bb_aliases_count(const BbAliases *aliases)
{
    return g_hash_table_size(aliases->heads);
}
