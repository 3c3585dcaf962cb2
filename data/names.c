// SPDX-License-Identifier: Apache-2.0
// In: texts. Out: small integers that stand for them from then on.
#include "data/names.h"

#include <string.h>

struct BbNames {
    GHashTable *ids;     // text -> integer
    GPtrArray *texts;    // integer -> text, in chunk
    GStringChunk *chunk; // owns the texts
};

BbNames *bb_names_new(void)
{
    BbNames *names = g_new0(BbNames, 1);
    names->ids = g_hash_table_new(g_str_hash, g_str_equal);
    names->texts = g_ptr_array_new();
    names->chunk = g_string_chunk_new(4096);
    (void)bb_names_intern(names, "");
    return names;
}

void bb_names_free(BbNames *names)
{
    if (!names)
        return;
    g_hash_table_destroy(names->ids);
    g_ptr_array_unref(names->texts);
    g_string_chunk_free(names->chunk);
    g_free(names);
}

guint32 bb_names_intern(BbNames *names, const char *text)
{
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(names->ids, text, NULL, &found))
        return GPOINTER_TO_UINT(found);
    guint32 id = names->texts->len;
    char *copy = g_string_chunk_insert(names->chunk, text);
    g_ptr_array_add(names->texts, copy);
    g_hash_table_insert(names->ids, copy, GUINT_TO_POINTER(id));
    return id;
}

guint32 bb_names_intern_len(BbNames *names, const char *text, gsize length)
{
    char small[256];
    if (length < sizeof small) {
        memcpy(small, text, length);
        small[length] = '\0';
        return bb_names_intern(names, small);
    }
    g_autofree char *copy = g_strndup(text, length);
    return bb_names_intern(names, copy);
}

guint32 bb_names_find(const BbNames *names, const char *text)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(names->ids, text));
}

const char *bb_names_text(const BbNames *names, guint32 name)
{
    g_assert(name < names->texts->len);
    return g_ptr_array_index(names->texts, name);
}

guint32 bb_names_count(const BbNames *names)
{
    return names->texts->len;
}
