// SPDX-License-Identifier: Apache-2.0
// In: a message. Out: whether its connection is in the sample.
#include "merge/sampling.h"

#include <string.h>

// FNV-1a (Fowler, Noll, Vo), 64 bits, with the NUL at the end. It parts texts, not enemies.
static guint64 hash_text(guint64 hash, const char *text)
{
    do
        hash = (hash ^ (guint8)*text) * G_GUINT64_CONSTANT(0x100000001b3);
    while (*text++);
    return hash;
}

// Its low bits follow those of the last bytes too closely to be divided: mixed as splitmix64 does.
static guint64 mix(guint64 hash)
{
    hash = (hash ^ hash >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

static guint64 hash_pair(guint64 hash, const BbMessage *message, const BbNames *names)
{
    const char *a = bb_names_text(names, message->sender);
    const char *b = bb_names_text(names, message->receiver);
    bool swap = strcmp(a, b) > 0;
    g_autoptr(GString) id = g_string_new(NULL);
    bb_id_append(id, names, message->id);
    hash = hash_text(hash, swap ? b : a);
    hash = hash_text(hash, swap ? a : b);
    return hash_text(hash, id->str);
}

bool bb_sampling_takes(const BbMessage *message, const BbNames *names, guint64 of)
{
    guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
    hash = message->conn ? hash_text(hash, message->conn) : hash_pair(hash, message, names);
    return mix(hash) % of == 0;
}
