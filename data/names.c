// SPDX-License-Identifier: Apache-2.0
// In: texts. Out: small integers that stand for them from then on.
#include "data/names.h"

#include "data/keys.h"

#include <string.h>

// Texts lie in segments, each twice as large as the one before, which never move: readers in other
// threads need no lock.
#define FIRST_BITS 8
#define SEGMENTS (32 - FIRST_BITS)

struct BbNames {
    GHashTable *ids;             // text -> integer
    const char **text[SEGMENTS]; // integer -> text, in chunk
    guint32 count;
    GStringChunk *chunk; // owns the texts
};

// Segment 0 holds the integers below 2^FIRST_BITS, segment s those of FIRST_BITS + s bits.
static guint segment_of(guint32 name)
{
    guint bits = (guint)g_bit_storage(name);
    return bits > FIRST_BITS ? bits - FIRST_BITS : 0;
}

static guint32 place_of(guint32 name, guint segment)
{
    return segment ? name - (1u << (FIRST_BITS + segment - 1)) : name;
}

BbNames *bb_names_new(void)
{
    BbNames *names = g_new0(BbNames, 1);
    names->ids = g_hash_table_new(bb_text_key_hash, g_str_equal);
    names->chunk = g_string_chunk_new(4096);
    (void)bb_names_intern(names, "");
    return names;
}

void bb_names_free(BbNames *names)
{
    if (!names)
        return;
    g_hash_table_destroy(names->ids);
    for (guint segment = 0; segment < SEGMENTS; segment++)
        g_free(names->text[segment]);
    g_string_chunk_free(names->chunk);
    g_free(names);
}

guint32 bb_names_intern(BbNames *names, const char *text)
{
    gpointer found = NULL;
    if (g_hash_table_lookup_extended(names->ids, text, NULL, &found))
        return GPOINTER_TO_UINT(found);
    g_assert(names->count < G_MAXUINT32 >> 1);
    guint32 id = names->count++;
    guint segment = segment_of(id);
    char *copy = g_string_chunk_insert(names->chunk, text);
    if (!names->text[segment])
        names->text[segment] = g_new(const char *, 1u << (FIRST_BITS + MAX(segment, 1) - 1));
    names->text[segment][place_of(id, segment)] = copy;
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
    guint segment = segment_of(name);
    return names->text[segment][place_of(name, segment)];
}

gint bb_names_compare(const BbNames *names, guint32 a, guint32 b)
{
    return a == b ? 0 : strcmp(bb_names_text(names, a), bb_names_text(names, b));
}

guint32 bb_names_count(const BbNames *names)
{
    return names->count;
}
