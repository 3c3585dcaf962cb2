// SPDX-License-Identifier: Apache-2.0
// Hashes of ids and of pairs of names, which part them and not enemies; both as keys of a
// GHashTable.
#pragma once

#include "data/message.h"

// The high bits are the good ones. The forms are few, and small numbers: they come in where the
// number of an id has most often nothing.
static inline guint64 bb_id_hash(BbId id)
{
    return (id.number ^ (guint64)id.form << 40) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
}

// For keys that are pointers to BbId.
static inline guint bb_id_key_hash(gconstpointer key)
{
    return (guint)(bb_id_hash(*(const BbId *)key) >> 32);
}

static inline gboolean bb_id_key_equal(gconstpointer a, gconstpointer b)
{
    return bb_id_equal(*(const BbId *)a, *(const BbId *)b);
}

// For keys that are pointers to guint64 of two names, or other numbers that are often close: the
// exclusive or of the halves, which is g_int64_hash, would put all in few places.
static inline guint bb_pair_key_hash(gconstpointer key)
{
    return (guint)(*(const guint64 *)key * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 32);
}
