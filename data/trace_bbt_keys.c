// SPDX-License-Identifier: Apache-2.0
// In: a key for every message of a block. Out: small numbers, and each key once.
// A table with open addressing: there are two look-ups a message, which a GHashTable makes too
// dear.
#include "data/trace_bbt_keys.h"

#include "data/keys.h"

#include <string.h>

typedef struct {
    guint32 hash;
    guint32 taken;    // place + 1; 0 for a free slot
    guint32 at, size; // of its bytes
} Slot;

#define FIRST_SLOTS 256u // most blocks have few keys, and a small table stays near the processor

struct BbBbtKeys {
    Slot *slots;
    gsize mask; // slots - 1, a power of two; half of them are free at least
    gsize most;
    guint32 count;
    GByteArray *bytes;
};

BbBbtKeys *bb_bbt_keys_new(gsize most)
{
    BbBbtKeys *keys = g_new0(BbBbtKeys, 1);
    keys->slots = g_new0(Slot, FIRST_SLOTS);
    keys->mask = FIRST_SLOTS - 1;
    keys->most = most;
    keys->bytes = g_byte_array_new();
    return keys;
}

void bb_bbt_keys_free(BbBbtKeys *keys)
{
    if (!keys)
        return;
    g_free(keys->slots);
    g_byte_array_unref(keys->bytes);
    g_free(keys);
}

// Only the order of probes depends on it, never the output.
static guint32 hash_of(const guint8 *key, gsize size)
{
    return bb_keys_bytes(key, size);
}

static void grow(BbBbtKeys *keys)
{
    gsize mask = keys->mask * 2 + 1;
    Slot *slots = g_new0(Slot, mask + 1);
    for (gsize i = 0; i <= keys->mask; i++) {
        if (!keys->slots[i].taken)
            continue;
        gsize at = keys->slots[i].hash & mask;
        while (slots[at].taken)
            at = (at + 1) & mask;
        slots[at] = keys->slots[i];
    }
    g_free(keys->slots);
    keys->slots = slots;
    keys->mask = mask;
}

guint32 bb_bbt_keys_add(BbBbtKeys *keys, gconstpointer key, gsize size)
{
    guint32 hash = hash_of(key, size);
    gsize at = hash & keys->mask;
    for (; keys->slots[at].taken; at = (at + 1) & keys->mask) {
        const Slot *slot = &keys->slots[at];
        if (slot->hash == hash && slot->size == size &&
            memcmp(keys->bytes->data + slot->at, key, size) == 0)
            return slot->taken - 1;
    }
    g_assert(keys->count < keys->most);
    keys->slots[at] = (Slot){hash, ++keys->count, keys->bytes->len, (guint32)size};
    g_byte_array_append(keys->bytes, key, (guint)size);
    if (2 * keys->count > keys->mask)
        grow(keys);
    return keys->count - 1;
}

guint32 bb_bbt_keys_count(const BbBbtKeys *keys)
{
    return keys->count;
}

const guint8 *bb_bbt_keys_bytes(const BbBbtKeys *keys, gsize *size)
{
    *size = keys->bytes->len;
    return keys->bytes->data;
}

void bb_bbt_keys_clear(BbBbtKeys *keys)
{
    memset(keys->slots, 0, (keys->mask + 1) * sizeof(Slot));
    g_byte_array_set_size(keys->bytes, 0);
    keys->count = 0;
}
