// SPDX-License-Identifier: Apache-2.0
// Mixes words into a hash: for tables whose order nobody sees. It parts what is alike (addresses of
// one network differ in few bits), and enemies as far as the seed is unknown to them.
#pragma once

#include "data/address.h"
#include "data/wide.h"

#include <sys/random.h>

// The factor is odd, and near 2^64 over the golden ratio. Of the product both halves count: what a
// bit of a word changes depends on all others, and on the seed, so that no change of the next word
// undoes it for every seed.
static inline guint64 bb_mix(guint64 hash, guint64 word)
{
    guint64 high, low = bb_multiply(hash ^ word, G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), &high);
    return high ^ low;
}

// Eight bytes, the first one lowest.
static inline guint64 bb_mix_load(const guint8 *at)
{
    guint64 word;
    memcpy(&word, at, sizeof word);
    return GUINT64_FROM_LE(word);
}

// Eight bytes a step; the last ones are filled up with zeros. They are read together with some that
// were mixed in before, which a shift drops: one by one they would take longer than all others.
static inline guint64 bb_mix_bytes(guint64 hash, gconstpointer bytes, gsize size)
{
    const guint8 *at = bytes;
    gsize left = size;
    for (; left >= sizeof(guint64); at += sizeof(guint64), left -= sizeof(guint64))
        hash = bb_mix(hash, bb_mix_load(at));
    if (left == 0)
        return hash;
    guint64 word = 0;
    if (size >= sizeof word)
        word = bb_mix_load(at + left - sizeof word) >> 8 * (sizeof word - left);
    else
        for (gsize i = 0; i < left; i++)
            word |= (guint64)at[i] << 8 * i;
    return bb_mix(hash, word);
}

// One end of a connection.
static inline guint64 bb_mix_end(guint64 hash, const BbAddress *address, guint16 port)
{
    return bb_mix(bb_mix_bytes(hash, address->bytes, sizeof address->bytes), port);
}

// Both of them: the same for both directions.
static inline guint64 bb_mix_ends(guint64 hash, const BbAddress *one, guint16 one_port,
                                  const BbAddress *other, guint16 other_port)
{
    return bb_mix_end(hash, one, one_port) ^ bb_mix_end(hash, other, other_port);
}

// Not to be guessed by whoever sends the packets, or wrote the trace: each table has one of its
// own, or one with others of its context; those of GHashTable share that of the process
// (data/keys.h). Of output
// only which flows are shed is of one.
static inline guint64 bb_mix_seed(void)
{
    guint64 seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed)
        return seed;
    return (guint64)g_random_int() << 32 | g_random_int();
}
