// SPDX-License-Identifier: Apache-2.0
// FNV-1a (Fowler, Noll, Vo), 64 bits: the same number for a text on every machine and run. It parts
// texts, not enemies.
#pragma once

#include <glib.h>

#define BB_TEXT_HASH_START G_GUINT64_CONSTANT(0xcbf29ce484222325)
#define BB_TEXT_HASH_PRIME G_GUINT64_CONSTANT(0x100000001b3)

// Goes on from hash with the bytes of text.
static inline guint64 bb_text_hash(guint64 hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (guint8)*text) * BB_TEXT_HASH_PRIME;
    return hash;
}

// The same with the text's end, so that "ab", "c" differs from "a", "bc".
static inline guint64 bb_text_hash_whole(guint64 hash, const char *text)
{
    return bb_text_hash(hash, text) * BB_TEXT_HASH_PRIME;
}

// Goes on from hash with bytes, which may be any.
static inline guint64 bb_text_hash_bytes(guint64 hash, const guint8 *bytes, gsize size)
{
    for (gsize i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * BB_TEXT_HASH_PRIME;
    return hash;
}

// Of bytes alone, in 32 bits.
static inline guint32 bb_text_hash_short(const guint8 *bytes, gsize size)
{
    guint64 hash = bb_text_hash_bytes(BB_TEXT_HASH_START, bytes, size);
    return (guint32)(hash ^ hash >> 32);
}
