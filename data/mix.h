// SPDX-License-Identifier: Apache-2.0
// Mixes words into a hash: for tables whose order nobody sees. It parts what is alike (addresses of
// one network differ in few bits), and enemies only as far as the seed is unknown to them.
#pragma once

#include <glib.h>
#include <string.h>

// The factor is odd, and near 2^64 over the golden ratio. The high bits are the good ones.
static inline guint64 bb_mix(guint64 hash, guint64 word)
{
    hash = (hash ^ word) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

// Eight bytes a step; the last ones are filled up with zeros.
static inline guint64 bb_mix_bytes(guint64 hash, gconstpointer bytes, gsize size)
{
    const guint8 *at = bytes;
    guint64 word = 0;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = bb_mix(hash, word);
    }
    if (size == 0)
        return hash;
    word = 0;
    memcpy(&word, at, size);
    return bb_mix(hash, word);
}
