// SPDX-License-Identifier: Apache-2.0
// Ids as keys of a GHashTable: pointers to BbId.
#pragma once

#include "data/message.h"

static inline guint bb_id_key_hash(gconstpointer key)
{
    const BbId *id = key;
    guint64 hash = (id->number ^ (guint64)id->form << 40) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return (guint)(hash >> 32);
}

static inline gboolean bb_id_key_equal(gconstpointer a, gconstpointer b)
{
    return bb_id_equal(*(const BbId *)a, *(const BbId *)b);
}
