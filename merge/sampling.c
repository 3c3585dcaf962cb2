// SPDX-License-Identifier: Apache-2.0
// In: a message. Out: whether its connection is in the sample.
#include "merge/sampling.h"

#include "data/text_hash.h"

#include <string.h>

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
    hash = bb_text_hash_whole(hash, swap ? b : a);
    hash = bb_text_hash_whole(hash, swap ? a : b);
    return bb_text_hash_whole(hash, id->str);
}

bool bb_sampling_takes(const BbMessage *message, const BbNames *names, guint64 of)
{
    guint64 hash = BB_TEXT_HASH_START;
    hash =
        message->conn ? bb_text_hash_whole(hash, message->conn) : hash_pair(hash, message, names);
    return mix(hash) % of == 0;
}
