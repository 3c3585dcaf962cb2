// SPDX-License-Identifier: Apache-2.0
// In: bytes that are passed over. Out: whether a packet has no others.
#include "capture/skips.h"

#include "data/mix.h"

#include <stdatomic.h>

#define PLACES 4096u
#define SEED G_GUINT64_CONSTANT(0x6a09e667f3bcc909)

// One word a place, so that it is whole: 27 bits of the hash, 5 of how many bytes (a power of two
// that is not less), 32 of the sequence number behind them. 0: free.
struct BbSkips {
    _Atomic guint64 places[PLACES];
};

#define TAG_MASK (G_GUINT64_CONSTANT(0xffffffff) << 32 & ~(31 * (G_GUINT64_CONSTANT(1) << 32)))

BbSkips *bb_skips_new(void)
{
    return g_new0(BbSkips, 1);
}

void bb_skips_free(BbSkips *skips)
{
    g_free(skips);
}

static guint64 hash_of(const BbAddress *source, guint16 source_port, const BbAddress *target,
                       guint16 target_port)
{
    guint64 hash = bb_mix_bytes(SEED, source->bytes, sizeof source->bytes);
    hash = bb_mix_bytes(hash, target->bytes, sizeof target->bytes);
    hash = bb_mix(hash, (guint64)source_port << 16 | target_port);
    return hash | G_GUINT64_CONSTANT(1) << 63;
}

static _Atomic guint64 *place_of(BbSkips *skips, guint64 hash)
{
    return &skips->places[bb_mix(hash, 0) >> 32 & (PLACES - 1)];
}

void bb_skips_tell(BbSkips *skips, const BbEndpoints *endpoints, guint sender, guint32 seq,
                   guint64 count)
{
    guint64 hash = hash_of(&endpoints->address[sender], endpoints->port[sender],
                           &endpoints->address[!sender], endpoints->port[!sender]);
    guint32 told = (guint32)MIN(count, BB_SKIPS_MOST);
    guint64 bits = g_bit_storage(told - 1);
    atomic_store_explicit(place_of(skips, hash), (hash & TAG_MASK) | bits << 32 | (seq + told),
                          memory_order_relaxed);
}

bool bb_skips_cover(BbSkips *skips, const BbPacket *packet)
{
    guint64 hash =
        hash_of(&packet->source, packet->source_port, &packet->target, packet->target_port);
    _Atomic guint64 *place = place_of(skips, hash);
    guint64 word = atomic_load_explicit(place, memory_order_relaxed);
    if (!word || (word ^ hash) & TAG_MASK)
        return false;
    if (packet->tcp_flags & BB_TCP_SYN) {
        atomic_store_explicit(place, 0, memory_order_relaxed);
        return false;
    }
    guint32 rest = (guint32)word - packet->seq; // bytes from here to behind them
    return rest >= packet->length && rest <= 1u << (word >> 32 & 31);
}
