// SPDX-License-Identifier: Apache-2.0
// Hashes of texts, ids and numbers that strangers chose, as keys of a GHashTable: all by one seed
// of the process, so that nobody can choose them to fall together. The order of such a table is
// another one in each run, and no output may depend on it.
#pragma once

#include "data/message.h"
#include "data/mix.h"

#include <string.h>

// Drawn when it is asked for first; in any thread.
guint64 bb_keys_seed(void);

// Of two numbers.
static inline guint bb_keys_mix(guint64 a, guint64 b)
{
    return (guint)(bb_mix(bb_mix(bb_keys_seed(), a), b) >> 32);
}

// Of bytes, which may be any.
static inline guint bb_keys_bytes(gconstpointer bytes, gsize size)
{
    return (guint)(bb_mix_bytes(bb_keys_seed() ^ size, bytes, size) >> 32);
}

// For keys that are texts; with g_str_equal.
static inline guint bb_text_key_hash(gconstpointer key)
{
    return bb_keys_bytes(key, strlen(key));
}

// For keys that are pointers to BbId.
static inline guint bb_id_key_hash(gconstpointer key)
{
    const BbId *id = key;
    return bb_keys_mix(id->number, id->form);
}

static inline gboolean bb_id_key_equal(gconstpointer a, gconstpointer b)
{
    return bb_id_equal(*(const BbId *)a, *(const BbId *)b);
}

// For keys that are pointers to guint64, as of two names; with g_int64_equal.
static inline guint bb_pair_key_hash(gconstpointer key)
{
    return (guint)(bb_mix(bb_keys_seed(), *(const guint64 *)key) >> 32);
}
