// SPDX-License-Identifier: Apache-2.0
// In: the connection of every message of a block. Out: small numbers, and each connection once.
// A table with open addressing: there is one look-up a message, which a GHashTable makes too dear.
#include "data/trace_bbt_texts.h"

#include <stdbool.h>
#include <string.h>

typedef struct {
    guint32 hash;
    guint32 place;    // in the list, from 1; 0 for a free slot
    guint32 at, size; // of its bytes
} Slot;

struct BbBbtTexts {
    Slot *slots;
    gsize mask; // slots - 1, a power of two
    gsize most;
    guint32 count;
    GByteArray *bytes;
};

BbBbtTexts *bb_bbt_texts_new(gsize most)
{
    BbBbtTexts *texts = g_new0(BbBbtTexts, 1);
    gsize slots = 1;
    while (slots < 2 * most)
        slots *= 2;
    texts->slots = g_new0(Slot, slots);
    texts->mask = slots - 1;
    texts->most = most;
    texts->bytes = g_byte_array_new();
    return texts;
}

void bb_bbt_texts_free(BbBbtTexts *texts)
{
    if (!texts)
        return;
    g_free(texts->slots);
    g_byte_array_unref(texts->bytes);
    g_free(texts);
}

static guint64 mix(guint64 hash, guint64 word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u; // odd, near 2^64 over the golden ratio
    return hash ^ hash >> 32;
}

// Eight bytes a step. Only the order of probes depends on it, never the output.
static guint32 hash_of(const char *text, gsize size)
{
    guint64 hash = size, word = 0;
    for (; size >= sizeof word; text += sizeof word, size -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, text, size);
    return (guint32)mix(hash, word);
}

guint64 bb_bbt_texts_add(BbBbtTexts *texts, const char *text, gsize size)
{
    guint32 hash = hash_of(text, size);
    gsize at = hash & texts->mask;
    for (; texts->slots[at].place; at = (at + 1) & texts->mask) {
        const Slot *slot = &texts->slots[at];
        if (slot->hash == hash && slot->size == size &&
            memcmp(texts->bytes->data + slot->at, text, size) == 0)
            return slot->place;
    }
    g_assert(texts->count < texts->most);
    texts->slots[at] = (Slot){hash, ++texts->count, texts->bytes->len, (guint32)size};
    g_byte_array_append(texts->bytes, (const guint8 *)text, (guint)size);
    g_byte_array_append(texts->bytes, (const guint8 *)"", 1);
    return texts->count;
}

const guint8 *bb_bbt_texts_bytes(const BbBbtTexts *texts, gsize *size)
{
    *size = texts->bytes->len;
    return texts->bytes->data;
}

void bb_bbt_texts_clear(BbBbtTexts *texts)
{
    memset(texts->slots, 0, (texts->mask + 1) * sizeof(Slot));
    g_byte_array_set_size(texts->bytes, 0);
    texts->count = 0;
}
