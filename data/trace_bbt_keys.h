// SPDX-License-Identifier: Apache-2.0
// What many messages of a block share, each held once: their connections, their classes. Inside
// data/ only.
#pragma once

#include <glib.h>

typedef struct BbBbtKeys BbBbtKeys;

// Room for at most that many keys.
BbBbtKeys *bb_bbt_keys_new(gsize most);
void bb_bbt_keys_free(BbBbtKeys *keys);

// Returns the place of a key, from 0 in order of first use. Its bytes are copied.
guint32 bb_bbt_keys_add(BbBbtKeys *keys, gconstpointer key, gsize size);

guint32 bb_bbt_keys_count(const BbBbtKeys *keys);

// The bytes of all keys in order, one behind the other; lent until the next call.
const guint8 *bb_bbt_keys_bytes(const BbBbtKeys *keys, gsize *size);

void bb_bbt_keys_clear(BbBbtKeys *keys);
